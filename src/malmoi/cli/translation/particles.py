"""Korean particles after any word: 은 or 는, 이 or 가, 을 or 를, 과 or 와, 으로 or 로.

The choice depends on the last sound of the word before. Hangul and digits are exact; Latin words
are read the way Korean engineers read them (`minilm`은, `--out`을, BERT는), by their last letters.
"""

import re

# The form after a consonant, and that after a vowel.
PARTICLES = {
    "은": "는",
    "이": "가",
    "을": "를",
    "과": "와",
    "으로": "로",
    "이라": "라",
    "이나": "나",
    "이어야": "여야",
}
CLOSING = "'\"`’”)]}…* "  # not read aloud
BRACKETS = re.compile(r"(?<=\w)\([^()]*\)$")  # particles follow the word before them
RIEUL = 8  # the final consonant ㄹ in the table of Unicode
FIRST_SYLLABLE, LAST_SYLLABLE, FINALS = 0xAC00, 0xD7A3, 28
VOWEL, CONSONANT, LIQUID = "vowel", "consonant", "liquid"  # liquid: ㄹ
# The final consonants of 영 일 이 삼 사 오 육 칠 팔 구.
DIGITS = dict(zip("0123456789", "ㅇㄹ-ㅁ--ㄱㄹㄹ-", strict=True))
LETTERS = {"L": LIQUID, "R": LIQUID, "M": CONSONANT, "N": CONSONANT}  # 엘 알 엠 엔
ENDS_IN_L = re.compile(r"(?:[^l]l|ll)e?$")
ENDS_IN_CONSONANT = re.compile(r"(?:[mn]e?|ng|[aeiou][pt]|[aeo]ck|ook)$")


def with_particle(text: str, particle: str) -> str:
    """The particle that follows a text, given the form after a consonant, such as 은."""
    word = BRACKETS.sub("", text).rstrip(CLOSING)
    sound = last_sound(word)
    if sound is None:
        other = PARTICLES[particle]
        return f"(으){other}" if particle == "으로" else f"{particle}({other})"
    if particle == "으로" and sound == LIQUID:
        return "로"
    return PARTICLES[particle] if sound == VOWEL else particle


def last_sound(word: str) -> str | None:
    """How a word ends when it is read aloud; None if that is not known."""
    last = word[-1:]
    if not last:
        return None
    if last == "%":  # 퍼센트
        return VOWEL
    if FIRST_SYLLABLE <= ord(last) <= LAST_SYLLABLE:
        final = (ord(last) - FIRST_SYLLABLE) % FINALS
        return VOWEL if final == 0 else LIQUID if final == RIEUL else CONSONANT
    if last in DIGITS:
        return {"-": VOWEL, "ㄹ": LIQUID}.get(DIGITS[last], CONSONANT)
    latin = re.search(r"[A-Za-z]+$", word)
    return None if latin is None else _last_sound_of_latin(latin.group())


def _last_sound_of_latin(word: str) -> str:
    if word.isupper():  # an acronym is spelled: LSA, NNLM
        return LETTERS.get(word[-1], VOWEL)
    lower = word.lower()
    if len(lower) == 1:
        return LETTERS.get(lower.upper(), VOWEL)
    if ENDS_IN_L.search(lower):
        return LIQUID
    return CONSONANT if ENDS_IN_CONSONANT.search(lower) else VOWEL
