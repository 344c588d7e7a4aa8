"""/classify answers what the classifier does, in batches, within limits."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import malmoi as mm
from malmoi.reporting.reporter import SilentReporter
from malmoi.serve.limits import Limits
from malmoi.serve.server import ServerSettings
from malmoi.serve.service.loaded_models import LoadedModel, Models, load_model
from tests.classify.test_fasttext_models import train
from tests.query.worlds import capitals
from tests.serve.fixtures import Running, serving
from tests.serve.hostile_requests import FINE, RAW_VALUES, VALUES, as_object

WORDS = {"sport": "goal match team score 축구", "food": "bread soup taste cook 김치"}
ROWS = [
    (f"{a} {b} number {i}", label)
    for label, own in WORDS.items()
    for i, (a, b) in enumerate((a, b) for a in own.split() for b in own.split() if a != b)
]
SILENT = SilentReporter()
TEXTS = ["a goal of the team", "김치 soup", "nothing of the kind", ""]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("classifiers") / "topics.classifier"
    mm.train_classifier(ROWS, mm.NgramClassifier(threads=1, test_share=0), out=out, reporter=SILENT)
    return out


@pytest.fixture(scope="module")
def served(path: Path) -> Iterator[Running]:
    words = LoadedModel("capitals", "capitals.malmoi", vectors=capitals())
    models = Models({"capitals": words, "topics": load_model("topics", str(path))})
    with serving(models) as running:
        yield running


def test_labels_are_those_of_the_classifier(served: Running, path: Path) -> None:
    classifier = mm.load_classifier(path)
    answer = served.post("/classify", {"input": TEXTS}).json
    assert answer["model"] == "topics"
    assert "explanations" not in answer
    for row, labels in zip(
        classifier.probabilities(TEXTS).tolist(), answer["predictions"], strict=True
    ):
        by_label = {one["label"]: one["score"] for one in labels}
        assert by_label == pytest.approx(dict(zip(classifier.labels, row, strict=True)))
        assert [one["score"] for one in labels] == sorted(row, reverse=True)
    assert [labels[0]["label"] for labels in answer["predictions"][:2]] == ["sport", "food"]


def test_one_text_and_one_label(served: Running) -> None:
    request = {"input": TEXTS[0], "model": "topics", "top_k": 1}
    ((label,),) = served.post("/classify", request).json["predictions"]
    assert label["label"] == "sport"
    assert served.post("/classify", {"input": "a", "top_k": 99}).json["predictions"][0][1:]


def test_explanations_are_those_of_the_classifier(served: Running, path: Path) -> None:
    decomposed = "김치 of the team"
    answer = served.post("/classify", {"input": [decomposed], "explain": True}).json
    (explained,) = answer["explanations"]
    expected = mm.load_classifier(path).explain(decomposed)
    assert explained["text"] == "김치 of the team"
    assert [(one["part"], one["label"]) for one in explained["contributions"]] == [
        (one.part, one.label) for one in expected.contributions
    ]
    first = explained["contributions"][0]
    (begin, end), *_ = first["spans"]
    assert explained["text"][begin:end] == first["part"].strip()


def test_many_texts_are_classified_as_one_by_one(served: Running) -> None:
    texts = [f"{row[0]} {i}" for i in range(50) for row in ROWS]
    many = served.post("/classify", {"input": texts, "top_k": 1}).json["predictions"]
    for i in (0, 333, len(texts) - 1):
        alone = served.post("/classify", {"input": texts[i], "top_k": 1}).json["predictions"]
        assert alone[0] == many[i]


@pytest.mark.parametrize(
    ("request_", "status", "sentence"),
    [
        ({"input": "a", "model": "capitals"}, 400, "'capitals' is not a classifier"),
        ({"input": "a", "model": "none"}, 404, "model 'none' does not exist"),
        ({"input": []}, 400, "length >= 1"),
        ({"input": [1]}, 400, "str"),
        ({"input": "a", "top_k": 0}, 400, ">= 1"),
        ({"inputs": "a"}, 400, "inputs"),
        ({}, 400, "input"),
        ({"input": ["a"] * 3000}, 400, "at most 2,048"),
        ({"input": "a" * 200_001}, 400, "at most 200,000"),
        ({"input": ["a" * 3000] * 2, "explain": True}, 400, "at most 5,000"),
    ],
)
def test_wrong_requests_are_one_sentence(
    served: Running, request_: dict[str, object], status: int, sentence: str
) -> None:
    answer = served.post("/classify", request_)
    assert answer.status == status
    assert sentence in answer.json["error"]["message"]


def test_odd_values_are_answered(served: Running) -> None:
    fine = FINE["/classify"]
    for field in fine:
        for value in (*VALUES, *RAW_VALUES):
            body = as_object({name: json.dumps(it) for name, it in fine.items()} | {field: value})
            assert served.post("/classify", body).status in (200, 400, 404)


def test_a_large_answer_is_refused(path: Path) -> None:
    models = Models({"topics": load_model("topics", str(path))})
    settings = ServerSettings(port=0, quiet=True, limits=Limits(max_answer_numbers=5))
    with serving(models, settings) as running:
        assert running.post("/classify", {"input": ["a", "b"]}).status == 200
        answer = running.post("/classify", {"input": ["a", "b", "c"]})
        assert answer.json["error"]["code"] == "answer_too_large"


def test_models_metrics_and_schema_know_it(served: Running) -> None:
    _, topics = served.get("/models").json["models"]
    assert topics == {"name": "topics", "kind": "classifier", "dim": 0, "labels": 2}
    served.post("/classify", {"input": "a"})
    metrics = served.get("/metrics").body.decode()
    assert 'malmoi_texts_total{model="topics"}' in metrics
    assert 'malmoi_requests_total{path="/classify",status="200"}' in metrics
    document = served.get("/openapi.json").json
    assert "ClassifyRequest" in document["components"]["schemas"]
    assert "post" in document["paths"]["/classify"]


def test_a_supervised_model_of_fasttext_is_a_classifier(tmp_path: Path) -> None:
    model = train(tmp_path)
    loaded = load_model("topics", str(tmp_path / "model.bin"))
    assert loaded.kind == "classifier"
    assert loaded.classifier is not None
    names = {name.removeprefix("__label__") for name in model.get_labels()}
    assert set(loaded.classifier.labels) == names
