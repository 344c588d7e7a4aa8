"""Which layer separates the senses of a word best, measured on occurrences with labelled senses.

Each line of a file has a text, a tab and the sense of the word; where the word occurs several
times in a text, it has one sense per occurrence, separated by commas:

    He sat on the river bank.	river
    The bank vault, and the bank of the river.	money,river
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.arguments import expect, expect_path
from malmoi.arrays import Float32Array, Float64Array, Int64Array
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder, expect_contextual
from malmoi.encode.pooling.groups import WordPooling
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.scores import Score, accuracy
from malmoi.evaluate.sets.test_file import read_text
from malmoi.nearest.silhouette import silhouette
from malmoi.query.context import normalized_texts, span_vectors
from malmoi.query.occurrences import find_spans
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.table import Table, Tabular
from malmoi.vectors import l2_normalize


@dataclass(frozen=True)
class SensedTexts:
    """Texts, and the senses of a word in each: one for all occurrences, or one for each."""

    name: str
    texts: tuple[str, ...]
    senses: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class LayerSeparation:
    """How well a layer separates senses.

    `within` and `between` are mean cosines of occurrences of the same sense and of different
    ones; `silhouette` compares each occurrence's distances to its own and to the nearest other
    sense, from -1 to 1 (Rousseeuw 1987); `nearest` is how often the nearest other occurrence
    has the same sense.
    """

    layer: int
    within: float
    between: float
    silhouette: float
    nearest: Score

    @property
    def gap(self) -> float:
        """How much more similar occurrences of one sense are."""
        return self.within - self.between


class SenseSeparation(tuple[LayerSeparation, ...], Tabular):
    """How well each layer separates senses, one entry per hidden state."""

    def _table(self) -> Table:
        rows = [
            (one.layer, one.within, one.between, one.gap, one.silhouette, one.nearest.value)
            for one in self
        ]
        header = ["layer", "within", "between", "gap", "silhouette", "nearest"]
        return Table("Separation of senses by layer", header, rows)


def read_senses(path: str | Path) -> SensedTexts:
    """Read texts with senses from a file."""
    path = expect_path(path, "texts")
    texts, senses = [], []
    for i, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        text, tab, names = line.rpartition("\t")
        labels = tuple(sense.strip() for sense in names.split(","))
        if not tab or not text.strip() or not all(labels):
            raise InvalidFileError(
                f"{path}:{i}: '{line.strip()[:60]}' should be a text, a tab and a sense"
            )
        texts.append(text.strip())
        senses.append(labels)
    if not texts:
        raise InvalidFileError(
            f"{path} contains no texts: each line should be a text, a tab and a sense"
        )
    return SensedTexts(path.name, tuple(texts), tuple(senses))


def sense_separation(
    encoder: ContextualEncoder,
    word: str,
    texts: SensedTexts | str | Path,
    *,
    word_pooling: WordPooling = "mean",
    prefix: bool | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> SenseSeparation:
    """How well each layer separates labelled senses of a word.

    Args:
        encoder: A transformer or an ELMo model; see `load_contextual`.
        word: The word.
        texts: Texts with senses, or a file of them.
        word_pooling: How the tokens of a word become one vector: mean, sum, first or last.
        prefix: Whether longer words that begin with the word count too; by default only if it
            ends in Hangul.
        reporter: Gets the progress.

    Returns:
        One `LayerSeparation` per hidden state.

    Raises:
        UnknownWordError: The word does not occur.
        InvalidArgumentError: There are too few senses, or not one for each occurrence.
        InvalidFileError: The file cannot be read.

    Example:
        texts = mm.SensedTexts(
            "banks",
            ("the bank vault", "a bank clerk", "the river bank", "a muddy bank"),
            (("money",), ("money",), ("river",), ("river",)),
        )
        mm.sense_separation(mm.load_transformer("minilm"), "bank", texts)
    """
    expect_reporter(reporter)
    expect_contextual(encoder)
    expect(word, str, "word", "a string")
    labelled = texts if isinstance(texts, SensedTexts) else read_senses(texts)
    normalized = normalized_texts(encoder, labelled.texts)
    spans = find_spans(encoder.tokenizer, word, normalized, prefix=prefix, reporter=reporter)
    senses = _labels(word, labelled, [span.text for span in spans])
    names, groups = np.unique(senses, return_inverse=True)
    if not 2 <= len(names) < len(senses):
        raise InvalidArgumentError(
            f"{labelled.name} has {len(names)} senses for {len(senses)} occurrences of '{word}':"
            " at least two senses are needed, one of them with two occurrences"
        )
    recipes = [Recipe(layers=layer) for layer in range(encoder.config.num_states)]
    layers = span_vectors(
        encoder, normalized, spans, recipes, word_pooling=word_pooling, reporter=reporter
    )
    return SenseSeparation(separation(i, matrix, groups) for i, matrix in enumerate(layers))


def separation(layer: int, matrix: Float32Array, groups: Int64Array) -> LayerSeparation:
    """The scores of a layer; `groups` [n] is the index of each row's sense."""
    rows = l2_normalize(matrix.astype(np.float64))
    cosines: Float64Array = np.clip(rows @ rows.T, -1, 1)
    same, others = groups[:, np.newaxis] == groups, ~np.eye(len(groups), dtype=np.bool_)
    near = np.where(others, cosines, -np.inf).argmax(axis=1)
    right = int((groups[near] == groups).sum())
    return LayerSeparation(
        layer,
        float(cosines[same & others].mean()),
        float(cosines[~same].mean()),
        silhouette(1 - cosines, groups),
        accuracy(right, len(groups), len(groups)),
    )


def _labels(word: str, labelled: SensedTexts, texts: Sequence[int]) -> list[str]:
    """The sense of each occurrence, given the indices of their texts."""
    labels: list[str] = []
    for text, senses in enumerate(labelled.senses):
        count = texts.count(text)
        if len(senses) not in (1, count):
            raise InvalidArgumentError(
                f"{labelled.name}: '{labelled.texts[text][:60]}' has '{word}' {count} times, and"
                f" {len(senses)} senses: give one for all, or one for each"
            )
        labels += senses if len(senses) == count else list(senses) * count
    return labels
