"""/classify: the labels of texts with their probabilities, and what speaks for them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from malmoi.arrays import Float64Array
from malmoi.classify.base.classifier import Classifier
from malmoi.classify.base.explanation import ClassExplanation
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.scoring_schemas import ClassifyAnswer, ClassifyRequest
from malmoi.serve.service.jobs import CallJob, ClassifierJob
from malmoi.serve.service.request_checks import check_explained, check_texts
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.request_texts import approximate_tokens, reserve_answer
from malmoi.serve.service.service import Service

INPUT = "input"


async def classify(
    service: Service, context: RequestContext, request: ClassifyRequest
) -> dict[str, Any]:
    """Labels of each text with their probabilities, most probable first."""
    model, classifier = service.models.classifier(request.model)
    texts = [request.input] if isinstance(request.input, str) else request.input
    check_texts(service.limits, texts, INPUT)
    if request.explain:
        check_explained(service.limits, texts, INPUT)
    sizes, count = approximate_tokens(texts), len(classifier.labels)
    context.model_name, context.num_texts = model.name, len(texts)
    context.num_tokens += sum(sizes)
    reserve_answer(service, context, len(texts) * count)
    rows = await service.run_job(context, ClassifierJob(classifier), texts, sizes)
    call = partial(predictions, classifier, rows, min(request.top_k or count, count))
    answer: dict[str, Any] = {"model": model.name}
    answer["predictions"] = await service.offload_if_large(context, call, len(rows) * count)
    if request.explain:
        calls = [partial(classifier.explain, text) for text in texts]
        explained = await service.run_job(context, CallJob(), calls, sizes)
        answer["explanations"] = [explanation_object(one) for one in explained]
    return answer


def predictions(
    classifier: Classifier, rows: Sequence[Float64Array], top_k: int
) -> list[list[dict[str, Any]]]:
    """The most probable labels of each text, given the probabilities of all labels."""
    return [
        [
            {"label": classifier.labels[i], "score": float(row[i])}
            for i in (-row).argsort(kind="stable")[:top_k].tolist()
        ]
        for row in rows
    ]


def explanation_object(explanation: ClassExplanation) -> dict[str, Any]:
    """A text in NFC, and what speaks for which label in it."""
    parts = [
        {"part": one.part, "label": one.label, "value": one.value, "spans": one.spans}
        for one in explanation.contributions
    ]
    return {"text": explanation.text, "contributions": parts}


ENDPOINTS = (
    Endpoint(
        path="/classify",
        method="POST",
        summary="Labels of texts, and what speaks for them",
        handler=classify,
        request_type=ClassifyRequest,
        response_type=ClassifyAnswer,
    ),
)
