"""A word in context: every occurrence of it in texts, each with a vector of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import Float32Array, Int32Array
from malmoi.encode.pipeline.activations import check_word_pooling
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder, expect_contextual
from malmoi.encode.pooling.groups import WordPooling, group_bounds, pool_groups
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.encode.pooling.layers import Layers, choose_layers
from malmoi.encode.pooling.recipes import Recipe, choose_recipe
from malmoi.encode.tokens.inputs import check_texts
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError
from malmoi.query.occurrences import WordSpan, find_spans
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.table import HEAD, Table, Tabular
from malmoi.text_inputs import TextLike
from malmoi.vectors import l2_normalize

DEFAULT_RECIPE = "last-four-sum"
CONTEXT_WORDS = 2  # on each side of an occurrence


@dataclass(frozen=True, eq=False, repr=False)
class Occurrences(Tabular):
    """The occurrences of a word; each field has one entry per occurrence.

    `keys` are the word as it is written, `texts` the indices of the texts, `offsets` [n, 2] the
    start and end in characters of the text in NFC, `surroundings` the word with a few words
    around it.
    """

    word: str
    keys: tuple[str, ...]
    texts: tuple[int, ...]
    offsets: Int32Array
    surroundings: tuple[str, ...]
    matrix: Float32Array  # [n, dim]

    def similarity(self) -> Float32Array:
        """Compare all occurrences.

        Returns:
            The cosines between all of them, float32 [n, n].
        """
        rows = l2_normalize(self.matrix)
        return rows @ rows.T

    def nearest(self, k: int) -> list[list[tuple[int, float]]]:
        """The most similar other occurrences of each occurrence.

        Args:
            k: How many, at most.

        Returns:
            One list of (index, cosine) per occurrence, best first.
        """
        cosines = self.similarity()
        np.fill_diagonal(cosines, -np.inf)
        best = np.argsort(-cosines, axis=1, kind="stable")[:, : min(k, len(self) - 1)]
        return [
            [(int(j), float(row[j])) for j in few] for row, few in zip(cosines, best, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        texts, dim = len(set(self.texts)), self.matrix.shape[1]
        return f"Occurrences({self.word}: {len(self):,} in {texts:,} texts × {dim})"

    def _table(self) -> Table:
        title = f"{len(self):,} occurrences of {self.word} × {self.matrix.shape[1]} dimensions"
        rows = list(zip(self.texts, self.keys, self.surroundings, strict=True))[:HEAD]
        return Table(title, ["text", "word", "surroundings"], rows, len(self))


def occurrences(
    encoder: ContextualEncoder,
    word: str,
    texts: Iterable[TextLike],
    *,
    recipe: Recipe | str | None = None,
    layers: Layers | None = None,
    layer_pooling: LayerPooling | None = None,
    word_pooling: WordPooling = "mean",
    prefix: bool | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Occurrences:
    """Every occurrence of a word in texts, with its vector.

    Only texts that contain the word are run, each up to the model's maximum length.

    Args:
        encoder: A transformer or an ELMo model; see `load_contextual`.
        word: The word to look for; it may be several words to the model, such as New York.
        texts: The texts to search: strings or token lists, in a list, a generator, a Series or
            an array.
        recipe: A `Recipe`, or the name of one, of which only the layers are used. Without a
            recipe, layers or layer_pooling, vectors are the sum of the last four layers.
        layers: The layers to use instead of the recipe's.
        layer_pooling: How to pool layers instead of the recipe's way.
        word_pooling: How the tokens of a word become one vector: mean, sum, first or last.
        prefix: Whether longer words that begin with the word count too; by default only if it
            ends in Hangul.
        reporter: Gets the progress, and a warning about occurrences beyond the maximum length.

    Returns:
        The occurrences in the order of the texts.

    Raises:
        UnknownWordError: The word does not occur.
        InvalidArgumentError: An argument is invalid, or a text is a pair.
    """
    expect_reporter(reporter)
    expect_contextual(encoder)
    expect(word, str, "word", "a string")
    is_default = recipe is None and layers is None and layer_pooling is None
    chosen = choose_recipe(
        DEFAULT_RECIPE if is_default else recipe, layers=layers, layer_pooling=layer_pooling
    )
    normalized = normalized_texts(encoder, texts)
    spans = find_spans(encoder.tokenizer, word, normalized, prefix=prefix, reporter=reporter)
    (matrix,) = span_vectors(
        encoder, normalized, spans, [chosen], word_pooling=word_pooling, reporter=reporter
    )
    return Occurrences(
        word=word,
        keys=tuple(normalized[span.text][span.begin : span.end] for span in spans),
        texts=tuple(span.text for span in spans),
        offsets=np.array([(span.begin, span.end) for span in spans], np.int32),
        surroundings=tuple(surrounding(normalized[span.text], span) for span in spans),
        matrix=matrix,
    )


def normalized_texts(encoder: ContextualEncoder, texts: Iterable[TextLike]) -> list[str]:
    """Texts as the model's tokenizer gets them; offsets refer to these."""
    normalized = [encoder.tokenizer.normalize(text) for text in check_texts(texts)]
    for text in normalized:
        if not isinstance(text, str):
            raise InvalidArgumentError(f"{text!r} is a pair: pass single texts")
    return [text for text in normalized if isinstance(text, str)]


