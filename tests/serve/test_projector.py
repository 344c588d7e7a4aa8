"""The projector that is served: PCA at once, a better picture from another process, and kept."""

import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.serve.service import projector_pages
from malmoi.serve.service.loaded_models import LoadedModel, Models, warm_up_analyser
from malmoi.text.korean import load_analyser
from tests.serve.fixtures import Running, serving

WORDS = [f"{first}{second}" for first, second in product("bdfgklmnpr", "aeiouy")]
NUMBERS = np.random.default_rng(8).normal(size=(60, 12)).astype(np.float32)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Models:
    monkeypatch.setenv("MALMOI_CACHE", str(tmp_path / "cache"))
    words = mm.Vectors(WORDS, NUMBERS)
    index = mm.build_index(mm.average_encoder(words), [f"{word} {word}" for word in WORDS])
    few = mm.Vectors(WORDS[:10], NUMBERS[:10])
    return Models(
        {
            "few": LoadedModel("few", "few", vectors=few),
            "texts & more": LoadedModel("i", "i", vectors=index.vectors, index=index),
        }
    )


def picture_of(server: Running, model: str) -> dict[str, Any]:
    """The description of a page once nothing is computed for it any more."""
    end = time.monotonic() + 120
    while (described := server.get(f"/scene.json?model={model}").json)["computing"]:
        assert time.monotonic() < end
        assert server.get("/health").status == 200
        time.sleep(0.1)
    found: dict[str, Any] = described
    return found


def test_a_better_picture_comes_later_and_is_kept(models: Models, tmp_path: Path) -> None:
    pytest.importorskip("openTSNE")
    with serving(models) as server:
        first = server.get("/scene.json?model=i").json
        assert first["computing"] == "t-SNE"
        assert first["spaces"][0]["reduction"] == "PCA"
        assert first["searchable"]
        assert [one["name"] for one in first["models"]] == ["few", "i"]
        last = picture_of(server, "i")
        before, after = first["spaces"][0], last["spaces"][0]
        assert after["reduction"] == "t-SNE"
        assert after["neighbour_preservation"] > before["neighbour_preservation"]
        assert after["fields"] == before["fields"]
        places = {
            name: server.get(f"/sections/0/coords_2d?{described['query']}").body
            for name, described in (("first", first), ("last", last))
        }
        assert places["first"] != places["last"]  # a page that is open keeps its own
        assert not picture_of(server, "few")["searchable"]
    assert len(list((tmp_path / "cache").glob("picture-*.npz"))) == 1
    with serving(models) as server:
        again = server.get("/scene.json?model=i").json
        assert again["spaces"] == last["spaces"]
        assert again["computing"] is None


def test_a_picture_that_fails_leaves_pca_and_a_note(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projector_pages, "WORKER", "malmoi.project.nothing")
    with serving(models) as server:
        (space,) = picture_of(server, "i")["spaces"]
        assert space["reduction"] == "PCA"
        assert any("drawn by PCA: " in note and "nothing" in note for note in space["notes"])


def test_damaged_pictures_are_computed_again(models: Models, tmp_path: Path) -> None:
    pytest.importorskip("openTSNE")
    with serving(models) as server:
        picture_of(server, "i")
    (kept,) = (tmp_path / "cache").glob("picture-*.npz")
    kept.write_bytes(kept.read_bytes()[:100])
    with serving(models) as server:
        assert server.get("/scene.json?model=i").json["computing"] == "t-SNE"
        (space,) = picture_of(server, "i")["spaces"]
        assert space["reduction"] == "t-SNE"


def test_a_model_that_is_not_there_is_one_sentence(models: Models) -> None:
    with serving(models) as server:
        assert b"has no vectors to draw" in server.get("/?model=none").body
        answer = server.get("/scene.json?model=none")
        assert answer.status == 400
        assert "'none' has no vectors" in answer.json["error"]["message"]
        assert server.get("/sections/0/nothing?model=i").status == 404


def test_an_index_with_korean_is_loaded_with_its_analyser(tmp_path: Path) -> None:
    pytest.importorskip("kiwipiepy")
    encoder = mm.average_encoder(mm.Vectors(["서울", "seoul"], NUMBERS[:2]))
    for name, text in (("korean", "서울"), ("english", "seoul")):
        mm.build_index(encoder, [text], path=tmp_path / name)
        load_analyser.cache_clear()
        warm_up_analyser(mm.open_index(tmp_path / name, encoder))
        assert load_analyser.cache_info().currsize == (name == "korean")
