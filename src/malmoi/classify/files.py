"""Reads and writes classifiers: our own file, and reads fastText's supervised models.

The tensors of our file: the labels as `label_bytes` u8 and `label_offsets` i64; the buckets with a
row as `buckets` i32 ascending, or as `bucket_bitmap` u8 where that is smaller; `values` f32
[rows, outputs], `norms` f32 [rows] and `bias` f32 [outputs]. Quantized values are i8 with
`value_scales` f32 [outputs], norms are u8 with `norm_scale` f32 [1]. The header's `__metadata__`
holds the n-grams, the temperature and the kind of labels, as JSON.
"""

import itertools
import json
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect, expect_path
from malmoi.arrays import Float32Array, Int32Array
from malmoi.classify.classifier import Classifier
from malmoi.classify.fitting import FittedWeights
from malmoi.classify.linear_classifier import LinearClassifier
from malmoi.classify.ngrams import MAX_BITS, Ngrams
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import Tensors, check_tensors, invalid_file_on_error

KIND = FileKind("classifier", "a classifier")
INT8, UINT8 = 127, 255  # largest numbers of quantized values


def save_classifier(
    classifier: Classifier, path: str | PathLike[str], *, quantize: bool = False
) -> None:
    """Write a classifier, atomically.

    Args:
        classifier: As `train_classifier` makes it.
        path: The file to write.
        quantize: Write weights in 8 bits: a quarter of the size.

    Raises:
        InvalidArgumentError: The classifier was read from a file of fastText.
        InvalidFileError: The file cannot be written.
    """
    expect(classifier, Classifier, "classifier", "a classifier")
    if not isinstance(classifier, LinearClassifier):
        raise InvalidArgumentError("a model of fastText is not written again: copy its file")
    weights = classifier.weights
    tensors: dict[str, npt.NDArray[Any] | None] = {
        **_label_tensors(classifier.labels),
        **_bucket_tensors(weights.buckets, classifier.ngrams.bits),
        "bias": weights.bias.astype(np.float32),
    }
    tensors |= _quantized(weights) if quantize else _plain(weights)
    metadata = {
        "ngrams": json.dumps(asdict(classifier.ngrams)),
        "multi_label": json.dumps(classifier.multi_label),
        "softmax": json.dumps(classifier.softmax),
        "temperature": repr(float(classifier.temperature)),
        "facts": json.dumps(classifier.metadata, ensure_ascii=False),
    }
    write_tensor_file(expect_path(path), KIND, tensors, metadata)


def load_classifier(path: str | PathLike[str]) -> Classifier:
    """Open a classifier.

    Args:
        path: A file of `save_classifier`, or a supervised model of fastText (.bin, .ftz).

    Returns:
        The classifier.

    Raises:
        InvalidFileError: The file is missing, damaged or not a classifier.
    """
    source = InputFile(expect_path(path))
    if source.head[8:9] != b"{":
        return _load_fasttext(source)
    tensors, metadata = read_tensor_file(source, KIND)
    with invalid_file_on_error(source.path):
        ngrams = Ngrams(**json.loads(metadata["ngrams"]))
        weights = FittedWeights(
            _buckets(tensors, ngrams.bits), *_weights(tensors), tensors["bias"].astype(np.float32)
        )
        numbers = weights.values, weights.norms, weights.bias
        if not all(np.isfinite(each).all() for each in numbers):
            raise InvalidArgumentError("its weights are not all numbers")
        return LinearClassifier(
            labels=_labels(tensors),
            multi_label=bool(json.loads(metadata["multi_label"])),
            ngrams=ngrams,
            weights=weights,
            softmax=bool(json.loads(metadata["softmax"])),
            temperature=float(metadata["temperature"]),
            metadata={str(k): str(v) for k, v in json.loads(metadata["facts"]).items()},
        )


def _load_fasttext(source: InputFile) -> Classifier:
    from malmoi.formats.fasttext.fasttext_model import matches  # imports Numba

    if not matches(source):
        raise InvalidFileError(f"{source.path} is not a classifier: name a file of tune classify")
    from malmoi.classify.fasttext_classifier import FastTextClassifier
    from malmoi.formats.fasttext.supervised_model import read_supervised

    model = read_supervised(source)
    is_multi_label = model.loss in ("one versus all", "negative sampling")
    return FastTextClassifier(labels=model.labels, multi_label=is_multi_label, model=model)


def _label_tensors(labels: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    encoded = [label.encode("utf-8", "surrogatepass") for label in labels]
    return {
        "label_bytes": np.frombuffer(b"".join(encoded), np.uint8),
        "label_offsets": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
    }


def _labels(tensors: Tensors) -> tuple[str, ...]:
    check_tensors(tensors, 1, label_bytes="u1", label_offsets="<i8")
    data, offsets = tensors["label_bytes"].tobytes(), tensors["label_offsets"].tolist()
    spans = itertools.pairwise(offsets)
    return tuple(data[start:stop].decode("utf-8", "surrogatepass") for start, stop in spans)


def _bucket_tensors(buckets: Int32Array, bits: int) -> dict[str, npt.NDArray[Any]]:
    if 32 * len(buckets) <= 1 << bits:
        return {"buckets": buckets}
    present = np.zeros(1 << bits, np.bool_)
    present[buckets] = True
    return {"bucket_bitmap": np.packbits(present)}


def _buckets(tensors: Tensors, bits: int) -> Int32Array:
    if "bucket_bitmap" in tensors:
        check_tensors(tensors, 1, bucket_bitmap="u1")
        if len(tensors["bucket_bitmap"]) != 1 << bits >> 3 or bits > MAX_BITS:
            raise InvalidArgumentError("its bitmap of buckets has another size")
        return np.flatnonzero(np.unpackbits(tensors["bucket_bitmap"])).astype(np.int32)
    check_tensors(tensors, 1, buckets="<i4")
    buckets: Int32Array = tensors["buckets"]
    if len(buckets) and (
        buckets[0] < 0 or buckets[-1] >= 1 << bits or (np.diff(buckets) <= 0).any()
    ):
        raise InvalidArgumentError("its buckets are not sorted")
    return buckets


def _plain(weights: FittedWeights) -> dict[str, npt.NDArray[Any]]:
    return {"values": weights.values, "norms": weights.norms}


def _quantized(weights: FittedWeights) -> dict[str, npt.NDArray[Any]]:
    scales = np.maximum(np.abs(weights.values).max(axis=0, initial=0), 1e-30) / INT8
    scale = max(float(weights.norms.max(initial=0)), 1e-30) / UINT8
    return {
        "values": np.rint(weights.values / scales).astype(np.int8),
        "value_scales": scales.astype(np.float32),
        "norms": np.rint(weights.norms / scale).astype(np.uint8),
        "norm_scale": np.array([scale], np.float32),
    }


def _weights(tensors: Tensors) -> tuple[Float32Array, Float32Array]:
    if tensors["values"].dtype != np.int8:
        check_tensors(tensors, 2, values="<f4")
        check_tensors(tensors, 1, norms="<f4", bias="<f4")
        return tensors["values"], tensors["norms"]
    check_tensors(tensors, 2, values="i1")
    check_tensors(tensors, 1, norms="u1", bias="<f4", value_scales="<f4", norm_scale="<f4")
    values = tensors["values"] * tensors["value_scales"]
    norms = tensors["norms"] * tensors["norm_scale"][0]
    return values.astype(np.float32), norms.astype(np.float32)
