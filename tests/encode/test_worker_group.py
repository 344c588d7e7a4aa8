"""Worker threads that run one batch after another, and how they end."""

import gc
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from malmoi.arrays import Float32Array
from malmoi.encode.encoder import load_transformer
from malmoi.encode.runtime import compiled_engine
from malmoi.encode.runtime.batches import MAX_BATCH_TOKENS, PackedBatch, pack
from malmoi.encode.runtime.engine import can_compile

pytestmark = pytest.mark.skipif(not can_compile(), reason="this processor has no AVX2 with FMA")
LAYERS = (0, 3, 6)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> compiled_engine.CompiledEngine:
    monkeypatch.setattr(compiled_engine, "is_busy", lambda cores, own: False)
    encoder = load_transformer("minilm")
    encoder.compile()
    found = encoder.engine._engine
    assert isinstance(found, compiled_engine.CompiledEngine)
    return found


def batch_of(sizes: Sequence[int]) -> PackedBatch:
    ids = [[101, *(1000 + (7 * i) % 20000 for i in range(size - 2)), 102] for size in sizes]
    return pack(ids, [[0] * size for size in sizes], 512)


def workers() -> list[str]:
    return [
        thread.name for thread in threading.enumerate() if thread.name.startswith("malmoi-worker")
    ]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def assert_same(found: list[Float32Array], expected: list[Float32Array]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_a_group_of_any_size_computes_what_one_thread_does(
    engine: compiled_engine.CompiledEngine, threads: int
) -> None:
    for sizes in ([3], [9, 4], [40] * 8, [500], [2] * 200, [3]):
        batch = batch_of(sizes)
        assert_same(engine.run(batch, LAYERS, threads), engine.run(batch, LAYERS, 1))


def test_a_batch_larger_than_any_before_is_run_too(engine: compiled_engine.CompiledEngine) -> None:
    assert_same(engine.run(batch_of([9]), LAYERS, 2), engine.run(batch_of([9]), LAYERS, 1))
    before = len(workers())
    large = batch_of([300] * (2 * MAX_BATCH_TOKENS // 300 + 1))
    assert_same(engine.run(large, LAYERS, 2), engine.run(large, LAYERS, 1))
    assert len(workers()) <= before  # those of the smaller group have ended


def test_sleeping_workers_run_a_batch_whether_woken_or_not(
    engine: compiled_engine.CompiledEngine,
) -> None:
    batch = batch_of([9])
    expected = engine.run(batch, LAYERS, 1)
    for calls in (0, 1, 5) * 4:
        threading.Event().wait(0.01)  # longer than workers stay awake
        for _ in range(calls):
            engine.wake_workers()
        assert_same(engine.run(batch, LAYERS, 2), expected)


def test_threads_and_pipes_go_with_the_engine(engine: compiled_engine.CompiledEngine) -> None:
    gc.collect()  # what earlier tests left
    pipes = open_files()
    threads = len(workers())
    other = load_transformer("minilm")
    other.compile()
    other.engine._engine.run(batch_of([9]), LAYERS, 2)
    assert len(workers()) == threads + 1
    del other
    gc.collect()
    assert len(workers()) == threads
    assert open_files() == pipes


FORKS = """
import os, sys
import numpy as np
from malmoi.encode.runtime import compiled_engine
from malmoi.encode.encoder import load_transformer
compiled_engine.is_busy = lambda cores, own: False
encoder = load_transformer("minilm")
encoder.compile()
before = encoder.encode(["a bank"])
child = os.fork()
if not child:
    same = all(np.allclose(encoder.encode(["a bank"]), before, atol=1e-6) for _ in range(5))
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
assert np.allclose(encoder.encode(["a bank"]), before, atol=1e-6)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_forked_child_makes_workers_of_its_own_and_the_process_ends() -> None:
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], timeout=300)
    assert ended.returncode == 0
