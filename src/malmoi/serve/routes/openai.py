"""/v1/embeddings and /v1/models, as OpenAI has them."""

import base64
from typing import Any

import numpy as np

from malmoi.encode.pooling import unit_length
from malmoi.serve.endpoints import Endpoint
from malmoi.serve.models import Served
from malmoi.serve.refusing import Refused
from malmoi.serve.schemas import EmbeddingsAnswer, EmbeddingsRequest, OpenaiModel, OpenaiModels
from malmoi.serve.service import Service, Visit
from malmoi.serve.texts import (
    characters,
    checked,
    note_fragments,
    note_texts,
    refuse_long,
    run_encodings,
    run_texts,
)
from malmoi.vectors import Matrix

INPUT = "input"


async def embeddings(service: Service, visit: Visit, asked: EmbeddingsRequest) -> dict[str, Any]:
    """A vector a text."""
    model, _ = service.models.encoder(asked.model)
    if asked.dimensions is not None and asked.dimensions > model.dim:
        sentence = (
            f"{asked.dimensions} dimensions are asked for, but '{model.name}' has {model.dim}"
        )
        raise Refused(400, sentence, parameter="dimensions")
    rows = await vectors(service, visit, model, asked.input)
    if asked.dimensions is not None:
        rows = unit_length(rows[:, : asked.dimensions])
    written = in_base64(rows) if asked.encoding_format == "base64" else list(rows)
    data = [
        {"object": "embedding", "index": index, "embedding": row}
        for index, row in enumerate(written)
    ]
    usage = {"prompt_tokens": visit.tokens, "total_tokens": visit.tokens}
    return {"object": "list", "data": data, "model": model.name, "usage": usage}


async def vectors(
    service: Service, visit: Visit, model: Served, given: str | list[str | int | list[int]]
) -> Matrix:
    """The vectors of what was given, be it texts or ids of tokens, [texts, dim]."""
    texts, ids = texts_or_ids(given)
    reader = model.reader
    if reader is None:
        if ids is not None:
            sentence = f"'{model.name}' knows no ids of tokens: send texts"
            raise Refused(400, sentence, parameter=INPUT)
        found = checked(service, texts or [], INPUT)
        rows = await run_texts(service, visit, model, found)
        note_texts(service, visit, model, len(found), [])
        return rows
    if ids is not None:
        if len(ids) > service.limits.texts:
            checked(service, [""] * len(ids), INPUT)  # says so
        encodings: list[Any] = [reader.cut_ids(one) for one in ids]
    else:
        found = checked(service, texts or [], INPUT)
        prompt = reader.encoder.prompt(None)
        size = characters(found)
        encodings = await service.aside(size, lambda: reader.cut(found, prompt=prompt))
        await note_fragments(service, visit, reader, encodings, found)
    truncated = [i for i, one in enumerate(encodings) if reader.is_truncated(one)]
    if not service.truncate:
        refuse_long(reader, truncated, INPUT)
    note_texts(service, visit, model, len(encodings), truncated)
    return np.stack(await run_encodings(service, visit, reader, encodings, reader.own))


def texts_or_ids(
    given: str | list[str | int | list[int]],
) -> tuple[list[str | list[str]] | None, list[list[int]] | None]:
    """Which of the four it is that was given; the other of the two is `None`."""
    items = [given] if isinstance(given, str) else given
    if not items or any(item in ("", []) for item in items):
        raise Refused(400, "the input is empty: send at least one text", parameter=INPUT)
    kinds = {type(item) for item in items}
    if kinds == {str}:
        return items, None  # type: ignore[return-value]
    if kinds == {int}:
        return None, [items]  # type: ignore[list-item]
    if kinds == {list}:
        return None, items  # type: ignore[return-value]
    raise Refused(400, "the input mixes texts and ids of tokens: send one kind", parameter=INPUT)


def in_base64(rows: Matrix) -> list[str]:
    """Rows as little-endian float32 in base64."""
    return [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in rows]


async def models(service: Service, visit: Visit, asked: None) -> dict[str, Any]:
    """The models that embed texts."""
    data = [as_model(model) for model in service.models if model.encoder is not None]
    return {"object": "list", "data": data}


async def one_model(service: Service, visit: Visit, asked: None) -> dict[str, Any]:
    """One of them."""
    model = service.models(visit.path.removeprefix("/v1/models/"))
    return as_model(service.models.encoder(model.name)[0])


def as_model(model: Served) -> dict[str, Any]:
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
        answers=OpenaiModels,
        dialect="openai",
    ),
    Endpoint(
        path="/v1/models/{name:path}",
        method="GET",
        summary="A model that embeds texts, as OpenAI's",
        handler=one_model,
        answers=OpenaiModel,
        dialect="openai",
    ),
)
