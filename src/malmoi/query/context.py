"""A word in context: every occurrence of it in texts, each with a vector of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.groups import WORD_POOLINGS, WordPooling, group_bounds, pool_groups
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.layers import Layers, choose_layers
from malmoi.encode.pooling.recipes import Recipe, choose_recipe
from malmoi.encode.tokens.inputs import check_texts
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError
from malmoi.query.occurrences import WordSpan, find_spans
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
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
    layer_pooling: LayerPooling | None = None,
    word_pooling: WordPooling = "mean",
    prefix: bool | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Occurrences:
    """Every occurrence of a word in texts, with its vector.

    Without a recipe, layers or layer_pooling it is the sum of the last four layers; `word_pooling`
    makes one vector of a word's tokens. With `prefix`, longer words that begin with the word count
    too, which is the default for Hangul. Only texts with the word are run, each up to the model's
    limit; occurrences beyond it are reported.
    """
    plain = recipe is None and layers is None and layer_pooling is None
    chosen = choose_recipe(RECIPE if plain else recipe, layers=layers, layer_pooling=layer_pooling)
    asked = normalized_texts(encoder, texts)
    spans = find_spans(encoder.tokenizer, word, asked, prefix=prefix)
    (matrix,) = span_vectors(
        encoder, asked, spans, [chosen], word_pooling=word_pooling, reporter=reporter
    )
    return Occurrences(
        word=word,
        keys=tuple(asked[place.text][place.begin : place.end] for place in spans),
        texts=tuple(place.text for place in spans),
        offsets=np.array([(place.begin, place.end) for place in spans], np.int32),
        surroundings=tuple(surrounding(asked[place.text], place) for place in spans),
        matrix=matrix,
    )


def normalized_texts(encoder: TransformerEncoder, texts: Iterable[str]) -> list[str]:
    """Texts as the model's tokenizer gets them, which is what offsets refer to."""
    uniform = [encoder.tokenizer.normalize(text) for text in check_texts(texts)]
    for text in uniform:
        if not isinstance(text, str):
            raise InvalidArgumentError(f"{text!r} is a pair: pass single texts")
    return [text for text in uniform if isinstance(text, str)]


def span_vectors(
    encoder: TransformerEncoder,
    texts: Sequence[str],
    spans: Sequence[WordSpan],
    recipes: Sequence[Recipe],
    *,
    word_pooling: WordPooling = "mean",
    reporter: Reporter = DEFAULT_REPORTER,
) -> list[Float32Array]:
    """For each recipe the vectors of spans, [spans, dim]; states are computed once for all."""
    if word_pooling not in WORD_POOLINGS:
        raise InvalidArgumentError(
            f"word_pooling must be one of {', '.join(WORD_POOLINGS)}; got '{word_pooling}'"
        )
    count = encoder.config.num_states
    layers = sorted({n for recipe in recipes for n in choose_layers(recipe.layers, count)})
    by_text: dict[int, list[WordSpan]] = {}
    for place in spans:
        by_text.setdefault(place.text, []).append(place)
    held = list(by_text.values())
    rows: list[list[Float32Array]] = [[] for _ in recipes]
    run = [texts[text] for text in by_text]
    done, stats = 0, TextStats()
    progress = reporter.stage("looking for occurrences", "texts")
    for states in encoder.stream_activations(run, layers, stats=stats):
        for recipe, found in zip(recipes, rows, strict=True):
            for parts, there in zip(states.tokens(recipe), held[done:], strict=False):
                found += [
                    _joined(parts.matrix[place.first : place.stop], word_pooling) for place in there
                ]
        done += len(states)
        progress(done, len(held))
    numbers = [text + 1 for text in by_text]  # what was cut off was told when it was looked for
    for listed in (stats.unknown, stats.fragmented):
        listed[:] = [numbers[place - 1] for place in listed]
    reporter.inputs(encoder.name, replace(stats, texts=len(texts), truncated=[], empty=[]))
    return [np.concatenate(found) for found in rows]


def _joined(tokens: Float32Array, word_pooling: WordPooling) -> Float32Array:
    """[tokens, dim] as [1, dim]."""
    return pool_groups(tokens, group_bounds([len(tokens)]), word_pooling)


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
