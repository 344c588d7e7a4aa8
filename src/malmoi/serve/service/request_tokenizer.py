"""Texts and token ids made ready for a model that reads in context.

Knows nothing of HTTP, nor of who else is asking.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.errors import InvalidArgumentError
from malmoi.serve.service.jobs import OutputSpec, TransformerJob

TOGETHER = 64  # texts that are cut at once: what is cut off takes far more memory than is kept
MOST_GRAPHS = 4  # beside the model's own: each holds memory, and anybody may ask for any


@dataclass(frozen=True)
class Pretokenized:
    """What is kept of a text that was cut, by a tokenizer or by a client.

    `overflowing` is not empty if the text went on; `pieces` is all that is known of it, where
    that was asked for.
    """

    ids: Sequence[int]
    special_tokens_mask: Sequence[int]
    type_ids: Sequence[int]
    overflowing: Sequence[int] = ()
    pieces: Tokenized | None = None

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(eq=False)
class RequestTokenizer:
    """A model, what it puts around a text, and which of its graphs are in use."""

    encoder: TransformerEncoder
    graphs: set[tuple[int, ...]] = field(default_factory=set)
    before: list[int] = field(init=False)
    after: list[int] = field(init=False)

    def __post_init__(self) -> None:
        (sample,) = self.encoder.pipeline.tokenize(["a"]).encodings
        inside = sample.special_tokens_mask.index(0)
        self.before, self.after = sample.ids[:inside], sample.ids[inside + 1 :]

    @property
    def own(self) -> OutputSpec:
        """What the model's folder asks for."""
        return OutputSpec((self.encoder.config.num_states - 1,))

    def ending(self, recipe: Recipe, *, pooled: bool = True) -> OutputSpec:
        """What a recipe asks for."""
        return OutputSpec(
            choose_layers(recipe.layers, self.encoder.config.num_states), recipe, pooled
        )

    def states(self, ending: OutputSpec) -> TransformerJob:
        """The work that gives the layers of an ending: one, or all up to the deepest.

        So few graphs serve all wishes; once they are all in use, the whole model is run.
        """
        if ending.layers == self.own.layers:
            return TransformerJob(self.encoder, ending.layers)
        wanted = ending.layers if len(ending.layers) == 1 else tuple(range(max(ending.layers) + 1))
        if wanted not in self.graphs and len(self.graphs) >= MOST_GRAPHS:
            wanted = tuple(range(self.encoder.config.num_states))
        else:
            self.graphs.add(wanted)
        return TransformerJob(self.encoder, wanted)

    def cut(
        self, texts: Sequence[Text], *, offsets: bool = False, prompt: str = ""
    ) -> list[Pretokenized]:
        """Texts as the tokenizer has them, a few at a time; `offsets` keeps their pieces too."""
        pretokenized = list[Pretokenized]()
        for start in range(0, len(texts), TOGETHER):
            some = texts[start : start + TOGETHER]
            encoded = self.encoder.pipeline.tokenize(some, prompt=prompt, offsets=offsets)
            pretokenized += map(partial(self._kept, offsets), encoded.texts, encoded.encodings)
        return pretokenized

    def _kept(self, offsets: bool, text: Text, encoding: Any) -> Pretokenized:
        return Pretokenized(
            encoding.ids,
            encoding.special_tokens_mask,
            encoding.type_ids,
            (1,) if self.encoder.tokenizer.is_truncated(encoding) else (),
            self.encoder.tokenizer.tokenized(text, encoding) if offsets else None,
        )

    def cut_ids(self, ids: Sequence[int]) -> Pretokenized:
        """Ids of pieces; the special ones around a text are added where they are missing."""
        known = self.encoder.config.vocab_size
        for number in ids:
            if not 0 <= number < known:
                raise InvalidArgumentError(
                    f"there is no token {number}: ids go from 0 to {known - 1}"
                )
        inside = list(ids)
        if inside[: len(self.before)] == self.before and inside[-len(self.after) :] == self.after:
            inside = inside[len(self.before) : len(inside) - len(self.after)]
        room = self.encoder.tokenizer.max_length - len(self.before) - len(self.after)
        mask = [1] * len(self.before) + [0] * len(inside[:room]) + [1] * len(self.after)
        kept = [*self.before, *inside[:room], *self.after]
        return Pretokenized(kept, mask, [0] * len(kept), inside[room:])

    def cut_pieces(self, pieces: Sequence[str]) -> Pretokenized:
        """Pieces by their names; those that the model does not know are unknown to it."""
        tokenizer = self.encoder.tokenizer.backend
        unknown = next(filter(None, map(tokenizer.token_to_id, ("[UNK]", "<unk>"))), 0)
        found = [tokenizer.token_to_id(piece) for piece in pieces]
        return self.cut_ids([unknown if number is None else number for number in found])

    def is_truncated(self, encoding: Any) -> bool:
        """Whether the text went on."""
        return len(encoding) >= self.encoder.tokenizer.max_length and bool(encoding.overflowing)
