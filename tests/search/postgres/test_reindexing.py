"""A change of the model: the old answers until the switch, then the new ones."""

import random
from collections.abc import Iterable

import numpy as np
import pytest

import malmoi as mm
from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.search.reindex import table
from tests.search.killing import killed
from tests.search.postgres.kills_itself import KillsItself
from tests.search.postgres.texts import QUERIES, drawn, same
from tests.search.worlds import BagOfWords

OLD, NEW = BagOfWords("old"), BagOfWords("new", dim=24)


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")
def test_the_new_model_answers_as_a_new_index_would(url: str) -> None:
    texts, fields = drawn(80)
    index = mm.build_index(OLD, texts, fields=fields, path=url)
    index.delete(["3", "4"])
    index.add(["a later text"], ids=["5"])
    done = mm.reindex(url, NEW)
    assert (done.before, done.model, done.texts, done.embedded) == ("old", "new", 78, 78)
    local = mm.build_index(NEW, [e.text for e in index.entries()], ids=list(index),
                           fields=[e.fields for e in index.entries()])  # fmt: skip
    opened = mm.open_index(url, NEW)
    assert opened.state.fusion == local.state.fusion
    for query in QUERIES:
        for search in ({}, {"lexical": True}, {"hybrid": True}, {"where": {"lang": "ko"}}):
            same(local.search(query, **search), opened.search(query, **search))
    assert mm.reindex(url, NEW).embedded == 0


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")
def test_killed_runs_continue_and_the_old_model_answers_until_the_switch(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "BATCH_TEXTS", 10)
    texts, _ = drawn(200)
    index = mm.build_index(OLD, texts, path=url)
    before = [index.search(query, 5) for query in QUERIES]
    chance = random.Random(5)
    for _ in range(3):
        batches = chance.randint(1, 5)
        killed(lambda _: mm.reindex(url, NEW, reporter=KillsItself(batches)), 0)  # noqa: B023
        opened = mm.open_index(url, OLD)
        for query, hits in zip(QUERIES, before, strict=True):
            same(hits, opened.search(query, 5))
    index.add(["written meanwhile"], ids=["meanwhile"])
    last = mm.reindex(url, NEW)
    assert last.texts == 201
    assert last.embedded < 201
    assert [hit.id for hit in mm.open_index(url, NEW).search("written meanwhile", 1)] == [
        "meanwhile"
    ]


def test_an_open_index_follows_the_switch(url: str) -> None:
    index = mm.build_index(OLD, ["one two", "three four"], path=url)
    mm.reindex(url, NEW)
    assert index.search(NEW.encode(["three four"])[0], 1)[0].id == "1"


def test_translated_vectors(url: str) -> None:
    class Rotated(BagOfWords):
        def encode(
            self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
        ) -> Float32Array:
            turned = np.linalg.qr(np.random.default_rng(1).normal(size=(16, 16)))[0]
            vectors: Float32Array = (OLD.encode(texts) @ turned).astype(np.float32)
            return vectors

    texts, _ = drawn(300)
    new = Rotated("rotated")
    index = mm.build_index(OLD, texts, path=url)
    weight = index.state.weight
    done = mm.reindex(url, new, mm.ReindexSettings(translate=True, min_texts=100))
    assert done.embedded == 100
    assert done.recall is not None
    assert done.recall > 0.9
    opened = mm.open_index(url, new)
    assert opened.state.weight == weight
    assert opened.search("interest rate of the bank", 1)[0].score > 0.5
