"""/neighbours, /analogy and /similarity: queries of word vectors."""

from functools import partial
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from malmoi.query.analogy import analogy
from malmoi.query.compare import similarity
from malmoi.query.neighbours import Neighbour
from malmoi.serve.http.endpoint import Endpoint, Handler
from malmoi.serve.http.schemas import (
    AnalogyAnswer,
    AnalogyRequest,
    NeighboursAnswer,
    NeighboursRequest,
    SimilarityAnswer,
    SimilarityRequest,
)
from malmoi.serve.routes.openai import embed_input
from malmoi.serve.service.jobs import CallJob, NeighboursJob, WordAnswer, with_explanations
from malmoi.serve.service.request_checks import check_expression, check_k, check_word
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.service import Service
from malmoi.vectors import l2_normalize

QUERY_TOKENS = 64  # a word query takes about as long as a text of so many tokens


async def get_neighbours(
    service: Service, context: RequestContext, request: NeighboursRequest
) -> dict[str, Any]:
    """The nearest words to a word."""
    model, vectors = service.models.vectors(request.model)
    context.model_name = model.name
    check_word(service.limits, request.word, "word")
    job = NeighboursJob(vectors, check_k(service.limits, request.k), request.metric)
    (answer,) = await service.run_job(context, job, [request.word], [QUERY_TOKENS])
    return {"model": model.name, "neighbours": as_json(answer.value), **notes(answer)}


async def get_analogy(
    service: Service, context: RequestContext, request: AnalogyRequest
) -> dict[str, Any]:
    """The words nearest to an expression."""
    model, vectors = service.models.vectors(request.model)
    context.model_name, k = model.name, check_k(service.limits, request.k)
    check_expression(service.limits, request.expression)
    query = partial(analogy, vectors, request.expression, k, method=request.method)
    call = with_explanations(lambda reporter: query(reporter=reporter))
    (answer,) = await service.run_job(context, CallJob(), [call], [QUERY_TOKENS])
    return {"model": model.name, "answers": as_json(answer.value), **notes(answer)}


async def get_similarity(
    service: Service, context: RequestContext, request: SimilarityRequest
) -> dict[str, Any]:
    """The cosine similarity of two words, or of two texts."""
    model = service.models.get(request.model)
    context.model_name = model.name
    if model.vectors is not None:
        check_word(service.limits, request.a, "a")
        check_word(service.limits, request.b, "b")
        query = partial(similarity, model.vectors, request.a, request.b)
        call = with_explanations(lambda reporter: query(reporter=reporter))
        (answer,) = await service.run_job(context, CallJob(), [call], [QUERY_TOKENS])
    else:
        rows = l2_normalize(await embed_input(service, context, model, [request.a, request.b]))
        answer = WordAnswer(float(np.dot(rows[0].astype(np.float64), rows[1])), ())
    return {"model": model.name, "similarity": answer.value, **notes(answer)}


def as_json(neighbours: list[Neighbour]) -> list[dict[str, Any]]:
    """Neighbours as JSON objects."""
    return [{"key": neighbour.key, "score": neighbour.score} for neighbour in neighbours]


def notes(answer: WordAnswer) -> dict[str, Any]:
    """For words without a row: the words that answer for them, and one sentence each."""
    return {
        "read_as": {one.word: one.read_as for one in answer.explanations if one.read_as},
        "notes": [one.note for one in answer.explanations],
    }


METHODS: tuple[Literal["GET", "POST"], ...] = ("GET", "POST")
QUERIES: tuple[tuple[str, str, Handler, type[Struct], type[Struct]], ...] = (
    ("/neighbours", "The nearest words", get_neighbours, NeighboursRequest, NeighboursAnswer),
    ("/analogy", "king - man + woman", get_analogy, AnalogyRequest, AnalogyAnswer),
    ("/similarity", "Cosine similarity", get_similarity, SimilarityRequest, SimilarityAnswer),
)
ENDPOINTS = tuple(
    Endpoint(
        path=path,
        method=method,
        summary=summary,
        handler=handler,
        request_type=request_type,
        response_type=response_type,
    )
    for path, summary, handler, request_type, response_type in QUERIES
    for method in METHODS
)
