"""What a server under attack serves: an encoder, vectors with and without n-grams, an index, a classifier."""

import random
from pathlib import Path

import numpy as np

import malmoi
from bench.encoding import MODEL
from malmoi.encode.loading import load_encoder
from malmoi.search.build import build_index
from malmoi.subwords import Subwords, SubwordVectors

VECTORS, WORDS, BUCKETS, TEXTS = "glove-6b-50d", 50_000, 100_000, 3000


def make_places(folder: Path) -> list[str]:
    """Each as NAME=PATH; what is not there is made in a folder."""
    glove = malmoi.load(VECTORS)
    words = glove.most_frequent(WORDS)
    chance = np.random.default_rng(0)
    ngrams = chance.standard_normal((BUCKETS, glove.dim)).astype(np.float32)
    subwords = SubwordVectors(
        keys=words.keys,
        matrix=words.matrix,
        word_rows=words.matrix,
        bucket_rows=ngrams,
        subwords=Subwords(buckets=BUCKETS),
    )
    malmoi.save(subwords, folder / "subwords.malmoi")
    draw = random.Random(0)
    common = list(glove.keys[:TEXTS])
    texts = [" ".join(draw.choices(common, k=20)) for _ in range(TEXTS)]
    fields = [{"year": 1900 + i % 100, "lang": "en", "number": i} for i in range(TEXTS)]
    build_index(load_encoder(VECTORS), texts, fields=fields).save(folder / "index")
    labelled = [(text, f"label {i % 2}") for i, text in enumerate(texts)]
    malmoi.train_classifier(labelled, "ngrams", out=folder / "topics.classifier")
    return [
        f"minilm={MODEL}",
        f"glove={VECTORS}",
        f"subwords={folder / 'subwords.malmoi'}",
        f"index={folder / 'index'}",
        f"topics={folder / 'topics.classifier'}",
    ]
