"""Typo robustness: how much of the word similarity remains with one typo in every word?

Korean words change by one jamo: a neighbouring key of the two-set (두벌식) keyboard, a vowel that
sounds the same (ㅐ for ㅔ), a dropped final consonant. Other words change by one letter: a
neighbouring key of QWERTY, a letter dropped, doubled, or transposed with the next.
"""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.arguments import expect
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.lookup import look_up_words
from malmoi.evaluate.scores import (
    SCORE_HEADER,
    Score,
    interval,
    resampled,
    seeded_generator,
    spearman,
)
from malmoi.evaluate.sets.word_sets import SimilaritySet, read_pairs
from malmoi.evaluate.similarity import word_pair_cosines
from malmoi.hangul import EMPTY, FINALS, INITIALS, VOWELS, join_jamo, split_jamo
from malmoi.query.directions import restrict
from malmoi.table import Table, Tabular
from malmoi.typos.keyboards import hangul_typos, latin_typos
from malmoi.vectors import Vectors, expect_vectors

SYLLABLE = re.compile("[가-힣]")
JAMO_BY_POSITION = (INITIALS, VOWELS, FINALS)  # the jamo that each third of a syllable can be
SOUND_ALIKE = dict(zip("ㅐㅔㅒㅖㅙㅞ", "ㅔㅐㅖㅒㅞㅙ", strict=True))


@dataclass(frozen=True, repr=False)
class TypoScore(Tabular):
    """The share of Spearman's correlation that remains: with typos over without.

    The pairs are those answered without typos. A pair with a typo that gets no vector counts as
    not similar at all (0). Where the interval of the correlation without typos includes 0, there
    is no value. `typos` words were changed; `unanswered` of them got no vector, and `own_rows` of
    them are words with a row of their own.
    """

    name: str
    retained: Score
    without_typos: float | None
    with_typos: float | None
    typos: int
    unanswered: int
    own_rows: int

    def __repr__(self) -> str:
        return f"TypoScore({self.name}, retained={self.retained})"

    def _table(self) -> Table:
        rows = [("retained with typos", *self.retained.cells)]
        return Table(f"Typo robustness: {self.name}", ["", *SCORE_HEADER], rows)


def typo_robustness(
    vectors: Vectors,
    pairs: SimilaritySet | str | Path,
    *,
    restrict_vocab: int | None = None,
    fold_case: bool = True,
    seed: int = 0,
) -> TypoScore:
    """Add a typo to each word of each pair and measure word similarity again.

    Args:
        vectors: The vectors to evaluate.
        pairs: A file of two words and a score per line, or a `SimilaritySet`.
        restrict_vocab: Use only the most frequent words, this many.
        fold_case: Treat Tiger and tiger as the same word.
        seed: Seed of the typos and of the bootstrap behind the interval.

    Returns:
        The share of the correlation that remains, with its interval and counts.

    Raises:
        InvalidFileError: The file cannot be read or does not hold pairs with scores.
        InvalidArgumentError: restrict_vocab or the seed is not valid.

    Example:
        vectors = mm.load("glove-6b-50d", limit=10_000)
        mm.typo_robustness(vectors, "pairs.tsv")
    """
    expect_vectors(vectors)
    pair_set = read_pairs(pairs)
    candidates = restrict(vectors, restrict_vocab)
    words = [word for pair in pair_set.pairs for word in pair[:2]]
    random = seeded_generator(seed)
    typos = [add_typo(word, random) for word in words]
    clean, answered = word_pair_cosines(look_up_words(candidates, words, fold_case=fold_case))
    lookup = look_up_words(candidates, typos, fold_case=fold_case)
    wrong, _ = word_pair_cosines(lookup)  # 0 without a vector
    human = np.array([pair.score for pair in pair_set.pairs])
    without = spearman(clean[answered], human[answered])
    with_typos = spearman(wrong[answered], human[answered])
    if without is not None and with_typos is None:
        with_typos = 0.0  # all cosines are equal: no correlation remains
    value = low = high = None
    if without is not None and with_typos is not None:
        both = resampled(np.stack([clean, wrong])[:, answered], human[answered], seed)
        if (interval(both[0])[0] or 0) > 0:
            value = with_typos / without
            low, high = interval(np.nan_to_num(both[1]) / both[0])
    used = np.repeat(answered, 2)
    return TypoScore(
        pair_set.name,
        Score(value=value, low=low, high=high, answered=int(answered.sum()), total=len(human)),
        without,
        with_typos,
        typos=int(used.sum()),
        unanswered=int((used & ~lookup.is_known).sum()),
        own_rows=int((used & lookup.has_row).sum()),
    )


def add_typo(word: str, seed: int | np.random.Generator = 0) -> str:
    """A word with one typo, never the word itself.

    First a kind of typo is drawn from those that the word allows, then a typo of that kind.

    Args:
        word: The word.
        seed: A seed or a generator; the same seed gives the same typo.

    Returns:
        The misspelled word.

    Raises:
        InvalidArgumentError: The word is empty.
    """
    expect(word, str, "word", "a string")
    if not word.strip():
        raise InvalidArgumentError("the word is empty: it has no letter to misspell")
    random = np.random.default_rng(seed)
    kinds = [typos for typos in possible_typos(word).values() if typos]
    typos = kinds[random.integers(len(kinds))]
    return typos[random.integers(len(typos))]


def possible_typos(word: str) -> dict[str, list[str]]:
    """All typos of a word by kind; at least one kind has some."""
    word = unicodedata.normalize("NFC", word)
    kinds = _hangul_typos(word) if SYLLABLE.search(word) else _letter_typos(word)
    return {kind: sorted(set(typos) - {word}) for kind, typos in kinds.items()}


def _hangul_typos(word: str) -> dict[str, list[str]]:
    keys: list[str] = []
    sounds: list[str] = []
    drops: list[str] = []
    for syllable in SYLLABLE.finditer(word):
        at = syllable.start()
        letters = split_jamo(syllable[0])
        initial, vowel, final = tuple(letters)
        for i, letter in enumerate(letters):
            replacements = [
                replacement
                for replacement in hangul_typos(letter)
                if replacement in JAMO_BY_POSITION[i]
            ]
            keys += [
                _replace_syllable(word, at, letters[:i] + replacement + letters[i + 1 :])
                for replacement in replacements
            ]
        if vowel in SOUND_ALIKE:
            sounds.append(_replace_syllable(word, at, initial + SOUND_ALIKE[vowel] + final))
        if final != EMPTY:
            drops.append(_replace_syllable(word, at, initial + vowel + EMPTY))
    return {"neighbouring key": keys, "same sound": sounds, "dropped final": drops}


def _replace_syllable(word: str, at: int, letters: str) -> str:
    """The word with the syllable at one position replaced."""
    return word[:at] + join_jamo(letters) + word[at + 1 :]


def _letter_typos(word: str) -> dict[str, list[str]]:
    positions = range(len(word))
    gaps = range(len(word) - 1)
    return {
        "neighbouring key": [
            word[:i] + replacement + word[i + 1 :]
            for i in positions
            for replacement in latin_typos(word[i])
        ],
        "dropped letter": [word[:i] + word[i + 1 :] for i in positions if len(word) > 1],
        "doubled letter": [word[:i] + word[i] + word[i:] for i in positions],
        "swapped letters": [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in gaps],
    }
