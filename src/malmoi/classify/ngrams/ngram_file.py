"""The tensors of a linear classifier in a file.

The buckets with a row as `buckets` i32 ascending, or as `bucket_bitmap` u8 where that is smaller;
`values` f32 [rows, outputs], `norms` f32 [rows] and `bias` f32 [outputs]. Quantized values are i8
with `value_scales` f32 [outputs], norms are u8 with `norm_scale` f32 [1]. The metadata hold the
n-grams as JSON.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int32Array
from malmoi.classify.base.trained_classifier import CommonFields
from malmoi.classify.ngrams.features import MAX_BITS, Ngrams
from malmoi.classify.ngrams.fitting import FittedWeights
from malmoi.classify.ngrams.linear_classifier import LinearClassifier
from malmoi.errors import InvalidArgumentError
from malmoi.files.tensors import Tensors, check_tensors

INT8, UINT8 = 127, 255  # largest numbers of quantized values


def ngram_tensors(
    classifier: LinearClassifier, *, quantize: bool
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """The tensors and metadata of its own."""
    weights = classifier.weights
    tensors = {
        **_bucket_tensors(weights.buckets, classifier.ngrams.bits),
        "bias": weights.bias.astype(np.float32),
    }
    tensors |= _quantized(weights) if quantize else _plain(weights)
    return tensors, {"ngrams": json.dumps(asdict(classifier.ngrams))}


def read_ngrams(
    tensors: Tensors, metadata: Mapping[str, str], common: CommonFields
) -> LinearClassifier:
    """A linear classifier from its tensors."""
    ngrams = Ngrams(**json.loads(metadata["ngrams"]))
    weights = FittedWeights(
        _buckets(tensors, ngrams.bits), *_weights(tensors), tensors["bias"].astype(np.float32)
    )
    numbers = weights.values, weights.norms, weights.bias
    if not all(np.isfinite(each).all() for each in numbers):
        raise InvalidArgumentError("its weights are not all numbers")
    return LinearClassifier(ngrams=ngrams, weights=weights, **common._asdict())


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
