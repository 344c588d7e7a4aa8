"""The endpoints of the server, one module per group of paths."""

from functools import cache

from malmoi.serve.http.endpoint import JSON, Endpoint, Page
from malmoi.serve.http.openapi import openapi_document
from malmoi.serve.http.response import dump_json
from malmoi.serve.routes import (
    bert_as_service,
    classify,
    embed,
    health,
    openai,
    pages,
    rerank,
    search,
    tokenize,
    word_vectors,
)
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.service import Service


@cache
def openapi_json() -> bytes:
    """The OpenAPI document of all documented endpoints."""
    return dump_json(openapi_document(tuple(one for one in ENDPOINTS if one.documented)))


async def get_openapi(service: Service, context: RequestContext, request: None) -> Page:
    """This document."""
    return Page(openapi_json(), JSON)


ENDPOINTS: tuple[Endpoint, ...] = (
    *openai.ENDPOINTS,
    *embed.ENDPOINTS,
    *bert_as_service.ENDPOINTS,
    *tokenize.ENDPOINTS,
    *word_vectors.ENDPOINTS,
    *search.ENDPOINTS,
    *rerank.ENDPOINTS,
    *classify.ENDPOINTS,
    *health.ENDPOINTS,
    *pages.ENDPOINTS,
    Endpoint(
        path="/openapi.json",
        method="GET",
        summary="This document",
        handler=get_openapi,
        response_type=JSON,
        public=True,
    ),
)
