"""The typo test: how much of the word similarity is kept when every word is wrong by a letter?

Korean words are changed by one jamo: a neighbouring key of the two-set (두벌식) keyboard, a
vowel that sounds the same (ㅐ for ㅔ), a final consonant left out. Other words by one letter:
a neighbouring key of QWERTY, a letter left out, doubled, or swapped with the next.
"""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.lookup import answer, restricted
from malmoi.evaluate.scores import Score, chance, interval, resampled, spearman
from malmoi.evaluate.sets.word_sets import SimilaritySet, read_pairs
from malmoi.evaluate.similarity import compared
from malmoi.hangul import EMPTY, FINALS, INITIALS, VOWELS, join_jamo, split_jamo
from malmoi.typos.keyboards import hangul_slips, latin_slips
from malmoi.vectors import Vectors

SYLLABLE = re.compile("[가-힣]")
PLACES = (INITIALS, VOWELS, FINALS)  # what each third of a syllable can be
SOUND_ALIKE = dict(zip("ㅐㅔㅒㅖㅙㅞ", "ㅔㅐㅖㅒㅞㅙ", strict=True))


@dataclass(frozen=True)
class TypoScore:
    """What is kept of Spearman's correlation: with typos over without, on the same pairs.

    The pairs are those answered without typos. One of which a typo gets no vector counts as
    not similar at all (0), as it would for whoever asks. Where the correlation without typos
    may be chance (its interval holds 0), there is nothing to keep and no value. `typos` words
    were changed; `unanswered` of them got no vector, `own_rows` are words that the vectors hold.
    """

    name: str
    kept: Score
    without_typos: float | None
    with_typos: float | None
    typos: int
    unanswered: int
    own_rows: int


def typo_robustness(
    vectors: Vectors,
    pairs: SimilaritySet | str | Path,
    *,
    most_frequent: int | None = None,
    fold_case: bool = True,
    seed: int = 0,
) -> TypoScore:
    """Put a typo into each word of each pair and compare with people's judgements again."""
    asked = read_pairs(pairs)
    among = restricted(vectors, most_frequent)
    words = [word for pair in asked.pairs for word in pair[:2]]
    random = chance(seed)
    typos = [add_typo(word, random) for word in words]
    clean, answered = compared(answer(among, words, fold_case=fold_case))
    answers = answer(among, typos, fold_case=fold_case)
    wrong, _ = compared(answers)  # 0 where there is no vector
    people = np.array([pair.score for pair in asked.pairs])
    without = spearman(clean[answered], people[answered])
    with_typos = spearman(wrong[answered], people[answered])
    if without is not None and with_typos is None:
        with_typos = 0.0  # no pair can be told from another: nothing is kept
    value = low = high = None
    if without is not None and with_typos is not None:
        both = resampled(np.stack([clean, wrong])[:, answered], people[answered], seed)
        if (interval(both[0])[0] or 0) > 0:
            value = with_typos / without
            low, high = interval(np.nan_to_num(both[1]) / both[0])
    used = np.repeat(answered, 2)
    return TypoScore(
        asked.name,
        Score(value=value, low=low, high=high, answered=int(answered.sum()), total=len(people)),
        without,
        with_typos,
        typos=int(used.sum()),
        unanswered=int((used & ~answers.is_known).sum()),
        own_rows=int((used & answers.has_row).sum()),
    )


def add_typo(word: str, seed: int | np.random.Generator = 0) -> str:
    """The word with one typo, never the word itself; the same for the same seed.

    First a kind of typo is drawn from those the word allows, then one of that kind.
    """
    if not word.strip():
        raise InvalidArgumentError("an empty word has no letter to get wrong")
    random = np.random.default_rng(seed)
    kinds = [typos for typos in possible_typos(word).values() if typos]
    typos = kinds[random.integers(len(kinds))]
    return typos[random.integers(len(typos))]


def possible_typos(word: str) -> dict[str, list[str]]:
    """Every typo of a word by kind; at least one kind has some."""
    word = unicodedata.normalize("NFC", word)
    kinds = _hangul_typos(word) if SYLLABLE.search(word) else _letter_typos(word)
    return {kind: sorted(set(typos) - {word}) for kind, typos in kinds.items()}


def _hangul_typos(word: str) -> dict[str, list[str]]:
    keys: list[str] = []
    sounds: list[str] = []
    drops: list[str] = []
    for found in SYLLABLE.finditer(word):
        at = found.start()
        letters = split_jamo(found[0])
        initial, vowel, final = tuple(letters)
        for i, letter in enumerate(letters):
            slips = [slip for slip in hangul_slips(letter) if slip in PLACES[i]]
            keys += [_respelled(word, at, letters[:i] + slip + letters[i + 1 :]) for slip in slips]
        if vowel in SOUND_ALIKE:
            sounds.append(_respelled(word, at, initial + SOUND_ALIKE[vowel] + final))
        if final != EMPTY:
            drops.append(_respelled(word, at, initial + vowel + EMPTY))
    return {"neighbouring key": keys, "same sound": sounds, "dropped final": drops}


def _respelled(word: str, at: int, letters: str) -> str:
    """The word with another syllable in one place."""
    return word[:at] + join_jamo(letters) + word[at + 1 :]


def _letter_typos(word: str) -> dict[str, list[str]]:
    places = range(len(word))
    gaps = range(len(word) - 1)
    return {
        "neighbouring key": [
            word[:i] + slip + word[i + 1 :] for i in places for slip in latin_slips(word[i])
        ],
        "dropped letter": [word[:i] + word[i + 1 :] for i in places if len(word) > 1],
        "doubled letter": [word[:i] + word[i] + word[i:] for i in places],
        "swapped letters": [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in gaps],
    }
