"""Drawings of word vectors: the window, CBOW and skip-gram, n-grams of letters and of jamo."""

from handbook.drawings.canvas import Canvas, Say

SENTENCE = ("The", "fat", "cat", "sat", "on", "the", "mat")
CENTRE, WINDOW = 3, 2


def window(say: Say) -> Canvas:
    """A target word and its context."""
    canvas = Canvas(
        520,
        190,
        say(
            "The context of sat, with a window of 2: fat, cat, on and the",
            "윈도우가 2일 때 sat의 문맥: fat, cat, on, the",
        ),
    )
    places = [60 + 66 * i for i in range(len(SENTENCE))]
    left, right = places[CENTRE - WINDOW] - 30, places[CENTRE + WINDOW] + 30
    canvas.box(left, 92, right - left, 42, style="blue dashed")
    for i, (x, word) in enumerate(zip(places, SENTENCE, strict=True)):
        if i == CENTRE:
            canvas.box(x - 28, 98, 56, 30, word, "filled blue")
        else:
            canvas.text(x, 113, word, "" if abs(i - CENTRE) <= WINDOW else "faint")
    for i in (1, 2, 4, 5):
        x, to, top = places[CENTRE], places[i], 24 if abs(i - CENTRE) == 2 else 58
        begin = x + (4 if i > CENTRE else -4)
        canvas.curve(f"M{begin} 96C{begin} {top} {to} {top} {to} 97", "blue")
    canvas.text(
        258, 20, say("skip-gram: a pair with each of them", "skip-gram: 각 단어와 한 쌍씩"), "note"
    )
    canvas.text(258, 150, say("a window of 2", "윈도우 2"), "note")
    canvas.text(
        258,
        172,
        say("CBOW: the mean of all four predicts sat", "CBOW: 네 단어의 평균으로 sat을 예측"),
        "note",
    )
    return canvas


def architectures(say: Say) -> Canvas:
    """CBOW and skip-gram side by side."""
    canvas = Canvas(
        600,
        260,
        say(
            "CBOW predicts a word from its context, skip-gram the context from the word",
            "CBOW는 문맥으로 단어를, skip-gram은 단어로 문맥을 예측",
        ),
    )
    context = ("fat", "cat", "on", "the")
    for x, name in ((140, "CBOW"), (460, "skip-gram")):
        canvas.text(x, 22, name, "bold")
    for i, word in enumerate(context):
        y = 52 + 48 * i
        canvas.box(20, y, 60, 30, word, "brown")
        canvas.arrow(80, y + 15, 118, 139, "brown")
        canvas.arrow(462, 139, 516, y + 15, "blue")
        canvas.box(520, y, 60, 30, word, "blue")
    canvas.box(122, 120, 60, 38, say("mean", "평균"), "filled brown")
    canvas.arrow(182, 139, 216, 139, "brown")
    canvas.box(220, 124, 60, 30, "sat", "brown")
    canvas.box(330, 124, 60, 30, "sat", "blue")
    canvas.arrow(390, 139, 408, 139, "blue")
    canvas.box(412, 120, 50, 38, say("row", "행"), "filled blue")
    canvas.text(
        150, 246, say("quick; good for frequent words", "빠르고, 자주 나오는 단어에 강함"), "note"
    )
    canvas.text(
        455, 246, say("more pairs; good for rare words", "쌍이 많고, 드문 단어에 강함"), "note"
    )
    canvas.line("M306 40V230", "dashed")
    return canvas


def letter_ngrams(say: Say) -> Canvas:
    """A word never seen, from the n-grams of words that were."""
    canvas = Canvas(
        560,
        250,
        say(
            "electrofishing shares n-grams with electric and fishing",
            "electrofishing은 electric, fishing과 n-gram을 공유",
        ),
    )
    canvas.text(125, 26, "electric", "bold")
    canvas.text(435, 26, "fishing", "bold")
    grams = (
        ("<el", 24, "blue"),
        ("elec", 94, "blue"),
        ("lectr", 164, "blue"),
        ("fish", 334, "brown"),
        ("shin", 404, "brown"),
        ("ing>", 474, "brown"),
    )
    for gram, x, style in grams:
        canvas.line(f"M{125 if style == 'blue' else 435} 38L{x + 31} 92")
        canvas.box(x, 94, 62, 30, gram, style)
        canvas.line(f"M{x + 31} 126L{280 + (x - 249) / 6:g} 194")
    canvas.box(249, 94, 62, 30, "rofi", "dashed")
    canvas.text(280, 140, say("in no known word", "아는 단어에 없음"), "note")
    canvas.text(280, 208, "electrofishing", "bold")
    canvas.text(
        280,
        232,
        say(
            "never seen: the mean of the n-grams it shares with words that were",
            "처음 보는 단어: 아는 단어와 공유하는 n-gram의 평균",
        ),
        "note",
    )
    return canvas


def jamo_ngrams(say: Say) -> Canvas:
    """A Korean word as jamo, and why a typo stays near it."""
    canvas = Canvas(
        600,
        250,
        say(
            "강아지 and its typo 강아쥐 share most n-grams of jamo",
            "강아지와 오타 강아쥐는 자모 n-gram 대부분이 같음",
        ),
    )
    rows = (("강아지", "ㄱㅏㅇㅇㅏ∅ㅈㅣ∅", 70), ("강아쥐", "ㄱㅏㅇㅇㅏ∅ㅈㅟ∅", 180))
    for word, jamo, y in rows:
        canvas.text(56, y, word, "bold")
        canvas.arrow(92, y, 122, y)
        for i, letter in enumerate(jamo):
            differs = rows[0][1][i] != rows[1][1][i]
            canvas.box(130 + 48 * i, y - 17, 40, 34, letter, "brown" if differs else "blue")
    for first, last in ((0, 2), (1, 3), (2, 4), (3, 5), (4, 6)):
        x, end = 132 + 48 * first, 128 + 48 * last + 40
        y = 108 + 9 * (first % 3)
        canvas.line(f"M{x} {y}H{end}", "blue")
    canvas.text(346, 146, say("n-grams that both have", "둘이 공유하는 n-gram"), "note")
    canvas.text(
        346,
        26,
        say(
            "a syllable is three letters; ∅: no final consonant",
            "음절마다 글자 셋, ∅는 받침이 없다는 뜻",
        ),
        "note",
    )
    canvas.text(
        346,
        226,
        say("one letter differs: the vectors stay near", "한 글자만 다르므로 벡터도 가까움"),
        "note",
    )
    return canvas
