"""Texts and token ids made ready for a model that reads in context.

Knows nothing of HTTP, nor of who else is asking.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from malmoi.encode.encoder import ContextualEncoder
from malmoi.encode.layers import choose_layers
from malmoi.encode.recipes import Recipe
from malmoi.encode.texts import Text
from malmoi.errors import BadSetting
from malmoi.serve.work import Ending, States

MOST_GRAPHS = 4  # beside the model's own: each holds memory, and anybody may ask for any


@dataclass(frozen=True)
class Cut:
    """Pieces that a client has cut itself, as a tokenizer would give them."""

    ids: Sequence[int]
    special_tokens_mask: Sequence[int]
    overflowing: Sequence[int] = ()

    @property
    def type_ids(self) -> list[int]:
        """All of one segment."""
        return [0] * len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(eq=False)
class Reader:
    """A model, what it puts around a text, and which of its graphs are in use."""

    encoder: ContextualEncoder
    graphs: set[tuple[int, ...]] = field(default_factory=set)
    before: list[int] = field(init=False)
    after: list[int] = field(init=False)

    def __post_init__(self) -> None:
        (sample,) = self.encoder.cutter.encoded(["a"])
        inside = sample.special_tokens_mask.index(0)
        self.before, self.after = sample.ids[:inside], sample.ids[inside + 1 :]

    @property
    def own(self) -> Ending:
        """What the model's folder asks for."""
        return Ending((self.encoder.config.states - 1,))

    def ending(self, recipe: Recipe, *, pooled: bool = True) -> Ending:
        """What a recipe asks for."""
        return Ending(choose_layers(recipe.layers, self.encoder.config.states), recipe, pooled)

    def states(self, ending: Ending) -> States:
        """The work that gives the layers of an ending: one, or all up to the deepest.

        So few graphs serve all wishes; once they are all in use, the whole model is run.
        """
        if ending.layers == self.own.layers:
            return States(self.encoder, ending.layers)
        wanted = ending.layers if len(ending.layers) == 1 else tuple(range(max(ending.layers) + 1))
        if wanted not in self.graphs and len(self.graphs) >= MOST_GRAPHS:
            wanted = tuple(range(self.encoder.config.states))
        else:
            self.graphs.add(wanted)
        return States(self.encoder, wanted)

    def cut(self, texts: Sequence[Text], *, offsets: bool = False, prompt: str = "") -> list[Any]:
        """Texts as the tokenizer has them."""
        cutter = self.encoder.cutter
        uniform = [cutter.uniform(text) for text in cutter.prompted(texts, prompt)]
        return cutter.encoded(uniform, offsets=offsets)

    def cut_ids(self, ids: Sequence[int]) -> Cut:
        """Ids of pieces; the special ones around a text are added where they are missing."""
        known = self.encoder.config.vocabulary
        for number in ids:
            if not 0 <= number < known:
                raise BadSetting(f"there is no token {number}: ids go from 0 to {known - 1}")
        inside = list(ids)
        if inside[: len(self.before)] == self.before and inside[-len(self.after) :] == self.after:
            inside = inside[len(self.before) : len(inside) - len(self.after)]
        room = self.encoder.cutter.longest - len(self.before) - len(self.after)
        mask = [1] * len(self.before) + [0] * len(inside[:room]) + [1] * len(self.after)
        return Cut([*self.before, *inside[:room], *self.after], mask, inside[room:])

    def cut_pieces(self, pieces: Sequence[str]) -> Cut:
        """Pieces by their names; those that the model does not know are unknown to it."""
        tokenizer = self.encoder.cutter.tokenizer
        unknown = next(filter(None, map(tokenizer.token_to_id, ("[UNK]", "<unk>"))), 0)
        found = [tokenizer.token_to_id(piece) for piece in pieces]
        return self.cut_ids([unknown if number is None else number for number in found])

    def is_truncated(self, encoding: Any) -> bool:
        """Whether the text went on."""
        return len(encoding) >= self.encoder.cutter.longest and bool(encoding.overflowing)
