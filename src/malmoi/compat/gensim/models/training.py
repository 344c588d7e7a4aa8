"""One call of `train`: sentences to ids, malmoi's training, and callbacks per epoch."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from malmoi.compat.gensim.callbacks import CallbackAny2Vec, Callbacks
from malmoi.compat.gensim.models.vocabulary_scan import encode_sentences
from malmoi.errors import InvalidArgumentError, warn
from malmoi.kernels.marks import LINE_END
from malmoi.keys import Keys
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.epochs import EpochEnd
from malmoi.train.common.options import TrainOptions
from malmoi.train.word2vec.network import NoTrainingPairsError
from malmoi.vocabulary import Vocabulary

if TYPE_CHECKING:
    from malmoi.compat.gensim.models.word2vec_model import Word2VecModel


def check_can_train(
    model: "Word2VecModel", epochs: int | None, total_examples: int | None, total_words: int | None
) -> None:
    """Raise as gensim does before a training that cannot be."""
    if not model.hs and not model.negative:
        raise InvalidArgumentError("hs and negative are both 0: set one of them to train")
    if model.hs and model.negative:
        warn(
            f"hs={model.hs} and negative={model.negative}: malmoi trains one of them at a time, and"
            " takes negative sampling; set negative=0 for hierarchical softmax"
        )
    if not len(model.wv):
        raise RuntimeError("there is no vocabulary: call build_vocab before train")
    if total_examples is None and total_words is None:
        raise InvalidArgumentError(
            "give total_examples or total_words: model.corpus_count for the text of build_vocab"
        )
    if epochs is None or epochs <= 0:
        raise InvalidArgumentError("give epochs, such as model.epochs")


class Training:
    """A training of a model, with its callbacks."""

    def __init__(self, model: "Word2VecModel", callbacks: Iterable[CallbackAny2Vec]) -> None:
        self.model, self.callbacks = model, Callbacks(callbacks, model)

    def run(
        self, corpus: Iterable[Sequence[str]], epochs: int, total_examples: int | None
    ) -> tuple[int, int]:
        """Train; returns the words trained on and the words read, in all epochs."""
        model = self.model
        ids, words, sentences = encode_sentences(corpus, model.wv.key_to_index)
        if total_examples not in (None, 0, sentences):
            warn(
                f"total_examples is {total_examples}, and there are {sentences} sentences: the"
                " learning rate falls by the latter"
            )
        model.running_training_loss = 0.0
        settings = model.settings(epochs, model.alpha, model.min_alpha)
        counts = np.maximum(model.wv.expandos["count"], 1)
        text = EncodedCorpus(ids, Vocabulary(Keys.of(model.wv.index_to_key), counts))
        options = TrainOptions(
            init_vectors=model.init_vectors(),
            freeze=locked_words(model.wv.vectors_lockf, model.wv.index_to_key),
            on_epoch_end=self.epoch_end if self.callbacks.callbacks or model.compute_loss else None,
        )
        self.callbacks.call("on_train_begin")
        self.callbacks.call("on_epoch_begin")
        try:
            model.adopt(type(model).train_function(text, settings, options=options))
        except NoTrainingPairsError as error:
            warn(f"the vectors stay as they are: {error}")
        self.callbacks.call("on_train_end")
        return epochs * int(np.count_nonzero(ids != LINE_END)), epochs * words

    def epoch_end(self, end: EpochEnd) -> None:
        """Give callbacks the model as it is after an epoch."""
        if self.model.compute_loss:
            self.model.running_training_loss += end.loss or 0.0
        if self.callbacks.callbacks:
            self.model.adopt(end.vectors)
            self.callbacks.call("on_epoch_end")
            if end.epoch < end.epochs:
                self.callbacks.call("on_epoch_begin")


def locked_words(
    lockf: "np.ndarray[tuple[int], np.dtype[np.float32]]", words: list[str]
) -> list[str]:
    """The words whose lock factor is 0; malmoi has no factors between 0 and 1."""
    factors = np.broadcast_to(np.asarray(lockf), len(words)) if len(lockf) == 1 else lockf
    if len(factors) != len(words) or not np.isin(factors, (0, 1)).all():
        raise InvalidArgumentError(
            "vectors_lockf must hold one number per word, or one for all: 0 to keep its vector, 1"
            " to train it"
        )
    return [word for word, factor in zip(words, factors, strict=True) if factor == 0]
