"""Distillation as a whole: it learns, keeps the source language, resumes, and can be loaded."""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentence_transformers
from safetensors.numpy import load_file

from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.files import checkpoint
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.distill.distilling import distill
from malmoi.tune.distill.parallel import DistillData, draw_pairs, read_parallel
from malmoi.tune.distill.settings import DistillSettings
from tests.recording_reporter import RecordingReporter
from tests.tune.distill.worlds import quick, teacher_and_student, translate, translations
from tests.tune.worlds import StopAfter, random_texts, scored_pairs

PAIRS = translations(300)
DEV = SentenceSet.of(*zip(*scored_pairs(40, seed=9), strict=True), name="source")
OTHER_DEV = SentenceSet.of(
    *zip(*[(translate(a), translate(b), s) for a, b, s in scored_pairs(40, seed=9)], strict=True),
    name="target",
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return teacher_and_student(tmp_path_factory.mktemp("models"))


def vectors(model: str, texts: list[str]) -> Any:
    return load_encoder(model).encode(texts, reporter=SilentReporter())


def test_the_student_learns_and_source_texts_keep_their_vectors(
    models: tuple[str, str], tmp_path: Path
) -> None:
    teacher, student = models
    settings = quick(teacher, train_layers=0)
    result = distill(
        PAIRS, student, tmp_path / "out", settings, dev=[DEV, OTHER_DEV], reporter=SilentReporter()
    )
    assert result.r2 > 0.5 > result.history[0][1]
    texts = random_texts(20, seed=4)
    np.testing.assert_array_equal(vectors(str(result.folder), texts), vectors(student, texts))
    scores = {
        (row.task, row.metric): [score.value or 0.0 for score in row.scores]
        for row in result.scores
    }
    goal, kept = scores["source", "cosine_spearman"]
    assert kept == pytest.approx(goal, abs=1e-4)
    before, after = (abs(value - goal) for value in scores["target", "cosine_spearman"])
    assert after < before
    before, after = scores["held-out translations", "accuracy, target→source"]
    assert after > before


def test_training_all_layers_learns_more(models: tuple[str, str], tmp_path: Path) -> None:
    teacher, student = models
    r2 = {}
    for layers in (0, 3):
        settings = quick(teacher, train_layers=layers, epochs=12)
        out = tmp_path / f"out{layers}"
        r2[layers] = distill(PAIRS, student, out, settings, reporter=SilentReporter()).r2
    assert r2[3] > r2[0]


def test_layers_are_trained_where_the_student_is_not_the_teacher_with_more_tokens(
    models: tuple[str, str], tmp_path: Path
) -> None:
    teacher, student = models
    weights = [load_file(Path(student) / "model.safetensors")]
    for name, rows, expected in (("new", "new", False), ("all", "all", True)):
        reporter, out = RecordingReporter(), tmp_path / name
        distill(PAIRS, student, out, quick(teacher, epochs=1, rows=rows), reporter=reporter)
        weights.append(load_file(out / "model.safetensors"))
        layer = "encoder.layer.0.output.dense.weight"
        assert (weights[0][layer] != weights[-1][layer]).any() == expected
        said = any("only the rows of new tokens" in warning for warning in reporter.warnings)
        assert said != expected


def test_sentence_transformers_loads_the_folder(models: tuple[str, str], tmp_path: Path) -> None:
    teacher, student = models
    result = distill(
        PAIRS, student, tmp_path / "out", quick(teacher, epochs=1), reporter=SilentReporter()
    )
    texts = [text for pair in translations(20, seed=4) for text in pair]
    theirs = sentence_transformers.SentenceTransformer(str(result.folder), device="cpu")
    np.testing.assert_allclose(vectors(str(result.folder), texts), theirs.encode(texts), atol=2e-6)
    card = (result.folder / "README.md").read_text(encoding="utf-8")
    assert "distilled from" in card
    assert "Held-out R²" in card
    assert f"malmoi tune distill PARALLEL --model {student}" in card
    assert "- the list: 300 pairs" in card


def test_texts_without_a_translation_are_learnt_through_a_bridge(
    models: tuple[str, str], tmp_path: Path
) -> None:
    teacher, student = models
    bridge = distill(
        PAIRS, student, tmp_path / "bridge", quick(teacher), reporter=SilentReporter()
    ).folder
    reporter = RecordingReporter()
    texts = [translate(text) for text in random_texts(200, seed=7)]
    data = DistillData(parallel=PAIRS, texts=texts, source_texts=random_texts(50, seed=8))
    settings = quick(teacher, bridge=str(bridge), epochs=2)
    result = distill(data, student, tmp_path / "out", settings, reporter=reporter)
    fitted = [warning for warning in reporter.warnings if "of the variance" in warning]
    assert len(fitted) == 1
    assert result.data[1].endswith("texts of the target language")
    assert result.texts > 2 * (270 + 190)


def test_an_interrupted_run_resumes_to_the_same_bits(
    models: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    teacher, student = models
    settings = quick(teacher, epochs=2, eval_steps=5)
    whole = distill(PAIRS, student, tmp_path / "whole", settings, reporter=SilentReporter())
    resume = False
    for steps in (4, 9, 7):
        with pytest.raises(KeyboardInterrupt):
            distill(
                PAIRS, student, tmp_path / "out", settings, resume=resume,
                reporter=StopAfter(steps),
            )  # fmt: skip
        resume = True
    result = distill(
        PAIRS, student, tmp_path / "out", settings, resume=True, reporter=SilentReporter()
    )
    assert result.history == whole.history
    files = [tmp_path / name / "model.safetensors" for name in ("whole", "out")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert not (tmp_path / "out.checkpoint").exists()
    with pytest.raises(KeyboardInterrupt):
        distill(PAIRS, student, tmp_path / "new", settings, reporter=StopAfter(3))
    with pytest.raises(InvalidArgumentError, match="a distillation on another corpus"):
        distill(
            PAIRS[1:], student, tmp_path / "new", settings, resume=True, reporter=SilentReporter()
        )


def test_vectors_of_the_teacher_are_computed_once(
    models: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    teacher, student = models
    settings = quick(teacher, epochs=1, train_layers=0)
    distill(PAIRS, student, tmp_path / "a", settings, reporter=SilentReporter())
    from malmoi.encode.encoder import TransformerEncoder

    encoded: list[str] = []
    encode = TransformerEncoder.encode

    def recorded(self: TransformerEncoder, texts: Any, **options: Any) -> Any:
        if self.name == teacher:
            encoded.extend(texts)
        return encode(self, texts, **options)

    monkeypatch.setattr(TransformerEncoder, "encode", recorded)
    distill(PAIRS, student, tmp_path / "b", settings, reporter=SilentReporter())
    assert len(encoded) < 10  # the probes that identify a model


def test_held_out_and_dev_texts_are_not_trained_on() -> None:
    pairs = translations(100)
    reporter = RecordingReporter()
    data = DistillData(
        parallel=[*pairs, (pairs[0][0], "다른 번역")],
        texts=[pairs[0][1], "새 글"],
        translations=pairs[:3],
    )
    read = read_parallel(data, (), 10, 0, reporter)
    assert read.held_out == tuple(pairs[:3])
    assert read.pairs == tuple(pairs[3:])
    assert read.texts == ("새 글",)
    assert "2 pairs and texts have a text of held-out pairs" in reporter.warnings[0]


def test_drawn_pairs_share_no_text() -> None:
    pairs = [(str(i % 7), str(i)) for i in range(100)]
    drawn = draw_pairs(pairs, 50, 0)
    assert len(drawn) == 7
    assert len({pair[0] for pair in drawn}) == 7


LAYOUTS = {
    "tatoeba.txt": "Go.\t가.\tCC-BY 2.0 #{i}\nHi {i}.\t안녕 {i}.\tCC-BY 2.0 #{i}\n",
    "named.tsv": "id\tko\ten\n1\t가.\tGo.\n2\t안녕.\tHi.\n",
    "plain.csv": 'Go.,가.\n"Hi, you.",안녕.\n',
    "lines.jsonl": '{"source": "Go.", "target": "가."}\n{"source": "Hi.", "target": "안녕."}\n',
}


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_layouts_of_parallel_files(name: str, tmp_path: Path) -> None:
    content = LAYOUTS[name]
    if "{i}" in content:
        content = "".join(content.replace("{i}", str(i)) for i in range(3))
    (tmp_path / name).write_text(content, encoding="utf-8")
    data = DistillData(parallel=[tmp_path / name], translations=[("x", "y")])
    pairs = read_parallel(data, (), 2, 0, SilentReporter()).pairs
    assert pairs[0] == ("Go.", "가.")
    assert len(pairs) == (4 if name == "tatoeba.txt" else 2)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("texts.jsonl", '{"id": 1, "body": "새 글"}\n{"id": 2, "body": "다른 글"}\n'),
        ("texts.csv", "id,body\n1,새 글\n2,다른 글\n"),
    ],
)
def test_texts_of_one_language_have_a_field(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    data = DistillData(parallel=translations(20), texts=path)
    read = read_parallel(data, (), 2, 0, SilentReporter(), "body")
    assert read.texts == ("새 글", "다른 글")
    with pytest.raises(InvalidArgumentError, match="--field"):
        read_parallel(data, (), 2, 0, SilentReporter())


def test_named_columns_are_texts_whatever_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    rows = [f"{i}\tword {i}\t{'예' if i % 2 else '아니요'}" for i in range(10)]
    path.write_text("\n".join(["n\teng\tkor", *rows]), encoding="utf-8")
    data = DistillData(parallel=path, translations=[{"eng": "x", "kor": "y"}])
    pairs = read_parallel(data, ("eng", "kor"), 2, 0, SilentReporter()).pairs
    assert pairs[:2] == (("word 0", "아니요"), ("word 1", "예"))


def test_bad_rows_are_counted_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\t가\nb\t\nc\t다\n\t라\ne\t마\n", encoding="utf-8")
    reporter = RecordingReporter()
    data = DistillData(parallel=path, translations=[("x", "y")])
    assert len(read_parallel(data, (), 2, 0, reporter).pairs) == 3
    assert reporter.warnings == [f"{path}: 2 rows skipped: no text (lines 2, 4)"]


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "empty"), ("only one column\nof texts\n", "ambiguous|one column"), ("a\t\n", "usable")],
)
def test_files_without_pairs_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(content)
    with pytest.raises((InvalidFileError, InvalidArgumentError), match=message):
        read_parallel(DistillData(parallel=path), (), 2, 0, SilentReporter())
    with pytest.raises(InvalidFileError, match="missing"):
        read_parallel(DistillData(parallel=tmp_path / "missing"), (), 2, 0, SilentReporter())


