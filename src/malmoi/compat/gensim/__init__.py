"""gensim 4's KeyedVectors, Word2Vec and FastText, by malmoi: `from malmoi.compat.gensim import …`.

Names, arguments and results are gensim's; training, files and queries are malmoi's. An argument
that malmoi cannot honour raises an error or a warning.
"""

from malmoi.compat.gensim.callbacks import CallbackAny2Vec as CallbackAny2Vec
from malmoi.compat.gensim.models.facebook import load_facebook_model as load_facebook_model
from malmoi.compat.gensim.models.facebook import load_facebook_vectors as load_facebook_vectors
from malmoi.compat.gensim.models.facebook import save_facebook_model as save_facebook_model
from malmoi.compat.gensim.models.fasttext_model import FastTextModel as FastText
from malmoi.compat.gensim.models.vocabulary_scan import RULE_DEFAULT as RULE_DEFAULT
from malmoi.compat.gensim.models.vocabulary_scan import RULE_DISCARD as RULE_DISCARD
from malmoi.compat.gensim.models.vocabulary_scan import RULE_KEEP as RULE_KEEP
from malmoi.compat.gensim.models.word2vec_model import Word2VecModel as Word2Vec
from malmoi.compat.gensim.sentences import LineSentence as LineSentence
from malmoi.compat.gensim.sentences import PathLineSentences as PathLineSentences
from malmoi.compat.gensim.vectors.fasttext_vectors import (
    FastTextKeyedVectors as FastTextKeyedVectors,
)
from malmoi.compat.gensim.vectors.keyed_vectors import KeyedVectors as KeyedVectors

__all__ = [
    "RULE_DEFAULT",
    "RULE_DISCARD",
    "RULE_KEEP",
    "CallbackAny2Vec",
    "FastText",
    "FastTextKeyedVectors",
    "KeyedVectors",
    "LineSentence",
    "PathLineSentences",
    "Word2Vec",
    "load_facebook_model",
    "load_facebook_vectors",
    "save_facebook_model",
]
