"""A batch or a workspace that does not fit a model is refused before a kernel runs it."""

from typing import Any

import numpy as np
import pytest

from malmoi.encode.encoder import load_transformer
from malmoi.encode.runtime.batches import PackedBatch
from malmoi.encode.runtime.compiled_engine import CompiledEngine
from malmoi.encode.runtime.engine import can_compile
from malmoi.kernels.transformer.batch_checks import check_workspace

pytestmark = pytest.mark.skipif(not can_compile(), reason="this processor has no AVX2 with FMA")


@pytest.fixture(scope="module")
def engine() -> CompiledEngine:
    encoder = load_transformer("minilm")
    encoder.compile()
    compiled = encoder.engine._engine
    assert isinstance(compiled, CompiledEngine)
    return compiled


def batch(token_ids: Any = (5, 6, 7), positions: Any = (0, 1, 2), sizes: Any = (3,)) -> PackedBatch:
    return PackedBatch(
        np.array(token_ids, np.int32), np.array(positions, np.int32), np.array(sizes, np.int64)
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (batch(token_ids=(5, 6, 40_000)), "id is not a row"),
        (batch(token_ids=(5, 6, -1)), "id is not a row"),
        (batch(positions=(0, 1, 99_999)), "position is not a row"),
        (batch(sizes=(2,)), "bounds do not ascend"),
        (batch(sizes=(4, -1)), "bounds do not ascend"),
    ],
)
def test_a_batch_out_of_range_is_refused_and_the_next_one_runs(
    engine: CompiledEngine,
    wrong: PackedBatch,
    message: str,
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("malmoi.encode.runtime.compiled_engine.is_busy", lambda cores, own: False)
    with pytest.raises(ValueError, match=message):
        engine.run(wrong, [6], threads)
    (states,) = engine.run(batch(), [6], threads)
    assert states.shape == (3, 384)
    assert np.isfinite(states).all()


def test_states_of_more_layers_than_there_are_are_refused(engine: CompiledEngine) -> None:
    with pytest.raises(ValueError, match="8 slots are for more states than 6 layers have"):
        engine.run(batch(), [7], 1)


def test_workspace_that_is_too_small_is_refused(engine: CompiledEngine) -> None:
    buffers, scratch = engine._workspace(10, 10)
    network = engine._network
    check_workspace(network, buffers, scratch)
    narrow: Any = np.zeros((len(buffers.hidden), 96), np.float32)
    for wrong in (
        buffers._replace(attn_context=narrow),
        buffers._replace(hidden=buffers.hidden[:5]),
    ):
        with pytest.raises(ValueError, match=r"attn_context|hidden|rows"):
            check_workspace(network, wrong, scratch)
    with pytest.raises(ValueError, match="values is"):
        check_workspace(network, buffers, scratch._replace(values=narrow))
    with pytest.raises(ValueError, match="position_embeddings is"):
        check_workspace(network._replace(position_embeddings=narrow), buffers, scratch)
    with pytest.raises(ValueError, match="5 heads do not divide 384"):
        check_workspace(network._replace(heads=5), buffers, scratch)
