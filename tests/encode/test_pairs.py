"""Pairs of long texts are cut as the tokenizer cuts them, without the product of their ends."""

import random

import pytest

from malmoi.encode.encoder import TransformerEncoder, load_transformer

WORDS = ("a", "bank", "unbelievable", "qwzzx", "한국", "가", "中文字", "é", "1,000", "x" * 150, "-")


@pytest.fixture(scope="module")
def minilm() -> TransformerEncoder:
    return load_transformer("minilm")


@pytest.mark.parametrize("seed", range(8))
def test_the_pieces_of_long_pairs_are_the_tokenizers(minilm: TransformerEncoder, seed: int) -> None:
    chance, cutter = random.Random(seed), minilm.tokenizer
    sizes = [(0, 400), (400, 0), (253, 3), (254, 1), (255, 255), (1000, 120), (120, 1000), (5, 5)]
    pairs = [
        (" ".join(chance.choices(WORDS, k=first)), " ".join(chance.choices(WORDS, k=second)))
        for first, second in sizes
    ]
    expected = tokenizer.backend.encode_batch(pairs)
    for found, wanted in zip(cutter.encode_batch(pairs, offsets=True), expected, strict=True):
        assert found.ids == wanted.ids
        assert found.type_ids == wanted.type_ids
        assert found.offsets == wanted.offsets
        assert cutter.is_truncated(found) == cutter.is_truncated(wanted)


@pytest.mark.parametrize("text", ["a " * 4000, "中" * 4000, "a" * 4000])
def test_what_is_cut_off_a_pair_is_no_product(minilm: TransformerEncoder, text: str) -> None:
    (found,) = minilm.tokenizer.encode_batch([(text, text)])
    assert sum(map(len, found.overflowing)) < 20 * minilm.tokenizer.max_length
