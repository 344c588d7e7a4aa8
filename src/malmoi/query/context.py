"""A word in context: every occurrence of it in texts, each with a vector of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.groups import JOINS, Join, group_bounds, pool_groups
from malmoi.encode.pooling.layers import Layers, choose_layers
from malmoi.encode.pooling.mixing import Mix
from malmoi.encode.pooling.recipes import Recipe, choose_recipe
from malmoi.encode.tokens.inputs import as_texts
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError
from malmoi.query.occurrences import WordSpan, find_places
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import l2_normalize

RECIPE = "last-four-sum"  # what is taken of the layers if nothing is said
AROUND = 2  # words shown on each side


@dataclass(frozen=True, eq=False)
class Occurrences:
    """A word, wherever it occurs: entry i of each is one occurrence.

    `keys` are the word as it is written there, `texts` the texts' numbers from 0, `offsets`
    [n, 2] characters of the text in NFC, `surroundings` the word among its neighbours.
    """

    word: str
    keys: tuple[str, ...]
    texts: tuple[int, ...]
    offsets: Int32Array
    surroundings: tuple[str, ...]
    matrix: Float32Array  # [n, dim]

    def similarity(self) -> Float32Array:
        """The cosine of each occurrence with each other, [n, n]."""
        rows = l2_normalize(self.matrix)
        return rows @ rows.T

    def __len__(self) -> int:
        return len(self.keys)


def occurrences(
    encoder: TransformerEncoder,
    word: str,
    texts: Iterable[str],
    *,
    recipe: Recipe | str | None = None,
    layers: Layers | None = None,
    mix: Mix | None = None,
    join: Join = "mean",
    prefix: bool | None = None,
    progress: Progress = no_progress,
) -> Occurrences:
    """Every occurrence of a word in texts, with its vector.

    Without a recipe, layers or a mix it is the sum of the last four layers; `join` makes one
    vector of a word's pieces. With `prefix` longer words that begin with it count too, which is
    how Hangul is looked for if nothing is said. Only texts that hold the word are run,
    each as far as the model reads; where it stands further on too, that is reported.
    """
    plain = recipe is None and layers is None and mix is None
    chosen = choose_recipe(RECIPE if plain else recipe, layers=layers, mix=mix)
    asked = uniform_texts(encoder, texts)
    places = find_places(encoder.cutter, word, asked, prefix=prefix)
    (matrix,) = place_vectors(encoder, asked, places, [chosen], join=join, progress=progress)
    return Occurrences(
        word=word,
        keys=tuple(asked[place.text][place.begin : place.end] for place in places),
        texts=tuple(place.text for place in places),
        offsets=np.array([(place.begin, place.end) for place in places], np.int32),
        surroundings=tuple(surrounding(asked[place.text], place) for place in places),
        matrix=matrix,
    )


def uniform_texts(encoder: TransformerEncoder, texts: Iterable[str]) -> list[str]:
    """Texts as the model's tokenizer gets them, which is what offsets refer to."""
    uniform = [encoder.cutter.uniform(text) for text in as_texts(texts)]
    for text in uniform:
        if not isinstance(text, str):
            raise InvalidArgumentError(f"{text!r} is a pair: a word is looked for in single texts")
    return [text for text in uniform if isinstance(text, str)]


def place_vectors(
    encoder: TransformerEncoder,
    texts: Sequence[str],
    places: Sequence[WordSpan],
    recipes: Sequence[Recipe],
    *,
    join: Join = "mean",
    progress: Progress = no_progress,
) -> list[Float32Array]:
    """For each recipe the vectors of places, [places, dim]; states are computed once for all."""
    if join not in JOINS:
        raise InvalidArgumentError(f"there is no join '{join}': choose one of {', '.join(JOINS)}")
    count = encoder.config.states
    layers = sorted({n for recipe in recipes for n in choose_layers(recipe.layers, count)})
    by_text: dict[int, list[WordSpan]] = {}
    for place in places:
        by_text.setdefault(place.text, []).append(place)
    held = list(by_text.values())
    rows: list[list[Float32Array]] = [[] for _ in recipes]
    run = [texts[text] for text in by_text]
    done, notes = 0, TextStats()
    for states in encoder.stream_activations(run, layers, notes=notes):
        for recipe, found in zip(recipes, rows, strict=True):
            for parts, there in zip(states.pieces(recipe), held[done:], strict=False):
                found += [_joined(parts.matrix[place.first : place.stop], join) for place in there]
        done += len(states)
        progress(done, len(held))
    numbers = [text + 1 for text in by_text]  # what was cut off was told when it was looked for
    for listed in (notes.unknown, notes.fragmented):
        listed[:] = [numbers[place - 1] for place in listed]
    replace(notes, texts=len(texts), truncated=[], empty=[]).report(encoder.name)
    return [np.concatenate(found) for found in rows]


def _joined(pieces: Float32Array, join: Join) -> Float32Array:
    """[pieces, dim] as [1, dim]."""
    return pool_groups(pieces, group_bounds([len(pieces)]), join)


def surrounding(text: str, place: WordSpan) -> str:
    """A word in brackets between those beside it; … where the text goes on."""
    before, after = text[: place.begin], text[place.end :]
    left, right = before.split(), after.split()
    if before and not before[-1].isspace():  # what is written on to it is no word of its own
        left[-1:] = [f"{left[-1]}["]
    else:
        left.append("[")
    first = right.pop(0) if after and not after[0].isspace() else ""
    shown = left[-AROUND - 1 :] if len(left) <= AROUND + 1 else ["…", *left[-AROUND - 1 :]]
    rest = right if len(right) <= AROUND else [*right[:AROUND], "…"]
    return " ".join([f"{' '.join(shown)}{text[place.begin : place.end]}]{first}", *rest])
