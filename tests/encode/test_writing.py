"""Files of embedded texts: what is in them, and what is left when the work is broken off."""

import errno
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow.parquet as pq
import pytest

from malmoi.arrays import Float32Array
from malmoi.cli import run
from malmoi.encode.bulk import outputs
from malmoi.encode.bulk.embed import EmbeddedTexts, EmbedSettings, embed
from malmoi.encode.bulk.write_file import write_embeddings
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.pipeline import contextual_encoder as encoders
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.files import checkpoint
from malmoi.formats import load
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.corpus import Corpus
from tests.encode.checkpoints import save_model
from tests.killing_itself import run_until_killed
from tests.recording_reporter import RecordingReporter
from tests.reporters import CallbackReporter

pytestmark = pytest.mark.filterwarnings("ignore:.*left over from an embedding")
TEXTS = [
    " ".join(["the", "bank", "river", "fishing", "robbers"][: i % 5 + 1] * (i % 3 + 1))
    + f"{'.' * i}"
    for i in range(60)
]
KILLS = 3
ENDINGS = ("npy", "jsonl", "parquet", "malmoi")
Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "bert"
    save_model(folder, "bert", max_position_embeddings=100)
    return folder


@pytest.fixture(scope="module")
def tiny(folder: Path) -> TransformerEncoder:
    encoder = load_transformer(str(folder))
    encoder.compile()  # so that every number comes out of one engine
    return encoder


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "CHUNK_TEXTS", 8)
    monkeypatch.setattr(encoders, "MAX_TEXTS_IN_MEMORY", 8)


def stop_after(texts: int) -> CallbackReporter:
    def progress(done: int, total: int) -> None:
        if done >= texts:
            raise KeyboardInterrupt

    return CallbackReporter(progress, stage="embedding")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_rows_lines_tables_and_our_own_file_hold_the_same(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    expected = tiny.encode(TEXTS)
    for ending in ENDINGS:
        report = write_embeddings(tiny, TEXTS, tmp_path / f"x.{ending}", EmbedSettings())
        assert (report.texts, report.rows, report.dim) == (60, 60, 32)
    assert names(tmp_path) == sorted(f"x.{ending}" for ending in ENDINGS)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), expected)
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert [line["text"] for line in lines] == TEXTS
    np.testing.assert_array_equal(
        np.array([line["vector"] for line in lines], np.float32), expected
    )
    table = pq.read_table(tmp_path / "x.parquet")
    assert table["text"].to_pylist() == TEXTS
    assert str(table.schema.field("vector").type).startswith("fixed_size_list<")
    np.testing.assert_array_equal(np.array(table["vector"].to_pylist(), np.float32), expected)
    vectors = load(tmp_path / "x.malmoi")
    assert list(vectors) == TEXTS
    assert vectors.meta["model"] == tiny.name
    np.testing.assert_array_equal(vectors.matrix, expected)


@pytest.mark.parametrize("per", ["word", "token"])
def test_words_and_tokens_in_lines_and_tables(
    tiny: TransformerEncoder, tmp_path: Path, per: str
) -> None:
    settings = EmbedSettings(per=per, recipe=Recipe(layers=-2))  # type: ignore[arg-type]
    texts = [*TEXTS[:20], ""]
    for ending in ("jsonl", "parquet"):
        assert write_embeddings(tiny, texts, tmp_path / f"x.{ending}", settings).stats.empty == [21]
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()
    with pytest.warns(MalmoiWarning, match="empty"):
        states = tiny.activations(texts, layers=-2)
    parts = states.words(layers=-2) if per == "word" else states.tokens(layers=-2)
    assert len(lines) == len(rows) == len(parts)
    for line, row, part in zip(lines, rows, parts, strict=True):
        assert line == row
        assert [each[per] for each in row[f"{per}s"]] == list(part.keys)
        found = np.array([each["vector"] for each in row[f"{per}s"]], np.float32).reshape(
            part.matrix.shape
        )
        np.testing.assert_array_equal(found, part.matrix)


