"""The error model of the noisy channel: single edits of keystrokes and their rates.

Words are compared by keystrokes (강아지 is ㄱㅏㅇㅇㅏㅈㅣ), so that in any script a typo is one
keystroke: substituted, deleted, inserted, or two transposed. 머거 is 먹어 with one deleted.
Knows nothing of the vocabulary.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from malmoi.hangul import COMPOSED, EMPTY, FINALS, INITIALS, VOWELS, split_jamo
from malmoi.typos.keyboards import HANGUL_KEYS, LATIN_KEYS, LETTERS, NEAR_KEYS, STROKES

# How often each edit happens to a keystroke, fitted as the constants of `noisy_channel` are.
SUBSTITUTION_RATE = 0.004
DELETION_RATE = 0.008
INSERTION_RATE = 0.001
DOUBLING_RATE = 0.0003  # the same key again
TRANSPOSITION_RATE = 0.006
SAME_SOUND_RATE = 0.01  # another spelling sounds the same
SIMILAR_LETTER_RATE = 0.0001  # it does in some words: many names differ by c and k
UNSTRESSED_VOWEL_RATE = 0.0015  # vowels sound alike if unstressed: stirred is not starred
FAR_KEY_SHARE = 0.01  # of substitutions: keys that are not adjacent
STRAY_KEY_SHARE = 0.4  # of insertions: keys that are not adjacent
MAX_KEYSTROKES = 40

SOUND_ALIKE = (
    ("ㅐ", "ㅔ"),
    ("ㅒ", "ㅖ"),
    ("ㅗㅐ", "ㅜㅔ", "ㅗㅣ"),  # 왜, 웨, 외
)
LETTERS_ALIKE = (("c", "s"), ("c", "k"), ("f", "ph"))
UNSTRESSED = (("a", "e", "i", "o"),)
SOUNDS = [
    (written, intended, rate / (len(group) - 1))
    for groups, rate in (
        (SOUND_ALIKE, SAME_SOUND_RATE),
        (LETTERS_ALIKE, SIMILAR_LETTER_RATE),
        (UNSTRESSED, UNSTRESSED_VOWEL_RATE),
    )
    for group in groups
    for written in group
    for intended in group
    if written != intended
]

KEYSTROKES_OF_LETTER = str.maketrans(STROKES)
VOWEL_KEYS, FINAL_KEYS = (
    "|".join([*(STROKES[letter] for letter in letters if letter in STROKES), f"[{letters}]"])
    for letters in (VOWELS, FINALS[1:])
)
# As in an input method, a consonant is final only if no vowel follows.
SYLLABLE = re.compile(f"([{INITIALS}])({VOWEL_KEYS})(?:({FINAL_KEYS})(?![{VOWELS}]))?")


def corrections(typed: str) -> dict[str, float]:
    """Candidate corrections, words or not, and the probability of the edit to what was typed."""
    candidates: dict[str, float] = defaultdict(float)
    typed_keys = keystrokes(typed)
    for keys, probability in single_edits(typed_keys) if len(typed_keys) <= MAX_KEYSTROKES else ():
        candidates[compose(keys)] += probability
    candidates.pop(typed, None)
    return candidates


def single_edits(typed: str) -> Iterator[tuple[str, float]]:
    """The keystrokes that one edit turns into those typed, and the rate of the edit."""
    alphabet = candidate_keys(typed)
    for i in range(len(typed) + 1):
        before, after = typed[:i], typed[i:]
        yield from ((before + key + after, DELETION_RATE) for key in alphabet)
        if not after:
            break
        key, rest = after[0], after[1:]
        yield before + rest, _insertion_rate(key, before[-1:] + rest[:1], len(alphabet))
        for intended in alphabet.replace(key, ""):
            beside = NEAR_KEYS.get(intended, "")
            share = (
                (1 - FAR_KEY_SHARE) / len(beside)
                if key in beside
                else FAR_KEY_SHARE / len(alphabet)
            )
            yield before + intended + rest, SUBSTITUTION_RATE * share
        if rest and rest[0] != key:
            yield before + rest[0] + key + rest[1:], TRANSPOSITION_RATE
    for written, intended, rate in SOUNDS:
        for match in re.finditer(written, typed):
            yield typed[: match.start()] + intended + typed[match.end() :], rate


def _insertion_rate(key: str, beside: str, keys: int) -> float:
    """The rate of inserting a key: hit twice, adjacent, or any other."""
    if key in beside:
        return DOUBLING_RATE
    near = "".join(NEAR_KEYS.get(other, "") for other in beside)
    return INSERTION_RATE * (
        (1 - STRAY_KEY_SHARE) / len(near) if key in near else STRAY_KEY_SHARE / keys
    )


def candidate_keys(typed: str) -> str:
    """The intended keys to try: of the keyboards used, of the word, and with Shift."""
    keys = set(typed + typed.swapcase())
    for keyboard in (HANGUL_KEYS, LATIN_KEYS, LATIN_KEYS.upper()):
        keys |= set(keyboard) if set(keyboard) & set(typed) else set()
    return "".join(sorted(keys))


def keystrokes(word: str) -> str:
    """The keystrokes that type a word."""
    return split_jamo(word).replace(EMPTY, "").translate(KEYSTROKES_OF_LETTER)


def compose(keys: str) -> str:
    """The text that keystrokes type: Hangul letters are composed to syllables."""
    return SYLLABLE.sub(lambda match: _syllable(*match.groups(EMPTY)), keys)


@cache
def _syllable(initial: str, vowel: str, final: str) -> str:
    return COMPOSED[initial + LETTERS.get(vowel, vowel) + LETTERS.get(final, final)]