def test_a_held_out_text_is_found_in_another_unicode_form() -> None:
    decomposed = unicodedata.normalize("NFD", "은행")
    data = DistillData(
        parallel=[("bank", decomposed), ("river", "강")],
        texts=[decomposed],
        translations=[("a bank", "은행")],
    )
    read = read_parallel(data, (), 2, 0, SilentReporter())
    assert (read.pairs, read.texts) == ((("river", "강"),), ())


def test_a_giant_line_is_truncated(models: tuple[str, str], tmp_path: Path) -> None:
    teacher, student = models
    giant = " ".join(["bank"] * 50_000)
    reporter = RecordingReporter()
    settings = quick(teacher, epochs=1, train_layers=0)
    distill(
        [*PAIRS, (giant, translate(giant))], student, tmp_path / "out", settings, reporter=reporter
    )
    assert any("truncated" in warning for warning in reporter.warnings)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "best"}, "choose one of mse, cosine"),
        ({"rows": "some"}, "choose one of new, all, none"),
        ({"rows": "none", "train_layers": 0}, "nothing would be trained"),
        ({"similarity_weight": -1.0}, "at least 0"),
        ({"columns": ("a",)}, "name two"),
        ({"columns": ("a,b,c",)}, "name two"),
        ({"held_out": 1}, "at least 2"),
        ({"train_layers": 9}, "has 3 layers"),
        ({"teacher": "minilm"}, "have 384 dimensions"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    changes: dict[str, Any], message: str, models: tuple[str, str], tmp_path: Path
) -> None:
    teacher, student = models

    def refused() -> None:
        settings = quick(**{"teacher": teacher} | changes)
        distill(PAIRS, student, tmp_path / "out", settings, reporter=SilentReporter())

    with pytest.raises(InvalidArgumentError, match=message):
        refused()
    assert not (tmp_path / "out").exists()


