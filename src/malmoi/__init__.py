"""malmoi: text to vectors in English and Korean.

This module exports the public API. Each name is imported when it is first used, so that
`import malmoi` imports neither NumPy nor Numba. Type checkers read `__init__.pyi`.
"""

from importlib import import_module

from malmoi import cache_paths, errors

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
