"""The student: its network in training, its vectors, held-out pairs, and the guard's checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import BoolArray, Float32Array
from malmoi.encode.checkpoint.weights import read_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.suites.task import Role
from malmoi.train.common.loop import DevScore
from malmoi.tune.distill.collapse import CHECK_STEPS, FIRST_STEPS, CollapseGuard
from malmoi.tune.distill.parallel import TranslationPair
from malmoi.tune.distill.ridge import r_squared
from malmoi.tune.distill.settings import DistillSettings
from malmoi.tune.network.sentence_network import SentenceNetwork


def new_network(encoder: TransformerEncoder, settings: DistillSettings) -> SentenceNetwork:
    """The network of a student, of which only the trained layers have gradients."""
    weights = read_weights(weights_file(encoder.modules.transformer), encoder.config)
    network = SentenceNetwork(weights, encoder.config, encoder.modules)
    if settings.train_layers is not None:
        network.layers[settings.train_layers :].requires_grad_(False)
        network.head.requires_grad_(False)
    return network


def trained_rows(encoder: TransformerEncoder, settings: DistillSettings) -> BoolArray | None:
    """Which rows of the student's table of tokens are trained; None for no row.

    Raises:
        InvalidArgumentError: New rows are wanted, and the teacher has all of the tokens.
    """
    if settings.rows == "none":
        return None
    tokens = encoder.tokenizer.backend.get_vocab(with_added_tokens=True)
    is_trained = np.zeros(encoder.config.vocab_size, np.bool_)
    known = set() if settings.rows == "all" else _vocabulary(settings.teacher)
    is_trained[[row for token, row in tokens.items() if token not in known]] = True
    if not is_trained.any():
        raise InvalidArgumentError(
            f"{encoder.name} has no token that {settings.teacher} lacks: choose rows all or none,"
            " or give it new tokens with `malmoi tune extend`"
        )
    return is_trained


def _vocabulary(teacher: str) -> set[str]:
    """The tokens of a teacher; none where it is not a transformer."""
    try:
        return set(load_transformer(teacher).tokenizer.backend.get_vocab(with_added_tokens=True))
    except InvalidArgumentError:
        return set()


@dataclass(frozen=True, eq=False)
class StudentVectors:
    """The vectors of texts by a network as it is now."""

    encoder: TransformerEncoder
    network: SentenceNetwork

    def __call__(self, texts: Sequence[str], role: Role = "text") -> Float32Array:
        """One vector per text, [texts, dim]."""
        prompt = self.encoder.prompt_text(None)
        encodings = self.encoder.pipeline.tokenize(texts, prompt=prompt).encodings
        return self.network.encode([np.array(each.ids, np.int32) for each in encodings])


@dataclass(frozen=True, eq=False)
class HeldOutPairs:
    """The dev score of a distillation: R² of held-out texts, of both languages if both change.

    The details of a score are the squared errors of all texts.
    """

    pairs: Sequence[TranslationPair]
    targets: Float32Array  # [pairs, dim], the teacher's vectors of the source texts
    vectors: Callable[[Sequence[str]], Float32Array]
    with_sources: bool

    def measure(self) -> DevScore:
        """R² = 1 − MSE / variance now."""
        sides = (1, 0) if self.with_sources else (1,)
        both = [self.vectors([pair[side] for pair in self.pairs]) for side in sides]
        errors = [np.square(rows - self.targets).mean(axis=1) for rows in both]
        score = float(np.mean([r_squared(rows, self.targets) for rows in both]))
        return DevScore(score, np.concatenate(errors).astype(np.float64))

    def show(self, value: float) -> str:
        """R² as a number."""
        return f"R² {value:.3f}"


@dataclass(eq=False)
class GuardSchedule:
    """Calls the guard every `CHECK_STEPS` steps, more often at first; knows when it is warm."""

    guard: CollapseGuard
    vectors: Callable[[Sequence[str]], Float32Array]
    warm_rate: float  # the learning rate at the end of the warm-up
    is_warm: bool = False

    def __call__(self, step: int, learning_rate: float) -> None:
        """Check after a step; raises `CollapseError` to end the run."""
        self.is_warm = self.is_warm or learning_rate >= self.warm_rate
        if step % CHECK_STEPS == 0 or (step < 2 * CHECK_STEPS and step % FIRST_STEPS == 0):
            self.guard.check(self.vectors(self.guard.texts), is_warm=self.is_warm)
