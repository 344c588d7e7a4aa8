"""The Viterbi kernel of unigram tokenizers beside its twin, and its tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Int64Array, UInt32Array
from malmoi.kernels.static.segment import (
    KIND_BITS,
    LETTER,
    PUNCTUATION,
    SPACE,
    UNUSUAL,
    UnigramModel,
    segment_texts,
)
from malmoi.kernels.static.token_trie import CHARACTERS, child_of, make_trie
from tests import naive_static

LETTERS = "가나다ab🙂é"  # one to four bytes in UTF-8; of some there is never a token
KINDS = dict.fromkeys(LETTERS, LETTER) | {"!": PUNCTUATION, " ": SPACE, "?": UNUSUAL}
SOME_TOKENS = st.dictionaries(
    st.text("_가나다ab🙂", min_size=1, max_size=4),
    st.sampled_from([-1.0, -2.0, -3.0, -4.5]),
    max_size=30,
)
SOME_TEXTS = st.lists(st.text("".join(KINDS), max_size=12), max_size=5)
UNKNOWN = -20.0
FIRST_BYTE = 1000  # the id of the byte 0


def flat(texts: list[str]) -> tuple[Int64Array, UInt32Array]:
    codes = [ord(character) for text in texts for character in text]
    return np.cumsum([0, *map(len, texts)]), np.array(codes, np.uint32)


def model_of(scores: dict[str, float]) -> UnigramModel:
    table = np.zeros(CHARACTERS, np.uint32)
    for character, kind in KINDS.items():
        table[ord(character)] = kind << KIND_BITS | ord(character)
    trie = make_trie(*flat(list(scores)), np.array(list(scores.values()), np.float64))
    byte_ids = np.arange(FIRST_BYTE, FIRST_BYTE + 256, dtype=np.int32)
    return UnigramModel(trie, table, byte_ids, ord("_"), UNKNOWN)


def words_of(text: str) -> list[str]:
    return "".join(f" {each} " if each == "!" else each for each in text).split()


def naive_ids(text: str, scores: dict[str, float]) -> list[int]:
    ids = {token: i for i, token in enumerate(scores)}
    found: list[int] = []
    for word in words_of(text):
        for token in naive_static.best_tokens("_" + word, scores, UNKNOWN):
            found += [ids[token]] if token in ids else [FIRST_BYTE + b for b in token.encode()]
    return found


@given(SOME_TEXTS, SOME_TOKENS)
def test_tokens_are_those_of_the_twin(texts: list[str], scores: dict[str, float]) -> None:
    offsets, ids, is_unusual = segment_texts(*flat(texts), model_of(scores))
    assert is_unusual.tolist() == ["?" in text for text in texts]
    for i, text in enumerate(texts):
        expected = [] if is_unusual[i] else naive_ids(text, scores)
        assert ids[offsets[i] : offsets[i + 1]].tolist() == expected


def test_of_equal_sums_the_token_that_begins_first_is_kept() -> None:
    scores = {"_": -1.0, "a": -1.0, "_a": -2.0, "aa": -2.0}
    ids = segment_texts(*flat(["aa"]), model_of(scores))[1]
    assert ids.tolist() == [0, 3]  # _ aa, as long as _a a and _ a a


def test_an_unusual_character_takes_the_words_before_it_back() -> None:
    offsets, ids, is_unusual = segment_texts(*flat(["a", "a a!?", "a"]), model_of({"_a": -1.0}))
    assert (offsets.tolist(), ids.tolist()) == ([0, 1, 1, 2], [0, 0])
    assert is_unusual.tolist() == [False, True, False]


def test_a_character_beyond_the_table_is_unusual() -> None:
    assert segment_texts(*flat(["\U00020000"]), model_of({}))[2].tolist() == [True]


def test_of_equal_tokens_the_last_one_counts() -> None:
    offsets, codes = flat(["ab", "a", "ab", "", "\U00020000"])
    trie = make_trie(offsets, codes, np.array([-1.0, -2.0, -3.0, -4.0, -5.0]))
    first = int(trie.first[ord("a")])
    last = child_of(trie.edges, np.uint64(len(trie.edges) - 1), first, ord("b"))
    assert (trie.scores[[0, first, last]].tolist(), len(trie.scores)) == ([-np.inf, -2.0, -3.0], 3)
    assert trie.ids[[first, last]].tolist() == [1, 2]


def test_arguments_that_do_not_fit_are_refused() -> None:
    offsets, codes = flat(["ab"])
    model = model_of({"a": -1.0})
    with pytest.raises(ValueError, match="offsets does not rise from 0 to at most 1"):
        segment_texts(offsets, codes[:1], model)
    with pytest.raises(ValueError, match="codes is int64"):
        segment_texts(offsets, codes.astype(np.int64), model)
    with pytest.raises(ValueError, match="word_start is -1"):
        segment_texts(offsets, codes, model._replace(word_start=-1))
    with pytest.raises(ValueError, match="byte_ids"):
        segment_texts(offsets, codes, model._replace(byte_ids=model.byte_ids[:255]))
