"""Co-occurrences, beside a twin that walks through lines word by word."""

from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import UInt32Array
from malmoi.errors import InvalidArgumentError, InvalidFileError, UnknownWordError
from malmoi.kernels.counts.sparse_counts import count_ids, flush_row
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.models.cooccurrences import Cooccurrences, load_cooccurrences, save_cooccurrences, spans
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.inputs import encode_token_lists
from malmoi.train.counts import cooccurrence
from malmoi.train.counts.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.vocabulary import Vocabulary
from tests.reporters import CallbackReporter

WORDS = 70  # more than one word of marks
TINY = 0.05  # megabytes: many blocks, several rounds of positions

vocabulary = Vocabulary.of({f"w{i:02}": 1 for i in range(WORDS)})
rare = st.integers(5, WORDS - 1)
streams = st.lists(
    st.one_of(st.integers(0, 4), rare, st.sampled_from([UNKNOWN, LINE_END])), max_size=60
).map(lambda ids: np.array(ids, dtype=np.uint32))
choices = st.builds(
    Cooccurrence,
    window=st.integers(1, 4),
    context=st.sampled_from(["both", "left", "right"]),
    weighting=st.sampled_from(["distance", "flat"]),
    across_lines=st.booleans(),
    over_unknown=st.booleans(),
)


def naive(ids: UInt32Array, settings: Cooccurrence) -> dict[tuple[int, int], float]:
    lines: list[list[int]] = [[]]
    for word in ids.tolist():
        if word == LINE_END:
            if not settings.across_lines:
                lines.append([])
        elif word != UNKNOWN or not settings.over_unknown:
            lines[-1].append(word)
    sums: dict[tuple[int, int], float] = defaultdict(float)
    for line in lines:
        for at, other in product(range(len(line)), repeat=2):
            distance = abs(at - other)
            sides = {"both": True, "left": other < at, "right": other > at}
            pair = line[at], line[other]
            inside = 0 < distance <= settings.window and sides[settings.context]
            if inside and UNKNOWN not in pair:
                sums[pair] += 1 if settings.weighting == "flat" else 1 / distance
    return sums


def long_stream(length: int = 3000) -> UInt32Array:
    random = np.random.default_rng(1)
    ids = np.minimum(random.zipf(1.5, length), WORDS).astype(np.uint32) - 1
    ids[random.random(length) < 0.1] = LINE_END
    ids[random.random(length) < 0.1] = UNKNOWN
    return ids


def same(one: Cooccurrences, other: Cooccurrences) -> bool:
    """Bit by bit."""
    return all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes()
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in ("starts", "columns", "values")
    )


@given(streams, choices)
def test_counts_are_those_of_a_walk_through_the_lines(
    ids: UInt32Array, settings: Cooccurrence
) -> None:
    counts = count_cooccurrences(EncodedCorpus(ids, vocabulary), settings)
    rows = np.repeat(np.arange(WORDS), np.diff(counts.starts)).tolist()
    found = dict(
        zip(
            zip(rows, counts.columns.tolist(), strict=True),
            counts.values.tolist(),
            strict=True,
        )
    )
    assert found == pytest.approx(naive(ids, settings), rel=1e-6)
    assert sorted(found) == list(found)  # by row, then by column, none twice
    if settings.weighting == "flat":
        assert counts.values.dtype == np.uint32


def test_the_worked_example() -> None:
    sentences = ["I like deep learning .", "I like NLP .", "I enjoy flying ."]
    counts = count_cooccurrences(
        (encode_token_lists(sentence.split() for sentence in sentences)),
        Cooccurrence(window=1, weighting="flat"),
    )
    words = ["I", "like", "enjoy", "deep", "learning", "NLP", "flying", "."]
    table = [[counts.value(word, context) for context in words] for word in words]
    assert table == [
        [0, 2, 1, 0, 0, 0, 0, 0],
        [2, 0, 0, 1, 0, 1, 0, 0],
        [1, 0, 0, 0, 0, 0, 1, 0],
        [0, 1, 0, 0, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 1],
        [0, 1, 0, 0, 0, 0, 0, 1],
        [0, 0, 1, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 1, 1, 1, 0],
    ]
    assert table == table_of(counts, words)


def table_of(counts: Cooccurrences, words: list[str]) -> list[list[float]]:
    order = [counts.vocabulary.id(word) for word in words]
    rows: list[list[float]] = counts.dense()[np.ix_(order, order)].tolist()
    return rows


