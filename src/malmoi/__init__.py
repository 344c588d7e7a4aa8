"""malmoi: text to vectors in English and Korean.

This module exports the public API. Each name is imported when it is first used, so that
`import malmoi` imports neither NumPy nor Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from malmoi import cache_paths, errors

if TYPE_CHECKING:
    from malmoi import scale as scale
    from malmoi.classify.base.classifier import Classifier as Classifier
    from malmoi.classify.base.explanation import ClassExplanation as ClassExplanation
    from malmoi.classify.base.settings import ClassifierSettings as ClassifierSettings
    from malmoi.classify.combined.settings import CombinedClassifier as CombinedClassifier
    from malmoi.classify.compare.comparing import compare as compare
    from malmoi.classify.compare.result import Comparison as Comparison
    from malmoi.classify.compare.result import ModelScores as ModelScores
    from malmoi.classify.compare.settings import CompareSettings as CompareSettings
    from malmoi.classify.encoders.settings import EncoderClassifier as EncoderClassifier
    from malmoi.classify.files import load_classifier as load_classifier
    from malmoi.classify.files import save_classifier as save_classifier
    from malmoi.classify.kinds import classifier_settings as classifier_settings
    from malmoi.classify.majority import MajorityClassifier as MajorityClassifier
    from malmoi.classify.networks.network_classifier import NetworkClassifier as NetworkClassifier
    from malmoi.classify.networks.settings import EmbeddingClassifier as EmbeddingClassifier
    from malmoi.classify.networks.settings import FineTunedClassifier as FineTunedClassifier
    from malmoi.classify.networks.transformer_classifier import (
        TransformerClassifier as TransformerClassifier,
    )
    from malmoi.classify.ngrams.linear_classifier import LinearClassifier as LinearClassifier
    from malmoi.classify.ngrams.settings import NgramClassifier as NgramClassifier
    from malmoi.classify.result import ClassifierResult as ClassifierResult
    from malmoi.classify.result import ClassifierScores as ClassifierScores
    from malmoi.classify.training import train_classifier as train_classifier
    from malmoi.client.client import BertClient as BertClient
    from malmoi.client.client import Client as Client
    from malmoi.client.connection import ServerError as ServerError
    from malmoi.client.connection import ServerTimeoutError as ServerTimeoutError
    from malmoi.client.connection import ServerUnreachableError as ServerUnreachableError
    from malmoi.encode.bulk.embed import EmbedSettings as EmbedSettings
    from malmoi.encode.bulk.write_file import WriteReport as WriteReport
    from malmoi.encode.bulk.write_file import write_embeddings as write_embeddings
    from malmoi.encode.elmo.encoder import ElmoEncoder as ElmoEncoder
    from malmoi.encode.encoder import TransformerEncoder as TransformerEncoder
    from malmoi.encode.encoder import load_transformer as load_transformer
    from malmoi.encode.loading import load_contextual as load_contextual
    from malmoi.encode.loading import load_encoder as load_encoder
    from malmoi.encode.pipeline.activations import Activations as Activations
    from malmoi.encode.pipeline.activations import SpanVectors as SpanVectors
    from malmoi.encode.pipeline.concatenated import ConcatenatedEncoder as ConcatenatedEncoder
    from malmoi.encode.pipeline.concatenated import concatenate_encoders as concatenate_encoders
    from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder as ContextualEncoder
    from malmoi.encode.pipeline.prompts import Prompts as Prompts
    from malmoi.encode.pipeline.recipe_encoder import RecipeEncoder as RecipeEncoder
    from malmoi.encode.pooling.recipes import Recipe as Recipe
    from malmoi.encode.protocol import Encoder as Encoder
    from malmoi.encode.static.average import AverageEncoder as AverageEncoder
    from malmoi.encode.static.average import average_encoder as average_encoder
    from malmoi.encode.static.static_encoder import StaticEncoder as StaticEncoder
    from malmoi.encode.tokens.tokenized import Tokenized as Tokenized
    from malmoi.errors import InvalidArgumentError as InvalidArgumentError
    from malmoi.errors import InvalidFileError as InvalidFileError
    from malmoi.errors import MalmoiError as MalmoiError
    from malmoi.errors import MalmoiWarning as MalmoiWarning
    from malmoi.errors import MissingDependencyError as MissingDependencyError
    from malmoi.errors import UnknownWordError as UnknownWordError
    from malmoi.evaluate.analogies import AnalogyScore as AnalogyScore
    from malmoi.evaluate.analogies import analogies as analogies
    from malmoi.evaluate.retrieval import RetrievalScores as RetrievalScores
    from malmoi.evaluate.retrieval import RetrievalSet as RetrievalSet
    from malmoi.evaluate.retrieval import evaluate_retrieval as evaluate_retrieval
    from malmoi.evaluate.retrieval import load_beir as load_beir
    from malmoi.evaluate.scores import Score as Score
    from malmoi.evaluate.senses import SensedTexts as SensedTexts
    from malmoi.evaluate.senses import SenseSeparation as SenseSeparation
    from malmoi.evaluate.senses import sense_separation as sense_separation
    from malmoi.evaluate.sentences import SentenceScore as SentenceScore
    from malmoi.evaluate.sentences import SentenceScores as SentenceScores
    from malmoi.evaluate.sentences import evaluate_sentences as evaluate_sentences
    from malmoi.evaluate.sentences import sentence_similarity as sentence_similarity
    from malmoi.evaluate.sets.sentence_sets import SentenceSet as SentenceSet
    from malmoi.evaluate.sets.word_sets import AnalogySet as AnalogySet
    from malmoi.evaluate.sets.word_sets import SimilaritySet as SimilaritySet
    from malmoi.evaluate.similarity import SimilarityScore as SimilarityScore
    from malmoi.evaluate.similarity import word_similarity as word_similarity
    from malmoi.evaluate.suites.result import SuiteScores as SuiteScores
    from malmoi.evaluate.suites.suite import evaluate_suite as evaluate_suite
    from malmoi.evaluate.suites.task import EvaluationTask as EvaluationTask
    from malmoi.evaluate.suites.task_files import load_task as load_task
    from malmoi.evaluate.sweep import Sweep as Sweep
    from malmoi.evaluate.sweep import sweep_recipes as sweep_recipes
    from malmoi.evaluate.typo_robustness import TypoScore as TypoScore
    from malmoi.evaluate.typo_robustness import add_typo as add_typo
    from malmoi.evaluate.typo_robustness import typo_robustness as typo_robustness
    from malmoi.evaluate.word_vectors import WordScores as WordScores
    from malmoi.evaluate.word_vectors import evaluate_words as evaluate_words
    from malmoi.explanation import Explanation as Explanation
    from malmoi.formats import load as load
    from malmoi.formats import save as save
    from malmoi.formats.convert import ConvertSettings as ConvertSettings
    from malmoi.formats.convert import convert as convert
    from malmoi.formats.inspection import Inspection as Inspection
    from malmoi.formats.inspection import inspect as inspect
    from malmoi.hangul import join_jamo as join_jamo
    from malmoi.hangul import split_jamo as split_jamo
    from malmoi.integrations import sklearn as sklearn
    from malmoi.models.cooccurrences import Cooccurrences as Cooccurrences
    from malmoi.models.cooccurrences import load_cooccurrences as load_cooccurrences
    from malmoi.models.cooccurrences import save_cooccurrences as save_cooccurrences
    from malmoi.models.language_files import load_language_model as load_language_model
    from malmoi.models.language_model import LanguageModel as LanguageModel
    from malmoi.models.ngram_counts import NgramCounts as NgramCounts
    from malmoi.models.ngram_files import load_ngram as load_ngram
    from malmoi.models.ngram_files import save_ngram as save_ngram
    from malmoi.models.ngram_model import NgramModel as NgramModel
    from malmoi.models.nnlm_model import NeuralModel as NeuralModel
    from malmoi.models.nnlm_model import load_nnlm as load_nnlm
    from malmoi.models.nnlm_model import save_nnlm as save_nnlm
    from malmoi.project.page.page import write_page as write_page
    from malmoi.project.points.index_points import index_points as index_points
    from malmoi.project.points.occurrence_points import occurrence_points as occurrence_points
    from malmoi.project.points.points import Points as Points
    from malmoi.project.points.sense_points import sense_points as sense_points
    from malmoi.project.points.text_points import text_points as text_points
    from malmoi.project.points.word_points import word_points as word_points
    from malmoi.project.scene import Scene as Scene
    from malmoi.project.scene_builder import ProjectionSettings as ProjectionSettings
    from malmoi.project.scene_builder import build_scene as build_scene
    from malmoi.query.analogy import analogy as analogy
    from malmoi.query.compare import odd_one_out as odd_one_out
    from malmoi.query.compare import rank as rank
    from malmoi.query.compare import similarity as similarity
    from malmoi.query.context import Occurrences as Occurrences
    from malmoi.query.context import occurrences as occurrences
    from malmoi.query.matrix import EmbeddingMatrix as EmbeddingMatrix
    from malmoi.query.matrix import MatrixReport as MatrixReport
    from malmoi.query.matrix import embedding_matrix as embedding_matrix
    from malmoi.query.neighbours import Neighbour as Neighbour
    from malmoi.query.neighbours import NeighbourLists as NeighbourLists
    from malmoi.query.neighbours import Neighbours as Neighbours
    from malmoi.query.neighbours import neighbours as neighbours
    from malmoi.reporting.progress_bar import ProgressReporter as ProgressReporter
    from malmoi.reporting.reporter import Reporter as Reporter
    from malmoi.reporting.reporter import SilentReporter as SilentReporter
    from malmoi.rerank.reranker import RankedDocument as RankedDocument
    from malmoi.rerank.reranker import RankedDocuments as RankedDocuments
    from malmoi.rerank.reranker import Reranker as Reranker
    from malmoi.rerank.reranker import load_reranker as load_reranker
    from malmoi.search.build import build_index as build_index
    from malmoi.search.build import open_index as open_index
    from malmoi.search.entries import RecordSource as RecordSource
    from malmoi.search.index import Index as Index
    from malmoi.search.querying.hits import Hit as Hit
    from malmoi.search.querying.hits import Hits as Hits
    from malmoi.search.reindex.reindexing import reindex as reindex
    from malmoi.search.reindex.result import ReindexResult as ReindexResult
    from malmoi.search.reindex.settings import ReindexSettings as ReindexSettings
    from malmoi.search.storage.entry import Entry as Entry
    from malmoi.search.update import update_index as update_index
    from malmoi.search.writer import IndexUpdate as IndexUpdate
    from malmoi.subwords import SubwordVectors as SubwordVectors
    from malmoi.text.corpus import Corpus as Corpus
    from malmoi.text.encoded import EncodedCorpus as EncodedCorpus
    from malmoi.text.encoded import VocabularySettings as VocabularySettings
    from malmoi.text.encoded import count_corpus as count_corpus
    from malmoi.text.encoded import encode_corpus as encode_corpus
    from malmoi.text.normalize import Normalizer as Normalizer
    from malmoi.text.tokenizers import Tokenizer as Tokenizer
    from malmoi.text.tokenizers import make_tokenizer as make_tokenizer
    from malmoi.text.wordpiece import WordPiece as WordPiece
    from malmoi.text.wordpiece import train_wordpiece as train_wordpiece
    from malmoi.text_inputs import TableLike as TableLike
    from malmoi.train.common.epochs import EpochEnd as EpochEnd
    from malmoi.train.common.epochs import StopTraining as StopTraining
    from malmoi.train.common.options import TrainOptions as TrainOptions
    from malmoi.train.counts.cooccurrence import Cooccurrence as Cooccurrence
    from malmoi.train.counts.cooccurrence import count_cooccurrences as count_cooccurrences
    from malmoi.train.counts.lsa import LSA as LSA
    from malmoi.train.counts.lsa import train_lsa as train_lsa
    from malmoi.train.counts.one_hot import OneHot as OneHot
    from malmoi.train.counts.one_hot import one_hot as one_hot
    from malmoi.train.counts.pmi import PMI as PMI
    from malmoi.train.counts.pmi import ProbabilityTable as ProbabilityTable
    from malmoi.train.counts.pmi import mutual_information as mutual_information
    from malmoi.train.counts.pmi import probability_table as probability_table
    from malmoi.train.glove.glove import train_glove as train_glove
    from malmoi.train.glove.settings import GloVe as GloVe
    from malmoi.train.language.ngram import NGram as NGram
    from malmoi.train.language.ngram import train_ngram as train_ngram
    from malmoi.train.language.nnlm import NNLM as NNLM
    from malmoi.train.language.nnlm import train_nnlm as train_nnlm
    from malmoi.train.language.sentence_counts import count_ngrams as count_ngrams
    from malmoi.train.word2vec.fasttext import FastText as FastText
    from malmoi.train.word2vec.fasttext import train_fasttext as train_fasttext
    from malmoi.train.word2vec.pairs import TrainingPair as TrainingPair
    from malmoi.train.word2vec.pairs import labelled_pairs as labelled_pairs
    from malmoi.train.word2vec.pairs import window_pairs as window_pairs
    from malmoi.train.word2vec.word2vec import Word2Vec as Word2Vec
    from malmoi.train.word2vec.word2vec import train_word2vec as train_word2vec
    from malmoi.tune.adapt.adapting import adapt as adapt
    from malmoi.tune.adapt.result import AdaptResult as AdaptResult
    from malmoi.tune.adapt.settings import AdaptSettings as AdaptSettings
    from malmoi.tune.distill.collapse import CollapseError as CollapseError
    from malmoi.tune.distill.distilling import distill as distill
    from malmoi.tune.distill.parallel import DistillData as DistillData
    from malmoi.tune.distill.result import DistillResult as DistillResult
    from malmoi.tune.distill.settings import DistillSettings as DistillSettings
    from malmoi.tune.elmo.folder import save_elmo as save_elmo
    from malmoi.tune.elmo.ngram_baseline import NgramPerplexity as NgramPerplexity
    from malmoi.tune.elmo.pretraining import train_elmo as train_elmo
    from malmoi.tune.elmo.result import Perplexities as Perplexities
    from malmoi.tune.elmo.result import PretrainedElmo as PretrainedElmo
    from malmoi.tune.elmo.settings import Elmo as Elmo
    from malmoi.tune.extend.coverage import Coverage as Coverage
    from malmoi.tune.extend.extension import extend_vocabulary as extend_vocabulary
    from malmoi.tune.extend.result import DevComparison as DevComparison
    from malmoi.tune.extend.result import ExtendResult as ExtendResult
    from malmoi.tune.extend.settings import ExtendSettings as ExtendSettings
    from malmoi.tune.layers.learning import learn_layer_weights as learn_layer_weights
    from malmoi.tune.layers.result import LayerResult as LayerResult
    from malmoi.tune.layers.settings import LayerSettings as LayerSettings
    from malmoi.tune.mining.mine import MinedNegatives as MinedNegatives
    from malmoi.tune.mining.mine import mine_negatives as mine_negatives
    from malmoi.tune.mining.settings import MiningSettings as MiningSettings
    from malmoi.tune.result import TuneResult as TuneResult
    from malmoi.tune.sentence.settings import TuneSettings as TuneSettings
    from malmoi.tune.sentence.tuning import tune_sentence as tune_sentence
    from malmoi.tune.static.distill import distill_static as distill_static
    from malmoi.tune.static.result import StaticResult as StaticResult
    from malmoi.tune.static.settings import StaticSettings as StaticSettings
    from malmoi.vectors import Vectors as Vectors
    from malmoi.vocabulary import Vocabulary as Vocabulary

__version__ = "0.1.0"

cache_paths.on_write_error = errors.warn  # kernels do not know errors

_HOMES = {
    "malmoi.classify.base.classifier": ("Classifier",),
    "malmoi.classify.compare.comparing": ("compare",),
    "malmoi.classify.compare.result": ("Comparison", "ModelScores"),
    "malmoi.classify.compare.settings": ("CompareSettings",),
    "malmoi.classify.base.explanation": ("ClassExplanation",),
    "malmoi.classify.files": ("load_classifier", "save_classifier"),
    "malmoi.classify.kinds": ("classifier_settings",),
    "malmoi.classify.combined.settings": ("CombinedClassifier",),
    "malmoi.classify.encoders.settings": ("EncoderClassifier",),
    "malmoi.classify.majority": ("MajorityClassifier",),
    "malmoi.classify.networks.network_classifier": ("NetworkClassifier",),
    "malmoi.classify.networks.settings": ("EmbeddingClassifier", "FineTunedClassifier"),
    "malmoi.classify.networks.transformer_classifier": ("TransformerClassifier",),
    "malmoi.classify.ngrams.linear_classifier": ("LinearClassifier",),
    "malmoi.classify.result": ("ClassifierResult", "ClassifierScores"),
    "malmoi.classify.ngrams.settings": ("NgramClassifier",),
    "malmoi.classify.base.settings": ("ClassifierSettings",),
    "malmoi.classify.training": ("train_classifier",),
    "malmoi.client.client": ("BertClient", "Client"),
    "malmoi.client.connection": ("ServerError", "ServerTimeoutError", "ServerUnreachableError"),
    "malmoi.encode.bulk.embed": ("EmbedSettings",),
    "malmoi.encode.bulk.write_file": ("WriteReport", "write_embeddings"),
    "malmoi.encode.pipeline.concatenated": ("ConcatenatedEncoder", "concatenate_encoders"),
    "malmoi.encode.pipeline.recipe_encoder": ("RecipeEncoder",),
    "malmoi.encode.elmo.encoder": ("ElmoEncoder",),
    "malmoi.encode.encoder": ("TransformerEncoder", "load_transformer"),
    "malmoi.encode.loading": ("load_contextual", "load_encoder"),
    "malmoi.encode.pipeline.activations": ("Activations", "SpanVectors"),
    "malmoi.encode.pipeline.contextual_encoder": ("ContextualEncoder",),
    "malmoi.encode.pipeline.prompts": ("Prompts",),
    "malmoi.encode.pooling.recipes": ("Recipe",),
    "malmoi.encode.protocol": ("Encoder",),
    "malmoi.encode.static.average": ("AverageEncoder", "average_encoder"),
    "malmoi.encode.static.static_encoder": ("StaticEncoder",),
    "malmoi.encode.tokens.tokenized": ("Tokenized",),
    "malmoi.errors": (
        "InvalidArgumentError",
        "InvalidFileError",
        "MalmoiError",
        "MalmoiWarning",
        "MissingDependencyError",
        "UnknownWordError",
    ),
    "malmoi.evaluate.analogies": ("AnalogyScore", "analogies"),
    "malmoi.evaluate.retrieval": (
        "RetrievalScores",
        "RetrievalSet",
        "evaluate_retrieval",
        "load_beir",
    ),
    "malmoi.evaluate.scores": ("Score",),
    "malmoi.evaluate.senses": ("SenseSeparation", "SensedTexts", "sense_separation"),
    "malmoi.evaluate.sentences": (
        "SentenceScore",
        "SentenceScores",
        "evaluate_sentences",
        "sentence_similarity",
    ),
    "malmoi.evaluate.sets.sentence_sets": ("SentenceSet",),
    "malmoi.evaluate.sets.word_sets": ("AnalogySet", "SimilaritySet"),
    "malmoi.evaluate.similarity": ("SimilarityScore", "word_similarity"),
    "malmoi.evaluate.suites.result": ("SuiteScores",),
    "malmoi.evaluate.suites.suite": ("evaluate_suite",),
    "malmoi.evaluate.suites.task": ("EvaluationTask",),
    "malmoi.evaluate.suites.task_files": ("load_task",),
    "malmoi.evaluate.sweep": ("Sweep", "sweep_recipes"),
    "malmoi.evaluate.typo_robustness": ("TypoScore", "add_typo", "typo_robustness"),
    "malmoi.evaluate.word_vectors": ("WordScores", "evaluate_words"),
    "malmoi.explanation": ("Explanation",),
    "malmoi.formats": ("load", "save"),
    "malmoi.formats.convert": ("ConvertSettings", "convert"),
    "malmoi.formats.inspection": ("Inspection", "inspect"),
    "malmoi.hangul": ("join_jamo", "split_jamo"),
    "malmoi.models.cooccurrences": ("Cooccurrences", "load_cooccurrences", "save_cooccurrences"),
    "malmoi.models.language_files": ("load_language_model",),
    "malmoi.models.language_model": ("LanguageModel",),
    "malmoi.models.ngram_counts": ("NgramCounts",),
    "malmoi.models.ngram_files": ("load_ngram", "save_ngram"),
    "malmoi.models.ngram_model": ("NgramModel",),
    "malmoi.models.nnlm_model": ("NeuralModel", "load_nnlm", "save_nnlm"),
    "malmoi.project.page.page": ("write_page",),
    "malmoi.project.points.index_points": ("index_points",),
    "malmoi.project.points.occurrence_points": ("occurrence_points",),
    "malmoi.project.points.points": ("Points",),
    "malmoi.project.points.sense_points": ("sense_points",),
    "malmoi.project.points.text_points": ("text_points",),
    "malmoi.project.points.word_points": ("word_points",),
    "malmoi.project.scene": ("Scene",),
    "malmoi.project.scene_builder": ("ProjectionSettings", "build_scene"),
    "malmoi.query.analogy": ("analogy",),
    "malmoi.query.compare": ("odd_one_out", "rank", "similarity"),
    "malmoi.query.context": ("Occurrences", "occurrences"),
    "malmoi.query.matrix": ("EmbeddingMatrix", "MatrixReport", "embedding_matrix"),
    "malmoi.query.neighbours": ("Neighbour", "NeighbourLists", "Neighbours", "neighbours"),
    "malmoi.reporting.progress_bar": ("ProgressReporter",),
    "malmoi.reporting.reporter": ("Reporter", "SilentReporter"),
    "malmoi.rerank.reranker": (
        "RankedDocument",
        "RankedDocuments",
        "Reranker",
        "load_reranker",
    ),
    "malmoi.search.build": ("build_index", "open_index"),
    "malmoi.search.entries": ("RecordSource",),
    "malmoi.search.index": ("Index",),
    "malmoi.search.querying.hits": ("Hit", "Hits"),
    "malmoi.search.reindex.reindexing": ("reindex",),
    "malmoi.search.reindex.result": ("ReindexResult",),
    "malmoi.search.reindex.settings": ("ReindexSettings",),
    "malmoi.search.storage.entry": ("Entry",),
    "malmoi.search.update": ("update_index",),
    "malmoi.search.writer": ("IndexUpdate",),
    "malmoi.subwords": ("SubwordVectors",),
    "malmoi.text.corpus": ("Corpus",),
    "malmoi.text.encoded": ("EncodedCorpus", "VocabularySettings", "count_corpus", "encode_corpus"),
    "malmoi.text.normalize": ("Normalizer",),
    "malmoi.text.tokenizers": ("Tokenizer", "make_tokenizer"),
    "malmoi.text.wordpiece": ("WordPiece", "train_wordpiece"),
    "malmoi.text_inputs": ("TableLike",),
    "malmoi.train.common.epochs": ("EpochEnd", "StopTraining"),
    "malmoi.train.common.options": ("TrainOptions",),
    "malmoi.train.counts.cooccurrence": ("Cooccurrence", "count_cooccurrences"),
    "malmoi.train.counts.lsa": ("LSA", "train_lsa"),
    "malmoi.train.counts.one_hot": ("OneHot", "one_hot"),
    "malmoi.train.counts.pmi": (
        "PMI",
        "ProbabilityTable",
        "mutual_information",
        "probability_table",
    ),
    "malmoi.train.glove.glove": ("train_glove",),
    "malmoi.train.glove.settings": ("GloVe",),
    "malmoi.train.language.ngram": ("NGram", "train_ngram"),
    "malmoi.train.language.nnlm": ("NNLM", "train_nnlm"),
    "malmoi.train.language.sentence_counts": ("count_ngrams",),
    "malmoi.train.word2vec.fasttext": ("FastText", "train_fasttext"),
    "malmoi.train.word2vec.pairs": ("TrainingPair", "labelled_pairs", "window_pairs"),
    "malmoi.train.word2vec.word2vec": ("Word2Vec", "train_word2vec"),
    "malmoi.tune.layers.learning": ("learn_layer_weights",),
    "malmoi.tune.layers.result": ("LayerResult",),
    "malmoi.tune.layers.settings": ("LayerSettings",),
    "malmoi.tune.mining.mine": ("MinedNegatives", "mine_negatives"),
    "malmoi.tune.mining.settings": ("MiningSettings",),
    "malmoi.tune.distill.collapse": ("CollapseError",),
    "malmoi.tune.distill.distilling": ("distill",),
    "malmoi.tune.distill.parallel": ("DistillData",),
    "malmoi.tune.distill.result": ("DistillResult",),
    "malmoi.tune.distill.settings": ("DistillSettings",),
    "malmoi.tune.elmo.folder": ("save_elmo",),
    "malmoi.tune.elmo.ngram_baseline": ("NgramPerplexity",),
    "malmoi.tune.elmo.pretraining": ("train_elmo",),
    "malmoi.tune.elmo.result": ("Perplexities", "PretrainedElmo"),
    "malmoi.tune.elmo.settings": ("Elmo",),
    "malmoi.tune.extend.coverage": ("Coverage",),
    "malmoi.tune.extend.extension": ("extend_vocabulary",),
    "malmoi.tune.extend.result": ("DevComparison", "ExtendResult"),
    "malmoi.tune.extend.settings": ("ExtendSettings",),
    "malmoi.tune.adapt.adapting": ("adapt",),
    "malmoi.tune.adapt.result": ("AdaptResult",),
    "malmoi.tune.adapt.settings": ("AdaptSettings",),
    "malmoi.tune.result": ("TuneResult",),
    "malmoi.tune.sentence.tuning": ("tune_sentence",),
    "malmoi.tune.sentence.settings": ("TuneSettings",),
    "malmoi.tune.static.distill": ("distill_static",),
    "malmoi.tune.static.result": ("StaticResult",),
    "malmoi.tune.static.settings": ("StaticSettings",),
    "malmoi.vectors": ("Vectors",),
    "malmoi.vocabulary": ("Vocabulary",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)

_MODULES = {  # public modules; each needs a package of its own
    "scale": "malmoi.scale",
    "sklearn": "malmoi.integrations.sklearn",
}


_KNOWN_ELSEWHERE_AS = {  # names that users of other packages look for
    "BPE": "WordPiece",
    "KeyedVectors": "Vectors",
    "SentenceTransformer": "load_encoder",
    "doesnt_match": "odd_one_out",
    "encode": "load_encoder",
    "evaluate_word_analogies": "analogies",
    "evaluate_word_pairs": "word_similarity",
    "load_facebook_model": "load",
    "load_index": "open_index",
    "load_model": "load_encoder",
    "load_vectors": "load",
    "load_word2vec_format": "load",
    "most_similar": "neighbours",
    "neighbors": "neighbours",
    "pmi": "mutual_information",
    "ppmi": "mutual_information",
    "save_word2vec_format": "save",
    "search": "build_index",
    "tokenize": "make_tokenizer",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOME_OF:
        near = _KNOWN_ELSEWHERE_AS.get(name, _KNOWN_ELSEWHERE_AS.get(name.lower()))
        hint = f": use malmoi.{near}" if near else ""
        raise AttributeError(f"module 'malmoi' has no attribute '{name}'{hint}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, *_MODULES, "__version__"]
