"""Settings of networks that classify: on embeddings, or a transformer. Does not import torch."""

from dataclasses import dataclass, fields, replace
from typing import Literal, Self, get_args

from malmoi.arguments import check_numbers, expect
from malmoi.classify.base.settings import ClassifierSettings
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.threads import THREADS
from malmoi.train.common.loop_settings import LoopSettings
from malmoi.tune.sentence.settings import TunePrecision

NetworkKind = Literal["mean", "flatten", "cnn", "gru", "lstm"]
UnitKind = Literal["words", "characters", "jamo"]
EPOCH_STEPS, MIN_BATCH_SIZE = 200, 8  # of an epoch, if batches of that size give so many
MAX_N: dict[UnitKind, int] = {"words": 1, "characters": 3, "jamo": 3}  # by default


@dataclass(frozen=True, kw_only=True)
class NetworkShape:
    """The kind and the sizes of a network; `rows` of the embedding include the special ones."""

    network: NetworkKind
    rows: int
    dim: int
    hidden: int
    outputs: int
    max_length: int


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(LoopSettings, ClassifierSettings):
    """What all networks that classify take."""

    balanced: bool = False
    """Give classes with few texts a larger weight."""
    threads: int = THREADS
    """Number of threads."""

    def __post_init__(self) -> None:
        check_numbers(self)
        for field in fields(self):
            if field.type is str:
                expect(getattr(self, field.name), str, field.name, "a string")
        LoopSettings.__post_init__(self)
        ClassifierSettings.__post_init__(self)
        if self.patience and not self.calibrate:
            raise InvalidArgumentError(
                f"patience is {self.patience} and calibrate is False: the texts that calibrate are"
                " those that end a training"
            )

    def check_one_of(self, name: str, kinds: object, shown: str = "") -> None:
        """Raise InvalidArgumentError if a setting is not one of the values of a `Literal`."""
        value, known = getattr(self, name), get_args(kinds)
        if value not in known:
            raise InvalidArgumentError(
                f"{shown or name} is '{value}': choose one of {', '.join(known)}"
            )


@dataclass(frozen=True, kw_only=True)
class EmbeddingClassifier(NetworkSettings):
    """A network on embeddings of words, characters or jamo, trained with torch.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    network: NetworkKind = "gru"
    """What turns embeddings into one vector per text."""
    units: UnitKind | None = None
    """What has an embedding; by default characters, or words where there are vectors."""
    max_n: int | None = None
    """Longest n-gram with an embedding; by default 3, of words 1."""
    tokenizer: str = ""
    """Of words; by default that of the vectors, or english."""
    vectors: str = ""
    """Pretrained vectors, path or name; none: random."""
    train_vectors: bool = True
    """Train the embeddings too, or freeze them."""
    dim: int = 48
    """Dimensions of embeddings that are not pretrained."""
    hidden: int = 64
    """Hidden units; of a CNN, filters of each width."""
    dropout: float = 0.3
    """Share of values dropped while training."""
    max_length: int = 200
    """Units of a text that are read."""
    min_count: int | None = None
    """Of a unit with an embedding; by default 2, of words with vectors 1."""
    max_vocab_size: int = 200_000
    """Embeddings at most, of the most frequent."""
    epochs: int = 3
    """Passes over the texts."""
    batch_size: int = 128
    """Texts per step; less where texts are few."""
    learning_rate: float = 2e-3
    """Peak learning rate of AdamW."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_one_of("network", NetworkKind)
        self.check_one_of("unit_kind", UnitKind, "units")
        for name in ("max_n", "dim", "hidden", "max_length", "min_count", "max_vocab_size"):
            self.check_at_least(name, 1)
        self.check_share("dropout")
        if self.vectors and self.unit_kind != "words":
            raise InvalidArgumentError(
                f"units is {self.units} and vectors is {self.vectors}: pretrained vectors are of"
                " words"
            )
        if not self.vectors and not self.train_vectors:
            raise InvalidArgumentError(
                "train_vectors is False and there are no vectors: random ones must be trained"
            )

    @property
    def unit_kind(self) -> UnitKind:
        """What has an embedding."""
        return self.units or ("words" if self.vectors else "characters")

    @property
    def ngram_length(self) -> int:
        """The longest n-gram that has an embedding."""
        return self.max_n or MAX_N[self.unit_kind]

    def for_texts(self, count: int) -> Self:
        """The same settings for so many texts: batches that are small enough for many steps."""
        size = max(MIN_BATCH_SIZE, count // EPOCH_STEPS)
        return replace(self, batch_size=min(self.batch_size, size))


@dataclass(frozen=True, kw_only=True)
class FineTunedClassifier(NetworkSettings):
    """A transformer with a linear layer on the vectors of texts, both trained with torch.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    model: str = "minilm"
    """A model of the BERT family: a folder or a name."""
    epochs: int = 3
    """Passes over the texts."""
    batch_size: int = 32
    """Texts per step."""
    learning_rate: float = 5e-5
    """Peak learning rate of AdamW."""
    head_factor: float = 50.0
    """Learning rate of the linear layer, as a factor."""
    dropout: float = 0.0
    """Share of hidden values dropped while training."""
    freeze_layers: int = 0
    """Freeze this many of the lowest layers."""
    train_embeddings: bool = False
    """Train the table of tokens too."""
    precision: TunePrecision = "auto"
    """Of products in training; auto: bfloat16 if fast."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_one_of("precision", TunePrecision)
        self.check_at_least("freeze_layers", 0)
        self.check_positive("head_factor")
        self.check_share("dropout")
        if not self.model:
            raise InvalidArgumentError("model is empty: name a model, such as minilm")
