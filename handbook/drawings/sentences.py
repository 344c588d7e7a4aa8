"""Drawings of sentence vectors: pooling, siamese and triplet networks, distillation."""

from handbook.drawings.canvas import Canvas, Say

VALUES = ((0.2, 0.9, 0.1), (0.8, 0.3, 0.5), (0.5, 0.6, 0.9))


def pooling(say: Say) -> Canvas:
    """CLS, mean and max of the same tokens."""
    canvas = Canvas(
        640,
        250,
        say(
            "Three ways to make one vector of the vectors of tokens: cls, mean, max",
            "토큰 벡터에서 벡터 하나를 얻는 세 방법: cls, 평균, 최댓값",
        ),
    )
    for column, (token, values) in enumerate(zip(("[CLS]", "river", "bank"), VALUES, strict=True)):
        x = 40 + 72 * column
        canvas.text(x + 26, 222, token, "small")
        for row, value in enumerate(values):
            canvas.box(x, 80 + 42 * row, 52, 32, f"{value:g}", "blue")
    pooled = (
        ("cls", VALUES[0], say("the first token", "첫 토큰")),
        (
            "mean",
            tuple(round(sum(v) / 3, 2) for v in zip(*VALUES, strict=True)),
            say("of all tokens", "모든 토큰의 평균"),
        ),
        ("max", tuple(map(max, zip(*VALUES, strict=True))), say("per dimension", "차원마다")),
    )
    canvas.arrow(258, 138, 306, 138)
    for column, (name, numbers, note) in enumerate(pooled):
        x = 330 + 106 * column
        canvas.text(x + 29, 34, name, "bold")
        canvas.text(x + 29, 56, note, "note")
        for row, value in enumerate(numbers):
            canvas.box(x, 80 + 42 * row, 58, 32, f"{value:g}", "filled brown")
    canvas.text(138, 34, say("vectors of tokens", "토큰 벡터"), "bold")
    return canvas


def siamese(say: Say) -> Canvas:
    """Classification on (u, v, |u − v|) with one encoder for both sentences."""
    canvas = Canvas(
        640,
        300,
        say("Siamese classification on (u, v, |u − v|)", "(u, v, |u − v|)에 대한 샴 네트워크 분류"),
    )
    for x, name, vector in (
        (150, say("sentence A", "문장 A"), "u"),
        (450, say("sentence B", "문장 B"), "v"),
    ):
        canvas.text(x, 282, name)
        canvas.arrow(x, 268, x, 248)
        canvas.box(x - 70, 212, 140, 34, say("encoder", "인코더"), "filled blue")
        canvas.arrow(x, 210, x, 188)
        canvas.box(x - 70, 154, 140, 32, say("pooling", "풀링"), "blue")
        canvas.text(x - 18, 138, vector, "bold")
        canvas.arrow(x, 152, 300 + (x - 300) / 3, 112)
    canvas.line("M222 229H378", "dashed")
    canvas.text(300, 218, say("the same weights", "같은 가중치"), "note")
    canvas.box(190, 76, 220, 34, "(u, v, |u − v|)", "brown")
    canvas.arrow(300, 74, 300, 52)
    canvas.box(190, 16, 220, 34, "softmax(W · …)", "filled brown")
    canvas.text(428, 33, say("follows, contradicts, neutral", "함의, 모순, 중립"), "note start")
    return canvas


def triplet(say: Say) -> Canvas:
    """An anchor nears its positive, and leaves its negative behind the margin."""
    canvas = Canvas(
        600,
        210,
        say(
            "Triplet loss: the anchor is nearer to the positive than to the negative, by a margin",
            "트리플렛 손실: 기준은 positive에 margin만큼 더 가깝게",
        ),
    )
    canvas.circle(250, 96, 90, style="green dashed")
    canvas.circle(250, 96, 16, "a", "blue")
    canvas.circle(292, 66, 16, "p", "green")
    canvas.circle(470, 128, 16, "n", "brown")
    canvas.line("M263 86L279 76", "green")
    canvas.curve("M266 98L452 125", "brown")
    canvas.text(250, 132, say("anchor", "기준"), "note")
    canvas.text(278, 38, say("positive", "같은 뜻"), "note")
    canvas.text(470, 160, say("negative", "다른 뜻"), "note")
    canvas.text(404, 100, say("at least ε farther", "ε 이상 더 멀리"), "note")
    canvas.text(300, 196, "max(‖a − p‖ − ‖a − n‖ + ε, 0)")
    return canvas


def distillation(say: Say) -> Canvas:
    """A student learns a teacher's vectors for both languages."""
    canvas = Canvas(
        640,
        250,
        say(
            "The student's vectors of a sentence and of its translation are"
            " trained to be the teacher's",
            "학생 모델은 문장과 번역문 모두에서 교사 모델의 벡터를 배움",
        ),
    )
    canvas.text(100, 52, say("I love tea.", "I love tea."))
    canvas.text(100, 190, say("나는 차를 좋아해.", "나는 차를 좋아해."))
    canvas.arrow(160, 52, 218, 52)
    canvas.arrow(160, 62, 218, 178, "blue")
    canvas.arrow(172, 190, 218, 190, "blue")
    canvas.box(222, 32, 150, 40, say("teacher, English", "교사 모델(영어)"), "filled brown")
    canvas.box(222, 166, 150, 48, say("student", "학생 모델"), "filled blue")
    canvas.box(420, 38, 120, 28, style="filled brown")
    canvas.box(420, 160, 120, 26, style="filled blue")
    canvas.box(420, 194, 120, 26, style="filled blue")
    canvas.arrow(372, 52, 416, 52, "brown")
    canvas.arrow(372, 182, 416, 173, "blue")
    canvas.arrow(372, 198, 416, 207, "blue")
    canvas.line("M480 70V156", "dashed")
    canvas.line("M544 52H576V207H544", "dashed")
    canvas.text(470, 112, "MSE", "end small")
    canvas.text(584, 128, "MSE", "start small")
    canvas.text(297, 238, say("learns both languages", "두 언어를 함께 배움"), "note")
    return canvas
