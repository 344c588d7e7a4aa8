"""fastText's own model files as gensim's functions read and write them."""

import json
from pathlib import Path

import numpy as np

from malmoi.compat.gensim.models.fasttext_model import FastTextModel
from malmoi.compat.gensim.vectors.fasttext_vectors import FastTextKeyedVectors
from malmoi.errors import InvalidArgumentError, warn
from malmoi.formats import load, save
from malmoi.subwords import SubwordVectors
from malmoi.train.word2vec.fasttext import fasttext_args

SUPERVISED = 3


def load_facebook_vectors(path: str | Path, encoding: str = "utf-8") -> FastTextKeyedVectors:
    """The vectors of a fastText `.bin` file, with their n-grams."""
    return FastTextKeyedVectors.of(read_model(path, encoding)[0])


def load_facebook_model(path: str | Path, encoding: str = "utf-8") -> FastTextModel:
    """The model of a fastText `.bin` file, whose training can continue."""
    vectors, settings = read_model(path, encoding)
    model = FastTextModel(
        vector_size=vectors.dim,
        window=int(settings["ws"]),
        epochs=int(settings["epoch"]),
        negative=int(settings["neg"]),
        hs=int(settings["loss"] == 1),
        sg=int(settings["model"] == 2),
        min_count=int(settings["minCount"]),
        sample=settings["t"],
        min_n=vectors.subwords.min_n,
        max_n=vectors.subwords.max_n,
        bucket=vectors.subwords.buckets,
    )
    model.wv.adopt(vectors)
    model.outputs = vectors.context_matrix
    if model.outputs is None:
        model.outputs = np.zeros(vectors.matrix.shape, np.float32)
    model.corpus_total_words = int(vectors.counts.sum()) if vectors.counts is not None else None
    return model


def read_model(path: str | Path, encoding: str) -> tuple[SubwordVectors, dict[str, float]]:
    """The vectors and settings of a file."""
    vectors = load(path, encoding=encoding)
    settings: dict[str, float] = json.loads(vectors.meta.get("fasttext", "{}"))
    if not isinstance(vectors, SubwordVectors) or not settings:
        raise InvalidArgumentError(f"{path} is not a model of fastText")
    if settings.get("model") == SUPERVISED:
        raise NotImplementedError(f"{path} is a supervised model, which is not for vectors alone")
    return vectors, settings


def save_facebook_model(
    model: FastTextModel,
    path: str | Path,
    encoding: str = "utf-8",
    lr_update_rate: int = 100,
    word_ngrams: int = 1,
) -> None:
    """Write a model as a fastText `.bin` file."""
    if encoding.replace("-", "").lower() != "utf8" or word_ngrams != 1:
        raise InvalidArgumentError("malmoi writes fastText's file in UTF-8, without word_ngrams")
    if lr_update_rate != 100:
        warn("lr_update_rate does not apply: it is 100 in the file")
    settings = fasttext_args(model.settings(model.epochs, model.alpha, model.min_alpha))
    settings |= {"minCount": model.min_count, "neg": model.negative}
    save(model.init_vectors().with_meta(fasttext=json.dumps(settings)), path, format="fasttext")
