"""Word2Vec as in gensim 4: build a vocabulary, train, ask `wv`; trained by `train_word2vec`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.compat.gensim.callbacks import CallbackAny2Vec
from malmoi.compat.gensim.models.model_files import ModelFiles
from malmoi.compat.gensim.models.model_vocabulary import GensimSentences, ModelVocabulary, warn_if
from malmoi.compat.gensim.models.predictions import predict_output_word, score_sentences
from malmoi.compat.gensim.models.training import Training, check_can_train
from malmoi.compat.gensim.models.vocabulary_scan import TrimRule
from malmoi.compat.gensim.sentences import MAX_SENTENCE_WORDS
from malmoi.compat.gensim.vectors.keyed_vectors import KeyedVectors
from malmoi.errors import InvalidArgumentError, warn
from malmoi.train.word2vec.settings import WordSettings
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors


class Word2VecModel(ModelVocabulary, ModelFiles):
    """gensim's Word2Vec; the arguments are gensim's, see its documentation.

    With both `hs` and `negative`, malmoi trains by negative sampling alone. `hashfxn`,
    `batch_words` and `null_word` have no counterpart. What is not honoured raises or warns.
    """

    kind: ClassVar[str] = "Word2Vec"
    wv: Any

    def __init__(
        self,
        sentences: GensimSentences | None = None,
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
        warn_if(hashfxn is not hash, "hashfxn does not apply: malmoi hashes no words")
        warn_if(bool(null_word), "null_word does not apply: malmoi pads no contexts")
        warn_if(
            batch_words != MAX_SENTENCE_WORDS,
            "batch_words does not apply: malmoi's threads share the text themselves",
        )
        warn_if(
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

    def __str__(self) -> str:
        size = f"vector_size={self.vector_size}, alpha={self.alpha}"
        return f"{self.kind}<vocab={len(self.wv)}, {size}>"

    def new_vectors(self) -> Any:
        """Vectors without words."""
        return KeyedVectors(self.vector_size)

    @property
    def cum_table(self) -> npt.NDArray[np.uint32]:
        """The cumulative distribution of negative samples, scaled to 2³¹ - 1."""
        sums = np.cumsum(np.maximum(self.wv.expandos["count"], 1) ** float(self.ns_exponent))
        table: npt.NDArray[np.uint32] = np.round(sums / sums[-1] * (2**31 - 1)).astype(np.uint32)
        return table

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
        corpus_iterable: GensimSentences | None = None,
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
        warn_if(
            word_count != 0,
            "word_count does not apply: each call begins at start_alpha",
        )
        warn_if(
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

    def predict_output_word(
        self, context_words_list: Sequence[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """The most probable words in the middle of a context, with their probabilities."""
        if self.uses_tree or self.outputs is None:
            raise RuntimeError("predicting a word needs a model trained with negative sampling")
        return predict_output_word(self.wv, self.outputs, context_words_list, topn)

    def score(
        self, sentences: GensimSentences, total_sentences: int = 1_000_000
    ) -> npt.NDArray[np.float32]:
        """The log probability of each sentence, by a model trained with hierarchical softmax."""
        if not self.uses_tree or self.outputs is None or not self.outputs.any():
            raise RuntimeError("scoring needs a model trained with hs=1 and negative=0")
        return score_sentences(self, sentences, total_sentences)


def forbid_load_on_instance(*_: object, **__: object) -> None:
    """`load` belongs to the class: it returns another model."""
    raise AttributeError("load is called on the class, not on a model: Word2Vec.load(path)")
