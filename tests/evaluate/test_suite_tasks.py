"""Tasks of a suite: metrics equal to those of sentence-transformers and scikit-learn; files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from sentence_transformers.sentence_transformer.evaluation import (
    BinaryClassificationEvaluator,
    EmbeddingSimilarityEvaluator,
    InformationRetrievalEvaluator,
    TranslationEvaluator,
)
from sklearn.metrics import average_precision_score, f1_score

from malmoi.arrays import Float32Array
from malmoi.encode.encoder import load_transformer
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.retrieval import RetrievalSet
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.evaluate.suites.embedder import Embedder
from malmoi.evaluate.suites.label_tasks import ClassificationTask, ClusteringTask, LabelledText
from malmoi.evaluate.suites.pair_tasks import EntailmentTask, LabelledPair, SimilarityTask
from malmoi.evaluate.suites.ranking_tasks import ParaphraseTask, RetrievalTask, TranslationTask
from malmoi.evaluate.suites.task import Role
from malmoi.evaluate.suites.task_files import load_task
from malmoi.reporting.reporter import SilentReporter
from tests.encode.checkpoints import save_model
from tests.evaluate.suite_data import beir, squad, texts, write

TEXTS = texts(80, seed=7)
PAIRS = list(zip(TEXTS[::2], TEXTS[1::2], strict=True))


class Peer:
    """A tiny model in both libraries."""

    def __init__(self, folder: Path) -> None:
        save_model(folder / "bert", "bert")
        transformer = modules.Transformer(str(folder / "bert"))
        self.model: Any = SentenceTransformer(
            modules=[transformer, modules.Pooling(32)], device="cpu"
        )
        self.model.save(str(folder / "whole"))
        encoder = load_transformer(str(folder / "whole"))
        self.embed = Embedder(encoder, None, SilentReporter())


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Peer:
    return Peer(tmp_path_factory.mktemp("model"))


def values(measures: Sequence[Any]) -> dict[str, float]:
    return {measure.metric: measure.value() for measure in measures}


def test_similarity_is_that_of_sentence_transformers(peer: Peer) -> None:
    scores = [len({*a.split()} & {*b.split()}) / 5 for a, b in PAIRS]
    ones, others = zip(*PAIRS, strict=True)
    evaluate: Any = EmbeddingSimilarityEvaluator(ones, others, scores, write_csv=False)
    task = SimilarityTask("sts", "en", SentenceSet.of(ones, others, scores))
    found = values(task.measure(peer.embed))
    assert found["cosine_spearman"] == pytest.approx(evaluate(peer.model)["spearman_cosine"], 1e-5)


def test_entailment_is_that_of_sentence_transformers(peer: Peer) -> None:
    labels = [["entailment", "contradiction", "neutral"][i % 3] for i in range(len(PAIRS))]
    pairs = [LabelledPair(a, b, label) for (a, b), label in zip(PAIRS, labels, strict=True)]
    found = values(EntailmentTask("nli", "en", tuple(pairs)).measure(peer.embed))
    for metric, kept in (
        ("cosine_ap", [pair for pair in pairs if pair.label != "neutral"]),
        ("cosine_ap with neutral", pairs),
    ):
        ones, others, given = zip(*kept, strict=True)
        positive = [int(label == "entailment") for label in given]
        evaluate: Any = BinaryClassificationEvaluator(ones, others, positive, write_csv=False)
        assert found[metric] == pytest.approx(evaluate(peer.model)["cosine_ap"], 1e-4)


def test_retrieval_is_that_of_sentence_transformers(peer: Peer) -> None:
    corpus = {f"d{i}": text for i, text in enumerate(TEXTS[:60])}
    queries = {f"q{i}": text for i, text in enumerate(TEXTS[60:])}
    relevant = {f"q{i}": {f"d{i}", f"d{i + 20}", f"d{i + 40}"} for i in range(20)}
    evaluate: Any = InformationRetrievalEvaluator(queries, corpus, relevant, write_csv=False)
    expected = evaluate(peer.model)
    judged = {name: dict.fromkeys(sorted(ids), 1.0) for name, ids in relevant.items()}
    task = RetrievalTask("ir", "en", corpus, RetrievalSet(queries, judged))
    found = values(task.measure(peer.embed))
    assert found["ndcg_at_10"] == pytest.approx(expected["cosine_ndcg@10"], 1e-5)
    assert found["recall_at_10"] == pytest.approx(expected["cosine_recall@10"], 1e-5)


def test_translations_are_those_of_sentence_transformers(peer: Peer) -> None:
    ones, others = zip(*PAIRS, strict=True)
    evaluate: Any = TranslationEvaluator(list(ones), list(others), write_csv=False)
    expected = evaluate(peer.model)
    task = TranslationTask("bitext", "ko-en", tuple(PAIRS), ("en", "ko"))
    found = values(task.measure(peer.embed))
    assert found["accuracy, en→ko"] == pytest.approx(expected["src2trg_accuracy"])
    assert found["accuracy, ko→en"] == pytest.approx(expected["trg2src_accuracy"])
    cosines = _units(peer.embed(others)) @ _units(peer.embed(ones)).T
    f1 = f1_score(np.arange(len(PAIRS)), cosines.argmax(axis=1), average="weighted")
    assert found["f1, ko→en"] == pytest.approx(f1)


def test_paraphrases_are_scored_as_by_scikit_learn(peer: Peer) -> None:
    groups = tuple(tuple(TEXTS[i : i + 4]) for i in range(0, 80, 4))
    found = values(ParaphraseTask("groups", "ko", groups).measure(peer.embed))
    units = _units(peer.embed(TEXTS))
    hits, precisions = [], []
    for row, unit in enumerate(units):
        others = np.delete(np.arange(80), row)
        cosines = units[others] @ unit
        hits.append(others[cosines.argmax()] // 4 == row // 4)
        precisions.append(average_precision_score(others // 4 == row // 4, cosines))
    assert found["accuracy"] == pytest.approx(np.mean(hits))
    assert found["map"] == pytest.approx(np.mean(precisions), abs=1e-3)


def embed_by_label(texts: Sequence[str], role: Role = "text") -> Float32Array:
    """Vectors that tell the classes apart: the first word decides."""
    random = np.random.default_rng(0)
    noise = 0.1 * random.normal(size=(len(texts), 4))
    return (noise + [[2.0 * (text.split()[0] == f"c{j}") for j in range(4)] for text in texts]
            ).astype(np.float32)  # fmt: skip


def test_labels_that_vectors_show_are_found() -> None:
    labelled = tuple(LabelledText(f"c{i % 4} text {i}", f"label {i % 4}") for i in range(80))
    found = values(ClassificationTask("c", "en", labelled).measure(embed_by_label))
    assert found == {"accuracy": 1.0, "f1": pytest.approx(1.0)}
    assert values(ClusteringTask("c", "en", labelled).measure(embed_by_label)) == {
        "v_measure": pytest.approx(1.0)
    }


def test_a_limit_keeps_the_same_texts_each_time(tmp_path: Path) -> None:
    labelled = tuple(LabelledText(text, str(i % 2)) for i, text in enumerate(TEXTS))
    task = ClassificationTask("c", "en", labelled)
    assert task.limited(30) == task.limited(30)
    assert len(task.limited(30).texts) == 30
    assert task.limited(1000) == task
    beir(tmp_path)
    retrieval: Any = load_task(tmp_path, "retrieval")
    fewer = retrieval.limited(4)
    assert len(fewer.test.queries) == 1
    (judged,) = fewer.test.relevant.values()
    assert {*judged} <= {*fewer.corpus}
    groups: Any = ParaphraseTask("p", "ko", tuple(tuple(TEXTS[i : i + 4]) for i in range(0, 80, 4)))
    assert sum(map(len, groups.limited(20).groups)) == 20


def test_tasks_with_too_little_are_errors() -> None:
    one = ClassificationTask("few", "en", (LabelledText("a", "x"), LabelledText("b", "x")))
    with pytest.raises(InvalidArgumentError, match="few has 1 classes: it needs at least 2"):
        one.measure(embed_by_label)
    pair = TranslationTask("one", "ko-en", (("a", "b"),))
    with pytest.raises(InvalidArgumentError, match="one has 1 pairs"):
        pair.measure(embed_by_label)


def test_a_beir_folder_and_squad_are_read(tmp_path: Path) -> None:
    beir(tmp_path / "own")
    task: Any = load_task(tmp_path / "own", "retrieval")
    assert (task.name, len(task.corpus), len(task.test.queries)) == ("own test queries", 8, 4)
    squad(tmp_path / "KorQuAD_dev.json")
    read: Any = load_task(tmp_path / "KorQuAD_dev.json", "retrieval", language="ko")
    assert (read.name, read.language) == ("KorQuAD_dev", "ko")
    assert [*read.corpus.values()] == ["한국어 the bank", "a river"]  # equal ones are one
    assert read.test.relevant == {"1": {"0": 1.0}, "2": {"1": 1.0}, "3": {"1": 1.0}}


def test_tables_are_read(tmp_path: Path) -> None:
    write(tmp_path / "c.csv", "text,label\na b,x\n,x\nc d,y\n")
    task: Any = load_task(tmp_path / "c.csv", "classification")
    assert task.texts == (("a b", "x"), ("c d", "y"))
    write(tmp_path / "p.jsonl", '{"text": "a", "group": 1}\n{"text": "b", "group": 1}\n')
    groups: Any = load_task(tmp_path / "p.jsonl", "paraphrases")
    assert groups.groups == (("a", "b"),)
    write(tmp_path / "n.tsv", "premise\thypothesis\tlabel\na\tb\tEntailment\n")
    pairs: Any = load_task(tmp_path / "n.tsv", "nli")
    assert pairs.pairs == (("a", "b", "entailment"),)
    write(tmp_path / "b.tsv", "Go.\t가.\nGo.\t가라.\nHi.\t안녕.\n\t빈\n")
    both: Any = load_task(tmp_path / "b.tsv", "bitext")
    assert both.pairs == (("Go.", "가."), ("Hi.", "안녕."))


@pytest.mark.parametrize(
    ("name", "content", "kind", "message"),
    [
        ("a.json", "{}", "retrieval", "is not JSON in the layout of SQuAD"),
        ("a.json", "{", "retrieval", "is not JSON in the layout of SQuAD"),
        ("a.json", '{"data": []}', "retrieval", "has no questions"),
        ("a.csv", "", "classification", "is empty"),
        ("a.csv", "x,y\n1,2\n", "classification", "has none of the columns text"),
        ("a.csv", "text,label\n", "clustering", "a header and no usable rows"),
        ("a.csv", "one", "bitext", "has no pairs"),
        ("a.csv", "a,b,1", "everything", "kind is 'everything': choose one of sts"),
    ],
)
def test_files_that_are_no_tasks(
    name: str, content: str, kind: Any, message: str, tmp_path: Path
) -> None:
    write(tmp_path / name, content)
    with pytest.raises((InvalidFileError, InvalidArgumentError), match=message):
        load_task(tmp_path / name, kind)


def test_a_missing_path_and_a_folder_without_judgements(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="gone"):
        load_task(tmp_path / "gone.json", "retrieval")
    with pytest.raises(InvalidFileError, match="has no judgements"):
        load_task(tmp_path, "retrieval")


def _units(matrix: Float32Array) -> Float32Array:
    units: Float32Array = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return units
