"""Long pairs are truncated as the tokenizer truncates them, without the product of their ends."""

import random

import pytest

from malmoi.encode.encoder import TransformerEncoder, load_transformer

WORDS = ("a", "bank", "unbelievable", "qwzzx", "한국", "가", "中文字", "é", "1,000", "x" * 150, "-")


@pytest.fixture(scope="module")
def minilm() -> TransformerEncoder:
    return load_transformer("minilm")


@pytest.mark.parametrize("seed", range(8))
def test_the_tokens_of_long_pairs_are_the_tokenizers(minilm: TransformerEncoder, seed: int) -> None:
    chance, tokenizer = random.Random(seed), minilm.tokenizer
    sizes = [(0, 400), (400, 0), (253, 3), (254, 1), (255, 255), (1000, 120), (120, 1000), (5, 5)]
    pairs = [
        (" ".join(chance.choices(WORDS, k=first)), " ".join(chance.choices(WORDS, k=second)))
        for first, second in sizes
    ]
    truth = tokenizer.backend.encode_batch(pairs)
    for encoding, expected in zip(tokenizer.encode_batch(pairs, offsets=True), truth, strict=True):
        assert encoding.ids == expected.ids
        assert encoding.type_ids == expected.type_ids
        assert encoding.offsets == expected.offsets
        assert tokenizer.is_truncated(encoding) == tokenizer.is_truncated(expected)


@pytest.mark.parametrize("text", ["a " * 4000, "中" * 4000, "a" * 4000])
def test_the_overflow_of_a_pair_is_not_a_product(minilm: TransformerEncoder, text: str) -> None:
    (encoding,) = minilm.tokenizer.encode_batch([(text, text)])
    assert sum(map(len, encoding.overflowing)) < 20 * minilm.tokenizer.max_length
