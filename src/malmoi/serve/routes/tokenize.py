"""/tokenize: texts as a model sees them."""

from functools import partial
from typing import Any

from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.schemas import TokenizeAnswer, TokenizeRequest
from malmoi.serve.service.request_texts import characters, checked
from malmoi.serve.service.service import RequestContext, Service


async def tokenize(
    service: Service, visit: RequestContext, asked: TokenizeRequest
) -> dict[str, Any]:
    """Pieces, ids, segments, words and places."""
    model, reader = service.models.reader(asked.model)
    given = [asked.texts] if isinstance(asked.texts, str) else asked.texts
    texts = checked(service, given, "texts")
    call = partial(reader.cut, texts, offsets=True)
    cut = await service.aside(visit, call, characters(texts))
    pieces = [one.pieces for one in cut if one.pieces is not None]
    visit.model, visit.texts, visit.tokens = model.name, len(pieces), sum(map(len, pieces))
    found = [
        {
            "text": one.text,
            "pair": one.pair,
            "pieces": one.tokens,
            "ids": one.ids,
            "segments": one.token_type_ids,
            "words": one.word_ids,
            "offsets": one.offsets,
            "truncated": one.truncated,
        }
        for one in pieces
    ]
    return {"model": model.name, "texts": found}


ENDPOINTS = (
    Endpoint(
        path="/tokenize",
        method="POST",
        summary="Texts as a model sees them",
        handler=tokenize,
        asks=TokenizeRequest,
        answers=TokenizeAnswer,
    ),
)
