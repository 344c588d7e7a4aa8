"""Words as people mistype them: one key wrong, left out, too many, swapped, or Shift forgotten.

Made of the rows of a keyboard and of an input method for Hangul that is written here anew, so
that it shares neither tables nor mistakes with `malmoi.typos.edits`.
"""

import random

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
# The two-set layout: what each key of QWERTY writes, with Shift in capitals.
TWO_SET = dict(
    zip(
        "qwertyuiopasdfghjklzxcvbnmQWERTOP",
        "ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡㅃㅉㄸㄲㅆㅒㅖ",
        strict=True,
    )
)
KEYS = {letter: key for key, letter in TWO_SET.items()}
FIRST = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏ ㅐ ㅑ ㅒ ㅓ ㅔ ㅕ ㅖ ㅗ ㅗㅏ ㅗㅐ ㅗㅣ ㅛ ㅜ ㅜㅓ ㅜㅔ ㅜㅣ ㅠ ㅡ ㅡㅣ ㅣ"
ENDS = ". ㄱ ㄲ ㄱㅅ ㄴ ㄴㅈ ㄴㅎ ㄷ ㄹ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ ㄹㅌ ㄹㅍ ㄹㅎ ㅁ ㅂ ㅂㅅ"
MIDDLE, LAST = VOWELS.split(), [*ENDS.split(), *"ㅅㅆㅇㅈㅊㅋㅌㅍㅎ"]
GA, LASTS, SYLLABLES = 0xAC00, len(LAST), len(MIDDLE) * len(LAST)
KINDS = {"other key": 4, "left out": 2, "too many": 1, "swapped": 2, "Shift": 1}
TRIES = 100


def mistyped(word: str, chance: random.Random) -> str:
    """The word with one slip of the keyboard, as it appears on the screen."""
    korean = not word.isascii()
    keys = keys_of(word) if korean else word
    for _ in range(TRIES):
        wrong = slipped(keys, chance)
        seen = written(wrong) if korean else wrong
        if seen and seen != word:
            return seen
    return word


def slipped(keys: str, chance: random.Random) -> str:
    """The keys with one slip, or as they are where this one cannot be."""
    (kind,) = chance.choices(list(KINDS), list(KINDS.values()))
    at = chance.randrange(len(keys))
    before, key, after = keys[:at], keys[at], keys[at + 1 :]
    beside = around(key)
    if kind == "other key":
        return before + chance.choice(beside) + after if beside else keys
    if kind == "left out":
        return before + after
    if kind == "too many":
        return before + chance.choice([*beside, key]) + key + after
    if kind == "swapped":
        return before + after[:1] + key + after[1:]
    return before + key.swapcase() + after if key.swapcase() in TWO_SET else keys


def around(key: str) -> list[str]:
    """The keys that touch one: rows are shifted by half a key, as on paper."""
    for number, row in enumerate(ROWS):
        at = row.find(key.lower())
        if at >= 0:
            found = [row[i] for i in (at - 1, at + 1) if 0 <= i < len(row)]
            for other, places in ((number - 1, (at, at + 1)), (number + 1, (at - 1, at))):
                if 0 <= other < len(ROWS):
                    found += [ROWS[other][i] for i in places if 0 <= i < len(ROWS[other])]
            return found
    return []


def keys_of(word: str) -> str:
    """The keys that write Hangul."""
    found = ""
    for character in word:
        code = ord(character) - GA
        letters = FIRST[code // SYLLABLES] + MIDDLE[code % SYLLABLES // LASTS]
        letters += LAST[code % LASTS].replace(".", "")
        found += "".join(KEYS[letter] for letter in letters)
    return found


def written(keys: str) -> str:
    """What an input method makes of these keys."""
    letters = [TWO_SET.get(key, TWO_SET.get(key.lower(), key)) for key in keys]
    found, at = "", 0
    while at < len(letters):
        middle = longest(letters, at + 1, MIDDLE) if letters[at] in FIRST else ""
        if not middle:
            found, at = found + letters[at], at + 1
            continue
        begin = at + 1 + len(middle)
        last = longest(letters, begin, LAST)
        if last and longest(letters, begin + len(last), MIDDLE):
            last = last[:-1]  # the vowel that follows takes the last consonant with it
        code = FIRST.index(letters[at]) * SYLLABLES + MIDDLE.index(middle) * LASTS
        found += chr(GA + code + LAST.index(last or "."))
        at = begin + len(last)
    return found


def longest(letters: list[str], at: int, choices: list[str]) -> str:
    """The longest of these that stands here, of two letters or one; '' if none does."""
    for size in (2, 1):
        here = "".join(letters[at : at + size])
        if here in choices:
            return here
    return ""
