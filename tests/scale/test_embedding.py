"""Shards embedded in this process: the files, what is skipped, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow.parquet as pq
import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.scale.cluster.plan import WorkerPlan, plan_workers
from tests.scale.shards import (
    sentences,
    vectors_by_location,
    write_every_kind,
    write_shards,
    write_vectors,
)

PARQUET = mm.scale.ShardSettings(field="text")


@pytest.fixture
def model(tmp_path: Path) -> str:
    return write_vectors(tmp_path)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write_shards(tmp_path / "texts")


def test_every_kind_of_file_is_read_and_rows_keep_their_order(tmp_path: Path, model: str) -> None:
    texts = sentences(50)
    write_every_kind(tmp_path / "texts", texts)
    report = mm.scale.embed(tmp_path / "texts", model, tmp_path / "out", PARQUET)
    assert (report.shards, report.skipped, report.rows, report.dim) == (4, 0, 200, 6)
    expected = mm.load_encoder(model).encode(texts, reporter=mm.SilentReporter())
    names = ["a.txt.parquet", "b.jsonl.parquet", "c.csv.parquet", "d.parquet"]
    for name in names:
        table = pq.read_table(tmp_path / "out" / name)
        assert table.schema.names == ["location", "vector"]
        assert str(table.schema.field("vector").type).startswith("fixed_size_list<")
        np.testing.assert_array_equal(np.array(table["vector"].to_pylist(), "f4"), expected)
    assert pq.read_table(tmp_path / "out" / "c.csv.parquet")["location"][0].as_py() == "c.csv:2"
    assert [path.name for path in mm.scale.open_vectors(tmp_path / "out").files] == names


def test_ids_and_texts_are_written_where_wanted(tmp_path: Path, model: str, texts: Path) -> None:
    settings = mm.scale.ShardSettings(field="text", id="id", text=True)
    mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / "out", settings)
    table = pq.read_table(tmp_path / "out" / "part-2.parquet")
    assert table.schema.names == ["location", "id", "text", "vector"]
    assert table["id"].to_pylist()[:2] == ["2-0", "2-1"]
    assert table["text"].to_pylist() == sentences(30, 2)


def test_other_programs_read_the_folder(tmp_path: Path, model: str, texts: Path) -> None:
    mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / "out", PARQUET)
    pattern = f"{tmp_path}/out/*.parquet"
    assert duckdb.sql(f"select count(*) from '{pattern}' where len(vector) = 6").fetchall() == [
        (120,)
    ]
    assert polars.scan_parquet(pattern).select(polars.len()).collect().item() == 120
    assert mm.scale.open_vectors(tmp_path / "out").dataset().count_rows() == 120


def test_a_second_run_embeds_only_what_is_new_or_has_changed(
    tmp_path: Path, model: str, texts: Path
) -> None:
    out = tmp_path / "out"
    mm.scale.embed(f"{texts}/*.parquet", model, out, PARQUET)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    os.utime(texts / "part-0.parquet")  # the same bytes, at another time
    write_shards(tmp_path / "more", 1, 10)
    (tmp_path / "more" / "part-0.parquet").rename(texts / "part-9.parquet")
    pq.write_table(pq.read_table(texts / "part-1.parquet").slice(0, 20), texts / "part-1.parquet")
    report = mm.scale.embed(f"{texts}/*.parquet", model, out, PARQUET)
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    assert (report.skipped, report.rows) == (3, 120)
    assert {name for name in after if after[name] != before.get(name)} == {
        "part-1.parquet",
        "part-9.parquet",
    }


def test_a_killed_run_continues(tmp_path: Path, model: str, texts: Path) -> None:
    """Killed by SIGKILL after the second shard, without its last manifest."""
    code = f"""
import os, signal
import malmoi as mm
from malmoi.scale import embedding
embed_shard, done = embedding.embed_shard, []
def dying(*arguments):
    if len(done) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(1)
    return embed_shard(*arguments)
embedding.embed_shard = dying
mm.scale.embed({f"{texts}/*.parquet"!r}, {model!r}, {str(tmp_path / "out")!r},
               mm.scale.ShardSettings(field="text"))
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -9
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 2
    report = mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / "out", PARQUET)
    assert (report.skipped, report.rows) == (2, 120)
    mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / "whole", PARQUET)
    again, whole = (vectors_by_location(tmp_path / name) for name in ("out", "whole"))
    assert again.keys() == whole.keys()
    np.testing.assert_array_equal(np.array([*again.values()]), np.array([*whole.values()]))


def test_another_model_or_other_settings_are_refused(
    tmp_path: Path, model: str, texts: Path
) -> None:
    out, pattern = tmp_path / "out", f"{texts}/*.parquet"
    mm.scale.embed(pattern, model, out, PARQUET)
    other = write_vectors(tmp_path, "other.malmoi")
    with pytest.raises(mm.InvalidArgumentError, match=r"are of '.*words\.malmoi', not '.*other"):
        mm.scale.embed(pattern, other, out, PARQUET)
    with pytest.raises(mm.InvalidArgumentError, match=r"other settings .text: False, now True"):
        mm.scale.embed(pattern, model, out, mm.scale.ShardSettings(field="text", text=True))
    write_vectors(tmp_path, seed=4)  # the same name
    with pytest.raises(mm.InvalidArgumentError, match="as it was before"):
        mm.scale.embed(pattern, model, out, PARQUET)


def test_a_broken_shard_is_named_and_the_others_stay(
    tmp_path: Path, model: str, texts: Path
) -> None:
    (texts / "part-2.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(mm.InvalidFileError, match=r"part-2\.parquet is damaged"):
        mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / "out", PARQUET)
    shards = mm.scale.open_vectors(tmp_path / "out")
    assert [path.name for path in shards.files] == ["part-0.parquet", "part-1.parquet"]
    assert not list((tmp_path / "out").glob(".*.part"))


