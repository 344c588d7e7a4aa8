"""Comparisons: the same texts for all, seeds, curves, caches, time limits and what is left out."""

import json
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.classify.compare.ranking import recommend
from malmoi.classify.compare.run import Run, run_classifier
from malmoi.classify.compare.statistics import accuracy_over_seeds, difference_to
from malmoi.cli import run
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.suites.differences import Difference
from malmoi.reporting.reporter import SilentReporter
from tests.classify.worlds import labelled, multi_labelled
from tests.recording_reporter import RecordingReporter

SILENT = SilentReporter()
MODELS = ["ngrams:threads=1", "words:threads=1"]
RUN = "malmoi.classify.compare.runner.run_classifier"
QUICK = mm.CompareSettings(seeds=2, cache=False)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALMOI_CACHE", str(tmp_path / "cache"))


def noisy(count: int = 240) -> list[tuple[str, str]]:
    """Texts of which some have another label than their words say."""
    rows = labelled(count)
    names = sorted({label for _, label in rows})
    return [
        (text, names[i // 7 % 3] if i % 7 == 0 else label) for i, (text, label) in enumerate(rows)
    ]


def test_models_are_ranked_with_their_costs() -> None:
    comparison = mm.compare(noisy(), MODELS, QUICK, reporter=SILENT)
    values = [one.accuracy.value or 0 for one in comparison.models]
    assert values == sorted(values, reverse=True)
    assert {one.name for one in comparison.models} == set(MODELS)
    assert comparison.models[0].difference is None
    assert comparison.models[1].difference is not None
    assert comparison.models[1].difference.value == pytest.approx(values[1] - values[0])
    assert comparison.seeds == (1, 2)
    assert comparison.labels == ("food", "music", "sport")
    assert comparison.recommended in MODELS
    assert comparison.recommended in comparison.sentence
    for one in comparison.models:
        assert len(one.by_seed) == 2
        assert one.accuracy.low is not None
        assert one.accuracy.low <= (one.accuracy.value or 0) <= (one.accuracy.high or 0)
        assert [point.share for point in one.curve] == [0.3, 1.0]  # 0.1 of them is too few
        assert one.train_cpu_seconds > 0
        assert one.texts_per_second > 0
        assert one.size > 1000
        assert np.sum(one.confusion) == 2 * comparison.test_texts
        assert np.trace(np.array(one.confusion)) / np.sum(one.confusion) == one.accuracy.value
        assert all(mistake.label != mistake.predicted for mistake in one.mistakes)
    assert any(mistake.parts for one in comparison.models for mistake in one.mistakes)
    json.dumps(comparison.to_dict())
    assert all(len(line) <= 80 for line in str(comparison).splitlines())


def test_folds_test_every_text_once() -> None:
    settings = mm.CompareSettings(folds=4, cache=False, curve=False)
    comparison = mm.compare(labelled(120), MODELS[:1], settings, reporter=SILENT)
    assert comparison.seeds == (1, 2, 3, 4)
    assert comparison.models[0].accuracy.answered == 120


def test_texts_with_several_labels() -> None:
    comparison = mm.compare(multi_labelled(), MODELS, QUICK, reporter=SILENT)
    assert comparison.multi_label
    assert comparison.models[0].confusion == ()
    assert comparison.models[0].macro_f1 > 0.5


def test_finished_runs_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = mm.CompareSettings(seeds=2, curve=False)
    first = mm.compare(noisy(), MODELS, settings, reporter=SILENT)

    def fails(*_: object, **__: object) -> Run:
        raise AssertionError("a run was repeated")

    with monkeypatch.context() as patch:
        patch.setattr(RUN, fails)
        again = mm.compare(noisy(), MODELS, settings, reporter=SILENT)
    assert again.models == first.models
    other = [*noisy()[:-1], ("another text altogether", "food")]
    with monkeypatch.context() as patch:
        patch.setattr(RUN, fails)
        with pytest.raises(AssertionError):
            mm.compare(other, MODELS, settings, reporter=SILENT)


def test_an_interrupted_comparison_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, done = mm.CompareSettings(seeds=2, curve=False), list[object]()
    whole = mm.compare(noisy(), MODELS, QUICK, reporter=SILENT)
    really = run_classifier

    def interrupted(*given: object, **more: object) -> Run:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(given)
        return really(*given, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(RUN, interrupted)
        with pytest.raises(KeyboardInterrupt):
            mm.compare(noisy(), MODELS, settings, reporter=SILENT)
    done.clear()
    with monkeypatch.context() as patch:
        patch.setattr(RUN, interrupted)
        resumed = mm.compare(noisy(), MODELS, settings, reporter=SILENT)
    assert len(done) == 1
    assert [one.by_seed for one in resumed.models] == [one.by_seed for one in whole.models]


def test_damaged_cache_is_ignored(tmp_path: Path) -> None:
    settings = mm.CompareSettings(seeds=1, curve=False)
    first = mm.compare(noisy(), MODELS, settings, reporter=SILENT)
    for file in (tmp_path / "cache").rglob("run-*.npz"):
        file.write_bytes(file.read_bytes()[:100])
    again = mm.compare(noisy(), MODELS, settings, reporter=SILENT)
    assert [one.by_seed for one in again.models] == [one.by_seed for one in first.models]


def test_a_model_that_fails_is_left_out_with_its_reason() -> None:
    reporter = RecordingReporter()
    comparison = mm.compare(noisy(), [*MODELS, "no-such-model"], QUICK, reporter=reporter)
    assert [name for name, _ in comparison.failed] == ["no-such-model"]
    assert "no-such-model" in str(comparison)
    assert any("no-such-model is left out" in sentence for sentence in reporter.warnings)
    with pytest.raises(InvalidArgumentError, match="no classifier could be trained"):
        mm.compare(noisy(), ["no-such-model"], QUICK, reporter=SILENT)


def test_time_limit_keeps_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 40))
    monkeypatch.setattr("malmoi.classify.compare.runner.time.monotonic", lambda: next(clock))
    settings = mm.CompareSettings(seeds=3, minutes=1, cache=False)
    comparison = mm.compare(noisy(), MODELS, settings, reporter=SILENT)
    assert [one.name for one in comparison.models] == MODELS[:1]
    assert comparison.failed == ((MODELS[1], "the time was over before its turn"),)
    assert comparison.seeds == (1,)  # not the three that were planned


def made(right: list[bool], rows: list[int] | None = None) -> Run:
    return Run(
        rows=np.array(rows or range(len(right)), np.int64),
        right=np.array(right),
        predicted=np.zeros(len(right), np.int64),
        confusion=np.zeros((0, 0), np.int64),
        train_texts=1,
        macro_f1=0.0,
        calibration_error=0.0,
        cpu_seconds=1.0,
        texts_per_second=1.0,
        size=1,
        kind="",
        labels=(),
        mistakes=(),
    )


def test_intervals_and_differences() -> None:
    random = np.random.default_rng(1)
    good, bad = (list(random.random(400) < share) for share in (0.9, 0.7))
    score = accuracy_over_seeds({1: made(good), 2: made(good)})
    assert score.value == pytest.approx(np.mean(good))
    # Two seeds on the same texts with the same result tell no more than one.
    expected = 1.96 * np.sqrt(np.mean(good) * (1 - np.mean(good)) / 400)
    assert (score.high or 0) - (score.low or 0) == pytest.approx(2 * expected, rel=0.15)
    worse = difference_to({1: made(good)}, {1: made(bad), 2: made(bad)})
    assert worse is not None
    assert worse.value == pytest.approx(np.mean(bad) - np.mean(good))
    assert worse.verdict == "worse"
    same = difference_to({1: made(good)}, {1: made(good)})
    assert same is not None
    assert same.verdict == "no difference"
    assert difference_to({1: made(good)}, {2: made(bad)}) is None


def test_many_texts_are_resampled_in_groups() -> None:
    random = np.random.default_rng(1)
    right = list(random.random(50_000) < 0.8)
    score = accuracy_over_seeds({1: made(right)})
    expected = 1.96 * np.sqrt(0.16 / 50_000)
    assert (score.high or 0) - (score.low or 0) == pytest.approx(2 * expected, rel=0.15)


def scores(
    name: str, accuracy: float, seconds: float, difference: Difference | None = None
) -> mm.ModelScores:
    return mm.ModelScores(
        name=name,
        kind="",
        accuracy=mm.Score(value=accuracy, answered=100, total=100),
        by_seed=(),
        macro_f1=0.0,
        calibration_error=0.0,
        train_cpu_seconds=seconds,
        texts_per_second=1e6,
        size=1,
        labels=(),
        confusion=(),
        curve=(),
        mistakes=(),
        difference=difference,
    )


def test_recommendation() -> None:
    within, beyond = (
        Difference(value=-0.01, low=-0.02, high=0.01),
        Difference(value=-0.1, low=-0.2, high=-0.05),
    )
    best = scores("big", 0.93, 400.0)
    assert recommend([best], 1000) == ("big", "take big: 93.0 %")
    name, sentence = recommend([best, scores("small", 0.92, 10.0, within)], 1000)
    assert name == "small"
    assert sentence == "take small: 92.0 %, as good as big (93.0 %) within noise, 40× cheaper"
    name, sentence = recommend([best, scores("small", 0.8, 10.0, beyond)], 1000)
    assert name == "big"
    assert sentence.endswith("better than small (80.0 %) beyond noise")
    name, sentence = recommend([best, scores("other", 0.92, 390.0, within)], 1000)
    assert name == "big"
    assert sentence.endswith("nothing that is as good is much cheaper")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "texts.tsv"
    table.write_text("\n".join(["text\tlabel", *("\t".join(row) for row in noisy())]))
    words = ["compare", str(table), "--models", "ngrams", "words", "--seeds", "2", "--no-curve"]
    assert run([*words, "--out", str(tmp_path / "report.json")]) == 0
    printed = capsys.readouterr().out
    assert "Take " in printed
    assert all(len(line) <= 80 for line in printed.splitlines() if str(tmp_path) not in line)
    assert run([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    kept = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert record["models"] == kept["models"]  # the second is made of cached runs
    wrong = tmp_path / "wrong.jsonl"
    assert run([*words, "--errors", str(wrong)]) == 0
    errors = [json.loads(line) for line in wrong.read_text(encoding="utf-8").splitlines()]
    assert errors
    assert all(one["label"] != one["predicted"] for one in errors)
    assert {(one["text"], one["label"]) for one in errors} <= set(noisy())
    assert len({one["text"] for one in errors}) == len(errors)
    assert run(["compare", str(tmp_path / "missing.csv")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_a_cache_that_cannot_be_written_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Run, "save", full)
    reporter = RecordingReporter()
    mm.compare(noisy(), MODELS, mm.CompareSettings(seeds=2), reporter=reporter)
    assert sum("finished runs are not kept" in each for each in reporter.warnings) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test_share": 1.0}, "test_share is 1.0"),
        ({"folds": 1}, "folds is 1"),
        ({"seeds": 0}, "seeds is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"minutes": 0}, "minutes is 0"),
    ],
)
def test_settings_are_checked(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        mm.CompareSettings(**settings)  # type: ignore[arg-type]


def test_no_models_and_no_file() -> None:
    with pytest.raises(InvalidArgumentError, match="models is empty"):
        mm.compare(noisy(), [], QUICK, reporter=SILENT)
    with pytest.raises(InvalidFileError, match="does not exist"):
        mm.compare("nowhere.csv", reporter=SILENT)


def test_texts_that_only_repeat_are_one_sentence() -> None:
    rows = [{"text": "good text", "label": "a"}, {"text": "bad text", "label": "b"}] * 20
    for settings in (QUICK, mm.CompareSettings(folds=4, cache=False)):
        with pytest.raises(InvalidArgumentError, match="its texts repeat each other"):
            mm.compare(rows, MODELS, settings, reporter=SILENT)
