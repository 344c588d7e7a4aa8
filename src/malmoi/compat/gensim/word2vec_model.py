"""Word2Vec as in gensim 4: build a vocabulary, train, ask `wv`; trained by `train_word2vec`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.compat.gensim.callbacks import CallbackAny2Vec
from malmoi.compat.gensim.keyed_vectors import KeyedVectors
from malmoi.compat.gensim.model_files import ModelFiles
from malmoi.compat.gensim.predictions import predict_output_word, score_sentences
from malmoi.compat.gensim.sentences import MAX_SENTENCE_WORDS, LineSentence
from malmoi.compat.gensim.training import Training, check_can_train
from malmoi.compat.gensim.vocabulary_scan import (
    TrimRule,
    WordScan,
    effective_min_count,
    keeps,
    scan_sentences,
)
from malmoi.errors import InvalidArgumentError, warn
from malmoi.train.word2vec.huffman import huffman_paths
from malmoi.train.word2vec.initialization import random_rows
from malmoi.train.word2vec.settings import WordSettings
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors

Corpus = Iterable[Sequence[str]]
PROGRESS_PER = 10_000


class Word2VecModel(ModelFiles):
    """gensim's Word2Vec; the arguments are gensim's, see its documentation.

    With both `hs` and `negative`, malmoi trains by negative sampling alone. `hashfxn`,
    `batch_words` and `null_word` have no counterpart. What is not honoured raises or warns.
    """

    kind: ClassVar[str] = "Word2Vec"
    wv: Any

    def __init__(
        self,
        sentences: Corpus | None = None,
        corpus_file: str | None = None,
        vector_size: int = 100,
        alpha: float = 0.025,
        window: int = 5,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        sample: float = 1e-3,
        seed: int = 1,
        workers: int = 3,
        min_alpha: float = 0.0001,
        sg: int = 0,
        hs: int = 0,
        negative: int = 5,
        ns_exponent: float = 0.75,
        cbow_mean: int = 1,
        hashfxn: Callable[[Any], int] = hash,
        epochs: int = 5,
        null_word: int = 0,
        trim_rule: TrimRule | None = None,
        sorted_vocab: int = 1,
        batch_words: int = MAX_SENTENCE_WORDS,
        compute_loss: bool = False,
        callbacks: Iterable[CallbackAny2Vec] = (),
        comment: str | None = None,
        max_final_vocab: int | None = None,
        shrink_windows: bool = True,
    ) -> None:
        self.vector_size, self.alpha, self.window = int(vector_size), float(alpha), int(window)
        self.min_count, self.max_vocab_size, self.sample = min_count, max_vocab_size, sample
        self.seed, self.workers, self.min_alpha = seed, int(workers), float(min_alpha)
        self.sg, self.hs, self.negative = int(sg), int(hs), int(negative)
        self.ns_exponent, self.cbow_mean = ns_exponent, int(cbow_mean)
        self.epochs, self.sorted_vocab, self.batch_words = epochs, sorted_vocab, batch_words
        self.compute_loss, self.comment = compute_loss, comment
        self.max_final_vocab, self.shrink_windows = max_final_vocab, shrink_windows
        self.raw_vocab: dict[str, int] = {}
        self.corpus_count: int | None = 0
        self.corpus_total_words: int | None = 0
        self.effective_min_count = min_count
        self.running_training_loss = 0.0
        self.outputs: Float32Array | None = None
        self.null_word = null_word
        vars(self)["load"] = forbid_load_on_instance
        self.wv = self.new_vectors()
        self._warn(hashfxn is not hash, "hashfxn does not apply: malmoi hashes no words")
        self._warn(bool(null_word), "null_word does not apply: malmoi pads no contexts")
        self._warn(
            batch_words != MAX_SENTENCE_WORDS,
            "batch_words does not apply: malmoi's threads share the text themselves",
        )
        self._warn(
            not cbow_mean and not sg,
            "cbow_mean=0 does not apply: malmoi's CBOW takes the mean of the context",
        )
        if sentences is not None or corpus_file is not None:
            corpus = self.corpus_of(sentences, corpus_file)
            self.build_vocab(corpus, trim_rule=trim_rule)
            self.train(
                corpus,
                total_examples=self.corpus_count,
                epochs=self.epochs,
                compute_loss=compute_loss,
                callbacks=callbacks,
            )
        elif trim_rule is not None:
            warn("trim_rule does not apply without sentences: pass it to build_vocab")

    @staticmethod
    def _warn(is_wrong: bool, sentence: str) -> None:
        if is_wrong:
            warn(sentence)

    def __str__(self) -> str:
        size = f"vector_size={self.vector_size}, alpha={self.alpha}"
        return f"{self.kind}<vocab={len(self.wv)}, {size}>"

    def new_vectors(self) -> Any:
        """Vectors without words."""
        return KeyedVectors(self.vector_size)

    def corpus_of(self, sentences: Any, corpus_file: Any) -> Corpus:
        """The sentences of either argument; `TypeError` unless it is exactly one."""
        if (sentences is None) == (corpus_file is None):
            raise TypeError("give either sentences (corpus_iterable) or corpus_file, not both")
        if corpus_file is not None:
            if not isinstance(corpus_file, str | Path):
                raise TypeError(f"corpus_file must be the path of a file; got {corpus_file!r}")
            return LineSentence(corpus_file)
        if not isinstance(sentences, Iterable) or hasattr(sentences, "send"):
            raise TypeError("sentences must be a list of lists of words, or an object that can be"
                            " iterated several times; a generator cannot")  # fmt: skip
        return sentences

    # The vocabulary

    def build_vocab(
        self,
        corpus_iterable: Corpus | None = None,
        corpus_file: str | None = None,
        update: bool = False,
        progress_per: int = PROGRESS_PER,
        keep_raw_vocab: bool = False,
        trim_rule: TrimRule | None = None,
        min_count: int | None = None,
        sample: float | None = None,
    ) -> None:
        """Choose the words of a corpus; with `update`, add new ones to those of the model."""
        self._warn(progress_per != PROGRESS_PER, "progress_per does not apply: nothing is logged")
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
        corpus_iterable: Corpus | None = None,
        corpus_file: str | None = None,
        progress_per: int = PROGRESS_PER,
        workers: int | None = None,
        trim_rule: TrimRule | None = None,
    ) -> tuple[int, int]:
        """Count the words of a corpus; returns how many words and sentences it has."""
        corpus = self.corpus_of(corpus_iterable, corpus_file)
        scan: WordScan = scan_sentences(corpus, self.max_vocab_size, trim_rule)
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

    def reset_from(self, other_model: "Word2VecModel") -> None:
        """Take the words of another model, with new random vectors."""
        self.corpus_count, self.corpus_total_words = (
            other_model.corpus_count,
            other_model.corpus_total_words,
        )
        self.wv.set_words(list(other_model.wv.index_to_key), other_model.wv.expandos["count"])
        self.init_weights()

    # Training

    @property
    def uses_tree(self) -> bool:
        """Whether the model trains by hierarchical softmax."""
        return bool(self.hs) and not self.negative

    @property
    def syn1neg(self) -> Float32Array | None:
        """The output rows of words, of negative sampling."""
        return None if self.uses_tree else self.outputs

    @property
    def syn1(self) -> Float32Array | None:
        """The output rows of the inner nodes of the Huffman tree, of hierarchical softmax."""
        return self.outputs if self.uses_tree else None

    def settings(self, epochs: int, alpha: float, min_alpha: float) -> WordSettings:
        """The settings of malmoi's training."""
        return Word2Vec(**self.common_settings(epochs, alpha, min_alpha))

    def common_settings(self, epochs: int, alpha: float, min_alpha: float) -> dict[str, Any]:
        """The settings that Word2Vec and FastText share."""
        if self.sample >= 1:
            raise InvalidArgumentError(f"sample is {self.sample}: malmoi takes a share below 1")
        return {
            "dim": self.vector_size,
            "architecture": "skip-gram" if self.sg else "cbow",
            "window": self.window,
            "shrink_windows": bool(self.shrink_windows),
            "loss": "hierarchical-softmax" if self.uses_tree else "negative-sampling",
            "negative_samples": max(1, self.negative),
            "ns_exponent": self.ns_exponent,
            "subsample": self.sample,
            "learning_rate": alpha,
            "min_learning_rate": min_alpha,
            "epochs": epochs,
            "min_count": 1,
            "seed": self.seed,
            "threads": self.workers,
        }

    train_function: ClassVar[Callable[..., Vectors]] = staticmethod(train_word2vec)

    def train(
        self,
        corpus_iterable: Corpus | None = None,
        corpus_file: str | None = None,
        total_examples: int | None = None,
        total_words: int | None = None,
        epochs: int | None = None,
        start_alpha: float | None = None,
        end_alpha: float | None = None,
        word_count: int = 0,
        queue_factor: int = 2,
        report_delay: float = 1.0,
        compute_loss: bool = False,
        callbacks: Iterable[CallbackAny2Vec] = (),
    ) -> tuple[int, int]:
        """Train on a corpus, from the present vectors; returns words trained on and words read."""
        corpus = self.corpus_of(corpus_iterable, corpus_file)
        check_can_train(self, epochs, total_examples, total_words)
        self._warn(
            word_count != 0,
            "word_count does not apply: each call begins at start_alpha",
        )
        self._warn(
            queue_factor != 2 or report_delay != 1.0,
            "queue_factor and report_delay do not apply: malmoi has no queue and logs nothing",
        )
        self.compute_loss = compute_loss
        self.alpha = self.alpha if start_alpha is None else start_alpha
        self.min_alpha = self.min_alpha if end_alpha is None else end_alpha
        return Training(self, callbacks).run(corpus, int(epochs or 0), total_examples)

    def get_latest_training_loss(self) -> float:
        """The sum of the mean losses per training pair of the epochs of the last training."""
        return self.running_training_loss

    def init_vectors(self) -> Vectors:
        """The vectors that a training starts from."""
        outputs = self.outputs
        loss = self.settings(1, self.alpha, min(self.alpha, self.min_alpha)).loss
        vectors: Vectors = self.wv.make_vectors()
        return Vectors(vectors.keys, vectors.matrix, vectors.counts, {"settings": loss}, outputs)

    def adopt(self, vectors: Vectors) -> None:
        """Take over trained vectors."""
        self.wv.vectors = np.array(vectors.matrix)
        self.outputs = None if vectors.context_matrix is None else np.array(vectors.context_matrix)

    # Predictions

    def predict_output_word(
        self, context_words_list: Sequence[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """The most probable words in the middle of a context, with their probabilities."""
        if self.uses_tree or self.outputs is None:
            raise RuntimeError("predicting a word needs a model trained with negative sampling")
        return predict_output_word(self.wv, self.outputs, context_words_list, topn)

    def score(self, sentences: Corpus, total_sentences: int = 1_000_000) -> npt.NDArray[np.float32]:
        """The log probability of each sentence, by a model trained with hierarchical softmax."""
        if not self.uses_tree or self.outputs is None or not self.outputs.any():
            raise RuntimeError("scoring needs a model trained with hs=1 and negative=0")
        return score_sentences(self, sentences, total_sentences)


def forbid_load_on_instance(*_: object, **__: object) -> None:
    """`load` belongs to the class: it returns another model."""
    raise AttributeError("load is called on the class, not on a model: Word2Vec.load(path)")
