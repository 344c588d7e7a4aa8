"""FastText as in gensim 4; trained by `train_fasttext`."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from malmoi.compat.gensim.callbacks import CallbackAny2Vec
from malmoi.compat.gensim.models.model_files import SETTINGS
from malmoi.compat.gensim.models.model_vocabulary import GensimSentences
from malmoi.compat.gensim.models.vocabulary_scan import TrimRule
from malmoi.compat.gensim.models.word2vec_model import Word2VecModel
from malmoi.compat.gensim.sentences import MAX_SENTENCE_WORDS
from malmoi.compat.gensim.vectors.fasttext_vectors import FastTextKeyedVectors
from malmoi.errors import InvalidArgumentError
from malmoi.keys import Keys
from malmoi.subwords import SubwordVectors
from malmoi.train.word2vec.fasttext import FastText, train_fasttext
from malmoi.train.word2vec.initialization import copy_rows, matching_buckets, random_rows
from malmoi.train.word2vec.input_rows import ngram_input_rows
from malmoi.vectors import Vectors


class FastTextModel(Word2VecModel):
    """gensim's FastText; the arguments are gensim's, see `Word2VecModel` for what is not honoured.

    Only n-grams of known words have a row, so a model takes far less memory than `bucket` rows.
    """

    kind: ClassVar[str] = "FastText"
    settings_saved: ClassVar[tuple[str, ...]] = (
        *SETTINGS[:-3],
        *SETTINGS[-2:],
        "min_n",
        "max_n",
        "bucket",
    )
    train_function: ClassVar[Callable[..., Vectors]] = staticmethod(train_fasttext)
    wv: FastTextKeyedVectors

    def __init__(
        self,
        sentences: GensimSentences | None = None,
        corpus_file: str | None = None,
        sg: int = 0,
        hs: int = 0,
        vector_size: int = 100,
        alpha: float = 0.025,
        window: int = 5,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        word_ngrams: int = 1,
        sample: float = 1e-3,
        seed: int = 1,
        workers: int = 3,
        min_alpha: float = 0.0001,
        negative: int = 5,
        ns_exponent: float = 0.75,
        cbow_mean: int = 1,
        hashfxn: Callable[[Any], int] = hash,
        epochs: int = 5,
        null_word: int = 0,
        min_n: int = 3,
        max_n: int = 6,
        sorted_vocab: int = 1,
        bucket: int = 2_000_000,
        trim_rule: TrimRule | None = None,
        batch_words: int = MAX_SENTENCE_WORDS,
        callbacks: Iterable[CallbackAny2Vec] = (),
        max_final_vocab: int | None = None,
        shrink_windows: bool = True,
    ) -> None:
        if word_ngrams != 1:
            raise InvalidArgumentError(
                f"word_ngrams is {word_ngrams}: n-grams of words are not trained; pass 1"
            )
        self.min_n, self.max_n, self.bucket = min_n, max_n, bucket
        super().__init__(
            sentences,
            corpus_file,
            vector_size=vector_size,
            alpha=alpha,
            window=window,
            min_count=min_count,
            max_vocab_size=max_vocab_size,
            sample=sample,
            seed=seed,
            workers=workers,
            min_alpha=min_alpha,
            sg=sg,
            hs=hs,
            negative=negative,
            ns_exponent=ns_exponent,
            cbow_mean=cbow_mean,
            hashfxn=hashfxn,
            epochs=epochs,
            null_word=null_word,
            trim_rule=trim_rule,
            sorted_vocab=sorted_vocab,
            batch_words=batch_words,
            callbacks=callbacks,
            max_final_vocab=max_final_vocab,
            shrink_windows=shrink_windows,
        )

    def new_vectors(self) -> FastTextKeyedVectors:
        """Vectors without words."""
        return FastTextKeyedVectors(self.vector_size, self.min_n, self.max_n, self.bucket)

    def settings(self, epochs: int, alpha: float, min_alpha: float) -> FastText:
        """The settings of malmoi's training."""
        subwords = self.wv.subwords
        return FastText(
            **self.common_settings(epochs, alpha, min_alpha),
            min_n=subwords.min_n,
            max_n=subwords.max_n,
            buckets=subwords.buckets,
        )

    def init_weights(self, update: bool = False) -> None:
        """Give words and n-grams without a row a random one."""
        wv, keys = self.wv, Keys.of(self.wv.index_to_key)
        rows = ngram_input_rows(keys, wv.subwords)
        inputs = random_rows(len(rows), self.vector_size, self.seed)
        if update:
            old = self.wv.word_rows
            inputs[: len(old), : self.vector_size] = old
            known = SubwordVectors(
                keys[: len(old)], old, word_rows=old, bucket_rows=wv.bucket_rows,
                subwords=wv.subwords, kept_buckets=wv.kept_buckets,
            )  # fmt: skip
            settings = self.settings(1, self.alpha, min(self.alpha, self.min_alpha))
            buckets = matching_buckets(rows.used_buckets, known, settings)
            copy_rows(inputs[len(keys) :], wv.bucket_rows, buckets)
        wv.vectors = rows.means(inputs)[:, : self.vector_size].copy()
        wv.word_rows = inputs[: len(keys), : self.vector_size].copy()
        wv.bucket_rows = inputs[len(keys) :, : self.vector_size].copy()
        wv.kept_buckets = rows.used_buckets
        self._resize_outputs(update)

    def init_vectors(self) -> SubwordVectors:
        """The vectors that a training starts from."""
        vectors = self.wv.make_vectors()
        return SubwordVectors(
            vectors.keys,
            vectors.matrix,
            vectors.counts,
            {"settings": "hierarchical-softmax" if self.uses_tree else "negative-sampling"},
            self.outputs,
            word_rows=vectors.word_rows,
            bucket_rows=vectors.bucket_rows,
            subwords=vectors.subwords,
            kept_buckets=vectors.kept_buckets,
        )

    def adopt(self, vectors: Vectors) -> None:
        """Take over trained vectors."""
        if not isinstance(vectors, SubwordVectors):
            raise InvalidArgumentError("the vectors have no n-grams, so they are not of FastText")
        attributes = self.wv.expandos
        self.wv.adopt(vectors)
        self.wv.expandos = attributes or self.wv.expandos
        self.outputs = None if vectors.context_matrix is None else np.array(vectors.context_matrix)
