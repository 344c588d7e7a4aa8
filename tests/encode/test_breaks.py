"""Long texts are split before they are tokenized: the tokens must be those of the whole text."""

from collections.abc import Callable
from typing import Any

import pytest
import tokenizers as hf
from hypothesis import given
from hypothesis import strategies as st

from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.tokens import tokenizer as tokenizers
from malmoi.encode.tokens.tokenizer import ModelTokenizer, head, split_blocks

SAMPLE = [
    "the quick brown fox jumps over the lazy dog",
    "한국어 문장도 있다",
    "a  b\tc\n d, e! naïve",
] * 9
LETTERS = st.sampled_from(
    [*"ab the한국어é,.!\t\n  ", "\u3000", "\0", "Σ", "e\u0301", "\u200b", "[SEP]"]
)
TEXTS = st.lists(LETTERS, max_size=120).map("".join)
LONGEST = 6


def wordpiece() -> Any:
    tokenizer = hf.Tokenizer(hf.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = hf.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]"]
    tokenizer.train_from_iterator(
        SAMPLE, hf.trainers.WordPieceTrainer(vocab_size=90, special_tokens=special)
    )
    tokenizer.post_processor = hf.processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer


def byte_level() -> Any:
    tokenizer = hf.Tokenizer(hf.models.BPE())
    tokenizer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = hf.pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>"]
    tokenizer.train_from_iterator(
        SAMPLE,
        hf.trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=special),
    )
    tokenizer.post_processor = hf.processors.RobertaProcessing(
        ("</s>", 1), ("<s>", 0), add_prefix_space=False
    )
    return tokenizer


def unigram() -> Any:
    tokenizer = hf.Tokenizer(hf.models.Unigram())
    tokenizer.normalizer = hf.normalizers.Sequence(
        [hf.normalizers.NFKC(), hf.normalizers.Replace(hf.Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = hf.pre_tokenizers.Metaspace()
    special = ["<s>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(
        SAMPLE, hf.trainers.UnigramTrainer(vocab_size=80, special_tokens=special, unk_token="<unk>")
    )
    tokenizer.post_processor = hf.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return tokenizer


@pytest.fixture(scope="module", params=[wordpiece, byte_level, unigram])
def tokenizer(request: pytest.FixtureRequest) -> Any:
    make: Callable[[], Any] = request.param
    return make()


@given(text=TEXTS)
def test_the_first_tokens_are_those_of_the_whole_text(tokenizer: Any, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizers, "CHARACTERS_PER_TOKEN", 1)
        tokenizer.enable_truncation(LONGEST)
        model = ModelTokenizer(tokenizer, LONGEST)
        (whole,) = tokenizer.encode_batch([model.normalize(text)])
        (encoding,) = model.encode_batch([model.normalize(text)], offsets=True)
    assert encoding.tokens == whole.tokens
    assert encoding.offsets == whole.offsets
    assert encoding.word_ids == whole.word_ids
    assert model.is_truncated(encoding) == model.is_truncated(whole)


@given(text=TEXTS, size=st.integers(1, 40))
def test_blocks_have_the_tokens_of_the_whole_text(tokenizer: Any, text: str, size: int) -> None:
    tokenizer.no_truncation()
    whole = tokenizer.encode(text, add_special_tokens=False)
    tokens, offsets = list[str](), list[tuple[int, int]]()
    for start, block in split_blocks(text, size):
        part = tokenizer.encode(block, add_special_tokens=False)
        tokens += part.tokens
        offsets += [(begin + start, end + start) for begin, end in part.offsets]
    assert tokens == whole.tokens
    assert offsets == whole.offsets


@given(text=TEXTS, size=st.integers(1, 40))
def test_a_text_is_its_blocks(text: str, size: int) -> None:
    blocks = list(split_blocks(text, size))
    assert "".join(block for _, block in blocks) == text
    assert all(text.startswith(block, start) for start, block in blocks)
    assert text.startswith(head(text, size))
    assert len(head(text, size)) >= min(len(text), size)


def test_of_ten_megabytes_only_the_beginning_is_tokenized(minilm: TransformerEncoder) -> None:
    text = "words, " * 1_500_000
    (encoding,) = minilm.tokenizer.encode_batch([text])
    (short,) = minilm.tokenizer.encode_batch(["words, " * 1_000])
    assert encoding.ids == short.ids
    assert minilm.tokenizer.is_truncated(encoding)
    assert sum(map(len, encoding.overflowing)) < 20_000  # the rest was not even looked at


def test_blanks_before_the_first_word_do_not_hide_it(minilm: TransformerEncoder) -> None:
    text = " " * 100_000 + "word " + "\0" * 100_000 + " word"
    (encoding,) = minilm.tokenizer.encode_batch([text], offsets=True)
    assert encoding.tokens == ["[CLS]", "word", "word", "[SEP]"]
    assert not minilm.tokenizer.is_truncated(encoding)
