"""Counts by shards are those of one process, bit by bit; shards are read here, without Ray."""

from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.scale.cluster.engines import LocalEngine
from malmoi.scale.counting import (
    count_cooccurrences_by,
    count_ngrams_by,
    encode_shards,
    read_shards,
)
from malmoi.text.corpus import Corpus
from malmoi.text.shards import merge_words
from malmoi.train.language.merge_counts import merge_ngram_counts, split_lines
from tests.scale.shards import write_corpus

ENGINE, QUIET = LocalEngine(), mm.SilentReporter()


class ManyCores(LocalEngine):
    """Many small shards, in an order that is not theirs."""

    def cpus(self) -> dict[str, float]:
        return {"a": 12.0}

    def map(self, factory, items, *, names=()):  # type: ignore[no-untyped-def]
        work, order = factory(), np.random.default_rng(0).permutation(len(items))
        for position in order.tolist():
            yield position, work(items[position])


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


@pytest.mark.parametrize("tokenizer", ["whitespace", "jamo"])
@pytest.mark.parametrize("engine", [ENGINE, ManyCores()])
def test_words(text: Path, engine: LocalEngine, tokenizer: str) -> None:
    corpus, tokenize = Corpus.of(text), mm.make_tokenizer(tokenizer)
    settings = mm.VocabularySettings(min_count=2, max_vocab_size=100, special=("</s>", "bank2"))
    whole = mm.count_corpus(corpus, tokenize, settings, reporter=QUIET)
    shards = read_shards(engine, corpus, tokenize, ids=False, reporter=QUIET)
    merged = merge_words((shard for _, shard in shards), settings)
    assert list(merged) == list(whole)
    np.testing.assert_array_equal(merged.counts, whole.counts)


@pytest.mark.parametrize("engine", [ENGINE, ManyCores()])
def test_ids_of_several_files(text: Path, engine: LocalEngine) -> None:
    for number in range(3):
        (text.parent / f"more{number}.txt").write_text(f"the bank {number}\n\nlast line {number}")
    settings = mm.VocabularySettings(min_count=2)
    whole = mm.encode_corpus(Corpus.of(text.parent), settings=settings, reporter=QUIET)
    merged = encode_shards(engine, Corpus.of(text.parent), settings, None, QUIET)
    assert list(merged.vocabulary) == list(whole.vocabulary)
    np.testing.assert_array_equal(merged.ids, whole.ids)


@pytest.mark.parametrize(
    "settings",
    [
        mm.Cooccurrence(window=5),
        mm.Cooccurrence(weighting="flat", across_lines=True, min_count=2),
        mm.Cooccurrence(over_unknown=False, min_count=3, context="left"),
    ],
    ids=["distance", "flat", "unknown"],
)
def test_cooccurrences(text: Path, settings: mm.Cooccurrence) -> None:
    whole = mm.count_cooccurrences(text, settings, reporter=QUIET)
    corpus = encode_shards(ManyCores(), text, settings.vocabulary, None, QUIET)
    merged = count_cooccurrences_by(ManyCores(), corpus, settings)
    for name in ("starts", "columns", "values"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name), strict=True)


@pytest.mark.parametrize(("order", "min_count"), [(1, 1), (2, 2), (4, 1)])
def test_ngrams(text: Path, order: int, min_count: int) -> None:
    whole = mm.count_ngrams(text, order, min_count=min_count, reporter=QUIET)
    corpus = mm.encode_corpus(Corpus.of(text), reporter=QUIET)
    merged = count_ngrams_by(ManyCores(), corpus, order, min_count)
    assert list(merged.trie.words) == list(whole.trie.words)
    here = [*merged.trie.packed, *merged.counts, *merged.suffixes]
    there = [*whole.trie.packed, *whole.counts, *whole.suffixes]
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_lines_are_not_split() -> None:
    end = 2**32 - 1
    ids = np.array([1, 2, end, 3, end, end, 4, 5, 6], np.uint32)
    for count in range(1, 12):
        parts = split_lines(ids, count)
        assert [each for start, stop in parts for each in ids[start:stop]] == ids.tolist()
        assert all(ids[stop - 1] == end for _, stop in parts[:-1])
    assert split_lines(np.array([1, 2], np.uint32), 4) == [(0, 2)]


def test_counts_of_other_words_are_not_merged() -> None:
    parts = [mm.count_ngrams(["a b"]), mm.count_ngrams(["a b c"])]
    with pytest.raises(mm.InvalidArgumentError, match="different words"):
        merge_ngram_counts(parts)
    with pytest.raises(mm.InvalidArgumentError, match="no counts"):
        merge_ngram_counts([])


def test_a_file_whose_line_feeds_are_not_a_byte_is_one_shard(tmp_path: Path) -> None:
    path = tmp_path / "wide.txt"
    path.write_text("\n".join(f"the bank \u0a0a {i}" for i in range(100)), "utf-16-le")
    corpus = Corpus.of(path, encoding="utf-16-le")
    assert len(corpus.shards(8)) == 1
    assert len(Corpus.of(write_corpus(tmp_path)).shards(8)) == 8


def test_here_is_the_same_as_ever() -> None:
    text = ["the bank by the river", "the river"]
    whole = mm.count_cooccurrences(text)
    np.testing.assert_array_equal(mm.scale.count_cooccurrences(text).values, whole.values)
    assert mm.scale.train_ngram(text, mm.NGram(smoothing="add-k")).order == 3
    assert list(mm.scale.count_words(text)) == ["the", "river", "bank", "by"]
    with pytest.raises(mm.InvalidArgumentError, match="leave it out"):
        mm.scale.count_words(text, mm.VocabularySettings(held=100), on="ray")
    with pytest.raises(mm.InvalidArgumentError, match="on is 'dask'"):
        mm.scale.train_ngram(text, on="dask")
