"""Slips of the fingers and of the ear: which words may have been meant by what was typed.

Words are looked at by their keystrokes (강아지 is ㄱㅏㅇㅇㅏㅈㅣ), so that in any script one slip
is one stroke: a wrong one, one left out, one too many, two swapped. 머거 is 먹어, one left out.
Knows nothing of which words there are.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from malmoi.hangul import COMPOSED, EMPTY, FINALS, INITIALS, VOWELS, split_jamo
from malmoi.typos.keyboards import HANGUL_KEYS, LATIN_KEYS, LETTERS, NEAR_KEYS, STROKES

# How often each happens to a stroke, fitted as the constants of `noisy_channel` are.
OTHER_KEY = 0.004
LEFT_OUT = 0.008
TOO_MANY = 0.001
TWICE = 0.0003  # the same key again
SWAPPED = 0.006
BY_SOUND = 0.01  # where another spelling sounds the same
BY_LETTER = 0.0001  # where it does in some words: many names differ by c and k
BY_VOWEL = 0.0015  # where it sounds alike only if unstressed: stirred is not starred
FAR = 0.01  # of wrong strokes: the share that is nowhere near the right one
STRAY = 0.4  # of those too many: the share that is nowhere near those beside it
LONGEST = 40  # strokes: what is longer is hardly one word

SOUND_ALIKE = (
    ("ㅐ", "ㅔ"),
    ("ㅒ", "ㅖ"),
    ("ㅗㅐ", "ㅜㅔ", "ㅗㅣ"),  # 왜, 웨, 외
)
LETTERS_ALIKE = (("c", "s"), ("c", "k"), ("f", "ph"))
UNSTRESSED = (("a", "e", "i", "o"),)
SOUNDS = [
    (heard, meant, rate / (len(group) - 1))
    for groups, rate in (
        (SOUND_ALIKE, BY_SOUND),
        (LETTERS_ALIKE, BY_LETTER),
        (UNSTRESSED, BY_VOWEL),
    )
    for group in groups
    for heard in group
    for meant in group
    if heard != meant
]

APART = str.maketrans(STROKES)
VOWEL_KEYS, FINAL_KEYS = (
    "|".join([*(STROKES[letter] for letter in letters if letter in STROKES), f"[{letters}]"])
    for letters in (VOWELS, FINALS[1:])
)
# A final consonant is one only where no vowel follows, as an input method has it.
SYLLABLE = re.compile(f"([{INITIALS}])({VOWEL_KEYS})(?:({FINAL_KEYS})(?![{VOWELS}]))?")


def meant_by(seen: str) -> dict[str, float]:
    """All that may have been meant, words or not, and how often it is typed as what is seen."""
    found: dict[str, float] = defaultdict(float)
    keys_seen = strokes(seen)
    for keys, chance in slips(keys_seen) if len(keys_seen) <= LONGEST else ():
        found[typed(keys)] += chance
    found.pop(seen, None)
    return found


def slips(seen: str) -> Iterator[tuple[str, float]]:
    """The keystrokes that one slip turns into those seen."""
    alphabet = alphabet_of(seen)
    for i in range(len(seen) + 1):
        before, after = seen[:i], seen[i:]
        yield from ((before + key + after, LEFT_OUT) for key in alphabet)
        if not after:
            break
        key, rest = after[0], after[1:]
        yield before + rest, _too_many(key, before[-1:] + rest[:1], len(alphabet))
        for meant in alphabet.replace(key, ""):
            beside = NEAR_KEYS.get(meant, "")
            share = (1 - FAR) / len(beside) if key in beside else FAR / len(alphabet)
            yield before + meant + rest, OTHER_KEY * share
        if rest and rest[0] != key:
            yield before + rest[0] + key + rest[1:], SWAPPED
    for heard, meant, chance in SOUNDS:
        for found in re.finditer(heard, seen):
            yield seen[: found.start()] + meant + seen[found.end() :], chance


def _too_many(key: str, beside: str, keys: int) -> float:
    """How likely this stroke is one too many: a key hit twice, a neighbour's, or any other."""
    if key in beside:
        return TWICE
    near = "".join(NEAR_KEYS.get(other, "") for other in beside)
    return TOO_MANY * ((1 - STRAY) / len(near) if key in near else STRAY / keys)


def alphabet_of(seen: str) -> str:
    """The keys that may have been meant: of the keyboards used, of the word, and with Shift."""
    keys = set(seen + seen.swapcase())
    for keyboard in (HANGUL_KEYS, LATIN_KEYS, LATIN_KEYS.upper()):
        keys |= set(keyboard) if set(keyboard) & set(seen) else set()
    return "".join(sorted(keys))


def strokes(word: str) -> str:
    """The keys hit to write a word."""
    return split_jamo(word).replace(EMPTY, "").translate(APART)


def typed(keys: str) -> str:
    """What is written by these keys: letters of Hangul come together as they are typed."""
    return SYLLABLE.sub(lambda found: _syllable(*found.groups(EMPTY)), keys)


@cache
def _syllable(initial: str, vowel: str, final: str) -> str:
    return COMPOSED[initial + LETTERS.get(vowel, vowel) + LETTERS.get(final, final)]
