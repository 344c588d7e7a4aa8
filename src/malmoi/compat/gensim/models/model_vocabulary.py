"""ModelVocabulary: how gensim's models choose their words and begin with random vectors."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.compat.gensim.models.vocabulary_scan import (
    TrimRule,
    effective_min_count,
    keeps,
    scan_sentences,
)
from malmoi.compat.gensim.sentences import LineSentence
from malmoi.errors import warn
from malmoi.train.word2vec.huffman import huffman_paths
from malmoi.train.word2vec.initialization import random_rows

GensimSentences = Iterable[Sequence[str]]
PROGRESS_PER = 10_000


def warn_if(is_wrong: bool, sentence: str) -> None:
    """Warn about an argument that is not honoured."""
    if is_wrong:
        warn(sentence)


class ModelVocabulary(ABC):
    """The words of a model; `wv` holds them with their counts, `outputs` the output layer."""

    wv: Any
    outputs: Float32Array | None
    hs: int
    negative: int
    vector_size: int
    seed: int
    min_count: int
    max_vocab_size: int | None
    max_final_vocab: int | None
    sorted_vocab: int
    sample: float
    raw_vocab: dict[str, int]
    corpus_count: int | None
    corpus_total_words: int | None
    effective_min_count: int

    @abstractmethod
    def new_vectors(self) -> Any:
        """Vectors without words."""

    @property
    def uses_tree(self) -> bool:
        """Whether the model trains by hierarchical softmax."""
        return bool(self.hs) and not self.negative

    def corpus_of(self, sentences: Any, corpus_file: Any) -> GensimSentences:
        """The sentences of either argument; `TypeError` unless it is exactly one."""
        if (sentences is None) == (corpus_file is None):
            raise TypeError("give either sentences (corpus_iterable) or corpus_file, not both")
        if corpus_file is not None:
            if not isinstance(corpus_file, str | Path):
                raise TypeError(f"corpus_file must be the path of a file; got {corpus_file!r}")
            return LineSentence(corpus_file)
        if not isinstance(sentences, Iterable) or isinstance(sentences, Iterator):
            raise TypeError(
                "sentences must be a list of lists of words, or an object that can be iterated"
                " several times; a generator cannot"
            )
        return sentences

    def build_vocab(
        self,
        corpus_iterable: GensimSentences | None = None,
        corpus_file: str | None = None,
        update: bool = False,
        progress_per: int = PROGRESS_PER,
        keep_raw_vocab: bool = False,
        trim_rule: TrimRule | None = None,
        min_count: int | None = None,
        sample: float | None = None,
    ) -> None:
        """Choose the words of a corpus; with `update`, add new ones to those of the model."""
        warn_if(progress_per != PROGRESS_PER, "progress_per does not apply: nothing is logged")
        self.scan_vocab(self.corpus_of(corpus_iterable, corpus_file), trim_rule=trim_rule)
        self.prepare_vocab(update, keep_raw_vocab, trim_rule, min_count, sample)
        self.init_weights(update)

    def build_vocab_from_freq(
        self,
        word_freq: Mapping[str, int],
        keep_raw_vocab: bool = False,
        corpus_count: int | None = None,
        trim_rule: TrimRule | None = None,
        update: bool = False,
    ) -> None:
        """Choose words by their counts."""
        self.raw_vocab = dict(word_freq)
        self.corpus_count = corpus_count or 0
        self.corpus_total_words = sum(word_freq.values())
        self.prepare_vocab(update, keep_raw_vocab, trim_rule)
        self.init_weights(update)

    def scan_vocab(
        self,
        corpus_iterable: GensimSentences | None = None,
        corpus_file: str | None = None,
        progress_per: int = PROGRESS_PER,
        workers: int | None = None,
        trim_rule: TrimRule | None = None,
    ) -> tuple[int, int]:
        """Count the words of a corpus; returns how many words and sentences it has."""
        corpus = self.corpus_of(corpus_iterable, corpus_file)
        scan = scan_sentences(corpus, self.max_vocab_size, trim_rule)
        self.raw_vocab = scan.counts
        self.corpus_count, self.corpus_total_words = scan.sentences, scan.total_words
        return scan.total_words, scan.sentences

    def prepare_vocab(
        self,
        update: bool = False,
        keep_raw_vocab: bool = False,
        trim_rule: TrimRule | None = None,
        min_count: int | None = None,
        sample: float | None = None,
        dry_run: bool = False,
    ) -> dict[str, int]:
        """Take the words that are frequent enough; returns how many stay and how many do not."""
        if update and not len(self.wv):
            raise RuntimeError("there is no vocabulary to update: call build_vocab first")
        self.min_count = min_count or self.min_count
        self.sample = self.sample if sample is None else sample
        counts = self.raw_vocab
        self.effective_min_count = least = effective_min_count(
            counts, self.min_count, self.max_final_vocab
        )
        kept = {w: c for w, c in counts.items() if keeps(w, c, least, trim_rule)}
        if not dry_run:
            self._set_words(kept, update)
            self.raw_vocab = counts if keep_raw_vocab else {}
        return {
            "drop_unique": len(counts) - len(kept),
            "retain_total": sum(kept.values()),
            "num_retained_words": len(kept),
        }

    def _set_words(self, kept: dict[str, int], update: bool) -> None:
        if update:
            old = self.wv.expandos.get("count", np.ones(len(self.wv), np.int64))
            known = dict(zip(self.wv.index_to_key, old.tolist(), strict=True))
            total = {word: count + self.raw_vocab.get(word, 0) for word, count in known.items()}
            kept = total | {word: count for word, count in kept.items() if word not in known}
        elif self.sorted_vocab:
            kept = dict(sorted(kept.items(), key=lambda one: -one[1]))
        self.wv.set_words(list(kept), np.array(list(kept.values()), np.int64))
        if self.hs and len(kept) > 1:
            paths = huffman_paths(self.wv.expandos["count"])
            for name, values in (("code", paths.codes), ("point", paths.nodes)):
                self.wv.expandos[name] = np.array(
                    [*np.split(values, paths.starts[1:-1]), None], dtype=object
                )[:-1]

    def init_weights(self, update: bool = False) -> None:
        """Give words without a vector a random one."""
        rows = random_rows(len(self.wv), self.vector_size, self.seed)[:, : self.vector_size].copy()
        if update:
            rows[: len(self.wv.vectors)] = self.wv.vectors
        self.wv.vectors = rows
        self._resize_outputs(update)

    def _resize_outputs(self, update: bool) -> None:
        outputs = np.zeros((len(self.wv), self.vector_size), np.float32)
        if update and self.outputs is not None and not self.uses_tree:
            outputs[: len(self.outputs)] = self.outputs
        self.outputs = outputs

    def reset_from(self, other_model: "ModelVocabulary") -> None:
        """Take the words of another model, with new random vectors."""
        self.corpus_count, self.corpus_total_words = (
            other_model.corpus_count,
            other_model.corpus_total_words,
        )
        self.wv.set_words(list(other_model.wv.index_to_key), other_model.wv.expandos["count"])
        self.init_weights()
