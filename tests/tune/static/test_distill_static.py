"""Distillation into a static student: the fit, the folder, texts of all kinds, and resuming."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.arrays import Float32Array
from malmoi.cli import run
from malmoi.files import checkpoint
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, SilentReporter
from malmoi.tune.static import distill as distilling
from malmoi.tune.static.teacher import principal_axes, vectors_path
from malmoi.tune.static.vocabulary import learn_tokenizer
from malmoi.vectors import l2_normalize
from tests.recording_reporter import RecordingReporter
from tests.search.worlds import BagOfWords

QUIET = SilentReporter()
WORDS = ["비행기가", "은행에서", "남자가", "강을", "있다", "bank", "river", "plane", "man", "is"]


def some_texts(count: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[" ".join(random.choice(WORDS, random.integers(2, 7)))] = None
    return list(texts)


def settings(**changes: Any) -> mm.StaticSettings:
    return mm.StaticSettings(**{"dim": 8, "vocabulary_size": 300, "threads": 1} | changes)


@dataclass(frozen=True)
class Interrupted(BagOfWords):
    """A teacher that is interrupted after some texts."""

    after: int = 50

    def stream(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        for number, text in enumerate(texts):
            if number == self.after:
                raise KeyboardInterrupt
            yield self.encode([text])


def test_a_student_imitates_its_teacher(tmp_path: Path) -> None:
    teacher, texts = BagOfWords(), some_texts(400)
    result = mm.distill_static(texts, teacher, tmp_path / "out", settings(dim=16), reporter=QUIET)
    assert result.texts == 400
    assert result.best.cosine > 0.95
    assert result.best.r2 > 0.9
    assert result.fits[0].epoch == 0
    assert result.best.cosine > result.fits[0].cosine
    student = mm.load_encoder(str(tmp_path / "out"))
    new = some_texts(430)[400:]
    ours, theirs = (l2_normalize(each.encode(new)) for each in (student, teacher))
    assert np.corrcoef((ours @ ours.T).ravel(), (theirs @ theirs.T).ravel())[0, 1] > 0.9
    assert not list(tmp_path.glob("out.*"))


def test_the_same_seed_gives_the_same_folder(tmp_path: Path) -> None:
    for name in ("one", "other"):
        mm.distill_static(some_texts(60), BagOfWords(), tmp_path / name, settings(), reporter=QUIET)
    files = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "other")]
    assert files[0] == files[1]


def test_the_dev_set_compares_student_and_teacher(tmp_path: Path) -> None:
    teacher, texts = BagOfWords(), some_texts(120)
    rows = l2_normalize(teacher.encode(texts[:100]))
    scores = (rows[::2] * rows[1::2]).sum(axis=1).tolist()
    dev = mm.SentenceSet.of(texts[:100:2], texts[1:100:2], scores)
    result = mm.distill_static(
        texts, teacher, tmp_path / "out", settings(dim=16), dev=dev, reporter=QUIET
    )
    assert result.dev is not None
    assert result.dev[1].value == pytest.approx(1)
    assert result.dev[0].value is not None
    assert result.dev[0].value > 0.9
    assert f"Spearman {100 * result.dev[0].value:.2f}, teacher 100.00" in result.sentence


def test_empty_and_repeated_texts_are_reported(tmp_path: Path) -> None:
    reporter = RecordingReporter()
    path = tmp_path / "texts.txt"
    texts = some_texts(30)
    path.write_text("\n".join([*texts, "", texts[0], " " + texts[1]]) + "\n", encoding="utf-8")
    result = mm.distill_static(path, BagOfWords(), tmp_path / "out", settings(), reporter=reporter)
    assert result.texts == 30
    assert "3 of 33 texts are empty or repeated: left out" in reporter.warnings
    assert reporter.stages["teaching"][-1] == (30, 30)
    assert len(reporter.losses) == settings().epochs
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert f"malmoi tune distill {path} --static --teacher bag" in card


def test_an_interrupted_run_resumes(tmp_path: Path) -> None:
    texts, out = some_texts(120), tmp_path / "out"
    mm.distill_static(texts, BagOfWords(), tmp_path / "whole", settings(), reporter=QUIET)
    with pytest.raises(KeyboardInterrupt):
        mm.distill_static(texts, Interrupted(), out, settings(), reporter=QUIET)
    assert vectors_path(out).stat().st_size == 50 * 16 * 4
    with vectors_path(out).open("ab") as file:
        file.write(b"half a row")
    seen: list[str] = []
    result = mm.distill_static(
        texts, BagOfWords(seen=(seen,)), out, settings(epochs=8), resume=True, reporter=QUIET
    )
    assert result.texts == 120
    names = [name for name in seen if name in texts]
    assert len(names) == 70
    files = [(tmp_path / n / "model.safetensors").read_bytes() for n in ("whole", "out")]
    assert files[0] == files[1]


def test_another_corpus_or_teacher_does_not_resume(tmp_path: Path) -> None:
    texts, out = some_texts(80), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        mm.distill_static(texts, Interrupted(), out, settings(), reporter=QUIET)
    with pytest.raises(mm.InvalidArgumentError, match="another corpus"):
        mm.distill_static(texts[:-1], BagOfWords(), out, settings(), resume=True, reporter=QUIET)
    with pytest.raises(mm.InvalidArgumentError, match="with teacher bag, not sack"):
        mm.distill_static(texts, BagOfWords("sack"), out, settings(), resume=True, reporter=QUIET)
    vectors_path(out).unlink()
    with pytest.raises(mm.InvalidFileError, match="lacks vectors"):
        mm.distill_static(texts, BagOfWords(), out, settings(), resume=True, reporter=QUIET)


def test_a_checkpoint_is_saved_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[int] = []
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    save = checkpoint.Checkpointer.save

    def note(self: checkpoint.Checkpointer, state: checkpoint.Checkpoint) -> None:
        saved.append(state.state["texts"])
        save(self, state)

    monkeypatch.setattr(checkpoint.Checkpointer, "save", note)
    mm.distill_static(some_texts(20), BagOfWords(), tmp_path / "o", settings(), reporter=QUIET)
    assert saved == [*range(1, 21), 20]


def test_a_limit_on_time_ends_the_teaching(tmp_path: Path) -> None:
    texts = some_texts(200)
    result = mm.distill_static(
        texts, BagOfWords(), tmp_path / "out", settings(minutes=1e-9), reporter=QUIET
    )
    assert result.texts < 200
    assert f"has read {result.texts} of 200 texts" in result.stopped


def test_a_single_text_is_too_little(tmp_path: Path) -> None:
    with pytest.raises(mm.InvalidArgumentError, match="there are 1 texts"):
        mm.distill_static(["하나"], BagOfWords(), tmp_path / "out", settings(), reporter=QUIET)
    with pytest.raises(mm.InvalidArgumentError, match="there are 0 texts"):
        mm.distill_static([], BagOfWords(), tmp_path / "out2", settings(), reporter=QUIET)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dim": 17}, "dim is 17, but the vectors of bag have 16 dimensions"),
        ({"vocabulary": ("missing.txt",)}, "missing.txt does not exist"),
    ],
)
def test_settings_that_do_not_suit(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(mm.MalmoiError, match=sentence):
        mm.distill_static(
            some_texts(9), BagOfWords(), tmp_path / "out", settings(**changes), reporter=QUIET
        )


@pytest.mark.parametrize(
    "changes", [{"dim": 0}, {"epochs": 0}, {"learning_rate": 0.0}, {"seed": -1}, {"minutes": -1.0}]
)
def test_settings_out_of_range(changes: dict[str, Any]) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=f"{next(iter(changes))} is"):
        mm.StaticSettings(**changes)


def test_a_full_target_and_a_wrong_teacher(tmp_path: Path) -> None:
    with pytest.raises(mm.InvalidFileError, match="exists already"):
        mm.distill_static(some_texts(9), BagOfWords(), tmp_path, settings(), reporter=QUIET)
    with pytest.raises(mm.InvalidArgumentError, match="teacher must be an encoder"):
        mm.distill_static(some_texts(9), 3, tmp_path / "out", settings())  # type: ignore[arg-type]


def test_vocabularies_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n비행기\n##가\nbank\n##s\n", encoding="utf-8")
    tokenizer = learn_tokenizer(["비행기가 banks"], 10, [str(path), str(path)])
    assert tokenizer.encode("비행기가 BANKS").tokens == ["▁비행기", "가", "▁bank", "s"]
    assert tokenizer.encode("뷁").tokens == ["▁", "<0xEB>", "<0xB7>", "<0x81>"]


def test_the_axes_keep_cosines() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 6)).astype(np.float32)
    axes = principal_axes(rows, 6)
    ours, theirs = l2_normalize(rows @ axes), l2_normalize(rows)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-5)
    weights = (l2_normalize(rows) @ axes) ** 2
    assert (np.diff(weights.sum(axis=0)) <= 1e-4).all()


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(distilling, "load_encoder", lambda name: BagOfWords())
    Path("texts.txt").write_text("\n".join(some_texts(50)), encoding="utf-8")
    options = ["--dim", "8", "--vocabulary-size", "300", "--threads", "1"]
    command = ["tune", "distill", "texts.txt", "--static", "--teacher", "bag", *options]
    assert run([*command, "--out", "plain"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("plain: ")
    assert "held-out texts: cosine to the teacher" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert run([*command, "--out", "other", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["texts"] == 50
    assert len(record["held_out"]) == 9
    assert run([*command, "--out", "other"]) != 0
    assert "exists already" in capsys.readouterr().err
    table = "id\tbody\n" + "\n".join(f"{i}\t{text}" for i, text in enumerate(some_texts(50)))
    Path("texts.tsv").write_text(table, encoding="utf-8")
    command[2] = "texts.tsv"
    assert run([*command, "--out", "column", "--field", "body"]) == 0
    assert capsys.readouterr().out.startswith("column: ")
    assert run([*command[:2], "missing.txt", "--out", "new"]) != 0
