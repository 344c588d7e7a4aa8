"""The tensors of a classifier on an encoder in a file: its head, and the encoder's fingerprint.

Layers are `weights_0` f32 [inputs, outputs] and `bias_0` f32 [outputs], `weights_1` and so on. The
encoder itself is not in the file: the metadata hold its name as `model` and the text of its
fingerprint as `probe_text`, whose vector is `probe_vector` f32 [dim].
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.classify.base.trained_classifier import CommonFields
from malmoi.classify.encoders.head import Head, Layer
from malmoi.classify.encoders.text_vectors import TextVectors
from malmoi.classify.encoders.vector_classifier import VectorClassifier
from malmoi.errors import InvalidArgumentError
from malmoi.files.tensors import Tensors, check_tensors
from malmoi.search.storage.state import EncoderFingerprint


def encoder_tensors(
    classifier: VectorClassifier,
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """The tensors and metadata of its own."""
    tensors: dict[str, npt.NDArray[Any]] = {}
    for number, layer in enumerate(classifier.head.layers):
        tensors |= {f"weights_{number}": layer.weights, f"bias_{number}": layer.bias}
    metadata = {"model": classifier.vectors.model}
    if (probe := classifier.vectors.probe) is not None:
        tensors["probe_vector"] = probe.vector.astype(np.float32)
        metadata["probe_text"] = probe.text
    return tensors, metadata


def read_encoder(
    tensors: Tensors, metadata: Mapping[str, str], common: CommonFields
) -> VectorClassifier:
    """A classifier on an encoder from its tensors; the encoder is not loaded yet."""
    count = sum(name.startswith("weights_") for name in tensors)
    layers = []
    for number in range(count):
        names = f"weights_{number}", f"bias_{number}"
        check_tensors(tensors, 2, **{names[0]: "<f4"})
        check_tensors(tensors, 1, **{names[1]: "<f4"})
        layers.append(Layer(tensors[names[0]], tensors[names[1]]))
    head, probe = Head(tuple(layers)), None
    if "probe_vector" in tensors:
        check_tensors(tensors, 1, probe_vector="<f4")
        probe = EncoderFingerprint(metadata["probe_text"], tensors["probe_vector"])
        if probe.vector.shape != (head.dim,):
            raise InvalidArgumentError("the fingerprint of its encoder has another dimension")
    vectors = TextVectors(metadata["model"], head.dim, probe)
    return VectorClassifier(vectors=vectors, head=head, **common._asdict())
