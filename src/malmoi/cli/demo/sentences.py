"""The sentences of `malmoi demo`: English, Korean, and a word in context.

A model that is not installed is skipped with a message.
"""

from collections.abc import Callable, Sequence
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
    return results


def similar(model: str, sentences: Sequence[str]) -> list[float]:
    """The cosine similarity of the first sentence with each of the others."""
    rows = l2_normalize(load_encoder(model).encode(sentences))
    return [round(float(cosine), 6) for cosine in rows[1:] @ rows[0]]
