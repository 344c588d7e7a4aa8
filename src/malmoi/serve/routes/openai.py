"""/v1/embeddings and /v1/models, as OpenAI has them."""

import base64
from functools import partial
from typing import Any

from malmoi.arrays import Float32Array
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.schemas import EmbeddingsAnswer, EmbeddingsRequest, OpenAIModel, OpenAIModels
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_texts import (
    characters,
    check_count,
    checked,
    note_fragments,
    note_texts,
    refuse_long,
    run_encodings,
    run_texts,
)
from malmoi.serve.service.request_tokenizer import Pretokenized, RequestTokenizer
from malmoi.serve.service.service import RequestContext, Service
from malmoi.vectors import l2_normalize

INPUT = "input"
NO_IDS = (
    "the input is ids of tokens, which mean something only to the tokenizer that made them: send"
    " texts (LangChain's OpenAIEmbeddings does with check_embedding_ctx_length=False), or start"
    " the server with --allow-token-ids if they are ids of the served model"
)


async def embeddings(
    service: Service, visit: RequestContext, asked: EmbeddingsRequest
) -> dict[str, Any]:
    """A vector a text."""
    model, _ = service.models.encoder(asked.model)
    if asked.dimensions is not None and asked.dimensions > model.dim:
        sentence = (
            f"{asked.dimensions} dimensions are asked for, but '{model.name}' has {model.dim}"
        )
        raise ApiError(400, sentence, parameter="dimensions")
    rows = await vectors(service, visit, model, asked.input)
    data = await service.aside(visit, partial(as_data, rows, asked), rows.size)
    usage = {"prompt_tokens": visit.tokens, "total_tokens": visit.tokens}
    return {"object": "list", "data": data, "model": model.name, "usage": usage}


def as_data(rows: Float32Array, asked: EmbeddingsRequest) -> list[dict[str, Any]]:
    """Vectors as OpenAI lists them."""
    if asked.dimensions is not None:
        rows = l2_normalize(rows[:, : asked.dimensions])
    written = in_base64(rows) if asked.encoding_format == "base64" else list(rows)
    return [
        {"object": "embedding", "index": index, "embedding": row}
        for index, row in enumerate(written)
    ]


async def vectors(
    service: Service,
    visit: RequestContext,
    model: LoadedModel,
    given: str | list[str | int | list[int]],
) -> Float32Array:
    """The vectors of what was given, be it texts or ids of tokens, [texts, dim]."""
    texts, ids = texts_or_ids(service, given)
    reader = model.reader
    if reader is None:
        if ids:
            sentence = f"'{model.name}' knows no ids of tokens: send texts"
            raise ApiError(400, sentence, parameter=INPUT)
        found = checked(service, texts, INPUT)
        rows = await run_texts(service, visit, model, found)
        note_texts(service, visit, model, len(found), [])
        return rows
    if ids:
        call = partial(cut_ids, reader, ids)
        encodings = await service.aside(visit, call, sum(map(len, ids)))
    else:
        found = checked(service, texts, INPUT)
        call = partial(reader.cut, found, prompt=reader.encoder.prompt_text(None))
        encodings = await service.aside(visit, call, characters(found))
        await note_fragments(service, visit, reader, encodings, found)
    truncated = [i for i, one in enumerate(encodings) if reader.is_truncated(one)]
    if not service.truncate:
        refuse_long(reader, truncated, INPUT)
    note_texts(service, visit, model, len(encodings), truncated)
    return await run_encodings(service, visit, reader, encodings, reader.own)


def cut_ids(reader: RequestTokenizer, ids: list[list[int]]) -> list[Pretokenized]:
    """Ids of tokens as a model sees them."""
    return [reader.cut_ids(one) for one in ids]


def texts_or_ids(
    service: Service, given: str | list[str | int | list[int]]
) -> tuple[list[str | list[str]], list[list[int]]]:
    """Texts, or lists of ids: whichever was given; the other of the two is empty.

    Ids of another tokenizer give vectors that mean nothing, so they must be allowed.
    """
    items: list[Any] = [given] if isinstance(given, str) else given
    if items and not isinstance(items[0], str) and not service.token_ids:
        raise ApiError(400, NO_IDS, code="token_ids_not_allowed", parameter=INPUT)
    if items and isinstance(items[0], int):
        items = [items]
    check_count(service, len(items), INPUT)
    if not items or any(item in ("", []) for item in items):
        raise ApiError(400, "the input is empty: send at least one text", parameter=INPUT)
    if all(isinstance(item, str) for item in items):
        return items, []
    if all(isinstance(item, list) and all(isinstance(one, int) for one in item) for item in items):
        return [], items
    raise ApiError(400, "the input mixes texts and ids of tokens: send one kind", parameter=INPUT)


def in_base64(rows: Float32Array) -> list[str]:
    """Rows as little-endian float32 in base64."""
    return [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in rows]


async def models(service: Service, visit: RequestContext, asked: None) -> dict[str, Any]:
    """The models that embed texts."""
    data = [as_model(model) for model in service.models if model.encoder is not None]
    return {"object": "list", "data": data}


async def one_model(service: Service, visit: RequestContext, asked: None) -> dict[str, Any]:
    """One of them."""
    model = service.models(visit.path.removeprefix("/v1/models/"))
    return as_model(service.models.encoder(model.name)[0])


def as_model(model: LoadedModel) -> dict[str, Any]:
    """A model as OpenAI lists it."""
    return {"id": model.name, "object": "model", "created": 0, "owned_by": "malmoi"}


ENDPOINTS = (
    Endpoint(
        path="/v1/embeddings",
        method="POST",
        summary="Vectors of texts, as OpenAI's",
        handler=embeddings,
        asks=EmbeddingsRequest,
        answers=EmbeddingsAnswer,
        dialect="openai",
    ),
    Endpoint(
        path="/v1/models",
        method="GET",
        summary="Models that embed texts, as OpenAI's",
        handler=models,
        answers=OpenAIModels,
        dialect="openai",
    ),
    Endpoint(
        path="/v1/models/{name:path}",
        method="GET",
        summary="A model that embeds texts, as OpenAI's",
        handler=one_model,
        answers=OpenAIModel,
        dialect="openai",
    ),
)