def test_the_worked_example_without_full_stops() -> None:
    sentences = ["I like deep learning", "I like NLP", "I enjoy flying"]
    encoded = encode_token_lists(sentence.split() for sentence in sentences)
    words = ["I", "like", "enjoy", "deep", "learning", "NLP", "flying"]
    expected = [
        [0, 2, 1, 0, 0, 0, 0],
        [2, 0, 0, 1, 0, 1, 0],
        [1, 0, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 1, 0, 0],
        [0, 0, 0, 1, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0],
    ]
    for settings in (Cooccurrence(window=1), Cooccurrence(window=1, weighting="flat")):
        assert table_of(count_cooccurrences(encoded, settings), words) == expected


@pytest.mark.parametrize("weighting", ["distance", "flat"])
def test_neither_threads_nor_memory_change_a_bit(
    weighting: cooccurrence.WindowWeighting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ids = long_stream()
    plenty = count_cooccurrences(EncodedCorpus(ids, vocabulary), Cooccurrence(weighting=weighting))
    little = Cooccurrence(weighting=weighting, memory_mb=TINY)
    monkeypatch.setattr(cooccurrence, "MAX_BLOCKS", 6)  # as with two threads
    monkeypatch.setattr(cooccurrence, "BLOCK_ENTRIES", 50)
    assert same(
        plenty,
        count_cooccurrences(EncodedCorpus(ids, vocabulary), little, folder=tmp_path),
    )
    assert not any(tmp_path.iterdir())
    monkeypatch.setattr(cooccurrence, "in_order", map)  # one thread
    assert same(plenty, count_cooccurrences(EncodedCorpus(ids, vocabulary), little))
    assert len(plenty) > 1000


def test_positions_are_looked_up_in_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    ids, settings = long_stream(), Cooccurrence()
    plenty = count_cooccurrences(EncodedCorpus(ids, vocabulary), settings)
    monkeypatch.setattr(cooccurrence, "memory_limits", lambda *_: (1000, 100))
    assert same(plenty, count_cooccurrences(EncodedCorpus(ids, vocabulary), settings))


def test_a_mapped_stream_is_as_good(tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", long_stream())
    mapped = np.load(tmp_path / "ids.npy", mmap_mode="r")
    assert same(
        count_cooccurrences(EncodedCorpus(mapped, vocabulary)),
        count_cooccurrences(EncodedCorpus(long_stream(), vocabulary)),
    )


def test_one_side_is_the_other_transposed() -> None:
    left, right, both = (
        count_cooccurrences(
            EncodedCorpus(long_stream(), vocabulary), Cooccurrence(context=context)
        ).dense()
        for context in ("left", "right", "both")
    )
    np.testing.assert_allclose(left, right.T, rtol=1e-6)
    np.testing.assert_allclose(both, left + right, rtol=1e-6)


def test_sums_of_rows_and_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "BLOCK_ENTRIES", 100)
    counts = count_cooccurrences(
        EncodedCorpus(long_stream(), vocabulary), Cooccurrence(context="left")
    )
    np.testing.assert_allclose(counts.totals, counts.dense().sum(axis=1))
    np.testing.assert_allclose(counts.context_totals, counts.dense().sum(axis=0))


def test_looking_up_pairs() -> None:
    counts = count_cooccurrences(
        EncodedCorpus(np.array([0, 1, 0, LINE_END], dtype=np.uint32), vocabulary)
    )
    assert counts.value("w00", "w01") == 2
    assert counts.value("w00", "w00") == 0.5 + 0.5
    assert counts.value("w00", "w69") == counts.value("w69", "w00") == 0
    assert [part.tolist() for part in counts.row("w01")] == [[0], [2]]
    with pytest.raises(UnknownWordError, match="'x'"):
        counts.value("x", "w00")
    assert repr(counts) == "Cooccurrences(70 words, 3 pairs)"


@pytest.mark.parametrize("words", [0, 3])
def test_nothing_to_count(words: int) -> None:
    few = Vocabulary.of({f"{i}": 1 for i in range(words)})
    for ids in ([], [LINE_END], [UNKNOWN, UNKNOWN, LINE_END]):
        counts = count_cooccurrences(EncodedCorpus(np.array(ids, dtype=np.uint32), few))
        assert len(counts) == 0
        assert counts.dense().shape == (words, words)
        assert counts.totals.tolist() == counts.context_totals.tolist() == [0] * words


def test_progress_reaches_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "BLOCK_ENTRIES", 50)
    seen: list[tuple[int, int]] = []
    count_cooccurrences(
        EncodedCorpus(long_stream(), vocabulary),
        reporter=CallbackReporter(
            progress=lambda done, total: seen.append((done, total)), stage="counting co-occurrences"
        ),
    )
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert seen[-1] == (WORDS, WORDS)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"window": 0}, "window is 0"),
        ({"window": -3}, "window is -3"),
        ({"window": 10**9}, "window is 1000000000: it must be from 1 to 10,000"),
        ({"context": "up"}, "context must be one of"),
        ({"weighting": "heavy"}, "weighting must be one of"),
        ({"memory_mb": 0}, "memory_mb is 0"),
        ({"memory_mb": float("nan")}, "memory_mb is nan"),
        ({"memory_mb": float("inf")}, "memory_mb is inf"),
    ],
)
def test_settings_that_make_no_sense(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        Cooccurrence(**wrong)  # type: ignore[arg-type]


def test_memory_that_cannot_do_says_what_can() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"memory_mb is 0.001: 70 words .* need at least 1$"
    ):
        count_cooccurrences(EncodedCorpus(long_stream(), vocabulary), Cooccurrence(memory_mb=0.001))


