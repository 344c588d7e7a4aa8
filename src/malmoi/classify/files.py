"""Reads and writes classifiers: files and folders of our own, and fastText's supervised models.

Every file of ours has the labels as `label_bytes` u8 and `label_offsets` i64; its metadata name the
kind of features, of which each kind adds tensors of its own, the temperature and the kind of
labels.
"""

import itertools
import json
from collections.abc import Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect, expect_path
from malmoi.classify.base.classifier import Classifier
from malmoi.classify.base.trained_classifier import CommonFields, TrainedClassifier
from malmoi.classify.combined.combined_file import combined_tensors, read_combined
from malmoi.classify.combined.stacked_classifier import StackedClassifier
from malmoi.classify.encoders.encoder_file import encoder_tensors, read_encoder
from malmoi.classify.encoders.vector_classifier import VectorClassifier
from malmoi.classify.majority import ConstantClassifier, majority_tensors, read_majority
from malmoi.classify.networks.embedding_file import embedding_tensors, read_embedding
from malmoi.classify.networks.network_classifier import NetworkClassifier
from malmoi.classify.networks.transformer_classifier import TransformerClassifier
from malmoi.classify.networks.transformer_folder import (
    HEAD_FILE,
    copied_folder,
    head_tensors,
    read_transformer,
)
from malmoi.classify.ngrams.linear_classifier import LinearClassifier
from malmoi.classify.ngrams.ngram_file import ngram_tensors, read_ngrams
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import KIND_KEY, FileKind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import (
    Tensors,
    check_tensors,
    invalid_file_on_error,
    open_safetensors,
)

KIND = FileKind("classifier", "a classifier")
NGRAMS, ENCODER, COMBINED, MAJORITY = "ngrams", "encoder", "combined", "majority"  # features
EMBEDDING, TRANSFORMER = "embedding", "transformer"


def save_classifier(
    classifier: Classifier, path: str | PathLike[str], *, quantize: bool = False
) -> None:
    """Write a classifier, atomically.

    Args:
        classifier: As `train_classifier` makes it.
        path: The file to write; of a fine-tuned transformer, the folder.
        quantize: Write the weights of n-grams in 8 bits: a quarter of the size.

    Raises:
        InvalidArgumentError: The classifier was read from a file of fastText.
        InvalidFileError: The file cannot be written.
    """
    expect(classifier, Classifier, "classifier", "a classifier")
    if not isinstance(classifier, TrainedClassifier):
        raise InvalidArgumentError("a model of fastText is not written again: copy its file")
    target = expect_path(path)
    if isinstance(classifier, TransformerClassifier):
        with copied_folder(classifier, target) as file:
            write_tensor_file(file, KIND, *to_tensors(classifier))
    else:
        write_tensor_file(target, KIND, *to_tensors(classifier, quantize=quantize))


def to_tensors(
    classifier: TrainedClassifier, *, quantize: bool = False
) -> tuple[Tensors, dict[str, str]]:
    """The tensors and metadata of a classifier of any kind."""
    features, own, more = _own_tensors(classifier, quantize=quantize)
    metadata = {
        "features": features,
        "multi_label": json.dumps(classifier.multi_label),
        "softmax": json.dumps(classifier.softmax),
        "temperature": repr(float(classifier.temperature)),
        "facts": json.dumps(classifier.metadata, ensure_ascii=False),
    }
    return {**_label_tensors(classifier.labels), **own}, metadata | more


def _own_tensors(
    classifier: TrainedClassifier, *, quantize: bool
) -> tuple[str, Tensors, dict[str, str]]:
    """The kind of features, and its tensors and metadata."""
    if isinstance(classifier, LinearClassifier):
        return NGRAMS, *ngram_tensors(classifier, quantize=quantize)
    if isinstance(classifier, ConstantClassifier):
        return MAJORITY, *majority_tensors(classifier)
    if isinstance(classifier, NetworkClassifier):
        return EMBEDDING, *embedding_tensors(classifier)
    if isinstance(classifier, TransformerClassifier):
        return TRANSFORMER, *head_tensors(classifier)
    if isinstance(classifier, VectorClassifier):
        return ENCODER, *encoder_tensors(classifier)
    if isinstance(classifier, StackedClassifier):
        return COMBINED, *combined_tensors(classifier, partial(to_tensors, quantize=quantize))
    raise InvalidArgumentError(f"a {type(classifier).__name__} cannot be written")


def load_classifier(path: str | PathLike[str]) -> Classifier:
    """Open a classifier.

    Args:
        path: A file or folder of `save_classifier`, or a supervised model of fastText (.bin, .ftz).

    Returns:
        The classifier.

    Raises:
        InvalidFileError: The file is missing, damaged or not a classifier.
    """
    given = expect_path(path)
    if given.is_dir() and not (given / HEAD_FILE).is_file():
        raise InvalidFileError(f"{given} is not a classifier: it has no {HEAD_FILE}")
    source = InputFile(given / HEAD_FILE if given.is_dir() else given)
    if source.head[8:9] != b"{":
        return _load_fasttext(source)
    tensors, metadata = read_tensor_file(source, KIND)
    with invalid_file_on_error(source.path):
        return from_tensors(tensors, metadata, given if given.is_dir() else None)


def is_classifier(path: Path) -> bool:
    """Whether a path is that of a classifier, our own or a supervised model of fastText."""
    if path.is_dir():
        return (path / HEAD_FILE).is_file()
    if not path.is_file():
        return False
    source = InputFile(path)
    if source.head[8:9] == b"{":
        return open_safetensors(source).metadata.get(KIND_KEY) == KIND.name
    from malmoi.formats.fasttext.supervised_model import is_supervised  # imports Numba

    return is_supervised(source)


def from_tensors(
    tensors: Tensors, metadata: Mapping[str, str], folder: Path | None = None
) -> TrainedClassifier:
    """A classifier of any kind from its tensors and metadata, and its folder if it has one."""
    common = CommonFields(
        labels=_labels(tensors),
        multi_label=bool(json.loads(metadata["multi_label"])),
        softmax=bool(json.loads(metadata["softmax"])),
        temperature=float(metadata["temperature"]),
        metadata={str(k): str(v) for k, v in json.loads(metadata["facts"]).items()},
    )
    features = metadata.get("features", NGRAMS)
    if features == NGRAMS:
        return read_ngrams(tensors, metadata, common)
    if features == MAJORITY:
        return read_majority(tensors, common)
    if features == EMBEDDING:
        return read_embedding(tensors, metadata, common)
    if features == TRANSFORMER and folder is not None:
        return read_transformer(tensors, folder, common)
    if features == ENCODER:
        return read_encoder(tensors, metadata, common)
    if features == COMBINED:
        return read_combined(tensors, metadata, common, from_tensors)
    raise InvalidArgumentError(f"its features are '{features}', which this version lacks")


def _load_fasttext(source: InputFile) -> Classifier:
    from malmoi.formats.fasttext.fasttext_model import matches  # imports Numba

    if not matches(source):
        raise InvalidFileError(f"{source.path} is not a classifier: name a file of tune classify")
    from malmoi.classify.fasttext.fasttext_classifier import FastTextClassifier
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
