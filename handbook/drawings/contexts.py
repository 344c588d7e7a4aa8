"""Drawings of contextual vectors: ELMo's language model and layers, and BERT's layers."""

from itertools import pairwise

from handbook.drawings.canvas import Canvas, Say


def bilm(say: Say) -> Canvas:
    """A character CNN, and LSTMs in both directions."""
    canvas = Canvas(
        640,
        320,
        say(
            "LSTMs read the words of a sentence forward and backward, in two"
            " layers above a character CNN",
            "문자 CNN 위의 두 층에서 LSTM이 문장을 앞뒤로 읽음",
        ),
    )
    words = (("the", 150), ("river", 310), ("bank", 470))
    for word, x in words:
        canvas.text(x, 308, word, "bold")
        canvas.arrow(x, 296, x, 284)
        canvas.box(x - 50, 250, 100, 32, say("char-CNN", "문자 CNN"))
        for layer in (1, 2):
            y = 250 - 68 * layer
            canvas.arrow(x - 26, y + 66, x - 26, y + 36)
            canvas.arrow(x + 26, y + 66, x + 26, y + 36)
            canvas.box(x - 50, y, 48, 32, "→", "filled blue")
            canvas.box(x + 2, y, 48, 32, "←", "filled brown")
    for layer in (1, 2):
        y = 250 - 68 * layer
        for (_, x), (_, to) in pairwise(words):
            canvas.arrow(x + 54, y + 10, to - 54, y + 10, "blue")
            canvas.arrow(to - 54, y + 23, x + 54, y + 23, "brown")
        canvas.text(62, y + 16, say(f"layer {layer}", f"{layer}층"), "note")
    canvas.text(62, 266, say("layer 0", "0층"), "note")
    canvas.text(
        310,
        30,
        say(
            "forward predicts the next word, backward the one before",
            "정방향은 다음 단어를, 역방향은 앞 단어를 예측",
        ),
        "note",
    )
    canvas.text(
        310,
        54,
        say("their vectors together are a layer of the word", "두 벡터를 이은 것이 단어의 한 층"),
        "note",
    )
    return canvas


def elmo_layers(say: Say) -> Canvas:
    """The weighted sum of a word's layers."""
    canvas = Canvas(
        600,
        210,
        say(
            "The vector of a word is γ times the weighted sum of its three layers",
            "단어 벡터는 세 층을 가중합한 뒤 γ를 곱한 값",
        ),
    )
    for i, (name, weight) in enumerate((("h₂", "s₂"), ("h₁", "s₁"), ("h₀", "s₀"))):
        y = 36 + 56 * i
        canvas.text(36, y + 13, name)
        canvas.box(64, y, 82, 26, style="filled blue")
        canvas.box(148, y, 82, 26, style="filled brown" if i < 2 else "filled blue")
        canvas.arrow(236, y + 13, 336, 105 + (i - 1) * 7)
        canvas.text(284, y + 1 + (8, -2, 22)[i], weight, "small")
    canvas.circle(354, 105, 16, "+")
    canvas.arrow(372, 105, 428, 105)
    canvas.text(400, 92, "γ")
    canvas.box(432, 92, 70, 26, style="filled blue")
    canvas.box(504, 92, 70, 26, style="filled brown")
    canvas.text(503, 140, "ELMo = γ Σ sⱼ hⱼ")
    canvas.text(503, 162, say("s = softmax(weights)", "s = softmax(가중치)"), "note")
    canvas.text(
        147, 16, say("layers of bank, forward and backward", "bank의 층, 정방향과 역방향"), "note"
    )
    canvas.text(147, 192, say("the word alone: the same twice", "단어 자체: 같은 값 두 번"), "note")
    return canvas


def bert_layers(say: Say) -> Canvas:
    """The layers of three tokens, and three ways to make one vector of them."""
    canvas = Canvas(
        680,
        330,
        say(
            "BERT base gives 13 vectors per token; recipes choose and combine layers",
            "BERT base는 토큰마다 벡터 13개: 어떤 층을 어떻게 합칠지는 레시피로",
        ),
    )
    tokens = ("[CLS]", "river", "bank", "[SEP]")
    for column, token in enumerate(tokens):
        x = 100 + 74 * column
        canvas.text(x + 29, 310, token, "small")
        for layer in range(13):
            y = 280 - 21 * layer
            style = "filled blue" if token == "bank" and layer > 8 else "filled grey"
            if token == "bank" and layer == 11:
                style = "filled brown"
            canvas.box(x, y, 58, 16, style=style)
    for layer in (0, 1, 11, 12):
        canvas.text(88, 288 - 21 * layer, say(f"layer {layer}", f"{layer}층"), "note end")
    canvas.text(60, 160, "⋮", "note")
    lines = (
        (
            42,
            say("last four: sum 768, concat 3072", "마지막 네 층: 합 768, 이어 붙이기 3072"),
            "blue",
        ),
        (72, say("second-to-last, mean of tokens", "끝에서 두 번째 층, 토큰 평균"), "brown"),
    )
    for y, note, style in lines:
        canvas.line(f"M388 {y}H404", style)
        canvas.text(410, y, note, "note start")
    canvas.text(410, 288, say("layer 0: the token table,", "0층: 토큰 표,"), "note start")
    canvas.text(410, 304, say("no context yet", "아직 문맥이 없음"), "note start")
    return canvas
