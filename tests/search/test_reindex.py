"""Indexes that change their model: the old one answers until the switch."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.arrays import Float32Array
from malmoi.cli import run
from malmoi.reporting.reporter import DEFAULT_REPORTER
from malmoi.search.reindex.estimate import duration, estimate_seconds
from malmoi.search.reindex.linear_map import fit_map, neighbour_recall
from malmoi.search.reindex.reindexing import checkpoint_path
from malmoi.search.storage.folder import Folder
from malmoi.vectors import l2_normalize
from tests.recording_reporter import RecordingReporter
from tests.search.worlds import FIELDS, TEXTS, BagOfWords

ROOT = Path(__file__).parents[2]
OLD, NEW = BagOfWords("old", 16), BagOfWords("new", 24)
ANYTHING = mm.ReindexSettings(translate=True, min_recall=0.0)


def built(path: Path) -> mm.Index:
    return mm.build_index(OLD, TEXTS, fields=FIELDS, path=path)


def many(path: Path, texts: int = 400) -> mm.Index:
    drawn = np.random.default_rng(3)
    words = [f"w{i}" for i in range(40)]
    return mm.build_index(OLD, [" ".join(drawn.choice(words, 8)) for _ in range(texts)], path=path)


def same_ranking(one: mm.Index, two: mm.Index, query: str) -> bool:
    found = [
        [(hit.id, round(hit.score, 5)) for hit in index.search(query, 9)] for index in (one, two)
    ]
    return found[0] == found[1]


def test_a_changed_index_is_as_one_built_with_the_new_model(tmp_path: Path) -> None:
    built(tmp_path / "i").delete(["2"])
    done = mm.reindex(tmp_path / "i", NEW)
    changed = mm.open_index(tmp_path / "i", NEW)
    ids = [str(i) for i in range(len(TEXTS)) if i != 2]
    twin = mm.build_index(NEW, [TEXTS[int(i)] for i in ids], ids=ids)
    assert (done.before, done.model, done.embedded, done.texts) == ("old", "new", 7, 7)
    assert (done.dim, done.recall) == (24, None)
    for query in ("river bank", "서울에서 기타", "Interest"):
        assert same_ranking(changed, twin, query)
        assert [hit.id for hit in changed.search(query, lexical=True)] == [
            hit.id for hit in twin.search(query, lexical=True)
        ]
    assert [dict(changed[i].fields) for i in ids] == [
        {name: it for name, it in FIELDS[int(i)].items() if it is not None} for i in ids
    ]
    assert len(changed.search("bank", where={"lang": "ko"})) == 2
    assert not checkpoint_path(tmp_path / "i").exists()


def test_open_readers_keep_their_answers(tmp_path: Path) -> None:
    built(tmp_path / "i")
    reader = mm.open_index(tmp_path / "i", OLD)
    before = list(reader.search("river bank"))
    mm.reindex(tmp_path / "i", NEW)
    assert list(reader.search("river bank")) == before
    assert reader.state.model == "old"


def test_a_second_run_embeds_nothing(tmp_path: Path) -> None:
    built(tmp_path / "i")
    mm.reindex(tmp_path / "i", NEW)
    seen = list[str]()
    assert mm.reindex(tmp_path / "i", BagOfWords("new", 24, (seen,))).embedded == 0
    assert len(seen) <= 1  # the probe


def test_an_empty_index_changes_its_model(tmp_path: Path) -> None:
    mm.build_index(OLD, [], path=tmp_path / "i")
    assert mm.reindex(tmp_path / "i", NEW).texts == 0
    opened = mm.open_index(tmp_path / "i", NEW)
    opened.add(["the river"], ids=["r"])
    assert [hit.id for hit in opened.search("river")] == ["r"]


class Interrupting(BagOfWords):
    """Calls `during` when texts are embedded for the index, not for the estimate."""

    def __init__(self, during: Callable[[], None]) -> None:
        super().__init__("new", 24)
        object.__setattr__(self, "during", during)

    def encode(
        self, texts: Iterable[str], *, reporter: mm.Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        if not isinstance(reporter, mm.SilentReporter):
            during: Callable[[], None] = self.__dict__["during"]
            during()
        return super().encode(texts, reporter=reporter)


def test_changes_during_the_run_are_not_lost(tmp_path: Path) -> None:
    built(tmp_path / "i")
    writer = mm.open_index(tmp_path / "i", OLD)
    calls = list[int]()

    def write() -> None:
        calls.append(1)
        if len(calls) > 1:
            return
        writer.add(["A late text about trains.", "The sea."], ids=["late", "6"])
        writer.delete(["0"])

    assert mm.reindex(tmp_path / "i", Interrupting(write)).embedded == len(TEXTS) + 2
    changed = mm.open_index(tmp_path / "i", NEW)
    assert set(changed) == {"1", "2", "3", "4", "5", "6", "7", "late"}
    assert changed["6"].text == "The sea."
    assert changed.search("a late text", 1)[0].id == "late"


def test_an_open_writer_does_not_mix_vectors_of_two_models(tmp_path: Path) -> None:
    same_size = BagOfWords("new", 16)
    built(tmp_path / "i")
    writer = mm.open_index(tmp_path / "i", OLD)
    mm.reindex(tmp_path / "i", same_size)
    with pytest.raises(mm.InvalidArgumentError, match=r"changed its model to 'new'.*open it again"):
        writer.add(["one more"], ids=["x"])
    assert writer.delete(["0"]) == 1
    again = mm.open_index(tmp_path / "i", same_size)
    assert "x" not in again
    assert again.search("Rivers flow", 1)[0].id == "6"


def test_an_interrupted_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many(tmp_path / "i", 100)
    monkeypatch.setattr("malmoi.search.writer.BATCH_TEXTS", 20)
    calls = list[int]()

    def interrupt() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mm.reindex(tmp_path / "i", Interrupting(interrupt))
    assert mm.open_index(tmp_path / "i").state.model == "old"
    assert Folder(checkpoint_path(tmp_path / "i")).read().count == 40
    reporter = RecordingReporter()
    done = mm.reindex(tmp_path / "i", NEW, reporter=reporter)
    assert (done.embedded, done.texts) == (60, 100)
    assert any("40 texts are embedded already" in each for each in reporter.notes)
    assert any(each.startswith("≈ 2 seconds for 60 texts") for each in reporter.notes)


def test_the_checkpoint_of_another_model_is_discarded(tmp_path: Path) -> None:
    built(tmp_path / "i")
    mm.build_index(BagOfWords("other", 8), TEXTS, path=checkpoint_path(tmp_path / "i"))
    reporter = RecordingReporter()
    assert mm.reindex(tmp_path / "i", NEW, reporter=reporter).embedded == len(TEXTS)
    assert any("is discarded" in each for each in reporter.warnings)


def test_clusters_are_kept(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    texts = [f"w{i % 40} w{i % 7} w{i}" for i in range(1200)]
    mm.build_index(OLD, texts, path=tmp_path / "i", approximate=True)
    mm.reindex(tmp_path / "i", NEW)
    changed = mm.open_index(tmp_path / "i", NEW)
    assert changed.state.clusters is not None
    assert changed.search("w3 w3 w3", 1)[0].text == "w3 w3 w3"
    changed.describe()
    mm.reindex(tmp_path / "i", OLD, ANYTHING)
    assert mm.open_index(tmp_path / "i", OLD).state.clusters is not None


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_ten_killed_runs_leave_the_old_answers_until_the_switch(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.search.killing_reindex", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "10 runs killed" in done.stdout


def test_a_rotation_is_learnt_exactly() -> None:
    drawn = np.random.default_rng(0)
    old = l2_normalize(drawn.normal(size=(300, 12)).astype(np.float32))
    rotation = np.linalg.qr(drawn.normal(size=(12, 12)))[0].astype(np.float32)
    fitted = fit_map(old[:200], old[:200] @ rotation)
    np.testing.assert_allclose(fitted.map(old[200:]), old[200:] @ rotation, atol=1e-3)
    assert neighbour_recall(old[:200] @ rotation, fitted.held_out) > 0.99
    assert not fitted.map(np.zeros((1, 12), np.float32)).any()


def test_held_out_vectors_are_those_of_maps_that_have_not_seen_them() -> None:
    drawn = np.random.default_rng(1)
    old, new = (drawn.normal(size=(30, dim)).astype(np.float32) for dim in (50, 7))
    fitted = fit_map(old, new)
    cosines = (fitted.held_out * l2_normalize(new)).sum(axis=1)
    assert abs(cosines.mean()) < 0.35  # noise cannot be predicted, though it can be learnt
    assert neighbour_recall(new, new) == 1.0


def test_translated_vectors_are_recorded(tmp_path: Path) -> None:
    many(tmp_path / "i")
    reporter = RecordingReporter()
    settings = mm.ReindexSettings(translate=True, min_texts=200, min_recall=0.2)
    done = mm.reindex(tmp_path / "i", NEW, settings, reporter=reporter)
    assert done.embedded == 200
    assert done.recall is not None
    assert any("of the ten nearest of 200 texts" in each for each in reporter.notes)
    opened = mm.open_index(tmp_path / "i", NEW)
    facts = opened.describe()
    assert facts["vectors"].startswith("translated from 'old', recall@10")
    norms = np.linalg.norm(opened.vectors.matrix, axis=1)
    np.testing.assert_allclose(norms, 1, atol=1e-5)
    opened.add(["w1 w1 w1 w1"], ids=["new"])
    assert opened.search("w1 w1", 1)[0].id == "new"
    assert mm.reindex(tmp_path / "i", NEW).recall is None  # embeds what was translated
    assert mm.open_index(tmp_path / "i", NEW).describe()["vectors"] == "of the model"


def test_a_translation_that_loses_too_much_is_refused(tmp_path: Path) -> None:
    many(tmp_path / "i", 60)
    strict = mm.ReindexSettings(translate=True, min_recall=1.0)
    with pytest.raises(mm.InvalidArgumentError, match="less than min_recall 1: the index is unch"):
        mm.reindex(tmp_path / "i", NEW, strict)
    assert mm.open_index(tmp_path / "i").state.model == "old"
    built(tmp_path / "few")
    with pytest.raises(mm.InvalidArgumentError, match="8 texts to learn a translation from"):
        mm.reindex(tmp_path / "few", NEW, ANYTHING)


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    with pytest.raises(mm.InvalidFileError, match="does not exist"):
        mm.reindex(tmp_path / "none", NEW)
    for wrong, message in (
        ({"sample": 0.0}, "sample is 0.0"),
        ({"min_texts": 0}, "min_texts is 0"),
        ({"min_recall": 1.5}, "min_recall is 1.5"),
        ({"seed": -1}, "seed is -1"),
    ):
        with pytest.raises(mm.InvalidArgumentError, match=message):
            mm.ReindexSettings(**wrong)


def test_prompts_that_the_new_model_cannot_take_are_dropped(tmp_path: Path) -> None:
    built(tmp_path / "i")
    folder = Folder(tmp_path / "i")
    with folder.writing():
        folder.commit(replace(folder.read(), prompts=mm.Prompts(query="query: ")))
    reporter = RecordingReporter()
    mm.reindex(tmp_path / "i", NEW, reporter=reporter)
    assert "'new' takes no prompts: those of the index are dropped" in reporter.warnings
    assert mm.open_index(tmp_path / "i").state.prompts == mm.Prompts()


def test_the_time_is_estimated_by_characters() -> None:
    assert estimate_seconds(OLD, [], split=True) == 0.0
    assert estimate_seconds(OLD, ["river bank"] * 500, split=True) > 0.0
    assert [duration(each) for each in (0, 60, 720, 9000)] == [
        "2 seconds", "60 seconds", "12 minutes", "2 hours",
    ]  # fmt: skip


def test_the_command_changes_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("malmoi.cli.reindex.load_encoder", lambda name: NEW)
    many(tmp_path / "i")
    path = str(tmp_path / "i")
    assert run(["reindex", path, "--model", "new", "--translate"]) == 1
    assert "less than min_recall 0.9" in capsys.readouterr().err
    assert run(["reindex", path, "--model", "new", "--translate", "--yes", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["before"] == "old"
    assert printed["recall"] > 0
    assert run(["reindex", path, "--model", "new"]) == 0
    shown = capsys.readouterr()
    assert "400 texts, 400 embedded" in shown.out
    assert "for 400 texts" in shown.err
