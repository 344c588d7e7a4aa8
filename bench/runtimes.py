"""MiniLM under other runtimes: onnxruntime and OpenVINO with the usual exported graph, CTranslate2.

What sentence-transformers' ONNX and OpenVINO backends and fastembed do, without what they need
to be installed: texts sorted by length, padded, 32 at a time, mean pooling.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bench.data import Data
from bench.encoding import (
    MODEL,
    Candidate,
    instructions,
    mixed_texts,
    settled,
    short_texts,
    throughput,
)
from bench.measure import Figure, say
from bench.text import CORPORA
from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.locate import find_model

BATCH, LONGEST = 32, 256
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
Run = Callable[[Int64Array, Int64Array], Float32Array]  # ids and mask [texts, longest] to states


def run(data: Data) -> Iterator[Figure]:
    """Ours beside each; none where the texts are not there."""
    if not CORPORA.is_dir():
        say(f"no texts in {CORPORA.parent} (set MALMOI_DATA): runtimes are left out")
        return
    ours = settled(MODEL)
    say(f"ours runs with {instructions('float32')}, the others with what they choose")
    texts = {"short": short_texts(), "mixed": mixed_texts()}
    for name, encode in runtimes(str(find_model(MODEL))):
        for kind, some in texts.items():
            yield from throughput(
                some, [Candidate(f"{kind}, beside {name}", ours.encode, 1.0)], encode
            )


def runtimes(folder: str) -> Iterator[tuple[str, Callable[[list[str]], Float32Array]]]:
    """Each runtime that is installed, by name, as something that encodes."""
    for name, make in {
        "onnxruntime": make_onnxruntime,
        "openvino": make_openvino,
        "ctranslate2": make_ctranslate2,
    }.items():
        if find_spec(name) is None:
            say(f"{name} is not installed: left out (pip install -r bench/requirements.txt)")
            continue
        yield name, padded_encoder(folder, make(folder))


def padded_encoder(folder: str, run: Run) -> Callable[[list[str]], Float32Array]:
    """Texts to vectors, as sentence-transformers goes about it."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_truncation(LONGEST)
    tokenizer.enable_padding()

    def encode(texts: list[str]) -> Float32Array:
        order = np.argsort([-len(text) for text in texts], kind="stable")
        vectors = np.empty((len(texts), 384), np.float32)
        for start in range(0, len(texts), BATCH):
            chosen = order[start : start + BATCH]
            encodings = tokenizer.encode_batch([texts[i] for i in chosen])
            ids = np.array([encoding.ids for encoding in encodings], np.int64)
            mask = np.array([encoding.attention_mask for encoding in encodings], np.int64)
            means = (run(ids, mask) * mask[:, :, np.newaxis]).sum(axis=1)
            vectors[chosen] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    return encode


@cache
def exported(folder: str) -> Path:
    """The graph that torch exports."""
    import torch
    import transformers

    path = Path(tempfile.mkdtemp()) / "model.onnx"
    model = transformers.AutoModel.from_pretrained(folder).eval().requires_grad_(False)

    class LastState(torch.nn.Module):
        def forward(self, ids: Any, mask: Any, segments: Any) -> Any:
            found = model(input_ids=ids, attention_mask=mask, token_type_ids=segments)
            return found.last_hidden_state

    example = torch.ones(2, 8, dtype=torch.long)
    axes = {name: {0: "texts", 1: "pieces"} for name in (*INPUTS, "last")}
    torch.onnx.export(
        LastState(),
        (example, example, torch.zeros_like(example)),
        str(path),
        input_names=list(INPUTS),
        output_names=["last"],
        dynamic_axes=axes,
        dynamo=False,
        opset_version=17,
    )
    return path


def make_onnxruntime(folder: str) -> Run:
    import onnxruntime

    session = onnxruntime.InferenceSession(
        str(exported(folder)), providers=["CPUExecutionProvider"]
    )
    return lambda ids, mask: session.run(
        None, dict(zip(INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))
    )[0]


def make_openvino(folder: str) -> Run:
    import openvino

    compiled = openvino.Core().compile_model(str(exported(folder)), "CPU")
    return lambda ids, mask: compiled([ids, mask, np.zeros_like(ids)])[0]


def make_ctranslate2(folder: str) -> Run:
    import ctranslate2

    target = tempfile.mkdtemp()
    ctranslate2.converters.TransformersConverter(folder).convert(target, force=True)
    encoder = ctranslate2.Encoder(target, device="cpu", intra_threads=2)

    def run(ids: Int64Array, mask: Int64Array) -> Float32Array:
        lengths = ctranslate2.StorageView.from_array(mask.sum(axis=1).astype(np.int32))
        given = ctranslate2.StorageView.from_array(ids.astype(np.int32))
        return np.array(encoder.forward_batch(given, lengths).last_hidden_state)

    return run
