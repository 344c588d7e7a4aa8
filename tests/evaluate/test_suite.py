"""Suites: tasks whose data are there, several models, significant differences, cached vectors."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import malmoi as mm
from malmoi.arrays import Float32Array
from malmoi.encode.encoder import load_transformer
from malmoi.encode.static.average import average_encoder
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.evaluate.suites.embedder import Embedder
from malmoi.evaluate.suites.installed_tasks import installed_tasks
from malmoi.evaluate.suites.vector_cache import VectorCache, encoder_fingerprint, remove_oldest
from malmoi.keys import Keys
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, SilentReporter
from malmoi.vectors import Vectors
from tests.evaluate.suite_data import WORDS, make_data, texts, write
from tests.search.test_prompts import save_prompted
from tests.search.worlds import BagOfWords

QUIET = SilentReporter()
BAG = BagOfWords()


@dataclass(frozen=True)
class Blind:
    """An encoder that tells nothing apart but the lengths of texts."""

    name: str = "blind"
    dim: int = 16
    calls: list[int] = field(default_factory=list)

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        random = [np.random.default_rng(len(text)).normal(size=self.dim) for text in texts]
        self.calls.append(len(random))
        return np.array(random, np.float32).reshape(-1, self.dim)

    def stream(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        yield self.encode(texts)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MALMOI_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MALMOI_CACHE", str(tmp_path / "cache"))
    return make_data(tmp_path / "data")


def test_a_suite_has_every_task_whose_data_are_there(data: Path) -> None:
    scores = mm.evaluate_suite(BAG, "all", reporter=QUIET)
    assert [row.task for row in scores if row.is_main] == [
        *("KorSTS", "STSBenchmark", "SICK-R", "XNLI ko", "SICK-E", "paraKQC"),
        *("SciFact train queries", "Tatoeba kor-eng", "NSMC", "SMS spam"),
        "TwentyNewsgroupsClustering",
    ]
    assert scores.missing == ("KorQuAD (korquad/*dev*.json*)",)
    for row in scores:
        (score,) = row.scores
        assert score.value is not None
        assert score.total > 0
    by_name = {row.task: row for row in scores if row.is_main}
    assert by_name["KorSTS"].scores[0].total == 30  # dev alone, not train
    assert by_name["XNLI ko"].scores[0].total == 67  # of 100 pairs, 33 are neutral
    assert by_name["NSMC"].scores[0].total == 100  # half of the texts are for testing


def test_a_suite_of_a_language_has_its_tasks_alone(data: Path) -> None:
    for suite in ("ko", "en"):
        tasks, _ = installed_tasks(suite)
        assert {task.language for task in tasks} <= {suite, "ko-en"}
    (data / "korquad").mkdir()
    write(data / "korquad/KorQuAD_v1.0_dev.json", '{"data": [{"paragraphs": [{"context": "가",'
          ' "qas": [{"id": "1", "question": "나"}]}]}]}')  # fmt: skip
    assert installed_tasks("ko")[1] == []


def test_models_are_compared_on_the_same_resamples(data: Path) -> None:
    scores = mm.evaluate_suite([BAG, Blind(), BAG], "en", reporter=QUIET)
    similarity = next(row for row in scores if row.task == "STSBenchmark")
    assert similarity.verdict(0) is None
    assert similarity.verdict(1) == "worse"
    assert similarity.mark(1) == "-"
    assert similarity.verdict(2) == "no difference"
    twin = similarity.differences[0, 2]
    assert twin is not None
    assert (twin.value, twin.low, twin.high) == (0, 0, 0)
    assert similarity.differences.keys() == {(0, 1), (0, 2), (1, 2)}
    record = scores.records()[0]
    assert [each["model"] for each in record["scores"]] == ["bag", "blind", "bag"]
    assert record["differences"][0]["verdict"] == "worse"
    assert "STSBenchmark" in repr(scores)


def test_results_do_not_depend_on_other_models_and_repeat(data: Path) -> None:
    one = mm.evaluate_suite(BAG, "ko", reporter=QUIET)
    both = mm.evaluate_suite([Blind(), BAG], "ko", reporter=QUIET)
    assert [row.scores[0] for row in one] == [row.scores[1] for row in both]


def test_a_limit_shortens_every_task(data: Path) -> None:
    blind = Blind()
    mm.evaluate_suite(blind, "all", limit=20, reporter=QUIET)
    assert max(blind.calls) <= 24  # a corpus may need more for its queries
    with pytest.raises(InvalidArgumentError, match="limit is 3: pass at least 20"):
        mm.evaluate_suite(blind, limit=3)


def test_own_tasks_need_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALMOI_DATA", raising=False)
    rows = "\n".join(f"{text},{i % 2}" for i, text in enumerate(texts(40)))
    write(tmp_path / "mine.csv", f"text,label\n{rows}")
    task = mm.load_task(tmp_path / "mine.csv", "classification")
    scores = mm.evaluate_suite(BAG, None, tasks=[task], reporter=QUIET)
    assert [row.metric for row in scores] == ["accuracy", "f1"]
    with pytest.raises(InvalidArgumentError, match="there are no tasks: pass some, or set MALMOI"):
        mm.evaluate_suite(BAG, "all")


def test_arguments_that_are_not_valid(data: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="suite is 'fr': choose one of ko, en, all"):
        mm.evaluate_suite(BAG, "fr")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="models is empty"):
        mm.evaluate_suite([])
    with pytest.raises(InvalidArgumentError, match="tasks must be tasks"):
        mm.evaluate_suite(BAG, None, tasks=["sts.csv"])  # type: ignore[list-item]
    with pytest.raises(InvalidArgumentError, match="seed must be at least 0"):
        mm.evaluate_suite(BAG, seed=-1)


def vectors_file(folder: Path, seed: int = 0) -> str:
    """Word vectors in a file."""
    rows = np.random.default_rng(seed).normal(size=(len(WORDS), 5)).astype(np.float32)
    mm.save(Vectors(Keys.of(WORDS), rows), folder / "words.malmoi")
    return str(folder / "words.malmoi")


def test_vectors_of_named_models_are_cached(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = vectors_file(tmp_path)
    first = mm.evaluate_suite(name, "ko", reporter=QUIET)
    cached = [*(tmp_path / "cache").glob("vectors-*.npz")]
    assert cached

    def fail(*_: Any) -> None:
        raise AssertionError("a text was encoded again")

    monkeypatch.setattr(Embedder, "_keep", fail)
    assert mm.evaluate_suite(name, "ko", reporter=QUIET).rows == first.rows
    with pytest.raises(AssertionError, match="encoded again"):
        mm.evaluate_suite(name, "ko", cache=False, reporter=QUIET)


def test_a_changed_model_has_another_fingerprint(tmp_path: Path) -> None:
    name = vectors_file(tmp_path)
    first = encoder_fingerprint(mm.load_encoder(name))
    assert encoder_fingerprint(mm.load_encoder(name)) == first
    os.utime(name, ns=(1, 1))  # probes have none of its words: the date shows the change
    assert encoder_fingerprint(mm.load_encoder(name)) != first
    table = Vectors(Keys.of(["the", "rates."]), np.eye(2, dtype=np.float32))
    other = Vectors(Keys.of(["the", "rates."]), 2 * np.eye(2, dtype=np.float32))
    assert encoder_fingerprint(average_encoder(table)) != encoder_fingerprint(
        average_encoder(other)
    )


def test_a_damaged_cache_is_ignored(data: Path, tmp_path: Path) -> None:
    name = vectors_file(tmp_path)
    first = mm.evaluate_suite(name, "en", reporter=QUIET)
    for path in (tmp_path / "cache").glob("vectors-*.npz"):
        path.write_bytes(path.read_bytes()[:200])
    assert mm.evaluate_suite(name, "en", reporter=QUIET).rows == first.rows


def test_a_cache_that_cannot_be_written_is_reported(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").write_text("a file")
    monkeypatch.setenv("MALMOI_CACHE", str(tmp_path / "full" / "below"))
    with pytest.warns(MalmoiWarning, match="vectors are not cached"):
        scores = mm.evaluate_suite(vectors_file(tmp_path), "ko")
    assert scores.rows


def test_the_cache_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALMOI_CACHE", str(tmp_path))
    cache = VectorCache(BAG, max_bytes=5000)
    for number in range(10):
        cache.add([bytes([number]) * 16], np.zeros((1, 16), np.float32))
    files = [*tmp_path.glob("vectors-*.npz")]
    assert 1 < len(files) < 10
    assert sum(path.stat().st_size for path in files) <= 5000
    assert len(VectorCache(BAG)) == len(files)
    remove_oldest(files, 0)
    assert not [*tmp_path.glob("vectors-*.npz")]


def test_queries_and_documents_get_the_prompts_of_the_model(tmp_path: Path) -> None:
    folder = save_prompted(tmp_path, {"query": "the river, ", "document": "a bank. "}, "query")
    encoder = load_transformer(str(folder))
    embed = Embedder(encoder, None, QUIET)
    np.testing.assert_array_equal(embed(["fish"]), encoder.encode(["fish"]))
    peer = SentenceTransformer(str(folder), device="cpu")
    for role, expected in (
        ("query", peer.encode_query(["fish"])),
        ("document", peer.encode_document(["fish"])),
    ):
        np.testing.assert_allclose(embed(["fish"], role), expected, atol=1e-5)  # type: ignore[arg-type]