def test_a_student_without_new_tokens_has_no_new_rows(
    models: tuple[str, str], tmp_path: Path
) -> None:
    _, student = models
    with pytest.raises(InvalidArgumentError, match=r"no token that .* lacks"):
        distill(PAIRS, student, tmp_path / "out", quick(student), reporter=SilentReporter())


def test_texts_alone_need_a_bridge(models: tuple[str, str], tmp_path: Path) -> None:
    teacher, student = models
    data = DistillData(parallel=PAIRS, texts=["банк река"])
    with pytest.raises(InvalidArgumentError, match="name a bridge"):
        distill(data, student, tmp_path / "out", quick(teacher), reporter=SilentReporter())


def test_the_command_prints_what_the_library_returns(
    models: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from malmoi.cli import run

    teacher, student = models
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS), encoding="utf-8")
    words = ["tune", "distill", str(path), "--model", student, "--teacher", teacher]
    words += ["--epochs", "1", "--threads", "1", "--held-out", "20", "--train-layers", "0"]
    assert run([*words, "--out", str(tmp_path / "a"), "--columns", "1,2"]) == 0
    shown = capsys.readouterr().out
    assert "held-out R²" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert run([*words, "--out", str(tmp_path / "b"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["written"] == str(tmp_path / "b")
    assert [score["metric"] for score in record["scores"]] == [
        "accuracy, target→source",
        "accuracy, source→target",
    ]


def test_torch_is_imported_only_when_something_is_distilled() -> None:
    code = "import sys, malmoi.cli.tune.distill; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_settings_are_those_of_the_documentation() -> None:
    assert DistillSettings().teacher == "minilm"
    assert (DistillSettings().loss, DistillSettings().rows) == ("cosine", "new")
