"""GloVe from text to vectors: its twin, its loss, where it begins, what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.models.cooccurrences import Cooccurrences, save_cooccurrences
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common import memory
from malmoi.train.common.inputs import encode_token_lists
from malmoi.train.common.options import TrainOptions
from malmoi.train.counts.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.train.glove import records as glove_records
from malmoi.train.glove.glove import merge_vectors, train_glove, train_glove_tables
from malmoi.train.glove.records import make_records
from malmoi.train.glove.settings import GloVe
from malmoi.train.glove.tables import VectorKind, random_tables, split_tables
from malmoi.vectors import Vectors
from malmoi.vocabulary import Vocabulary
from tests import naive
from tests.reporters import CallbackReporter

SMALL = GloVe(dim=6, window=3, min_count=1, iterations=3, threads=1)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glove_records, "CHUNK_GROUPS", 8)
    monkeypatch.setattr(glove_records, "MAX_GROUP_RECORDS", 4)
    monkeypatch.setattr(glove_records, "CACHE_BYTES", 1000)


def text(seed: int = 1, lines: int = 60, prefix: str = "w") -> list[str]:
    """Lines of words, some of them frequent."""
    random = np.random.default_rng(seed)
    ids = np.minimum(random.zipf(1.4, (lines, 8)), 40)
    return [" ".join(f"{prefix}{word}" for word in line) for line in ids]


def encoded(lines: list[str]) -> EncodedCorpus:
    return encode_token_lists(line.split() for line in lines)


def counted(lines: list[str]) -> Cooccurrences:
    corpus = encoded(lines)
    return count_cooccurrences(corpus, Cooccurrence(window=3))


def losses(vectors: Vectors) -> list[float]:
    found: list[float] = json.loads(vectors.meta["losses"])
    return found


def with_settings(**changes: object) -> GloVe:
    return GloVe(**{**vars(SMALL), **changes})


@pytest.mark.parametrize("logarithm", ["x", "1+x"])
def test_all_iterations_are_those_of_the_twin(logarithm: str) -> None:
    counts = counted(text())
    settings = with_settings(x_max=3.0, logarithm=logarithm, iterations=4)
    found = train_glove_tables(counts, settings)
    begun = split_tables(random_tables(len(counts.vocabulary), 6, 1), counts.vocabulary, 6, ())
    twin = naive.GloVe(begun.words, begun.contexts, begun.word_biases, begun.context_biases)
    table = counts.dense()
    records = make_records(counts, 3.0, 0.75, plus_one=False, row_bytes=64)
    for iteration in range(4):
        loss = 0.0
        for chunk in records.chunks(1, iteration):
            for group in records.sorted(chunk):
                row = records.rows[group]
                for at in range(records.bounds[group], records.bounds[group + 1]):
                    x = table[row, counts.columns[at]]
                    log = np.log(x) if logarithm == "x" else np.log(1 + x)
                    weight = min(1.0, (x / 3) ** 0.75)
                    loss += twin.learn(row, counts.columns[at], log, weight, 0.05)
        assert found.losses[iteration] == pytest.approx(loss / len(counts), rel=1e-4)
    np.testing.assert_allclose(found.words, twin.numbers[0], atol=1e-4)
    np.testing.assert_allclose(found.contexts, twin.numbers[1], atol=1e-4)
    np.testing.assert_allclose(found.word_biases, twin.numbers[2], atol=1e-4)
    np.testing.assert_allclose(found.context_biases, twin.numbers[3], atol=1e-4)


def test_the_loss_is_the_published_objective() -> None:
    counts = counted(text())
    still = with_settings(learning_rate=1e-12, x_max=5.0, iterations=1)
    found = train_glove_tables(counts, still)
    table = counts.dense()
    there = table > 0
    off = found.words @ found.contexts.T + found.word_biases[:, None] + found.context_biases
    off = off[there] - np.log(table[there])
    objective = np.sum(np.minimum(1, (table[there] / 5) ** 0.75) * off**2)
    assert found.losses[0] == pytest.approx(objective / len(counts), rel=1e-5)


def test_records_are_all_entries_once_whatever_the_order() -> None:
    counts = counted(text())
    records = make_records(counts, 3.0, 0.75, plus_one=False, row_bytes=64)
    rows = np.repeat(np.arange(len(counts.vocabulary)), np.diff(counts.starts))
    for group, row in enumerate(records.rows):
        first, last = records.bounds[group], records.bounds[group + 1]
        assert 0 < last - first <= 4
        assert np.all(rows[first:last] == row)
    assert records.bounds[0] == 0
    assert records.bounds[-1] == len(counts) == len(records)
    one, other = (np.concatenate(records.chunks(1, iteration)) for iteration in (0, 1))
    assert sorted(one) == sorted(other) == list(range(len(records.rows)))
    assert not np.array_equal(one, other)
    assert not np.array_equal(one, np.concatenate(records.chunks(2, 0)))
    chunk = records.chunks(1, 0)[0]
    assert sorted(records.sorted(chunk)) == sorted(chunk)
    assert np.all(np.diff(records.context_classes[records.sorted(chunk)].astype(int)) >= 0)


def test_words_of_the_same_company_come_near_each_other() -> None:
    random = np.random.default_rng(1)
    things = [["ice", "cold", "solid", "frozen"], ["steam", "hot", "gas", "boiling"]]
    lines = [" ".join(random.permutation(things[i % 2] * 2)) for i in range(300)]
    vectors = train_glove(lines, with_settings(dim=8, iterations=60, x_max=10.0))
    units = vectors.matrix / vectors.norms[:, None]
    assert losses(vectors)[-1] < losses(vectors)[0] / 5
    ice, cold, hot = (units[vectors.row(word)] for word in ("ice", "cold", "hot"))
    assert ice @ cold > ice @ hot + 0.2


def test_one_thread_and_a_seed_give_the_same_bits() -> None:
    corpus = encoded(text())
    one, again, other = (train_glove(corpus, with_settings(seed=seed)).matrix for seed in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    assert not np.allclose(one, other)


def test_several_threads_learn_as_well() -> None:
    corpus = encoded(text(lines=400))
    one, two = (
        losses(train_glove(corpus, with_settings(threads=threads, iterations=10)))[-1]
        for threads in (1, 2)
    )
    assert two == pytest.approx(one, rel=0.1)


def test_text_files_encoded_corpora_and_counts_give_the_same(tmp_path: Path) -> None:
    lines = text()
    (tmp_path / "text.txt").write_text("\n".join(lines))
    counts = count_cooccurrences((corpus := encoded(lines)), SMALL.counting)
    save_cooccurrences(counts, tmp_path / "counts")
    sources = (lines, str(tmp_path / "text.txt"), corpus, counts, tmp_path / "counts")
    results = [train_glove(source, SMALL) for source in sources]
    for result in results[1:]:
        assert list(result.keys) == list(results[0].keys)
        assert result.matrix.tobytes() == results[0].matrix.tobytes()
    assert "tokenizer" in results[0].meta
    assert "tokenizer" not in results[3].meta
    assert results[3].counts is not None


def test_what_comes_out() -> None:
    counts = counted(text())
    tables = train_glove_tables(counts, SMALL)
    vectors = {
        kind: train_glove(counts, with_settings(vectors=kind)).matrix
        for kind in ("sum", "word", "context", "both")
    }
    np.testing.assert_array_equal(vectors["word"], tables.words)
    np.testing.assert_array_equal(vectors["context"], tables.contexts)
    np.testing.assert_array_equal(vectors["sum"], tables.words + tables.contexts)
    np.testing.assert_array_equal(vectors["both"], np.hstack([tables.words, tables.contexts]))
    assert tables.word_biases.shape == tables.context_biases.shape == (len(counts.vocabulary),)
    assert len(tables.losses) == 3
    told: list[float] = []
    train_glove(counts, SMALL, reporter=CallbackReporter(on_loss=told.append))
    assert tuple(told) == tables.losses


@pytest.mark.parametrize("kind", ["sum", "word", "context", "both"])
def test_words_begin_with_the_vectors_given(kind: VectorKind) -> None:
    counts = counted(text())
    still = with_settings(vectors=kind, learning_rate=1e-12, iterations=1)
    trained = train_glove(counts, with_settings(vectors=kind))
    foreign = Vectors(trained.keys, trained.matrix)
    for start in (trained, foreign):
        again = train_glove(counts, still, options=TrainOptions(init_vectors=start[:10]))
        np.testing.assert_allclose(again.matrix[:10], start.matrix[:10], atol=1e-6)
        assert not np.allclose(again.matrix[10:], start.matrix[10:], atol=1e-3)
    kept = train_glove(counts, still, options=TrainOptions(init_vectors=trained))
    if kept.context_matrix is not None and trained.context_matrix is not None:
        np.testing.assert_allclose(kept.context_matrix, trained.context_matrix, atol=1e-6)
    assert (kept.context_matrix is None) == (kind == "both")


@pytest.mark.parametrize("kind", ["sum", "word", "context", "both"])
def test_frozen_vectors_do_not_move(kind: VectorKind) -> None:
    counts = counted(text())
    start = train_glove(counts, with_settings(vectors=kind, seed=5))[:10]
    start.matrix[3] = 0
    found = train_glove(
        counts, with_settings(vectors=kind), options=TrainOptions(init_vectors=start, freeze=True)
    )
    np.testing.assert_array_equal(found.matrix[:10], start.matrix)
    moved = train_glove(
        counts, with_settings(vectors=kind), options=TrainOptions(init_vectors=start)
    )
    assert np.all(np.any(moved.matrix[:10] != start.matrix, axis=1))
    assert losses(found)[-1] < losses(found)[0]


def test_going_on_with_new_text() -> None:
    old = train_glove(encoded(text()), SMALL)
    lines = [line.replace("w1 ", "new ") for line in text(2)]
    new = train_glove(encoded(lines), SMALL, options=TrainOptions(init_vectors=old))
    both = train_glove(encoded(lines), SMALL, options=TrainOptions(init_vectors=old, update=True))
    assert set(both.keys) == set(old.keys) | set(new.keys)
    assert "new" in both
    only_old = [word for word in old.keys if word not in new]
    assert only_old
    for word in only_old:
        np.testing.assert_array_equal(both[word], old[word])
    for word in new.keys:
        np.testing.assert_array_equal(both[word], new[word])
    assert both.counts is not None
    assert old.counts is not None
    assert new.counts is not None
    assert both.counts.sum() == old.counts.sum() + new.counts.sum()
    assert np.all(np.diff(both.counts) <= 0)
    assert both.context_matrix is not None
    assert both.context_matrix.shape == both.matrix.shape
    of = {word: int(both.counts[row]) for row, word in enumerate(both.keys)}
    assert of["w2"] == old.counts[old.row("w2")] + new.counts[new.row("w2")]
    assert of[only_old[0]] == old.counts[old.row(only_old[0])]


def test_joining_vectors_that_nobody_counted() -> None:
    one = Vectors(["a", "b"], [[1.0], [2.0]], meta={"of": "one"})
    both = merge_vectors(one, Vectors(["b", "c"], [[3.0], [4.0]], [5, 6]))
    assert list(both.keys) == ["a", "b", "c"]
    assert both.matrix.tolist() == [[1], [2], [4]]
    assert both.counts is None
    assert both.meta == {"of": "one"}


def test_memory_is_told_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, told = counted(text()), list[int]()
    train_glove(counts, SMALL, reporter=CallbackReporter(on_memory=told.append))
    assert told[0] > 8 * len(counts) + 2 * 4 * 16 * len(counts.vocabulary)
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(InvalidArgumentError, match="of memory and 0 MB are free"):
        train_glove(counts, SMALL)


def test_words_that_meet_no_other_are_told_of() -> None:
    with pytest.warns(MalmoiWarning, match="words without any co-occurrence, .*: 2"):
        vectors = train_glove([*text(), "alone", "lonely"], SMALL)
    assert np.all(np.abs(vectors["alone"]) < 1 / 7)


@pytest.mark.parametrize("lines", [["a"], ["a a a a"], ["a", "b"]])
def test_too_little_text(lines: list[str]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"none of the [12] words has another word"):
        train_glove(lines, SMALL)


def test_too_rare_words() -> None:
    with pytest.raises(InvalidArgumentError, match="no word occurs 5 times"):
        train_glove(["a b c"], GloVe(dim=3))


def test_what_are_no_counts_is_refused() -> None:
    counts = counted(text())
    for wrong in (0.0, -1.0, np.nan, np.inf):
        values = np.array(counts.values)
        values[5] = wrong
        table = Cooccurrences(counts.vocabulary, counts.starts, counts.columns, values)
        with pytest.raises(
            InvalidArgumentError, match="not counts: each must be above 0 and finite"
        ):
            train_glove(table, SMALL)


def test_flat_counts_of_one_side_are_learnt_too() -> None:
    corpus = encoded(text())
    flat = Cooccurrence(window=3, weighting="flat", context="left")
    counts = count_cooccurrences(corpus, flat)
    found = losses(train_glove(counts, with_settings(iterations=20)))
    assert found[-1] < found[0] / 2


def test_vectors_that_do_not_fit_are_refused() -> None:
    counts = counted(text())
    with pytest.raises(
        InvalidArgumentError, match="init_vectors have 2 dimensions and the new vectors 6"
    ):
        train_glove(counts, SMALL, options=TrainOptions(init_vectors=Vectors(["w1"], [[1.0, 2.0]])))
    start = train_glove(counts, SMALL)
    with pytest.raises(InvalidArgumentError, match="have 6 dimensions and the new vectors 12"):
        train_glove(counts, with_settings(vectors="both"), options=TrainOptions(init_vectors=start))
    with pytest.raises(InvalidArgumentError, match="freeze needs init_vectors"):
        train_glove(counts, SMALL, options=TrainOptions(freeze=True))
    with pytest.raises(InvalidArgumentError, match="update needs init_vectors"):
        train_glove(counts, SMALL, options=TrainOptions(update=True))


def test_a_rate_that_is_too_high_is_told() -> None:
    with pytest.raises(InvalidArgumentError, match=r"lower learning_rate \(now 1e\+20\)"):
        train_glove(counted(text()), with_settings(learning_rate=1e20, iterations=20))


@pytest.mark.parametrize("rate", [3e38, 1e300])
def test_numbers_that_overflow_in_the_last_step_are_told(rate: float) -> None:
    with pytest.raises(
        InvalidArgumentError, match=f"lower learning_rate .now {rate:g}".replace("+", ".")
    ):
        train_glove(["a b"] * 100, with_settings(learning_rate=rate, iterations=1))


@pytest.mark.parametrize("wrong", [{"x_max": 1e300}, {"x_max": 1e4, "alpha": 1e6}])
def test_pairs_that_weigh_nothing_are_not_learnt_in_silence(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidArgumentError, match="every pair has the weight 0"):
        train_glove(text(), with_settings(**wrong))
    train_glove(text(), with_settings(x_max=1e-40))  # then all weigh 1


def test_that_no_word_has_a_vector_to_begin_with_is_told() -> None:
    with pytest.warns(MalmoiWarning, match="words is in init_vectors"):
        train_glove(
            text(), SMALL, options=TrainOptions(init_vectors=Vectors(["unicorn"], np.eye(1, 6)))
        )


def test_a_checkpoint_may_be_named_by_a_string(tmp_path: Path) -> None:
    place = str(tmp_path / "x.checkpoint")
    train_glove(text(), SMALL, options=TrainOptions(checkpoint=place))
    with pytest.raises(InvalidFileError, match="to resume from"):
        train_glove(text(), SMALL, options=TrainOptions(checkpoint=place, resume=True))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"dim": 0}, "dim is 0"),
        ({"iterations": 0}, "iterations is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"window": 0}, "window is 0"),
        ({"min_count": 0}, "min_count is 0"),
        ({"max_vocab_size": 0}, "max_vocab_size 0"),
        ({"x_max": 0.0}, "x_max is 0.0"),
        ({"x_max": float("inf")}, "x_max is inf"),
        ({"alpha": -1.0}, "alpha is -1.0"),
        ({"alpha": float("nan")}, "alpha is nan"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"vectors": "mean"}, "vectors must be one of"),
        ({"logarithm": "2x"}, "logarithm must be one of"),
        ({"memory_mb": 0.0}, "memory_mb is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"iterations": 10**12}, "iterations is 1000000000000: it must be at most 1,000,000"),
    ],
)
def test_settings_that_make_no_sense(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        with_settings(**wrong)


def test_an_empty_vocabulary_has_nothing_to_learn() -> None:
    none = Cooccurrences(
        Vocabulary.of({}), np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0, np.float32)
    )
    with pytest.raises(InvalidArgumentError, match="none of the 0 words"):
        train_glove(none, SMALL)
