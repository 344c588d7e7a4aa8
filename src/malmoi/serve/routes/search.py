"""/search: the texts of an index that fit a query."""

from typing import Any

from malmoi.serve.endpoints import Endpoint
from malmoi.serve.routes.asking import COST, count
from malmoi.serve.schemas import SearchAnswer, SearchRequest
from malmoi.serve.service import Service, Visit
from malmoi.serve.texts import checked
from malmoi.serve.work import OneByOne


async def search(service: Service, visit: Visit, asked: SearchRequest) -> dict[str, Any]:
    """The best texts for a query."""
    model, index = service.models.index(asked.model)
    visit.model, k = model.name, count(service, asked.k)
    checked(service, [asked.query], "query")
    question = [
        lambda: index.search(
            asked.query,
            k,
            where=asked.where or None,
            hybrid=asked.hybrid,
            lexical=asked.lexical,
        )
    ]
    (hits,) = await service.ask(visit, OneByOne(), question, [COST])
    return {
        "model": model.name,
        "hits": [
            {"id": hit.id, "score": hit.score, "text": hit.text, "fields": dict(hit.fields)}
            for hit in hits
        ],
    }


ENDPOINTS = (
    Endpoint(
        path="/search",
        method="POST",
        summary="The texts of an index that fit a query",
        handler=search,
        asks=SearchRequest,
        answers=SearchAnswer,
    ),
)
