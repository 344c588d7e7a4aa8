"""/v1/embeddings and /v1/models of OpenAI's API."""

import base64
from functools import partial
from typing import Any

from malmoi.arrays import Float32Array
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.schemas import EmbeddingsAnswer, EmbeddingsRequest, OpenAIModel, OpenAIModels
from malmoi.serve.service.errors import RequestError
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_checks import check_num_texts, check_texts
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.request_texts import (
    check_not_truncated,
    embed_encodings,
    embed_texts,
    report_pretokenized,
    tokenize_texts,
)
from malmoi.serve.service.request_tokenizer import Pretokenized, RequestTokenizer
from malmoi.serve.service.service import Service
from malmoi.vectors import l2_normalize

INPUT = "input"
TOKEN_IDS_NOT_ALLOWED = (
    "the input has token ids, which are valid only for the tokenizer that made them: send"
    " texts (LangChain's OpenAIEmbeddings does with check_embedding_ctx_length=False), or start"
    " the server with --allow-token-ids if the ids are those of the served model"
)
EmbeddingsInput = str | list[str | int | list[int]]


async def create_embeddings(
    service: Service, context: RequestContext, request: EmbeddingsRequest
) -> dict[str, Any]:
    """One vector per text."""
    model, _ = service.models.encoder(request.model)
    if request.dimensions is not None and request.dimensions > model.dim:
        raise RequestError(
            f"dimensions is {request.dimensions}, but '{model.name}' has {model.dim}",
            field="dimensions",
        )
    vectors = await embed_input(service, context, model, request.input)
    call = partial(embedding_objects, vectors, request)
    data = await service.offload_if_large(context, call, vectors.size)
    usage = {"prompt_tokens": context.num_tokens, "total_tokens": context.num_tokens}
    return {"object": "list", "data": data, "model": model.name, "usage": usage}


def embedding_objects(vectors: Float32Array, request: EmbeddingsRequest) -> list[dict[str, Any]]:
    """Vectors as the embedding objects of OpenAI's API."""
    if request.dimensions is not None:
        vectors = l2_normalize(vectors[:, : request.dimensions])
    is_base64 = request.encoding_format == "base64"
    embeddings = to_base64(vectors) if is_base64 else list(vectors)
    return [
        {"object": "embedding", "index": index, "embedding": embedding}
        for index, embedding in enumerate(embeddings)
    ]


async def embed_input(
    service: Service, context: RequestContext, model: LoadedModel, input_: EmbeddingsInput
) -> Float32Array:
    """Embed texts or token ids, [texts, dim]."""
    texts, token_ids = texts_or_token_ids(service, input_)
    tokenizer = model.tokenizer
    if tokenizer is None:
        if token_ids:
            raise RequestError(f"'{model.name}' has no token ids: send texts", field=INPUT)
        checked = check_texts(service.limits, texts, INPUT)
        vectors = await embed_texts(service, context, model, checked)
        if not service.truncate:
            check_not_truncated(context, None, INPUT)
        return vectors
    if token_ids:
        call = partial(tokenize_ids, tokenizer, token_ids)
        encodings = await service.offload_if_large(context, call, sum(map(len, token_ids)))
        report_pretokenized(context, model, encodings)
    else:
        checked = check_texts(service.limits, texts, INPUT)
        prompt = tokenizer.encoder.prompt_text(None)
        encodings = await tokenize_texts(service, context, model, tokenizer, checked, prompt=prompt)
    if not service.truncate:
        check_not_truncated(context, tokenizer.max_tokens, INPUT)
    output = tokenizer.default_output
    return await embed_encodings(service, context, tokenizer, encodings, output)


def tokenize_ids(tokenizer: RequestTokenizer, token_ids: list[list[int]]) -> list[Pretokenized]:
    """Lists of token ids as inputs of a model."""
    return [tokenizer.from_token_ids(ids) for ids in token_ids]


def texts_or_token_ids(
    service: Service, input_: EmbeddingsInput
) -> tuple[list[str | list[str]], list[list[int]]]:
    """The texts, or the lists of token ids, of an input; the other of the two is empty.

    Token ids of another tokenizer give meaningless vectors, so the server must allow them.
    """
    items: list[Any] = [input_] if isinstance(input_, str) else input_
    if items and not isinstance(items[0], str) and not service.allow_token_ids:
        raise RequestError(TOKEN_IDS_NOT_ALLOWED, code="token_ids_not_allowed", field=INPUT)
    if items and isinstance(items[0], int):
        items = [items]
    check_num_texts(service.limits, len(items), INPUT)
    if not items or any(item in ("", []) for item in items):
        raise RequestError("the input is empty: send at least one text", field=INPUT)
    if all(isinstance(item, str) for item in items):
        return items, []
    if all(isinstance(item, list) and all(isinstance(one, int) for one in item) for item in items):
        return [], items
    raise RequestError("the input mixes texts and token ids: send one kind", field=INPUT)


def to_base64(vectors: Float32Array) -> list[str]:
    """Rows as little-endian float32 in base64."""
    return [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]


async def list_models(service: Service, context: RequestContext, request: None) -> dict[str, Any]:
    """The models that embed texts."""
    data = [model_object(model) for model in service.models if model.encoder is not None]
    return {"object": "list", "data": data}


async def retrieve_model(
    service: Service, context: RequestContext, request: None
) -> dict[str, Any]:
    """One model that embeds texts."""
    model = service.models.get(context.path.removeprefix("/v1/models/"))
    return model_object(service.models.encoder(model.name)[0])


def model_object(model: LoadedModel) -> dict[str, Any]:
    """A model as the object of OpenAI's API."""
    return {"id": model.name, "object": "model", "created": 0, "owned_by": "malmoi"}


ENDPOINTS = (
    Endpoint(
        path="/v1/embeddings",
        method="POST",
        summary="Embed texts (OpenAI)",
        handler=create_embeddings,
        request_type=EmbeddingsRequest,
        response_type=EmbeddingsAnswer,
        dialect="openai",
    ),
    Endpoint(
        path="/v1/models",
        method="GET",
        summary="Models that embed texts (OpenAI)",
        handler=list_models,
        response_type=OpenAIModels,
        dialect="openai",
    ),
    Endpoint(
        path="/v1/models/{name:path}",
        method="GET",
        summary="One model that embeds texts (OpenAI)",
        handler=retrieve_model,
        response_type=OpenAIModel,
        dialect="openai",
    ),
)
