"""All drawings by the names of their files, and where the file of each language is."""

from collections.abc import Callable
from pathlib import Path

from handbook.drawings import contexts, counts, sentences, words
from handbook.drawings.canvas import Canvas, Say

DOCS = Path(__file__).parents[2] / "docs"
LANGUAGES = ("en", "ko")
DRAWINGS: dict[str, Callable[[Say], Canvas]] = {
    "word2vec-window": words.window,
    "word2vec-architectures": words.architectures,
    "fasttext-ngrams": words.letter_ngrams,
    "fasttext-jamo": words.jamo_ngrams,
    "cooccurrence-ratio": counts.cooccurrence_ratio,
    "glove-weight": counts.glove_weight,
    "elmo-bilm": contexts.bilm,
    "elmo-layers": contexts.elmo_layers,
    "bert-layers": contexts.bert_layers,
    "pooling": sentences.pooling,
    "siamese": sentences.siamese,
    "triplet": sentences.triplet,
    "distillation": sentences.distillation,
}


def drawing(name: str, language: str) -> Canvas:
    """A drawing with the words of a language."""
    return DRAWINGS[name](lambda english, korean: korean if language == "ko" else english)


def path_of(name: str, language: str) -> Path:
    """The file of a drawing, beside the pages of its language."""
    return (DOCS if language == "en" else DOCS / language) / f"{name}.svg"
