"""Keyboards: which letters come out when a finger hits the key beside the right one.

QWERTY for the Latin alphabet, the two-set layout (두벌식) for Hangul. Knows nothing of words.
"""

QWERTY = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
TWO_SET = ("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", "ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", "ㅋㅌㅊㅍㅠㅜㅡ")
ROW_STARTS = (0.0, 0.25, 0.75)  # in keys: each row begins a little further right
SHIFTED = dict(zip("ㅃㅉㄸㄲㅆㅒㅖ", "ㅂㅈㄷㄱㅅㅐㅔ", strict=True))
TWICE = "ㅘㅙㅚㅝㅞㅟㅢ" + "ㄳㄵㄶㄺㄻㄼㄽㄾㄿㅀㅄ"  # letters that take two strokes
BY_STROKES = (
    "ㅗㅏ ㅗㅐ ㅗㅣ ㅜㅓ ㅜㅔ ㅜㅣ ㅡㅣ ㄱㅅ ㄴㅈ ㄴㅎ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ ㄹㅌ ㄹㅍ ㄹㅎ ㅂㅅ"
)
STROKES = dict(zip(TWICE, BY_STROKES.split(), strict=True))
LETTERS = {strokes: letter for letter, strokes in STROKES.items()}


def neighbours(keyboard: tuple[str, ...]) -> dict[str, str]:
    """For each key those that touch it, given the rows from top to bottom."""
    places = {
        key: (row, start + column)
        for row, (keys, start) in enumerate(zip(keyboard, ROW_STARTS, strict=True))
        for column, key in enumerate(keys)
    }

    def touch(one: str, other: str) -> bool:
        (row, at), (other_row, other_at) = places[one], places[other]
        apart = abs(at - other_at)
        return apart == 1 if row == other_row else abs(row - other_row) == 1 and apart < 1

    return {key: "".join(other for other in places if touch(key, other)) for key in places}


QWERTY_NEAR = neighbours(QWERTY)
TWO_SET_NEAR = neighbours(TWO_SET)
LATIN_KEYS = "".join(QWERTY)
HANGUL_KEYS = "".join((*TWO_SET, *SHIFTED))


def near_keys() -> dict[str, str]:
    """For each key, Shift or not, those hit instead: beside it, or its own with Shift wrong."""
    plain = QWERTY_NEAR | TWO_SET_NEAR
    shifted = {letter: key for key, letter in SHIFTED.items()} | {
        key: key.upper() for key in QWERTY_NEAR
    }
    near = {key: beside + shifted.get(key, "") for key, beside in plain.items()}
    for key, upper in shifted.items():
        near[upper] = key + "".join(shifted.get(other, "") for other in plain[key])
    return near


NEAR_KEYS = near_keys()


def latin_slips(letter: str) -> list[str]:
    """What a slip makes of a letter, in its case; nothing if it is on no key."""
    near = QWERTY_NEAR.get(letter.lower(), "")
    return list(near.upper() if letter.isupper() else near)


def hangul_slips(letter: str) -> list[str]:
    """What one wrong stroke makes of a jamo: a neighbour, or Shift forgotten."""
    if letter in SHIFTED:
        near = TWO_SET_NEAR[SHIFTED[letter]]
        return [SHIFTED[letter], *(key for key, plain in SHIFTED.items() if plain in near)]
    strokes = STROKES.get(letter, letter)
    slips = [
        strokes[:i] + near + strokes[i + 1 :]
        for i, stroke in enumerate(strokes)
        for near in TWO_SET_NEAR.get(stroke, "")
    ]
    return [LETTERS.get(slip, slip) for slip in slips if len(slip) == 1 or slip in LETTERS]
