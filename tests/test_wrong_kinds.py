"""Values of the wrong kind: each gets a sentence that names it and what to pass instead."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import malmoi as mm
from malmoi.evaluate.suites.pair_tasks import SimilarityTask
from tests.query.worlds import capitals
from tests.search.worlds import BagOfWords

VECTORS = capitals()
BAG = BagOfWords()
INDEX = mm.build_index(BAG, ["the bank", "the river"])
COUNTS = mm.count_cooccurrences(["a b c", "b c d"])
FRAME = pd.DataFrame({"text": ["a", "b"]})
ONE = mm.Word2Vec(dim=2, epochs=1, min_count=1)
TEST = mm.RetrievalSet({"q": "bank"}, {"q": {"0": 1.0}})
PAIRS = [("the bank", "a bank"), ("a river", "the river")]
TASK = SimilarityTask("sts", "en", mm.SentenceSet.of(["a", "b"], ["c", "d"], [1.0, 2.0]))
TEXTS_OF_CLASSES = [(f"text {i} of {i % 2}", "ab"[i % 2]) for i in range(40)]
LISTS = {"None", "list"}
WRONG = {
    "None": None,
    "int": 3,
    "float": 1.5,
    "bytes": b"glove",
    "class": mm.Word2Vec,
    "function": len,
    "list": [1, 2],
    "array": np.zeros((2, 3)),
    "frame": FRAME,
    "encoder": BAG,
    "vectors": VECTORS,
    "index": INDEX,
    "counts": COUNTS,
}
CASES: dict[str, tuple[Callable[[Any], Any], set[str]]] = {  # and the kinds that are right
    "neighbours": (lambda it: mm.neighbours(it, "서울"), {"vectors"}),
    "neighbours of": (lambda it: mm.neighbours(VECTORS, it), {"vectors"}),
    "neighbours k": (lambda it: mm.neighbours(VECTORS, "서울", it), {"int"}),
    "similarity": (lambda it: mm.similarity(it, "서울", "도쿄"), {"vectors"}),
    "similarity of": (lambda it: mm.similarity(VECTORS, "서울", it), set()),
    "analogy": (lambda it: mm.analogy(it, "서울 - 한국 + 일본"), {"vectors"}),
    "analogy of": (lambda it: mm.analogy(VECTORS, it), set()),
    "odd_one_out": (lambda it: mm.odd_one_out(it, ["서울", "도쿄", "사과"]), {"vectors"}),
    "odd_one_out of": (lambda it: mm.odd_one_out(VECTORS, it), {"vectors"}),
    "rank": (lambda it: mm.rank(it, "서울", "도쿄"), {"vectors"}),
    "rank of": (lambda it: mm.rank(VECTORS, it, "도쿄"), set()),
    "embedding_matrix": (lambda it: mm.embedding_matrix(it, {"서울": 1}), {"vectors"}),
    "embedding_matrix of": (lambda it: mm.embedding_matrix(VECTORS, it), set()),
    "occurrences": (lambda it: mm.occurrences(it, "bank", ["the bank"]), set()),
    "sense_separation": (lambda it: mm.sense_separation(it, "bank", "senses.txt"), set()),
    "sweep_recipes": (lambda it: mm.sweep_recipes(it, "sts.tsv"), set()),
    "sentence_similarity": (lambda it: mm.sentence_similarity(it, "no.tsv"), set()),
    "sentence_similarity of": (lambda it: mm.sentence_similarity(BAG, it), set()),
    "evaluate_sentences": (lambda it: mm.evaluate_sentences(BAG, it), {"None"}),
    "word_similarity": (lambda it: mm.word_similarity(it, "no.tsv"), set()),
    "word_similarity of": (lambda it: mm.word_similarity(VECTORS, it), set()),
    "typo_robustness": (lambda it: mm.typo_robustness(it, "no.tsv"), set()),
    "analogies": (lambda it: mm.analogies(it, "no.txt"), set()),
    "analogies of": (lambda it: mm.analogies(VECTORS, it), set()),
    "evaluate_words": (lambda it: mm.evaluate_words(it, ["no.txt"]), set()),
    "evaluate_words of": (lambda it: mm.evaluate_words(VECTORS, it), {"None"}),
    "evaluate_retrieval": (lambda it: mm.evaluate_retrieval(it, TEST), {"index"}),
    "evaluate_retrieval of": (lambda it: mm.evaluate_retrieval(INDEX, it), set()),
    "evaluate_suite": (lambda it: mm.evaluate_suite(it, None, tasks=[TASK]), {"encoder"}),
    "evaluate_suite tasks": (lambda it: mm.evaluate_suite(BAG, None, tasks=it), set()),
    "evaluate_suite limit": (
        lambda it: mm.evaluate_suite(BAG, None, tasks=[TASK], limit=it),
        {"None"},
    ),
    "load_task": (lambda it: mm.load_task(it, "sts"), set()),
    "load_task kind": (lambda it: mm.load_task("no.tsv", it), set()),
    "mine_negatives": (lambda it: mm.mine_negatives(it, ["a"], BAG), set()),
    "mine_negatives corpus": (lambda it: mm.mine_negatives(PAIRS, it, BAG), {"None", "vectors"}),
    "mine_negatives encoder": (lambda it: mm.mine_negatives(PAIRS, ["a"], it), {"encoder"}),
    "mine_negatives settings": (lambda it: mm.mine_negatives(PAIRS, ["a"], BAG, it), {"None"}),
    "load_beir": (lambda it: mm.load_beir(it), set()),
    "load": (lambda it: mm.load(it), set()),
    "save": (lambda it: mm.save(it, "new.malmoi"), {"vectors"}),
    "save to": (lambda it: mm.save(VECTORS, it), set()),
    "inspect": (lambda it: mm.inspect(it), set()),
    "load_encoder": (lambda it: mm.load_encoder(it), set()),
    "load_reranker": (lambda it: mm.load_reranker(it), set()),
    "search rerank": (lambda it: INDEX.search("bank", rerank=it), {"None"}),
    "load_transformer": (lambda it: mm.load_transformer(it), set()),
    "extend_vocabulary": (lambda it: mm.extend_vocabulary(it, "new", texts=["은행"]), set()),
    "extend_vocabulary to": (lambda it: mm.extend_vocabulary("minilm", it), set()),
    "extend_vocabulary by": (
        lambda it: mm.extend_vocabulary("minilm", "new", vocabulary=it),
        set(),
    ),
    "distill": (lambda it: mm.distill(it, "minilm", "new"), set()),
    "distill into": (lambda it: mm.distill([("a", "가")], it, "new"), set()),
    "distill to": (lambda it: mm.distill([("a", "가")], "minilm", it), set()),
    "distill by": (lambda it: mm.distill([("a", "가")], "minilm", "new", it), {"None"}),
    "average_encoder": (lambda it: mm.average_encoder(it), {"vectors"}),
    "write_embeddings": (
        lambda it: mm.write_embeddings(it, ["a"], Path("new.npy")),
        {"encoder"},
    ),
    "write_embeddings to": (lambda it: mm.write_embeddings(BAG, ["a"], it), set()),
    "build_index": (lambda it: mm.build_index(it, ["a", "b"]), {"encoder"}),
    "open_index": (lambda it: mm.open_index(it), set()),
    "update_index": (lambda it: mm.update_index("i", it, [mm.Entry(1, "a")]), {"encoder"}),
    "update_index of": (lambda it: mm.update_index("i", BAG, it), set()),
    "reindex": (lambda it: mm.reindex(it, BAG), set()),
    "reindex to": (lambda it: mm.reindex("no index", it), set()),
    "reindex settings": (lambda it: mm.reindex("no index", BAG, it), set()),
    "index.search": (lambda it: INDEX.search(it), set()),
    "index.search k": (lambda it: INDEX.search("bank", it), {"int"}),
    "load_language_model": (lambda it: mm.load_language_model(it), set()),
    "load_ngram": (lambda it: mm.load_ngram(it), set()),
    "save_ngram": (lambda it: mm.save_ngram(it, "new.arpa"), set()),
    "load_nnlm": (lambda it: mm.load_nnlm(it), set()),
    "save_nnlm": (lambda it: mm.save_nnlm(it, "new.nnlm"), set()),
    "load_cooccurrences": (lambda it: mm.load_cooccurrences(it), set()),
    "save_cooccurrences": (lambda it: mm.save_cooccurrences(it, "new.counts"), {"counts"}),
    "mutual_information": (lambda it: mm.mutual_information(it), {"counts"}),
    "probability_table": (lambda it: mm.probability_table(it, ["a"], ["b"]), {"counts"}),
    "probability_table of": (lambda it: mm.probability_table(COUNTS, it, ["b"]), set()),
    "count_ngrams": (lambda it: mm.count_ngrams(["a b"], it), {"int"}),
    "tokenizer": (lambda it: mm.train_word2vec(["a b"], ONE, tokenizer=it), {"None"}),
    "make_tokenizer": (lambda it: mm.make_tokenizer(it), set()),
    "encode_corpus": (lambda it: mm.encode_corpus(it), set()),
    "add_typo": (lambda it: mm.add_typo(it), set()),
    "split_jamo": (lambda it: mm.split_jamo(it), set()),
    "join_jamo": (lambda it: mm.join_jamo(it), set()),
    "reporter": (lambda it: mm.neighbours(VECTORS, "서울", reporter=it), set()),
    "options": (lambda it: mm.train_word2vec(["a b"], ONE, options=it), set()),
    "init_vectors": (lambda it: mm.TrainOptions(init_vectors=it), {"None", "vectors"}),
    "convert": (lambda it: mm.convert(it, "new.txt"), set()),
    "convert to": (lambda it: mm.convert("no.txt", it), set()),
    "convert settings": (lambda it: mm.convert("no.txt", "new.txt", it), set()),
    "load only": (
        lambda it: mm.load("glove-6b-50d", only=it, limit=9),
        {"None", "vectors", "index", "frame"},
    ),
    "load limit": (lambda it: mm.load("glove-6b-50d", limit=it), {"None", "int"}),
    "window_pairs": (lambda it: mm.window_pairs(it), {"list", "bytes"}),
    "Vectors": (lambda it: mm.Vectors(it, np.eye(2)), {"index"}),
    "most_frequent": (lambda it: VECTORS.most_frequent(it), {"int"}),
    "Vocabulary.of": (lambda it: mm.Vocabulary.of(it), set()),
    "ids": (lambda it: mm.build_index(BAG, ["a", "b"], ids=it), LISTS | {"index"}),
    "fields": (lambda it: mm.build_index(BAG, ["a", "b"], fields=it), {"None"}),
    "prompts": (lambda it: mm.build_index(BAG, ["a", "b"], prompts=it), {"None"}),
    "where": (lambda it: INDEX.search("bank", where=it), {"None"}),
    "weight": (
        lambda it: INDEX.search("bank", hybrid=True, weight=it),
        {"None"},
    ),
    "average_encoder smoothing": (
        lambda it: mm.average_encoder(VECTORS, smoothing=it),
        {"int", "float"},
    ),
    "distill_static": (lambda it: mm.distill_static(["a", "b"], it, "new"), {"encoder"}),
    "distill_static settings": (
        lambda it: mm.distill_static(["a", "b"], BAG, "new", it),
        {"None"},
    ),
    "scale.embed": (lambda it: mm.scale.embed(it, "glove-6b-50d", "new"), set()),
    "scale.embed model": (lambda it: mm.scale.embed("no.txt", it, "new"), set()),
    "scale.embed to": (lambda it: mm.scale.embed("no.txt", "glove-6b-50d", it), set()),
    "scale.embed settings": (lambda it: mm.scale.embed("no.txt", "use", "new", it), set()),
    "scale.embed on": (lambda it: mm.scale.embed("no.txt", "use", "new", on=it), set()),
    "scale.open_vectors": (lambda it: mm.scale.open_vectors(it), set()),
    "scale.count_words settings": (lambda it: mm.scale.count_words(["a b"], it), {"None"}),
    "ShardSettings": (lambda it: mm.scale.ShardSettings(embed=it), set()),
    "train_classifier": (lambda it: mm.train_classifier(it), set()),
    "train_classifier settings": (lambda it: mm.train_classifier(TEXTS_OF_CLASSES, it), {"None"}),
    "load_classifier": (lambda it: mm.load_classifier(it), set()),
    "save_classifier": (lambda it: mm.save_classifier(it, "new.classifier"), set()),
    "NgramClassifier": (lambda it: mm.NgramClassifier(bits=it), set()),
    "EmbeddingClassifier": (lambda it: mm.EmbeddingClassifier(dim=it), {"int"}),
    "EmbeddingClassifier vectors": (lambda it: mm.EmbeddingClassifier(vectors=it), set()),
    "FineTunedClassifier": (lambda it: mm.FineTunedClassifier(model=it), set()),
    "Word2Vec": (lambda it: mm.Word2Vec(dim=it), {"int"}),
    "GloVe": (lambda it: mm.GloVe(x_max=it), {"int", "float"}),
    "NGram": (lambda it: mm.NGram(order=it), {"int"}),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MALMOI_DATA", str(tmp_path))  # no test sets to find


@pytest.mark.parametrize(("case", "kind"), [(case, kind) for case in CASES for kind in WRONG])
def test_a_wrong_kind_is_a_sentence(case: str, kind: str) -> None:
    call, right = CASES[case]
    if kind not in right:
        with pytest.raises(mm.MalmoiError):
            call(WRONG[kind])


@pytest.mark.parametrize(
    "train",
    [
        mm.train_word2vec,
        mm.train_fasttext,
        mm.train_glove,
        mm.train_lsa,
        mm.train_ngram,
        mm.train_elmo,
    ],
)
@pytest.mark.parametrize("settings", [{"dim": 5}, "fast", 5, FRAME, mm.PMI(), mm.Word2Vec], ids=str)
def test_settings_of_another_kind(train: Callable[..., Any], settings: Any) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=r"settings must be an? \w+, not .*; write"):
        train(["a b c"], settings)


SENTENCES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: mm.neighbours(BAG, "word"),  # type: ignore[call-overload]
        "vectors must be word vectors, not the encoder 'bag'; it encodes texts: compare the rows"
        " of encoder.encode(texts), or use build_index",
    ),
    (
        lambda: mm.similarity("glove.txt", "a", "b"),  # type: ignore[arg-type]
        "vectors must be word vectors, not the str 'glove.txt'; load them with load('glove.txt')",
    ),
    (
        lambda: mm.save(FRAME, "v.malmoi"),
        "vectors must be word vectors, not a DataFrame of shape (2, 1); make them with"
        " Vectors(words, matrix)",
    ),
    (
        lambda: mm.load(FRAME),
        "path must be a path, not a DataFrame of shape (2, 1); Vectors(words, matrix) makes"
        " vectors of what is in memory",
    ),
    (
        lambda: mm.load_encoder(VECTORS),  # type: ignore[arg-type]
        "name must be the name or path of a model, not Vectors(7 × 3); average_encoder(vectors)"
        " makes an encoder of them",
    ),
    (
        lambda: mm.update_index("i", VECTORS, []),  # type: ignore[arg-type]
        "encoder must be an encoder, not Vectors(7 × 3); average_encoder(vectors) makes an"
        " encoder of them",
    ),
    (
        lambda: mm.build_index("minilm", ["a"]),  # type: ignore[arg-type]
        "encoder must be an encoder, not the str 'minilm'; load it with load_encoder('minilm')",
    ),
    (
        lambda: INDEX.search(["a", "b"]),  # type: ignore[arg-type]
        "a query must be one text or one vector, not a list; search for several texts one by one",
    ),
    (
        lambda: mm.occurrences(BAG, "bank", ["a"]),  # type: ignore[arg-type]
        "encoder must be an encoder with layers, not the encoder 'bag'; load one with"
        " load_contextual('minilm')",
    ),
    (
        lambda: mm.update_index("i", BAG, ["a"]),  # type: ignore[list-item]
        "entry 0 must be an Entry, not the str 'a'; write Entry(id, text)",
    ),
    (
        lambda: mm.neighbours(VECTORS, "서울", k="3"),  # type: ignore[call-overload]
        "k must be an integer, not the str '3'",
    ),
    (
        lambda: mm.train_word2vec(["a"], {"dim": 5}),  # type: ignore[arg-type]
        "settings must be a Word2Vec, not a dict; write Word2Vec(…) with the settings as keywords",
    ),
    (
        lambda: mm.neighbours(mm.Vectors, "a"),  # type: ignore[call-overload]
        "vectors must be word vectors, not the class Vectors: call it to make a value; make them"
        " with Vectors(words, matrix)",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), SENTENCES, ids=[s[:40] for _, s in SENTENCES])
def test_the_sentence_says_what_to_do(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(mm.InvalidArgumentError) as raised:
        call()
    assert str(raised.value) == sentence


def test_a_long_value_is_not_quoted_whole() -> None:
    with pytest.raises(mm.InvalidArgumentError) as raised:
        mm.neighbours("x" * 10_000, "a")  # type: ignore[call-overload]
    assert len(str(raised.value)) < 1200
