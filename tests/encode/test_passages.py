"""Where long texts are split: borders, overlap, and that a model reads every passage whole."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.tokens.passages import split_text

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

words = st.text(st.sampled_from("ab가.!? \n"), min_size=1, max_size=300)


def by_character(text: str) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """Tokens of one character each, white space left out."""
    places = [(i, i + 1) for i, letter in enumerate(text) if not letter.isspace()]
    return np.array(places, np.int64).reshape(-1, 2)


@given(words, st.integers(4, 40))
def test_passages_hold_every_piece_within_the_room_and_go_on(text: str, max_tokens: int) -> None:
    tokens = by_character(text)
    spans = split_text(text, tokens, max_tokens)
    if len(tokens) <= max_tokens:
        assert spans == [(0, len(text))]
        return
    inside = [
        {i for i, (start, stop) in enumerate(tokens.tolist()) if first <= start and stop <= last}
        for first, last in spans
    ]
    assert set().union(*inside) == set(range(len(tokens)))
    assert max(map(len, inside)) <= max_tokens
    assert spans == sorted(set(spans))
    assert len(spans) <= 4 * len(tokens) / max_tokens + 2


def test_a_passage_ends_where_a_paragraph_or_a_sentence_does() -> None:
    text = "One two three. Four five six.\n\nSeven eight nine. Ten eleven twelve."
    spans = split_text(text, by_character(text), 30)
    assert [text[slice(*span)] for span in spans] == [
        "One two three. Four five six.",
        "Seven eight nine. Ten eleven twelve."[:17],
        "Ten eleven twelve.",
    ]


def test_the_next_passage_begins_with_a_sentence_of_the_one_before() -> None:
    sentences = [f"Sentence number {i} is here." for i in range(10, 60)]
    text = " ".join(sentences)
    spans = split_text(text, by_character(text), 240)
    parts = [text[slice(*span)] for span in spans]
    for one, two in pairwise(parts):
        assert two.startswith("Sentence")
        assert one.endswith("here.")
        assert two[:27] in one, "they share a sentence"


@pytest.fixture(scope="module")
def minilm() -> TransformerEncoder:
    return load_transformer("minilm")


@pytest.mark.parametrize(
    "text",
    [
        "The bank raised its interest rate. " * 300,
        "서울은 한국의 수도이다. 나는 서울에서 기타를 쳤다.\n" * 100,
        "x" * 5000,
        "漢字" * 1000,
        "word " * 2000,
        "a-b-" * 2000,
    ],
)
def test_the_model_reads_every_passage_whole(minilm: TransformerEncoder, text: str) -> None:
    (spans,) = minilm.passages([text])
    parts = [text[slice(*span)] for span in spans]
    cut = minilm.tokenizer.encode_batch([minilm.tokenizer.normalize(part) for part in parts])
    assert not any(minilm.tokenizer.is_truncated(one) for one in cut)
    assert "".join(parts).count(text[:1]) >= text.count(text[:1])


def test_what_fits_is_one_passage_with_the_vector_it_always_had(minilm: TransformerEncoder) -> None:
    texts = ["", "short", "The bank raised its rate. " * 20]
    assert minilm.passages(texts) == [[(0, len(text))] for text in texts]