def test_flat_counts_that_could_run_over_are_refused() -> None:
    ids = np.zeros(2**32 // 20_000 + 1, dtype=np.uint32)
    with pytest.raises(InvalidArgumentError, match="214,749 times, more than flat counts can hold"):
        count_cooccurrences(
            EncodedCorpus(ids, vocabulary), Cooccurrence(window=10_000, weighting="flat")
        )


def test_ids_of_another_vocabulary_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="id 70 is in the text, but there are 70 words"):
        count_cooccurrences(EncodedCorpus(np.array([0, 70], dtype=np.uint32), vocabulary))


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"counts to .*nowhere: No such file"):
        count_cooccurrences(EncodedCorpus(long_stream(), vocabulary), folder=tmp_path / "nowhere")


@pytest.mark.parametrize("weighting", ["distance", "flat"])
def test_saved_and_opened_again(weighting: cooccurrence.WindowWeighting, tmp_path: Path) -> None:
    counts = count_cooccurrences(
        EncodedCorpus(long_stream(), vocabulary), Cooccurrence(weighting=weighting)
    )
    save_cooccurrences(counts, tmp_path / "counts")
    opened = load_cooccurrences(tmp_path / "counts")
    assert same(counts, opened)
    assert opened.vocabulary.words == vocabulary.words
    assert opened.vocabulary.counts.tolist() == vocabulary.counts.tolist()
    assert not opened.columns.flags.owndata
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]


def test_files_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    counts = count_cooccurrences(EncodedCorpus(long_stream(), vocabulary))
    path = tmp_path / "counts"
    save_cooccurrences(counts, path)
    whole = path.read_bytes()
    for content in (
        whole[:-1],
        whole[:30],
        b"no such file",
        whole.replace(b'"cooccurrences"', b'"something-else"'),
    ):
        path.write_bytes(content)
        with pytest.raises(InvalidFileError, match="counts"):
            load_cooccurrences(path)
    for wrong in (
        Cooccurrences(vocabulary, counts.starts, counts.columns + np.uint32(1), counts.values),
        Cooccurrences(vocabulary, counts.starts[:-1], counts.columns, counts.values),
        Cooccurrences(vocabulary, counts.starts[::-1].copy(), counts.columns, counts.values),
    ):
        save_cooccurrences(wrong, path)
        with pytest.raises(InvalidFileError, match="damaged"):
            load_cooccurrences(path)


@given(st.lists(st.integers(0, 20), max_size=30), st.integers(1, 25))
def test_spans_follow_each_other_and_fit(sizes: list[int], room: int) -> None:
    found = list(spans(np.array(sizes, dtype=np.int64), room))
    assert [i for first, last in found for i in range(first, last)] == list(range(len(sizes)))
    for first, last in found:
        assert last > first
        assert last == first + 1 or sum(sizes[first:last]) <= room


@given(st.sets(st.integers(0, 199)))
def test_a_row_is_taken_in_order_and_leaves_zeros(columns: set[int]) -> None:
    sums, marks = np.zeros(200), np.zeros(200 // 64 + 1, dtype=np.uint64)
    for column in columns:
        sums[column] = column + 0.5
        marks[column // 64] |= np.uint64(1 << column % 64)
    out, values = np.zeros(203, dtype=np.uint32), np.zeros(203, dtype=np.float32)
    end = flush_row(sums, marks, out, values, 3)
    assert out[3:end].tolist() == sorted(columns)
    assert values[3:end].tolist() == [column + 0.5 for column in sorted(columns)]
    assert not sums.any()
    assert not marks.any()


@given(streams)
def test_ids_are_counted_with_the_unknown_and_the_lines(ids: UInt32Array) -> None:
    counts = np.zeros(WORDS + 2, dtype=np.int64)
    assert count_ids(ids, counts) == -1
    assert counts.tolist() == [int((ids == i).sum()) for i in (*range(WORDS), UNKNOWN, LINE_END)]
