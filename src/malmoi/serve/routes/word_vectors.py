"""/neighbours, /analogy and /similarity: what can be asked of words and texts."""

from functools import partial
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from malmoi.query.analogy import analogy
from malmoi.query.compare import similarity
from malmoi.query.neighbours import Neighbour
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.endpoint import Endpoint, Handler
from malmoi.serve.http.json_checks import check_expression, check_word
from malmoi.serve.http.schemas import (
    AnalogyAnswer,
    AnalogyRequest,
    NeighboursAnswer,
    NeighboursRequest,
    SimilarityAnswer,
    SimilarityRequest,
)
from malmoi.serve.routes.openai import vectors
from malmoi.serve.service.jobs import CallJob, NeighboursJob, WordAnswer, explained
from malmoi.serve.service.service import RequestContext, Service
from malmoi.vectors import l2_normalize

COST = 64  # pieces of text that take about as long as a question to vectors


async def ask_neighbours(
    service: Service, visit: RequestContext, asked: NeighboursRequest
) -> dict[str, Any]:
    """The nearest words to a word."""
    model, words = service.models.vectors(asked.model)
    visit.model = model.name
    check_word(service.limits, asked.word, "word")
    work = NeighboursJob(words, count(service, asked.k), asked.metric)
    (answer,) = await service.ask(visit, work, [asked.word], [COST])
    return {"model": model.name, "neighbours": scored(answer.found), **as_read(answer)}


async def ask_analogy(
    service: Service, visit: RequestContext, asked: AnalogyRequest
) -> dict[str, Any]:
    """The words that an expression comes closest to."""
    model, words = service.models.vectors(asked.model)
    visit.model, k = model.name, count(service, asked.k)
    check_expression(service.limits, asked.expression)
    ask = partial(analogy, words, asked.expression, k, method=asked.method)
    question = explained(lambda reporter: ask(reporter=reporter))
    (answer,) = await service.ask(visit, CallJob(), [question], [COST])
    return {"model": model.name, "answers": scored(answer.found), **as_read(answer)}


async def ask_similarity(
    service: Service, visit: RequestContext, asked: SimilarityRequest
) -> dict[str, Any]:
    """The cosine between two words, or between two texts."""
    model = service.models(asked.model)
    visit.model = model.name
    if model.vectors is not None:
        words = model.vectors
        check_word(service.limits, asked.one, "one")
        check_word(service.limits, asked.other, "other")
        ask = partial(similarity, words, asked.one, asked.other)
        question = explained(lambda reporter: ask(reporter=reporter))
        (answer,) = await service.ask(visit, CallJob(), [question], [COST])
    else:
        rows = l2_normalize(await vectors(service, visit, model, [asked.one, asked.other]))
        answer = WordAnswer(float(np.dot(rows[0].astype(np.float64), rows[1])), ())
    return {"model": model.name, "similarity": answer.found, **as_read(answer)}


def count(service: Service, k: int) -> int:
    """How many answers are asked for, unless they are too many."""
    if k > service.limits.answers:
        sentence = f"{k:,} answers are too many: {service.limits.answers:,} may be asked for"
        raise ApiError(400, sentence, parameter="k")
    return k


def scored(found: list[Neighbour]) -> list[dict[str, Any]]:
    """Neighbours as JSON has them."""
    return [{"key": one.key, "score": one.score} for one in found]


def as_read(answer: WordAnswer) -> dict[str, Any]:
    """Which words were read as others, and a sentence on each that has no row of its own."""
    return {
        "read_as": {one.word: one.read_as for one in answer.readings if one.read_as},
        "notes": [one.note for one in answer.readings],
    }


METHODS: tuple[Literal["GET", "POST"], ...] = ("GET", "POST")
QUESTIONS: tuple[tuple[str, str, Handler, type[Struct], type[Struct]], ...] = (
    ("/neighbours", "The nearest words", ask_neighbours, NeighboursRequest, NeighboursAnswer),
    ("/analogy", "king - man + woman", ask_analogy, AnalogyRequest, AnalogyAnswer),
    ("/similarity", "How similar two are", ask_similarity, SimilarityRequest, SimilarityAnswer),
)
ENDPOINTS = tuple(
    Endpoint(path=path, method=method, summary=summary, handler=handler, asks=asks, answers=answers)
    for path, summary, handler, asks, answers in QUESTIONS
    for method in METHODS
)