def test_an_empty_shard_has_no_rows_but_an_empty_input_is_an_error(
    tmp_path: Path, model: str
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").touch()
    with pytest.raises(mm.InvalidFileError, match="holds no text in 1 files"):
        mm.scale.embed(folder, model, tmp_path / "none")
    (folder / "b.txt").write_text("the bank\n")
    report = mm.scale.embed(folder, model, tmp_path / "out")
    assert (report.shards, report.rows) == (2, 1)
    assert pq.read_table(tmp_path / "out" / "a.txt.parquet").num_rows == 0


def test_what_cannot_be_read_or_written_is_refused(tmp_path: Path, model: str, texts: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(mm.InvalidFileError, match="no file matches"):
        mm.scale.embed(f"{texts}/*.csv", model, out)
    with pytest.raises(mm.InvalidFileError, match="does not exist"):
        mm.scale.embed(tmp_path / "nothing.txt", model, out)
    with pytest.raises(mm.InvalidArgumentError, match="write to another folder"):
        mm.scale.embed(f"{texts}/*.parquet", model, texts, PARQUET)
    (out / "notes").mkdir(parents=True)
    with pytest.raises(mm.InvalidArgumentError, match="holds other files"):
        mm.scale.embed(f"{texts}/*.parquet", model, out, PARQUET)
    with pytest.raises(mm.InvalidArgumentError, match="on is 'spark'"):
        mm.scale.embed(f"{texts}/*.parquet", model, out, PARQUET, on="spark")
    more = write_shards(tmp_path / "more")
    with pytest.raises(mm.InvalidArgumentError, match="would both be written to part-0"):
        mm.scale.embed([f"{texts}/*.parquet", f"{more}/*.parquet"], model, out, PARQUET)
    with pytest.raises(mm.InvalidArgumentError, match="one vector per text, not per word"):
        mm.scale.ShardSettings(embed=mm.EmbedSettings(per="word"))


def test_a_file_of_the_same_name_elsewhere_is_not_taken_for_a_change(
    tmp_path: Path, model: str, texts: Path
) -> None:
    mm.scale.embed(f"{texts}/*.parquet", model, tmp_path / "out", PARQUET)
    more = write_shards(tmp_path / "more", 1, 7)
    with pytest.raises(mm.InvalidArgumentError, match=r"holds the vectors of .*texts/part-0"):
        mm.scale.embed(f"{more}/*.parquet", model, tmp_path / "out", PARQUET)


def test_files_of_subfolders_have_names_of_their_own(tmp_path: Path, model: str) -> None:
    write_shards(tmp_path / "2025", 1, 5)
    write_shards(tmp_path / "2026", 1, 6)
    report = mm.scale.embed(f"{tmp_path}/20*/*.parquet", model, tmp_path / "out", PARQUET)
    assert report.rows == 11
    names = [path.name for path in mm.scale.open_vectors(tmp_path / "out").files]
    assert names == ["2025__part-0.parquet", "2026__part-0.parquet"]


def test_warnings_of_many_shards_are_one_sentence(tmp_path: Path, model: str) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for shard in range(3):
        text = "\n".join(["the bank", f"tea xyzzy{shard}"] * (shard + 1))
        (folder / f"{shard}.txt").write_text(text)
    report = mm.scale.embed(folder, model, tmp_path / "out")
    assert len(report.warnings) == 1
    assert report.warnings[0].startswith("0.txt.parquet: ")
    assert report.warnings[0].endswith("(and 2 more shards like it)")


def test_the_command_embeds_a_pattern(
    tmp_path: Path, model: str, texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["embed", "--file", f"{texts}/*.parquet", "--field", "text", "--model", model]
    assert run([*words, "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.out == f"{out}: 120 × 6 in 4 shards\n"
    assert shown.err.startswith("note: part-0.parquet: ")
    assert len(shown.err.splitlines()) == 1
    assert run([*words, "--out", str(out), "--on", "local", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == 4
    assert run(words) == 1
    assert "shards need --out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cpus", "work", "plan"),
    [
        ({"a": 2.0}, 9, WorkerPlan(1, 1)),
        ({"a": 8.0, "b": 8.0}, 9, WorkerPlan(2, 7)),
        ({"head": 0.0, "a": 4.0, "b": 16.0}, 99, WorkerPlan(6, 3)),
        ({"a": 2.0, "b": 2.0}, 1, WorkerPlan(1, 1)),
    ],
)
def test_one_cpu_of_each_node_stays_free(
    cpus: dict[str, float], work: int, plan: WorkerPlan
) -> None:
    assert plan_workers(cpus, work) == plan


def test_a_cluster_of_single_cpus_is_refused() -> None:
    with pytest.raises(mm.InvalidArgumentError, match=r"\(a has 1, b has 0\).*--num-cpus=2"):
        plan_workers({"a": 1.0, "b": 0.0}, 5)


def test_batches_of_ray_data_get_vectors_without_ray(model: str) -> None:
    batch = {"text": np.array(["the bank", None, "tea"], object), "n": np.arange(3)}
    made = mm.scale.EmbedBatches(model)(batch)
    expected = mm.load_encoder(model).encode(["the bank", "", "tea"], reporter=mm.SilentReporter())
    np.testing.assert_array_equal(made["vector"], expected)
    assert made["n"] is batch["n"]
    with pytest.raises(mm.InvalidArgumentError, match="no column 'body': it has text, n"):
        mm.scale.EmbedBatches(model, column="body")(batch)
