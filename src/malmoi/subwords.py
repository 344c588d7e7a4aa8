"""SubwordVectors: vectors that also answer words never seen, from their character n-grams.

Queries also correct typos: known words one edit away may answer for an unseen word.

The n-grams and their hash are fastText's, byte for byte; Hangul may be split into jamo first. This
module handles one word at a time; `kernels.subwords` does the same for a whole vocabulary.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, UnknownWordError, check_encoding
from malmoi.explanation import Explanation
from malmoi.hangul import split_jamo
from malmoi.typos.noisy_channel import NewWords, learn_new_words, rank_corrections
from malmoi.unicode import normalize
from malmoi.vectors import Selection, Vectors

LINE_END = "</s>"  # fastText's token for the end of a line, which has no n-grams
MAX_WORD_CHARS = 1000  # longer strings would have thousands of n-grams
MAX_INT32 = 2**31 - 1  # the limit of fastText's file for lengths and buckets
MIN_CORRECTION_SHARE = 0.5  # above, corrections are more probable than a new word
MIN_KNOWN_SHARE = 1 / 3  # of a word's n-grams: fewer say little about it

Units = Literal["characters", "syllables", "jamo", "jamo+syllables"]


@dataclass(frozen=True, kw_only=True)
class Subwords:
    """How to split a word: n-grams of `min_n` to `max_n` characters, hashed into `buckets`.

    `units` is the unit of Hangul n-grams. `characters`: as in any script, which is fastText.
    `syllables`: n-grams of words with Hangul are `syllables` long. `jamo`: every syllable is
    split into its letters. `jamo+syllables`: both. Other scripts use characters.
    `encoding` is the one of the text the model was trained on: hashes are of its bytes.
    """

    min_n: int = 3
    max_n: int = 6
    buckets: int = 2_000_000
    encoding: str = "utf-8"
    units: Units = "characters"
    syllables: tuple[int, int] = (1, 4)

    def __post_init__(self) -> None:
        object.__setattr__(self, "syllables", tuple(self.syllables))
        lengths = [(self.min_n, self.max_n)] if self.max_n > 0 else []
        lengths += [self.syllables] if "syllables" in self.units else []
        for shortest, longest in lengths:
            if not (1 <= shortest <= longest <= MAX_INT32 and 0 < self.buckets <= MAX_INT32):
                raise InvalidArgumentError(
                    f"n-grams of {shortest} to {longest} characters in {self.buckets} buckets"
                    " cannot be: give 1 <= min_n <= max_n and at least one bucket,"
                    f" none of them above {MAX_INT32:,}"
                )
        if self.units not in get_args(Units):
            raise InvalidArgumentError(
                f"units must be one of {get_args(Units)}; got '{self.units}'"
            )
        check_encoding(self.encoding)

    def forms(self, word: str) -> list[tuple[str, int, int]]:
        """The strings to split, the word or its letters, with the bounds of n-gram lengths."""
        plain = self.min_n, self.max_n
        by_syllables = "syllables" in self.units and has_hangul(word)
        if self.units == "syllables":
            return [(word, *(self.syllables if by_syllables else plain))]
        whole = split_jamo(word) if "jamo" in self.units else word
        return [(whole, *plain)] + [(word, *self.syllables)] * by_syllables

    def ngrams(self, word: str) -> list[bytes]:
        """The n-grams of `<word>`, as bytes; none for the end of a line or an over-long word."""
        if word == LINE_END or self.max_n <= 0 or len(word) > MAX_WORD_CHARS:
            return []
        try:
            return [
                ngram
                for form, shortest, longest in self.forms(word)
                for ngram in character_ngrams(
                    form.encode(self.encoding, "surrogateescape"), shortest, longest
                )
            ]
        except UnicodeEncodeError:  # the word cannot have been in the training text
            return []

    def bucket(self, ngram: bytes) -> int:
        """The bucket of an n-gram."""
        return fasttext_hash(ngram) % self.buckets


def character_ngrams(word: bytes, shortest: int, longest: int) -> list[bytes]:
    """The n-grams of a word between `<` and `>`, which are not n-grams by themselves."""
    text = b"<" + word + b">"
    # A character starts at every byte that is not a UTF-8 continuation byte.
    starts = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80] + [len(text)]
    return [
        text[starts[i] : starts[i + size]]
        for i in range(len(starts) - 1)
        for size in range(shortest, min(longest, len(starts) - 1) + 1)
        if i + size < len(starts) and not (size == 1 and (i == 0 or i + size == len(starts) - 1))
    ]


def has_hangul(word: str) -> bool:
    """Whether a word contains a Hangul syllable."""
    return any("가" <= character <= "힣" for character in word)


def fasttext_hash(text: bytes) -> int:
    """32-bit FNV-1a over *signed* bytes: those past 127 flip the upper 24 bits too."""
    value = 2166136261
    for byte in text:
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
        value = value * 16777619 & 0xFFFFFFFF
    return value


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubwordVectors(Vectors):
    """Vectors with a row for every bucket of n-grams.

    `matrix` holds the finished vectors (the mean of a word's own row and its n-grams'),
    `word_rows` the words' own rows and `bucket_rows` the n-grams', both possibly memory-mapped.
    `kept_buckets`, in a pruned model, are the buckets that still have a row, ascending. Queries
    raise `UnknownWordError` for an unseen word if less than `least_known` of its n-grams have one.
    """

    word_rows: Float32Array
    bucket_rows: Float32Array
    subwords: Subwords
    kept_buckets: npt.NDArray[np.int32] | None = None
    least_known: float = MIN_KNOWN_SHARE

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = self.subwords.buckets if self.kept_buckets is None else len(self.kept_buckets)
        if self.bucket_rows.shape != (rows, self.dim):
            raise InvalidArgumentError(
                f"bucket_rows are {self.bucket_rows.shape}; {(rows, self.dim)} are needed"
            )
        if self.word_rows.shape != self.matrix.shape:
            raise InvalidArgumentError(
                f"word_rows are {self.word_rows.shape}; {self.matrix.shape} are needed"
            )

    def vector(self, word: str) -> Float32Array:
        """The vector of a word as in fastText: its own, or the mean of its n-grams.

        Args:
            word: Any word.

        Returns:
            Its vector, float32 [dim].

        Raises:
            UnknownWordError: None of its n-grams has a row.
        """
        row = self.row(word)
        if row >= 0:
            return self.rows_of("matrix", row)
        rows = [row for _, row in self._known(self._ngrams(word))]
        if not rows:
            raise UnknownWordError(word)
        return self._mean(rows)

    def query_vector(self, word: str) -> Float32Array:
        """The vector of a word in a query, with typos corrected.

        Args:
            word: Any word.

        Returns:
            Its vector, float32 [dim].

        Raises:
            UnknownWordError: The word has no correction and none of its n-grams has a row.
        """
        vector, _ = self.understand(word)
        if vector is None:
            raise UnknownWordError(word)
        return vector

    def explain(self, word: str) -> Explanation:
        """Where the vector of a query word comes from.

        Args:
            word: Any word.

        Returns:
            Its row, the words that it may be a typo of, or its known n-grams.
        """
        return self.understand(word)[1]

    def understand(self, word: str) -> tuple[Float32Array | None, Explanation]:
        """The vector of a query word and where it comes from.

        If known words one edit away are more probable than a new word, the vector is their mean,
        weighted by their shares; otherwise it is the mean of the word's n-grams.

        Args:
            word: Any word.

        Returns:
            The vector, None if there is none, and its explanation.
        """
        row = self.row(word)
        if row >= 0:
            return self.rows_of("matrix", row), Explanation(word, "own row")
        ngrams = self._ngrams(word)
        known = self._known(ngrams)
        names = tuple(
            ngram.decode(self.subwords.encoding, "backslashreplace") for ngram, _ in known
        )
        corrections = (
            tuple(rank_corrections(self, word, self._new_words))
            if len(word) <= MAX_WORD_CHARS
            else ()
        )
        shares = np.array([share for _, share in corrections], np.float32)
        if shares.sum() > MIN_CORRECTION_SHARE:
            rows = self.rows_of("matrix", [self.row(one) for one, _ in corrections])
            mean: Float32Array = shares @ rows / shares.sum()
            return mean, Explanation(word, "typo", names, corrections, len(ngrams))
        if not known:
            return None, Explanation(word, "nothing", names, corrections, len(ngrams))
        as_new = self._mean([row for _, row in known])
        return as_new, Explanation(word, "n-grams", names, corrections, len(ngrams))

    def is_guess(self, explanation: Explanation) -> bool:
        """Whether too few of a word's n-grams have a row: less than `least_known`.

        Any text hits used buckets by chance, so that more n-grams are required if many buckets
        are in use. If more than half are, the share is not corrected for chance.

        Args:
            explanation: What `explain` returned for the word.

        Returns:
            Whether the vector means little.
        """
        known, count = len(explanation.ngrams), explanation.all_ngrams
        if explanation.source != "n-grams" or self.least_known <= 0:
            return False
        chance = (
            0.0 if self.kept_buckets is None else len(self.kept_buckets) / self.subwords.buckets
        )
        chance = chance if chance <= 1 / 2 else 0.0
        needed = int(count * (chance + (1 - chance) * self.least_known))
        return known < needed or known < self.least_known * count

    def _taken(self, rows: Selection) -> dict[str, Any]:
        return super()._taken(rows) | {"word_rows": self.rows_of("word_rows", rows)}

    def _mean(self, rows: list[int]) -> Float32Array:
        mean: Float32Array = self.rows_of("bucket_rows", rows).mean(axis=0, dtype=np.float32)
        return mean

    @cached_property
    def _new_words(self) -> NewWords:
        """The prior of new words, learnt on first use."""
        return learn_new_words(self)

    def _ngrams(self, word: str) -> list[bytes]:
        return self.subwords.ngrams(normalize("NFC", word))

    def _known(self, ngrams: list[bytes]) -> list[tuple[bytes, int]]:
        """N-grams and their rows, without rows of zeros, which were never trained."""
        buckets = [self.subwords.bucket(ngram) for ngram in ngrams]
        if self.kept_buckets is None:
            rows = list(zip(ngrams, buckets, strict=True))
        else:
            positions = np.searchsorted(self.kept_buckets, buckets)
            rows = [
                (ngram, int(position))
                for ngram, bucket, position in zip(ngrams, buckets, positions, strict=True)
                if position < len(self.kept_buckets) and self.kept_buckets[position] == bucket
            ]
        if not rows:
            return []
        values = self.rows_of("bucket_rows", [row for _, row in rows])
        return [rows[i] for i in np.flatnonzero(values.any(axis=1))]
