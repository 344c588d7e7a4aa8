"""Splits texts into the words of vectors and looks these up; counts unknown words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.subwords import SubwordVectors, has_hangul
from malmoi.text.tokenizers import English, Tokenizer, make_tokenizer, tokenizer_from
from malmoi.vectors import Vectors

MAX_EXAMPLES = 5  # unknown words in a warning
SAMPLE_WORDS = 2000  # the most frequent words
MANY_WORDS = 1000  # without a row: all n-grams are then verified at once
PARTICLES = ("은", "는", "을", "를", "에서", "으로")  # never words by themselves in Korean


def choose_tokenizer(vectors: Vectors, tokenizer: str | Tokenizer | None) -> Tokenizer:
    """The named tokenizer, or the one of the vectors' training, or one that fits their words.

    Vectors without this metadata that have Korean particles as words need a Korean tokenizer. For
    all others it is the English one: in lower case if no word has a capital, with punctuation and
    with 's and n't as tokens if these have vectors.
    """
    if tokenizer is not None:
        return make_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    if stored := vectors.meta.get("tokenizer"):
        try:
            return tokenizer_from(stored)
        except (ValueError, TypeError, AttributeError) as error:
            raise InvalidArgumentError(
                f"the metadata of the vectors names the unknown tokenizer '{stored}': pass one"
            ) from error
    common = set(vectors.keys[:SAMPLE_WORDS])
    if any(map(has_hangul, common)) and sum(word in common for word in PARTICLES) > 3:
        return make_tokenizer("korean")
    lower = not any(any(map(str.isupper, word)) for word in common)
    return English(lower=lower, marks="." in common, clitics="'s" in common)


def words_of(texts: Iterable[str], tokenizer: Tokenizer) -> Iterator[list[str]]:
    """The words of each text; many texts at a time if the tokenizer can."""
    many = getattr(tokenizer, "many", None)
    yield from many(texts) if many else map(tokenizer, texts)


def look_up(vectors: Vectors, words: Sequence[str]) -> tuple[Int64Array, Float32Array, BoolArray]:
    """The row of each word or -1, its vector [words, dim], and whether it has one.

    A word without a row may be there in another Unicode form, or be built from its n-grams.
    """
    rows = vectors.keys.find_all(words)
    known = rows >= 0
    table = np.zeros((len(words), vectors.dim), np.float32)
    table[known] = vectors.matrix[rows[known]]
    new = np.flatnonzero(~known).tolist()
    if len(new) > MANY_WORDS and isinstance(vectors, SubwordVectors):
        _ = vectors.bucket_rows  # verified once, instead of the rows of each word
    for i in new:
        try:
            table[i] = vectors.vector(words[i])
        except UnknownWordError:
            continue
        rows[i], known[i] = vectors.row(words[i]), True
    return rows, table, known


@dataclass
class WordStats:
    """Counts over any number of texts; `examples` are some of the unknown words."""

    texts: int = 0
    words: int = 0
    unknown: int = 0
    empty: int = 0
    examples: dict[str, None] = field(default_factory=dict)

    def count(self, sizes: npt.NDArray[np.int64], known: npt.NDArray[np.int64]) -> None:
        """Count texts with these numbers of words and of known words."""
        self.texts += len(sizes)
        self.words += int(sizes.sum())
        self.unknown += int((sizes - known).sum())
        self.empty += int(np.equal(known, 0).sum())

    def remember(self, unknown: Sequence[str]) -> None:
        """Keep a few examples."""
        self.examples.update(dict.fromkeys(unknown[: MAX_EXAMPLES - len(self.examples)]))

    def add(self, other: "WordStats") -> None:
        """Add the counts of a later call."""
        for name in ("texts", "words", "unknown", "empty"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.remember(list(other.examples))

    def sentences(self, *, numbered: bool = True) -> list[str]:
        """One warning per kind of problem; positions of texts are not listed."""
        such = f"such as {', '.join(self.examples)}"
        problems = {
            f"words are unknown and were ignored, {such}": (self.unknown, self.words),
            "texts have no known word: their vectors are zeros": (self.empty, self.texts),
        }
        warnings = [
            f"{count:,} of {total:,} {problem}"
            for problem, (count, total) in problems.items()
            if count
        ]
        if warnings and 2 * self.unknown > self.words and any(map(has_hangul, self.examples)):
            warnings[0] += f"; for Korean choose the model {UNIVERSAL}, or vectors of Korean words"
        return warnings
