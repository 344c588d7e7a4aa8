"""The interface of sentence-transformers for encoding texts and semantic search.

`from malmoi.compat.sentence_transformers import SentenceTransformer, util` in the place of
`from sentence_transformers import SentenceTransformer, util`.
"""

from malmoi.compat.sentence_transformers import util
from malmoi.compat.sentence_transformers.model import SentenceTransformer

__all__ = ["SentenceTransformer", "util"]