def test_equal_texts_are_one_key_and_keep_their_line_numbers(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    texts = ["the bank", "the bank", "", "a", "a", "xyz", "", "half \ud800 a character"]
    report = write_embeddings(tiny, texts, tmp_path / "x.malmoi", EmbedSettings())
    assert list(load(tmp_path / "x.malmoi")) == [
        "the bank", "", "a", "xyz", "half \ufffd a character"
    ]  # fmt: skip
    assert (report.texts, report.rows, report.repeated) == (8, 5, 3)
    assert (report.stats.empty, report.stats.unknown) == ([3], [6])
    assert any("3 of 8 texts are repeated" in sentence for sentence in report.sentences())


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_interrupted_run_goes_on_to_the_same_bytes(
    tiny: TransformerEncoder, tmp_path: Path, ending: str
) -> None:
    texts = ["", *TEXTS, "xyz", "a" * 5, "the " * 120]
    whole, out = tmp_path / f"whole.{ending}", tmp_path / f"x.{ending}"
    undisturbed = write_embeddings(tiny, texts, whole, EmbedSettings())
    for times, stop in enumerate((8, 30, 50)):
        with pytest.raises(KeyboardInterrupt):
            write_embeddings(
                tiny, texts, out, EmbedSettings(), resume=times > 0, reporter=stop_after(stop)
            )
        assert not out.exists()
        assert names(tmp_path) == sorted([whole.name, f"{out.name}.checkpoint", f"{out.name}.part"])
    with (tmp_path / f"x.{ending}.part").open("ab") as file:
        file.write(b"half a chunk")
    reporter = RecordingReporter()
    report = write_embeddings(tiny, texts, out, EmbedSettings(), resume=True, reporter=reporter)
    assert reporter.stages["embedding"][0][0] >= 48
    assert out.read_bytes() == whole.read_bytes()
    assert names(tmp_path) == sorted([whole.name, out.name])
    assert report.stats == undisturbed.stats
    assert report.stats.empty == [1]
    assert report.stats.unknown == [62, 63]
    assert report.stats.truncated == [64]


# A checkpoint for every eight texts, each of which takes a moment.
PROGRAM = """
import sys, time
from malmoi.cli import run
from malmoi.encode.pipeline import contextual_encoder
from malmoi.files import checkpoint
from malmoi.reporting.reporter import Reporter
checkpoint.SAVE_EVERY = 0
contextual_encoder.CHUNK_TEXTS = 8
quick = checkpoint.Checkpointer.save
checkpoint.Checkpointer.save = lambda *given: (quick(*given), time.sleep(0.01))[0]
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="processes are killed otherwise elsewhere")
def test_a_killed_process_goes_on_where_it_was(
    tiny: TransformerEncoder, folder: Path, tmp_path: Path
) -> None:
    texts = TEXTS * 30
    (tmp_path / "t.txt").write_text("\n".join(texts) + "\n")
    write_embeddings(tiny, texts, tmp_path / "whole.npy", EmbedSettings())
    out, left = tmp_path / "x.npy", tmp_path / "x.npy.checkpoint"
    words = ["embed", "--file", str(tmp_path / "t.txt"), "--model", str(folder), "--out", str(out)]
    for seed in range(KILLS):
        run_until_killed(PROGRAM, [*words, *["--resume"] * (seed > 0)], seed)
        assert left.exists()
        assert not out.exists()
    assert run([*words, "--resume"]) == 0
    # Other processes may have compiled the kernels meanwhile, and their sums in another order.
    np.testing.assert_allclose(np.load(out), np.load(tmp_path / "whole.npy"), atol=1e-5)
    assert names(tmp_path) == ["t.txt", "whole.npy", "x.npy"]


def test_only_the_same_work_goes_on(tiny: TransformerEncoder, tmp_path: Path) -> None:
    out = tmp_path / "x.npy"
    with pytest.raises(KeyboardInterrupt):
        write_embeddings(tiny, TEXTS, out, EmbedSettings(), reporter=stop_after(16))
    with pytest.raises(
        InvalidArgumentError, match=r"of an embedding on another corpus: resume with that"
    ):
        write_embeddings(tiny, [*TEXTS, "one more"], out, EmbedSettings(), resume=True)
    with pytest.raises(InvalidArgumentError, match="is of an embedding with layers None, not -2"):
        write_embeddings(tiny, TEXTS, out, EmbedSettings(recipe=Recipe(layers=-2)), resume=True)
    with pytest.raises(InvalidArgumentError, match="with overflow truncate, not windows"):
        write_embeddings(tiny, TEXTS, out, EmbedSettings(overflow="windows"), resume=True)
    kept = np.load(out.with_name("x.npy.part"), allow_pickle=False)
    assert kept.shape[1] == 32
    with pytest.warns(MalmoiWarning, match="is left over from an embedding that was interrupted"):
        write_embeddings(tiny, TEXTS, out, EmbedSettings())
    assert np.load(out).shape == (60, 32)
    with pytest.raises(InvalidFileError, match=r"there is no .*x.npy.checkpoint to resume from"):
        write_embeddings(tiny, TEXTS, out, EmbedSettings(), resume=True)


def test_a_model_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    folder, out = tmp_path / "model", tmp_path / "x.npy"
    save_model(folder, "bert")
    with pytest.raises(KeyboardInterrupt):
        write_embeddings(
            load_transformer(str(folder)), TEXTS[:30], out, EmbedSettings(), reporter=stop_after(16)
        )
    save_model(folder, "bert", layer_norm_eps=0.1)
    with pytest.raises(InvalidArgumentError, match="its first text has another vector"):
        write_embeddings(
            load_transformer(str(folder)), TEXTS[:30], out, EmbedSettings(), resume=True
        )
    out.with_name("x.npy.part").unlink()
    with pytest.raises(InvalidFileError, match="the partial output it refers to is missing"):
        write_embeddings(
            load_transformer(str(folder)), TEXTS[:30], out, EmbedSettings(), resume=True
        )


def test_a_full_disk_is_reported_and_what_was_written_stays(
    tiny: TransformerEncoder,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Output,
) -> None:
    really_add, added = outputs.ArrayOutput.add, list[int]()

    def fails(self: outputs.ArrayOutput, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        added.append(1)
        if len(added) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        really_add(self, file, chunk)

    monkeypatch.setattr(outputs.ArrayOutput, "add", fails)
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    words = ["embed", "--file", str(tmp_path / "t.txt"), "--model", str(folder)]
    out = tmp_path / "x.npy"
    assert run([*words, "--out", str(out)]) == 1
    errors = capsys.readouterr().err
    assert f"{out} was not written: the disk is full" in errors
    assert "run the same command with --resume" in errors
    monkeypatch.setattr(outputs.ArrayOutput, "add", really_add)
    assert run([*words, "--out", str(out), "--resume"]) == 0
    np.testing.assert_allclose(np.load(out), tiny.encode(TEXTS), atol=1e-5)


def test_nothing_is_left_of_what_never_began(tiny: TransformerEncoder, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="there is no layer 9"):
        write_embeddings(tiny, TEXTS, tmp_path / "x.npy", EmbedSettings(recipe=Recipe(layers=9)))
    with pytest.raises(InvalidArgumentError, match=r"text number 2 is 7 \(int\)"):
        write_embeddings(tiny, ["a", 7], tmp_path / "x.npy", EmbedSettings())  # type: ignore[list-item]
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="files are not locked elsewhere")
def test_two_that_write_the_same_file(tiny: TransformerEncoder, tmp_path: Path) -> None:
    def meanwhile(done: int, total: int) -> None:
        if done == 16:
            with pytest.raises(InvalidFileError, match="another process is writing"):
                write_embeddings(tiny, TEXTS, tmp_path / "x.npy", EmbedSettings())

    write_embeddings(
        tiny,
        TEXTS,
        tmp_path / "x.npy",
        EmbedSettings(),
        reporter=CallbackReporter(meanwhile, stage="embedding"),
    )
    assert np.load(tmp_path / "x.npy").shape == (60, 32)


class Lengths:
    """An encoder that has nothing but what every encoder has."""

    name, dim = "lengths", 2

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        return np.concatenate([*self.stream(texts)])

    def stream(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        for text in texts:
            yield np.array([[len(text), 1]], np.float32)


def test_any_encoder_will_do(tmp_path: Path) -> None:
    for ending in ENDINGS:
        report = write_embeddings(
            Lengths(), ["a", "bcd", ""], tmp_path / f"x.{ending}", EmbedSettings()
        )
        assert (report.texts, report.dim) == (3, 2)
    assert np.load(tmp_path / "x.npy").tolist() == [[1, 1], [3, 1], [0, 1]]
    assert load(tmp_path / "x.malmoi").vector("bcd").tolist() == [3, 1]
    with pytest.raises(
        InvalidArgumentError, match="lengths has no layers: it makes one vector per text"
    ):
        next(embed(Lengths(), ["a"], EmbedSettings(per="word")))


def test_endless_texts_are_read_as_they_are_needed(tiny: TransformerEncoder) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield "the bank"

    for _, chunk in zip(range(5), tiny.stream(endless()), strict=False):
        assert chunk.shape == (8, 32)
    assert read <= 8 * 8
    for _, states in zip(range(5), tiny.stream_activations(endless()), strict=False):
        assert len(states) == 8


def test_a_chunk_ends_by_characters_too(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoders, "CHUNK_CHARACTERS", 100)
    texts = ["a" * 60, "a" * 60, "a", "a"] * 2
    assert [len(chunk) for chunk in tiny.stream(texts, stats=TextStats())] == [2, 4, 2]


def test_the_pause_between_checkpoints_is_kept(
    tiny: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []

    def save(self: checkpoint.Checkpointer, state: checkpoint.Checkpoint) -> None:
        saved.append(state.state["texts"])

    monkeypatch.setattr(checkpoint.Checkpointer, "save", save)
    write_embeddings(tiny, TEXTS, tmp_path / "x.npy", EmbedSettings())
    assert saved == []
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0)
    write_embeddings(tiny, TEXTS, tmp_path / "x.npy", EmbedSettings())
    assert saved == [8, 16, 24, 32, 40, 48, 56, 60]


def test_reading_and_embedding_are_stages_of_their_own(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    texts, reporter = Corpus.of(tmp_path / "texts.txt").texts, RecordingReporter()
    write_embeddings(tiny, texts, tmp_path / "x.npy", EmbedSettings(), reporter=reporter)
    size = (tmp_path / "texts.txt").stat().st_size
    reading = reporter.stages["reading"]
    assert len(reading) == len(TEXTS)  # they are read again to be embedded, which is not reported
    assert reading[-1] == (size, size)
