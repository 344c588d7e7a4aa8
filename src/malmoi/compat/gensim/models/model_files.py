"""ModelFiles: models in malmoi's own file, and from gensim's."""

import json
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from malmoi.compat.gensim.vectors.keyed_vectors import check_pickle_arguments
from malmoi.errors import warn
from malmoi.formats import load, save
from malmoi.vectors import Vectors

SETTINGS = (
    "vector_size", "alpha", "window", "min_count", "max_vocab_size", "sample", "seed", "workers",
    "min_alpha", "sg", "hs", "negative", "ns_exponent", "cbow_mean", "epochs", "sorted_vocab",
    "batch_words", "comment", "max_final_vocab", "shrink_windows",
)  # fmt: skip
STATE = ("corpus_count", "corpus_total_words")


class ModelFiles:
    """Saves and loads a model: its vectors, its output layer and its settings, in one file."""

    kind: ClassVar[str]
    settings_saved: ClassVar[tuple[str, ...]] = SETTINGS
    wv: Any
    outputs: Any
    uses_tree: Any

    def adopt(self, vectors: Vectors) -> None:
        """Take over trained vectors."""
        raise NotImplementedError

    def init_vectors(self) -> Vectors:
        """The vectors that a training starts from."""
        raise NotImplementedError

    def save(self, fname: str | Path, **pickle_arguments: object) -> None:
        """Save to one file in malmoi's own format, which `malmoi.load` opens too."""
        check_pickle_arguments(pickle_arguments)
        notes = {name: getattr(self, name) for name in (*self.settings_saved, *STATE)}
        meta = {"gensim": json.dumps({"class": self.kind} | notes, default=np.generic.item)}
        if self.uses_tree:
            meta["settings"] = "hierarchical-softmax"
        save(self.init_vectors().with_meta(**meta), fname, format="malmoi")

    @classmethod
    def load(cls, fname: str | Path, mmap: str | None = None) -> Self:
        """Load a model of malmoi's or of gensim's file; `AttributeError` for vectors alone.

        Of gensim's hierarchical softmax the output layer is not read: training starts it anew.
        """
        vectors = load(fname)
        notes = json.loads(vectors.meta.get("gensim", "{}"))
        if notes.get("class") != cls.kind:
            raise AttributeError(
                f"{fname} holds {notes.get('class', 'vectors')}, not a {cls.kind}: use"
                " KeyedVectors.load for vectors alone"
            )
        settings = {name: notes[name] for name in cls.settings_saved if name in notes}
        settings.pop("batch_words", None)
        model = cls(**settings)
        model.restore(vectors)
        for name in STATE:
            setattr(model, name, notes.get(name))
        return model

    def restore(self, vectors: Vectors) -> None:
        """Take over the words and vectors of a file."""
        counts = vectors.counts
        if counts is None:
            warn("the file has no counts: all words count as equally frequent")
            counts = np.ones(len(vectors), np.int64)
        self.wv.set_words(list(vectors.keys), counts)
        self.adopt(vectors)
        if self.outputs is None:
            self.outputs = np.zeros(vectors.matrix.shape, np.float32)