def span_vectors(
    encoder: ContextualEncoder,
    texts: Sequence[str],
    spans: Sequence[WordSpan],
    recipes: Sequence[Recipe],
    *,
    word_pooling: WordPooling = "mean",
    reporter: Reporter = DEFAULT_REPORTER,
) -> list[Float32Array]:
    """The vectors of spans, [spans, dim], for each recipe; states are computed only once."""
    recipes = [replace(recipe, include_special_tokens=True) for recipe in recipes]  # spans do too
    check_word_pooling(word_pooling)
    count = encoder.config.num_states
    layers = sorted({n for recipe in recipes for n in choose_layers(recipe.layers, count)})
    by_text: dict[int, list[WordSpan]] = {}
    for span in spans:
        by_text.setdefault(span.text, []).append(span)
    spans_of_texts = list(by_text.values())
    rows: list[list[Float32Array]] = [[] for _ in recipes]
    chosen = [texts[text] for text in by_text]
    done, stats = 0, TextStats()
    progress = reporter.stage("looking for occurrences", "texts")
    for states in encoder.stream_activations(chosen, layers, stats=stats):
        for recipe, vectors in zip(recipes, rows, strict=True):
            each = zip(states.tokens(recipe), spans_of_texts[done:], strict=False)
            for tokens, of_text in each:
                vectors += [
                    _pooled(tokens.matrix[span.first : span.stop], word_pooling) for span in of_text
                ]
        done += len(states)
        progress(done, len(spans_of_texts))
    numbers = [text + 1 for text in by_text]
    for positions in (stats.unknown, stats.fragmented):
        positions[:] = [numbers[position - 1] for position in positions]
    # Occurrences that were truncated are reported by `find_spans`.
    reporter.inputs(encoder.name, replace(stats, texts=len(texts), truncated=[], empty=[]))
    return [np.concatenate(vectors) for vectors in rows]


def _pooled(tokens: Float32Array, word_pooling: WordPooling) -> Float32Array:
    """[tokens, dim] as [1, dim]."""
    return pool_groups(tokens, group_bounds([len(tokens)]), word_pooling)


def surrounding(text: str, span: WordSpan) -> str:
    """A word in brackets with a few words around it; … stands for the rest of the text."""
    before, after = text[: span.begin], text[span.end :]
    left, right = before.split(), after.split()
    if before and not before[-1].isspace():  # attached to the word, as in pre[fix]
        left[-1:] = [f"{left[-1]}["]
    else:
        left.append("[")
    first = right.pop(0) if after and not after[0].isspace() else ""
    shown = (
        left[-CONTEXT_WORDS - 1 :]
        if len(left) <= CONTEXT_WORDS + 1
        else ["…", *left[-CONTEXT_WORDS - 1 :]]
    )
    rest = right if len(right) <= CONTEXT_WORDS else [*right[:CONTEXT_WORDS], "…"]
    return " ".join([f"{' '.join(shown)}{text[span.begin : span.end]}]{first}", *rest])
