"""Which engine does the work, and that it makes no difference to who asks."""

import platform
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from malmoi.encode.bulk.embed import EmbedSettings
from malmoi.encode.bulk.write_file import write_embeddings
from malmoi.encode.checkpoint.locate import find_model, is_encoder
from malmoi.encode.checkpoint.weights import read_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.loading import load_encoder
from malmoi.encode.pipeline import contextual_encoder as encoders
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime import engine
from malmoi.encode.runtime.batches import pack
from malmoi.encode.runtime.compiled_engine import CompiledEngine
from malmoi.encode.runtime.engine import can_compile
from malmoi.encode.runtime.engine_switch import MIN_TOKENS_PER_CALL
from malmoi.encode.runtime.onnx_session import OnnxEngine
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.kernels.transformer import gemm_int8 as int8_kernels
from malmoi.kernels.transformer import gemm_int16 as int16_kernels
from tests.reporters import CallbackReporter

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

TEXTS = ["the bank", "한국어 문장", "a river, a bank and many fish", "robbers " * 40, "x"]
needs_kernels = pytest.mark.skipif(not can_compile(), reason="this processor has no AVX2 with FMA")


def is_onnx(encoder: TransformerEncoder) -> bool:
    return isinstance(encoder.engine._engine, OnnxEngine)


@needs_kernels
def test_a_few_texts_are_for_onnxruntime_and_many_for_the_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = load_transformer("minilm")
    few = encoder.encode(TEXTS)
    assert is_onnx(encoder)
    monkeypatch.setattr(engine, "COMPILE_AFTER_TOKENS", 300)
    many = encoder.encode(TEXTS)
    assert not is_onnx(encoder)
    np.testing.assert_allclose(many, few, atol=1e-6)


@needs_kernels
def test_who_asks_again_and_again_gets_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_transformer("minilm")
    monkeypatch.setattr(engine, "COMPILE_AFTER_TOKENS", 5 * MIN_TOKENS_PER_CALL)
    kinds = []
    for _ in range(7):
        encoder.encode(["hello"])
        kinds.append(is_onnx(encoder))
    assert kinds == [True] * 5 + [False] * 2


@needs_kernels
def test_a_file_is_of_one_engine_even_if_there_are_more_tokens_than_was_thought(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(encoders, "CHUNK_TEXTS", 2)
    encoder, kinds = load_transformer("minilm"), []
    monkeypatch.setattr(
        engine, "COMPILE_AFTER_TOKENS", 10_000
    )  # windows that share almost all: far more come
    write_embeddings(
        encoder,
        ["robbers " * 300] * 4,
        tmp_path / "x.npy",
        EmbedSettings(overflow="windows", overlap=250),
        reporter=CallbackReporter(lambda *_: kinds.append(is_onnx(encoder)), stage="embedding"),
    )
    assert len(kinds) > 2
    assert set(kinds) == {True}
    encoder.encode(["hello"])  # from now on it may change
    assert not is_onnx(encoder)


def test_without_the_right_processor_onnxruntime_does_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    encoder = load_transformer("minilm")
    encoder.compile()
    assert is_onnx(encoder)
    assert encoder.encode(TEXTS).shape == (5, 384)


@needs_kernels
def test_a_text_has_the_same_vector_whatever_is_beside_it_and_on_any_threads() -> None:
    encoder = load_transformer("minilm")
    encoder.compile()
    together = encoder.encode(TEXTS * 30)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(together, np.tile(alone, (30, 1)), atol=1e-6)
    with ThreadPoolExecutor(6) as pool:  # each wants all cores
        for found in pool.map(lambda _: encoder.encode(TEXTS[:1]), range(60)):
            np.testing.assert_allclose(found, alone[:1], atol=1e-6)


def quantized(arithmetic: Arithmetic, monkeypatch: pytest.MonkeyPatch) -> TransformerEncoder:
    """MiniLM in this arithmetic, or a skipped test where the processor has no such instructions."""
    kernel = int16_kernels if arithmetic == "int16" else int8_kernels
    if not (can_compile() and kernel.IS_SUPPORTED):
        pytest.skip(f"this processor has no instructions for {arithmetic}")
    monkeypatch.setattr(int8_kernels, "IS_SUPPORTED", arithmetic == "int8")
    encoder = load_transformer("minilm:quantized")
    assert encoder.engine.arithmetic == arithmetic
    return encoder


@pytest.mark.parametrize(("arithmetic", "cosine"), [("int16", 0.99999), ("int8", 0.99)])
def test_quantized_vectors_are_near_those_of_floats_and_do_not_depend_on_the_batch(
    arithmetic: Arithmetic, cosine: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = quantized(arithmetic, monkeypatch)
    exact, near = load_transformer("minilm").encode(TEXTS), encoder.encode(TEXTS)
    assert np.all(np.sum(exact * near, axis=1) > cosine)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(near, alone, atol=1e-5)
    beside = encoder.encode([*["other texts " * 50] * 9, *TEXTS])[9:]
    np.testing.assert_allclose(near, beside, atol=1e-5)


@needs_kernels
@pytest.mark.parametrize("ending", [":quantized", ":int8"])
def test_one_name_means_the_integers_that_this_processor_multiplies_fastest(ending: str) -> None:
    encoder = load_encoder(f"minilm{ending}")
    assert encoder.name == f"minilm{ending}"
    assert is_encoder(encoder.name)
    fastest = "int8" if int8_kernels.IS_SUPPORTED else "int16"
    assert load_transformer(encoder.name).engine.arithmetic == fastest


def test_without_the_right_processor_a_quantized_model_runs_in_floats_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    with pytest.warns(MalmoiWarning, match="runs in float32, not quantized") as warned:
        encoder = load_transformer("minilm:quantized")
    assert len(warned) == 1
    assert encoder.engine.arithmetic == "float32"
    np.testing.assert_array_equal(encoder.encode(TEXTS), load_transformer("minilm").encode(TEXTS))


def test_vectors_without_layers_cannot_be_quantized() -> None:
    with pytest.raises(
        InvalidArgumentError, match="use has no layers to quantize: name it without :int8"
    ):
        load_encoder("use:int8")


@pytest.mark.parametrize("arithmetic", ["int16", "int8"])
def test_hidden_sizes_that_fill_no_group_are_padded(
    arithmetic: Arithmetic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = quantized(arithmetic, monkeypatch)
    config = replace(encoder.config, layers=1, dim=33, heads=3, ffn_size=35, embedding_size=33)
    weights = {
        name: weight[tuple(slice({384: 33, 1536: 35}.get(size, size)) for size in weight.shape)]
        for name, weight in read_weights(weights_file(find_model("minilm")), encoder.config).items()
        if not name.startswith("layer.") or name.startswith("layer.0.")
    }
    batch = pack([[101, 7592, 102], [101, 102]], [[0] * 3, [0] * 2], config.positions)
    exact, near = (
        CompiledEngine(weights, config, kind).run(batch, [1], 1)[0]
        for kind in ("float32", arithmetic)
    )
    np.testing.assert_allclose(near, exact, atol=0.1 if arithmetic == "int8" else 0.002)
