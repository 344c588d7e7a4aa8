"""Lines to sentences and batches: nothing is lost, and unknown words are counted as such."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError
from malmoi.keys import Keys
from malmoi.text.character_ids import character_ids
from malmoi.text.encoded import EncodedCorpus
from malmoi.tune.elmo.batches import SentenceBatch, epoch_batches, word_grid
from malmoi.tune.elmo.sentences import prepare_text
from malmoi.vocabulary import Vocabulary
from tests.tune.elmo.worlds import corpus_text, quick, sentences

WIDEST = 3


def test_long_lines_are_cut_after_full_stops() -> None:
    text = corpus_text(["a b . c d e . f g h i", "j k l m n o p"], quick(max_length=5))
    lengths = sorted([*text.train.lengths, *text.held_out.lengths])
    assert lengths == [2, 3, 4, 4, 5]  # j k l m n, o p; a b ., c d e ., f g h i
    assert len(text.train.ids) + len(text.held_out.ids) == 18


@given(st.lists(st.integers(1, 30), min_size=2, max_size=20), st.integers(2, 9))
def test_no_word_is_lost(lengths: list[int], most: int) -> None:
    lines = [" ".join(f"w{n}" for n in range(length)) for length in lengths]
    text = corpus_text(lines, quick(max_length=most))
    for part in (text.train, text.held_out):
        assert part.lengths.max() <= most
        assert part.lengths.min() >= 1
    ids = np.concatenate([text.train.ids, text.held_out.ids])
    expected = np.bincount([n for length in lengths for n in range(length)])
    assert sorted(np.bincount(ids)[np.bincount(ids) > 0]) == sorted(expected)


def test_rare_words_are_unknown_to_the_softmax_alone() -> None:
    lines = ["frequent frequent rare", *["frequent words here"] * 20]
    text = corpus_text(lines, quick(min_count=2, held_out=0.01))
    assert list(text.words.words)[:3] == ["<S>", "</S>", "<UNK>"]
    assert set(text.words.words) == {"<S>", "</S>", "<UNK>", "frequent", "words", "here"}
    (row,) = character_ids(["rare"], 50)
    id_of_rare = int(np.flatnonzero((text.characters == row).all(axis=1))[0])
    assert text.targets[id_of_rare] == 2
    assert text.words.counts[0] == text.words.counts[1] == len(text.train)


def test_words_that_look_like_marks_are_unknown() -> None:
    text = corpus_text(["<UNK> a <S> </S>", "a a a"] * 5, quick())
    assert list(text.words.words) == ["<S>", "</S>", "<UNK>", "a"]


def test_the_stream_for_ngrams_has_the_same_words() -> None:
    text = corpus_text(sentences(), quick(min_count=3))
    stream = text.encoded(text.held_out).ids
    assert (stream == 0xFFFFFFFF).sum() == len(text.held_out)
    assert len(stream) == text.held_out.num_predicted
    assert stream[stream < 0xFFFFFFFE].max() < len(text.words) - 3


def test_batches_of_an_epoch_have_each_sentence_once() -> None:
    text = corpus_text(sentences(), quick())
    batches = epoch_batches(text.train, 64, 1, 0)
    rows = np.concatenate([batch.rows for batch in batches])
    assert sorted(rows) == list(range(len(text.train)))
    assert sum(map(len, batches)) == text.train.num_predicted
    for batch in batches:
        assert len({*text.train.lengths[batch.rows]}) == 1
        assert len(batch) <= 64
    again = epoch_batches(text.train, 64, 1, 0)
    assert all(np.array_equal(a.rows, b.rows) for a, b in zip(batches, again, strict=True))
    other = epoch_batches(text.train, 64, 1, 1)
    assert [b.seed for b in other] != [b.seed for b in batches]


def test_the_grid_has_each_distinct_word_once() -> None:
    text = corpus_text(sentences(), quick())
    batch = SentenceBatch(text.train, epoch_batches(text.train, 64, 1, 0)[0].rows)
    grid = word_grid(text, batch, WIDEST)
    rows = [row for group in grid.groups for row in group]
    assert len(rows) == len(np.unique(grid.positions))
    expected = text.train.grid(batch.rows)
    for position, id_ in zip(grid.positions[1:-1].ravel(), expected.ravel(), strict=True):
        row = rows[position]
        np.testing.assert_array_equal(row, text.characters[id_][: len(row)])
        assert (text.characters[id_][len(row) - WIDEST :] == 260).all()
    np.testing.assert_array_equal(grid.targets[1:-1], text.targets[expected])
    assert (grid.targets[0] == 0).all()
    assert (grid.targets[-1] == 1).all()


def test_a_giant_line_is_many_sentences() -> None:
    text = corpus_text(["word " * 100_000, "another line"], quick(max_length=64))
    assert len(text.train) + len(text.held_out) == 100_000 // 64 + 2


def test_nfd_and_nfc_are_the_same_words() -> None:
    lines = ["한국 사람", "한국 사람"] * 4
    text = corpus_text(lines, quick(characters="jamo"))
    assert len(text.words) == 5


@pytest.mark.parametrize("lines", [["only one line"], ["one", "", ""]])
def test_one_line_is_too_few(lines: list[str]) -> None:
    with pytest.raises(InvalidArgumentError, match="the corpus has 1 lines"):
        corpus_text(lines, quick())


def test_no_frequent_word() -> None:
    with pytest.raises(InvalidArgumentError, match=r"no word occurs 9 times.*lower min_count"):
        corpus_text(["a b c", "d e f", "g h i"], quick(min_count=9))


def test_marks_of_sentences_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="'</s>' is among the words"):
        corpus_text(["a </s>", "b"], quick())


def test_an_encoded_corpus_with_unknown_words() -> None:
    ids = np.array([0, 1, 0xFFFFFFFE, 0xFFFFFFFF] * 4, np.uint32)
    corpus = EncodedCorpus(ids, Vocabulary(Keys.of(["a", "b"]), np.array([4, 4])))
    text = prepare_text(corpus, quick())
    assert text.words.counts[2] == len(text.train)
