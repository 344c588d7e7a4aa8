"""What is answered at each path."""

from functools import cache

from malmoi.serve.http.endpoint import JSON, Endpoint, Page
from malmoi.serve.http.openapi import describe
from malmoi.serve.http.response import as_json
from malmoi.serve.routes import bert_as_service, embed, openai, pages, search, tokenize
from malmoi.serve.routes import health as state
from malmoi.serve.routes import word_vectors as asking
from malmoi.serve.service.service import RequestContext, Service


@cache
def document() -> bytes:
    """The OpenAPI document of all that is documented."""
    return as_json(describe(tuple(one for one in ENDPOINTS if one.documented)))


async def openapi(service: Service, visit: RequestContext, asked: None) -> Page:
    """This document."""
    return Page(document(), JSON)


ENDPOINTS: tuple[Endpoint, ...] = (
    *openai.ENDPOINTS,
    *embed.ENDPOINTS,
    *bert_as_service.ENDPOINTS,
    *tokenize.ENDPOINTS,
    *asking.ENDPOINTS,
    *search.ENDPOINTS,
    *state.ENDPOINTS,
    *pages.ENDPOINTS,
    Endpoint(
        path="/openapi.json",
        method="GET",
        summary="This document",
        handler=openapi,
        answers=JSON,
        free=True,
    ),
)
