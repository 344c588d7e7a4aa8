"""ELMo: tokens per CPU second beside AllenNLP's recorded speed, and equality to the originals.

AllenNLP 2.10.1 needs Python 3.9 and cannot be measured here: its speeds were measured once, on one
thread, with random weights of the same shapes.
"""

import gzip
import json
import re
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.text import CORPORA
from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.elmo_options import ElmoConfig, read_options
from malmoi.encode.checkpoint.elmo_weights import (
    SAFETENSORS,
    expected_shapes,
    read_elmo_weights,
)
from malmoi.encode.elmo.bilm import TimeSteps, new_states, run_bilm
from malmoi.encode.elmo.compiled_network import CompiledNetwork
from malmoi.encode.elmo.encoder import ElmoEncoder, load_elmo
from malmoi.encode.elmo.numpy_network import LstmState
from malmoi.encode.runtime import batches
from malmoi.files.hdf5.reader import open_hdf5
from malmoi.files.source import InputFile
from malmoi.files.tensors import write_safetensors
from malmoi.text.character_ids import boundary_ids, character_ids

FILTERS = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]]
ROUNDS, THREADS = 3, 2
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
FIXTURES = CORPORA.parent / "elmo"
SENTENCES = {"skip": "sentences.json", "plain": "lm_embeddings_sentences.json"}
TEXTS_PER_BATCH, BATCHES, EXACT = 3, 10, 1e-5
REMARK = (
    "Random weights of the published shapes; sentences of Wikipedia; the vector of each, with the"
    " words of every call computed anew; best of {} rounds. The peer is AllenNLP 2.10.1 as"
    " recorded: one thread, the same shapes."
)


class Shape(NamedTuple):
    """A published model, AllenNLP's tokens per CPU second with it, and how much faster we are."""

    name: str
    cells: int
    projection: int
    highways: int
    peer: float
    at_least: float
    sentences: int


SHAPES = (
    Shape("small, 1024/128", 1024, 128, 1, 317, 5, 1000),
    Shape("original, 4096/512", 4096, 512, 2, 42, 6, 150),
)


def run(data: Data) -> Iterator[Figure]:
    """Speeds with one thread and with two, then equality; none where the texts are not there."""
    if not CORPORA.is_dir():
        say(f"no texts in {CORPORA} (set MALMOI_DATA): elmo is left out")
        return
    remark = REMARK.format(ROUNDS)
    for shape in SHAPES:
        encoder = random_model(data.folder / shape.name.split(",")[0], shape)
        texts = sentences(shape.sentences)
        tokens = sum(len(each) - 2 for each in encoder.tokenizer.encode_batch(texts))
        for threads, clock in ((1, time.process_time), (THREADS, time.perf_counter)):
            say(f"ELMo {shape.name}: {tokens:,} tokens, {ROUNDS} rounds, threads: {threads}")
            speed = tokens / shortest(encoder, texts, threads, clock)
            alone = threads == 1
            yield Figure(
                name=f"{shape.name}, per CPU second"
                if alone
                else f"{shape.name}, {threads} threads",
                ours=f"{speed:,.0f}/s",
                peer=f"{shape.peer:,.0f}/s" if alone else "",
                ratio=speed / shape.peer if alone else None,
                asked=f"≥ {shape.at_least:g}×" if alone else "",
                met=speed / shape.peer >= shape.at_least if alone else None,
                remark=remark,
            )
            remark = ""
    for name in SENTENCES:
        if (FIXTURES / name).is_dir():
            off = difference(FIXTURES / name)
            yield Figure(name=f"{name}: top layer", ours="", off=off, asked=f"≤ {EXACT:g}",
                         met=off <= EXACT)  # fmt: skip


def shortest(
    encoder: ElmoEncoder, texts: list[str], threads: int, clock: Callable[[], float]
) -> float:
    """The shortest time for all texts; words that are known from before are forgotten."""
    best = float("inf")
    with patch.object(batches, "THREADS", threads):
        for _ in range(ROUNDS):
            fresh = load_elmo(encoder.name)
            fresh.compile()
            fresh.encode(texts[:2])
            start = clock()
            fresh.encode(texts)
            best = min(best, clock() - start)
    return best


def random_model(folder: Path, shape: Shape) -> ElmoEncoder:
    """A model of a published shape."""
    folder.mkdir()
    lstm = {"dim": shape.cells, "projection_dim": shape.projection, "n_layers": 2,
            "cell_clip": 3, "proj_clip": 3, "use_skip_connections": True}  # fmt: skip
    cnn = {"embedding": {"dim": 16}, "filters": FILTERS, "n_highway": shape.highways,
           "n_characters": 262, "max_characters_per_token": 50, "activation": "relu"}  # fmt: skip
    (folder / "options.json").write_text(json.dumps({"lstm": lstm, "char_cnn": cnn}))
    random = np.random.default_rng(0)
    tensors: dict[str, Any] = {}
    for name, size in expected_shapes(read_options(folder)).items():
        scale = np.float32(1 / np.sqrt(np.prod(size[:-1])))
        tensors[name] = random.standard_normal(size, dtype=np.float32) * scale
    write_safetensors(folder / SAFETENSORS, tensors, {})
    return load_elmo(str(folder))


def sentences(count: int) -> list[str]:
    """Sentences of 5 to 60 words."""
    with gzip.open(CORPORA / "enwiki.txt.gz", "rt", encoding="utf-8") as lines:
        parts = (part for line in lines for part in SENTENCE_END.split(line.strip()))
        return list(islice((part for part in parts if 5 <= len(part.split()) <= 60), count))


def difference(folder: Path) -> float:
    """The largest difference from the original's top layer, with its states carried on."""
    config = read_options(folder)
    network = CompiledNetwork(read_elmo_weights(folder, config), config)
    texts = json.loads((folder / SENTENCES[folder.name]).read_text())
    files = [
        open_hdf5(InputFile(folder / f"lm_embeddings_{i}.hdf5")) for i in range(TEXTS_PER_BATCH)
    ]
    states, worst = new_states(TEXTS_PER_BATCH, config), 0.0
    for number in range(BATCHES):
        rows = [text[number].split() for text in texts[:TEXTS_PER_BATCH]]
        for ours, file in zip(top_layers(network, config, rows, states), files, strict=True):
            forward, backward = file[str(number)]
            worst = max(worst, float(np.abs(ours - np.hstack([forward, backward])).max()))
    return worst


def top_layers(
    network: CompiledNetwork,
    config: ElmoConfig,
    texts: list[list[str]],
    states: list[list[LstmState]],
) -> list[Float32Array]:
    """The top layer of each text without its boundaries; `states` go on to the next call."""
    first, last = boundary_ids(config.max_characters)[:, np.newaxis]
    ids = [np.vstack([first, character_ids(each, config.max_characters), last]) for each in texts]
    sizes = np.array([len(each) for each in ids])
    order = np.argsort(-sizes, kind="stable")  # the order of the states of a batch
    carried = [[LstmState(s.output[order], s.cells[order]) for s in each] for each in states]
    words = network.words(np.vstack(ids))
    (top,) = run_bilm(network, config, words, TimeSteps(sizes), [config.layers], states=carried)
    for before, after in zip(states, carried, strict=True):
        for old, new in zip(before, after, strict=True):
            old.output[order], old.cells[order] = new
    return [part[1:-1] for part in np.split(top, np.cumsum(sizes)[:-1])]
