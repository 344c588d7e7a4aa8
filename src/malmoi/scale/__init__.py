"""Work past one process: shards of texts embedded and counted here, or on a Ray cluster."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malmoi.scale.batches import EmbedBatches as EmbedBatches
    from malmoi.scale.counting import count_cooccurrences as count_cooccurrences
    from malmoi.scale.counting import count_words as count_words
    from malmoi.scale.counting import train_ngram as train_ngram
    from malmoi.scale.embedding import embed as embed
    from malmoi.scale.result import ScaleReport as ScaleReport
    from malmoi.scale.settings import ShardSettings as ShardSettings
    from malmoi.scale.vector_shards import VectorShards as VectorShards
    from malmoi.scale.vector_shards import open_vectors as open_vectors

_HOMES = {
    "EmbedBatches": "batches",
    "ScaleReport": "result",
    "ShardSettings": "settings",
    "VectorShards": "vector_shards",
    "count_cooccurrences": "counting",
    "count_words": "counting",
    "embed": "embedding",
    "open_vectors": "vector_shards",
    "train_ngram": "counting",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'malmoi.scale' has no attribute '{name}'")
    return getattr(import_module(f"malmoi.scale.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
