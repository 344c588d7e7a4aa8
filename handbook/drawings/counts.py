"""Drawings of counts: the co-occurrence ratio of ice and steam, and GloVe's weighting."""

from math import log10

from handbook.drawings.canvas import Canvas, Say

RATIOS = (("solid", 8.9), ("gas", 8.5e-2), ("water", 1.36), ("fashion", 0.96))  # Pennington 2014


def cooccurrence_ratio(say: Say) -> Canvas:
    """P(k|ice) / P(k|steam) of four context words, on a logarithmic scale."""
    canvas = Canvas(
        560,
        230,
        say(
            "The ratio of probabilities tells ice from steam: solid 8.9, gas"
            " 0.085, water 1.36, fashion 0.96",
            "확률의 비로 ice와 steam을 구별: solid 8.9, gas 0.085, water 1.36, fashion 0.96",
        ),
    )
    middle, scale = 300, 180  # of 1, and of a factor of ten
    canvas.text(middle, 22, "P(k | ice) / P(k | steam)", "bold")
    canvas.line(f"M{middle} 40V190", "dashed")
    for i, (word, ratio) in enumerate(RATIOS):
        y, length = 52 + 36 * i, scale * log10(ratio)
        canvas.text(92, y + 11, word, "end")
        style = "blue" if ratio > 2 else "brown" if ratio < 0.5 else "grey"
        canvas.box(
            min(middle, middle + length), y, max(2, abs(length)), 22, style=f"filled {style}"
        )
        beyond = middle + max(length, 0) + 8
        canvas.text(beyond, y + 11, f"{ratio:g}", "start small")
    canvas.text(middle - 110, 204, say("← of steam", "← steam 쪽"), "note")
    canvas.text(middle, 204, "1", "note")
    canvas.text(middle + 110, 204, say("of ice →", "ice 쪽 →"), "note")
    return canvas


def glove_weight(say: Say) -> Canvas:
    """f(x), the weight of a pair that occurs x times."""
    canvas = Canvas(
        480,
        230,
        say("f(x) rises to 1 at x_max and stays there", "f(x)는 x_max에서 1이 되고 그 뒤로 일정"),
    )
    left, bottom, top, at_max, right = 60, 180, 50, 300, 440
    canvas.arrow(left, bottom, left, 30)
    canvas.arrow(left, bottom, right + 20, bottom)
    steps = [i / 40 for i in range(41)]
    points = [(left + (at_max - left) * x, bottom - (bottom - top) * x**0.75) for x in steps]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    canvas.line(f"M{path}L{right} {top}", "blue")
    canvas.line(f"M{at_max} {top}V{bottom}", "dashed")
    canvas.line(f"M{left} {top}H{at_max}", "dashed")
    canvas.text(left - 14, top, "1", "small")
    canvas.text(at_max, bottom + 16, "x_max", "small")
    canvas.text(right, bottom + 16, "x", "small")
    canvas.text(left + 28, 30, "f(x)", "small")
    canvas.text(140, 78, "(x / x_max)^α", "small")
    canvas.text(
        240,
        216,
        say(
            "rare pairs weigh little, frequent ones not more than 1",
            "드문 쌍은 가볍게, 아무리 잦아도 1까지만",
        ),
        "note",
    )
    return canvas
