"""Callbacks of a training, as gensim calls them."""

from collections.abc import Iterable
from typing import Any

from malmoi.errors import InvalidArgumentError

EVENTS = ("on_train_begin", "on_epoch_begin", "on_epoch_end", "on_train_end")


class CallbackAny2Vec:
    """The base class of callbacks: each method is called with the model and does nothing here.

    `malmoi.StopTraining`, raised in `on_epoch_end`, ends the training.
    """

    def on_train_begin(self, model: Any) -> None:
        """Called before the first epoch."""

    def on_epoch_begin(self, model: Any) -> None:
        """Called before each epoch."""

    def on_epoch_end(self, model: Any) -> None:
        """Called after each epoch."""

    def on_train_end(self, model: Any) -> None:
        """Called after the last epoch."""


class Callbacks:
    """The callbacks of one training."""

    def __init__(self, callbacks: Iterable[CallbackAny2Vec], model: Any) -> None:
        self.callbacks, self.model = list(callbacks), model
        for callback in self.callbacks:
            missing = [event for event in EVENTS if not hasattr(callback, event)]
            if missing:
                raise InvalidArgumentError(
                    f"{callback!r} is not a callback: it has no method {missing[0]}"
                )

    def call(self, event: str) -> None:
        """Call one method of each callback with the model."""
        for callback in self.callbacks:
            getattr(callback, event)(self.model)
