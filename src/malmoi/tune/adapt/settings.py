"""AdaptSettings: how an encoder is adapted to a domain. Does not import torch."""

from dataclasses import dataclass
from typing import Literal, get_args

from malmoi.errors import InvalidArgumentError
from malmoi.train.common.loop_settings import LoopSettings

AdaptMethod = Literal["contrastive", "mlm", "tsdae"]
ADAPT_METHODS: tuple[AdaptMethod, ...] = get_args(AdaptMethod)
MIN_TOKENS = 20


@dataclass(frozen=True, kw_only=True)
class AdaptSettings(LoopSettings):
    """How an encoder is adapted to the raw text of a domain.

    With `threads=1` the same seed gives the same model, bit for bit.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    epochs: int = 1
    """Passes over the corpus."""
    batch_size: int = 32
    """Passages, or pairs, per step."""
    method: AdaptMethod = "contrastive"
    """What is learned: contrastive, mlm or tsdae."""
    field: str = "text"
    """Field or column of the text."""
    title_field: str = "title"
    """Field or column of the title, if there is one."""
    max_documents: int | None = None
    """Learn from so many documents, chosen at random."""
    max_tokens: int = 128
    """Longer documents are split into passages."""
    max_length: int | None = None
    """Most tokens that the new encoder reads; default: as before."""
    held_out: int = 100
    """Documents kept aside for the perplexity."""
    dev_split: str = "test"
    """Split of a BEIR folder that is the dev set."""
    dev_documents: int = 1000
    """Most documents that the dev set searches."""
    freeze_layers: int = 0
    """Freeze this many of the lowest layers."""
    train_embeddings: bool = False
    """Train the table of tokens too."""
    mix: float = 1.0
    """Share of the new weights; the rest are the old."""
    mask_share: float = 0.15
    """mlm: share of the tokens to predict."""
    delete_share: float = 0.6
    """tsdae: share of the words to delete."""
    scale: float = 20.0
    """contrastive: factor of cosines."""
    lexical: float = 10.0
    """contrastive: factor of BM25 in the targets."""
    group: int = 8
    """contrastive: similar documents side by side."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in ADAPT_METHODS:
            known = ", ".join(ADAPT_METHODS)
            raise InvalidArgumentError(f"method is '{self.method}': choose one of {known}")
        self.check_at_least("max_tokens", MIN_TOKENS)
        for name in ("held_out", "dev_documents", "group"):
            self.check_at_least(name, 1)
        self.check_at_least("max_documents", 2)
        self.check_at_least("max_length", MIN_TOKENS)
        self.check_at_least("freeze_layers", 0)
        self.check_positive("scale", "lexical", "mix", "mask_share", "delete_share")
        self.check_share("mask_share", "delete_share")
        if self.mix > 1:
            raise InvalidArgumentError(f"mix is {self.mix}: it must be at most 1")
