"""Which engine does the work, and that it makes no difference to who asks."""

import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from malmoi.encode import encoder as encoders
from malmoi.encode import engine
from malmoi.encode.embedding import Wish
from malmoi.encode.encoder import ContextualEncoder, load_contextual
from malmoi.encode.engine import can_compile
from malmoi.encode.finding import is_encoder
from malmoi.encode.loading import load_encoder
from malmoi.encode.onnx_engine import OnnxEngine
from malmoi.encode.writing import write_embeddings
from malmoi.errors import BadSetting
from malmoi.kernels import byte_products

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

TEXTS = ["the bank", "한국어 문장", "a river, a bank and many fish", "robbers " * 40, "x"]
needs_kernels = pytest.mark.skipif(not can_compile(), reason="this processor has no AVX2 with FMA")
needs_bytes = pytest.mark.skipif(not byte_products.USABLE, reason="this processor has no VNNI")


def is_onnx(encoder: ContextualEncoder) -> bool:
    return isinstance(encoder.engine._engine, OnnxEngine)


@needs_kernels
def test_a_few_texts_are_for_onnxruntime_and_many_for_the_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = load_contextual("minilm")
    few = encoder.encode(TEXTS)
    assert is_onnx(encoder)
    monkeypatch.setattr(engine, "MUCH", 300)
    many = encoder.encode(TEXTS)
    assert not is_onnx(encoder)
    np.testing.assert_allclose(many, few, atol=1e-6)


@needs_kernels
def test_who_asks_again_and_again_gets_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_contextual("minilm")
    monkeypatch.setattr(engine, "MUCH", 5 * engine.CALL)
    kinds = []
    for _ in range(7):
        encoder.encode(["hello"])
        kinds.append(is_onnx(encoder))
    assert kinds == [True] * 5 + [False] * 2


@needs_kernels
def test_a_file_is_of_one_engine_even_if_there_are_more_pieces_than_was_thought(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(encoders, "CHUNK", 2)
    encoder, kinds = load_contextual("minilm"), []
    monkeypatch.setattr(engine, "MUCH", 10_000)  # windows that share almost all: far more come
    write_embeddings(
        encoder,
        ["robbers " * 300] * 4,
        tmp_path / "x.npy",
        Wish(long="windows", overlap=250),
        progress=lambda *_: kinds.append(is_onnx(encoder)),
    )
    assert len(kinds) > 2
    assert set(kinds) == {True}
    encoder.encode(["hello"])  # from now on it may change
    assert not is_onnx(encoder)


def test_without_the_right_processor_onnxruntime_does_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    encoder = load_contextual("minilm")
    encoder.engine.settle()
    assert is_onnx(encoder)
    assert encoder.encode(TEXTS).shape == (5, 384)


@needs_kernels
def test_a_text_has_the_same_vector_whatever_is_beside_it_and_on_any_threads() -> None:
    encoder = load_contextual("minilm")
    encoder.engine.settle()
    together = encoder.encode(TEXTS * 30)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(together, np.tile(alone, (30, 1)), atol=1e-6)
    with ThreadPoolExecutor(6) as pool:  # each wants all cores
        for found in pool.map(lambda _: encoder.encode(TEXTS[:1]), range(60)):
            np.testing.assert_allclose(found, alone[:1], atol=1e-6)


@needs_bytes
def test_bytes_are_near_to_floats_and_do_not_depend_on_the_batch() -> None:
    floats, rounded = load_contextual("minilm"), load_contextual("minilm:int8")
    exact, near = floats.encode(TEXTS), rounded.encode(TEXTS)
    assert np.all(np.sum(exact * near, axis=1) > 0.99)
    alone = np.concatenate([rounded.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(near, alone, atol=1e-5)


def test_bytes_without_the_right_processor_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_products, "USABLE", False)
    with pytest.raises(BadSetting, match="AVX-512 VNNI"):
        load_contextual("minilm:int8")


def test_vectors_without_layers_have_no_bytes() -> None:
    with pytest.raises(BadSetting, match="use has no layers, and so no int8"):
        load_encoder("use:int8")


@needs_bytes
def test_an_encoder_keeps_the_name_it_was_asked_by() -> None:
    assert load_encoder("minilm:int8").name == "minilm:int8"
    assert is_encoder("minilm:int8")
