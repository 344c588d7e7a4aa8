"""The sentences of `malmoi demo`: English, Korean, and words in context.

A model that is not installed is skipped with a message.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from malmoi.cli.context import print_occurrences
from malmoi.encode.encoder import load_transformer
from malmoi.encode.loading import load_encoder
from malmoi.errors import MissingDependencyError
from malmoi.query.context import occurrences
from malmoi.vectors import l2_normalize

Show = Callable[..., object]

ENGLISH, KOREAN = "minilm", "use"
SENTENCES = {
    ENGLISH: (
        "A man is playing the guitar.",
        "Somebody makes music on the street.",
        "A woman is slicing onions.",
        "Share prices fell on Monday.",
    ),
    KOREAN: (
        "한 남자가 기타를 연주하고 있다.",
        "A man is playing the guitar.",
        "어떤 사람이 악기를 연주한다.",
        "한 여자가 양파를 썰고 있다.",
    ),
}
SHIP_PEAR_STOMACH = {  # the senses of 배, each with a sentence that has another word for it
    "배를 타고 섬에 갔다.": "여객선이 바다를 건넌다.",
    "시장에서 사과와 배를 샀다.": "과일 가게에서 포도를 샀다.",
    "배가 아파서 약을 먹었다.": "머리가 아파서 병원에 갔다.",
}
BANK = (
    "After stealing money from the bank vault, the bank robber was seen fishing on the"
    " Mississippi river bank."
)


def show_sentences(show: Show) -> dict[str, Any]:
    """Compare sentences, and the senses of `bank`; returns the similarities."""
    results: dict[str, Any] = {}
    for model, sentences in SENTENCES.items():
        try:
            scores = similar(model, sentences)
        except MissingDependencyError as missing:
            show(f"Sentences by {model} are skipped: {missing}\n")
            continue
        show(f"How similar to '{sentences[0]}' ({model}):")
        for score, sentence in zip(scores, sentences[1:], strict=True):
            show(f"  {score:8.4f}  {sentence}")
        show("")
        results[model] = dict(zip(sentences[1:], scores, strict=True))
    if ENGLISH in results:
        banks = occurrences(load_transformer(ENGLISH), "bank", [BANK])
        results["bank"] = banks.similarity().round(6).tolist()
        show("A bank is not always a bank:")
        if show is print:
            print_occurrences(banks)
        show("")
    if KOREAN in results:
        results["배"] = nearest_sentences(KOREAN, SHIP_PEAR_STOMACH)
        show(f"배 is a ship, a pear and a stomach ({KOREAN}):")
        for sentence, nearest in results["배"].items():
            show(f"  {sentence} → {nearest}")
        show("")
    return results


def nearest_sentences(model: str, pairs: Mapping[str, str]) -> dict[str, str]:
    """For each key, the nearest of all values."""
    encoder, others = load_encoder(model), list(pairs.values())
    scores = l2_normalize(encoder.encode(list(pairs))) @ l2_normalize(encoder.encode(others)).T
    return {key: others[best] for key, best in zip(pairs, scores.argmax(axis=1), strict=True)}


def similar(model: str, sentences: Sequence[str]) -> list[float]:
    """The cosine similarity of the first sentence with each of the others."""
    rows = l2_normalize(load_encoder(model).encode(sentences))
    return [round(float(cosine), 6) for cosine in rows[1:] @ rows[0]]
