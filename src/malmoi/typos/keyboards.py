"""Keyboard layouts: which keys are adjacent, and the letters that adjacent keys produce.

QWERTY for the Latin alphabet, the two-set layout (두벌식) for Hangul. Knows nothing of words.
"""

QWERTY = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
TWO_SET = ("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", "ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", "ㅋㅌㅊㅍㅠㅜㅡ")
ROW_STARTS = (0.0, 0.25, 0.75)  # in keys: each row starts a little further right
SHIFTED = dict(zip("ㅃㅉㄸㄲㅆㅒㅖ", "ㅂㅈㄷㄱㅅㅐㅔ", strict=True))
TWO_STROKE_LETTERS = "ㅘㅙㅚㅝㅞㅟㅢ" + "ㄳㄵㄶㄺㄻㄼㄽㄾㄿㅀㅄ"
KEYSTROKE_PAIRS = (
    "ㅗㅏ ㅗㅐ ㅗㅣ ㅜㅓ ㅜㅔ ㅜㅣ ㅡㅣ ㄱㅅ ㄴㅈ ㄴㅎ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ ㄹㅌ ㄹㅍ ㄹㅎ ㅂㅅ"
)
STROKES = dict(zip(TWO_STROKE_LETTERS, KEYSTROKE_PAIRS.split(), strict=True))
LETTERS = {strokes: letter for letter, strokes in STROKES.items()}


def adjacent_keys(keyboard: tuple[str, ...]) -> dict[str, str]:
    """The keys that touch each key of a layout, given its rows from top to bottom."""
    positions = {
        key: (row, start + column)
        for row, (keys, start) in enumerate(zip(keyboard, ROW_STARTS, strict=True))
        for column, key in enumerate(keys)
    }

    def touch(one: str, other: str) -> bool:
        (row, at), (other_row, other_at) = positions[one], positions[other]
        apart = abs(at - other_at)
        return apart == 1 if row == other_row else abs(row - other_row) == 1 and apart < 1

    return {key: "".join(other for other in positions if touch(key, other)) for key in positions}


QWERTY_NEAR = adjacent_keys(QWERTY)
TWO_SET_NEAR = adjacent_keys(TWO_SET)
LATIN_KEYS = "".join(QWERTY)
HANGUL_KEYS = "".join((*TWO_SET, *SHIFTED))


def near_keys() -> dict[str, str]:
    """The keys hit by mistake for each key: adjacent ones, or its own with Shift wrong."""
    plain = QWERTY_NEAR | TWO_SET_NEAR
    shifted = {letter: key for key, letter in SHIFTED.items()} | {
        key: key.upper() for key in QWERTY_NEAR
    }
    near = {key: beside + shifted.get(key, "") for key, beside in plain.items()}
    for key, upper in shifted.items():
        near[upper] = key + "".join(shifted.get(other, "") for other in plain[key])
    return near


NEAR_KEYS = near_keys()


def latin_typos(letter: str) -> list[str]:
    """The letters of adjacent keys, in the same case; empty if the letter is not on a key."""
    near = QWERTY_NEAR.get(letter.lower(), "")
    return list(near.upper() if letter.isupper() else near)


def hangul_typos(letter: str) -> list[str]:
    """The jamo that one wrong keystroke makes of a jamo: an adjacent key, or Shift missing."""
    if letter in SHIFTED:
        near = TWO_SET_NEAR[SHIFTED[letter]]
        return [SHIFTED[letter], *(key for key, plain in SHIFTED.items() if plain in near)]
    strokes = STROKES.get(letter, letter)
    typos = [
        strokes[:i] + near + strokes[i + 1 :]
        for i, stroke in enumerate(strokes)
        for near in TWO_SET_NEAR.get(stroke, "")
    ]
    return [LETTERS.get(typo, typo) for typo in typos if len(typo) == 1 or typo in LETTERS]
