"""The guard: students that collapse are stopped with the reason, others are not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malmoi.encode.encoder import load_transformer
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.distill.collapse import (
    CHECKED_TEXTS,
    DOUBTS,
    CollapseError,
    CollapseGuard,
)
from malmoi.tune.distill.distilling import distill
from malmoi.tune.distill.spread import token_shares
from tests.recording_reporter import RecordingReporter
from tests.tune.distill.worlds import quick, teacher_and_student, translations
from tests.tune.worlds import tiny_model

TARGETS = np.random.default_rng(0).normal(size=(CHECKED_TEXTS, 40)).astype(np.float32)
TARGETS /= np.linalg.norm(TARGETS, axis=1, keepdims=True)
MEAN = np.ones(40, np.float32) / np.sqrt(40)


def new_guard(start: float, **changes: Any) -> CollapseGuard:
    options = {"learning_rate": 5e-5} | changes
    guard = CollapseGuard(["text"] * CHECKED_TEXTS, TARGETS, SilentReporter(), **options)
    guard.r2 = [start]
    return guard


def student(share: float, noise: float = 0.0, seed: int = 1) -> Any:
    """Vectors that are the targets to a share, and otherwise one vector, with noise."""
    random = np.random.default_rng(seed).normal(size=TARGETS.shape).astype(np.float32)
    rows = share * TARGETS + (1 - share) * MEAN + noise * random
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def check_often(guard: CollapseGuard, several: list[Any], *, is_warm: bool = True) -> None:
    for vectors in several:
        guard.check(vectors, is_warm=is_warm)


def test_vectors_that_become_alike_are_stopped_even_in_the_warm_up() -> None:
    guard = new_guard(start=0.2)
    with pytest.raises(CollapseError, match=r"collapses .*lower learning_rate, now 5e-05"):
        check_often(guard, DOUBTS * [student(0.05)], is_warm=False)


def test_one_bad_check_does_not_stop_a_run() -> None:
    guard = new_guard(start=0.2)
    for share in (0.05, 0.9, 0.05, 0.9):
        guard.check(student(share), is_warm=True)


def test_a_student_that_learns_slowly_from_alike_vectors_is_not_stopped() -> None:
    """As an encoder does that was never tuned for sentences: its cosines are high at first."""
    guard = new_guard(start=-0.9)
    for share in np.linspace(0.05, 0.9, 30):
        guard.check(student(float(share)), is_warm=share > 0.2)
    assert guard.r2[-1] > 0.8


def test_a_student_that_has_learnt_nothing_after_the_warm_up_is_stopped() -> None:
    guard = new_guard(start=-1.02)
    guard.check(student(0.05), is_warm=False)
    with pytest.raises(CollapseError, match=r"learnt nothing so far .*malmoi tune extend"):
        check_often(guard, DOUBTS * [student(0.0, noise=0.5)])


def test_a_student_that_predicts_the_mean_forever_is_stopped() -> None:
    """Its R² is 0 and rises no more, though it began far lower."""
    guard = new_guard(start=-9.0)
    mean = np.tile(TARGETS.mean(axis=0), (len(TARGETS), 1))
    noise = 1e-4 * np.random.default_rng(0).normal(size=(40, *mean.shape)).astype(np.float32)
    with pytest.raises(CollapseError, match="learnt nothing so far"):
        check_often(guard, list(mean + noise))


def test_force_warns_instead() -> None:
    reporter = RecordingReporter()
    guard = CollapseGuard(
        ["text"] * CHECKED_TEXTS, TARGETS, reporter, learning_rate=5e-5, force=True
    )
    guard.r2 = [0.2]
    for _ in range(6):
        guard.check(student(0.05), is_warm=True)
    assert len(reporter.warnings) == 1
    assert "collapse" in reporter.warnings[0]


def test_shares_of_tokens(tmp_path: Path) -> None:
    teacher, extended = teacher_and_student(tmp_path)
    texts = ["тот банк", "река вор", "the bank ловля", "the bank"]
    known, unknown = (token_shares(load_transformer(one), texts) for one in (extended, teacher))
    assert (known.unknown, known.fragments) == (0, 0)
    assert unknown.unknown == 0.75
    assert unknown.fragments == pytest.approx(5 / 9)


def test_a_student_without_tokens_of_the_language_is_refused(tmp_path: Path) -> None:
    teacher = tiny_model(tmp_path / "teacher")
    settings = quick(teacher, rows="all")
    with pytest.raises(CollapseError, match=r"unknown tokens .*malmoi tune extend.*force"):
        distill(translations(200), teacher, tmp_path / "out", settings, reporter=SilentReporter())
    assert not (tmp_path / "out").exists()


def test_a_student_whose_new_rows_are_all_the_same_is_refused(tmp_path: Path) -> None:
    teacher, dead = teacher_and_student(tmp_path, rows="dead")
    with pytest.raises(CollapseError, match="nearly the same"):
        distill(
            translations(300), dead, tmp_path / "out", quick(teacher), reporter=SilentReporter()
        )
    forced = quick(teacher, force=True, epochs=1)
    reporter = RecordingReporter()
    distill(translations(300), dead, tmp_path / "out", forced, reporter=reporter)
    assert any("nearly the same" in warning for warning in reporter.warnings)


def test_a_learning_rate_that_is_far_too_high_is_stopped(tmp_path: Path) -> None:
    teacher, learner = teacher_and_student(tmp_path)
    settings = quick(teacher, learning_rate=3.0, train_layers=3, epochs=20, batch_size=8)
    with pytest.raises(CollapseError, match="lower learning_rate, now 3"):
        distill(translations(300), learner, tmp_path / "out", settings, reporter=SilentReporter())


@pytest.mark.parametrize("changes", [{}, {"train_layers": 3}, {"rows": "all", "loss": "mse"}])
def test_students_that_learn_are_not_stopped(changes: dict[str, Any], tmp_path: Path) -> None:
    teacher, learner = teacher_and_student(tmp_path)
    result = distill(
        translations(300), learner, tmp_path / "out", quick(teacher, **changes),
        reporter=SilentReporter(),
    )  # fmt: skip
    assert result.r2 > result.history[0][1]
