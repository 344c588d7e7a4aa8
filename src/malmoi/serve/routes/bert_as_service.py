"""/encode and /status of bert-as-service's HTTP server."""

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from malmoi.encode.pooling.recipes import RECIPES
from malmoi.serve.http.endpoint import JSON, Endpoint
from malmoi.serve.http.schemas import EncodeAnswer, EncodeRequest
from malmoi.serve.service.errors import RequestError
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_checks import check_texts
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.request_texts import (
    embed_encodings,
    embed_texts,
    report_pretokenized,
    tokenize_texts,
)
from malmoi.serve.service.request_tokenizer import Pretokenized, RequestTokenizer
from malmoi.serve.service.service import Service

PAIR_SEPARATOR = " ||| "
RECIPE = "bert-as-service"
TEXTS = "texts"


async def encode(
    service: Service, context: RequestContext, request: EncodeRequest
) -> dict[str, Any]:
    """One vector per text: the mean of its tokens in the last layer but one."""
    model, _ = service.models.encoder(request.model)
    tokenizer, tokens = model.tokenizer, None
    if tokenizer is None:
        if request.is_tokenized or request.show_tokens:
            raise RequestError(f"'{model.name}' has no tokens: send texts", field=TEXTS)
        texts = check_texts(service.limits, strings(request), TEXTS)
        vectors = await embed_texts(service, context, model, texts)
    else:
        encodings = await tokenize_request(service, context, model, tokenizer, request)
        output = tokenizer.output(RECIPES[RECIPE])
        vectors = await embed_encodings(service, context, tokenizer, encodings, output)
        if request.show_tokens:
            call = partial(token_strings, tokenizer, encodings)
            tokens = await service.offload_if_large(context, call, context.num_tokens)
    result = list(vectors)
    answer = {"id": request.id, "status": 200, "result": result, "results": result}
    return answer if tokens is None else answer | {"tokens": tokens}


async def tokenize_request(
    service: Service,
    context: RequestContext,
    model: LoadedModel,
    tokenizer: RequestTokenizer,
    request: EncodeRequest,
) -> list[Pretokenized]:
    """The texts of a request as inputs of a model; the client may have tokenized them."""
    if request.is_tokenized:
        lists = [one for one in request.texts if isinstance(one, list)]
        if len(lists) < len(request.texts):
            sentence = "is_tokenized is true, but a text is not a list of tokens"
            raise RequestError(sentence, field=TEXTS)
        call = partial(tokenize_lists, service, tokenizer, lists)
        encodings = await service.offload_if_large(context, call, sum(map(len, lists)))
        report_pretokenized(context, model, encodings)
        return encodings
    split: list[str | list[str]] = [
        text.split(PAIR_SEPARATOR, 1) if PAIR_SEPARATOR in text else text
        for text in strings(request)
    ]
    texts = check_texts(service.limits, split, TEXTS)
    return await tokenize_texts(service, context, model, tokenizer, texts)


def tokenize_lists(
    service: Service, tokenizer: RequestTokenizer, lists: list[list[str]]
) -> list[Pretokenized]:
    """Lists of tokens as inputs of a model."""
    check_texts(service.limits, [" ".join(tokens) for tokens in lists], TEXTS)
    return [tokenizer.from_tokens(tokens) for tokens in lists]


def token_strings(
    tokenizer: RequestTokenizer, encodings: Sequence[Pretokenized]
) -> list[list[str]]:
    """The tokens of each text as strings."""
    return [tokenizer.token_strings(encoding) for encoding in encodings]


def strings(request: EncodeRequest) -> list[str]:
    """The texts of a request that are all strings."""
    texts = [one for one in request.texts if isinstance(one, str)]
    if len(texts) < len(request.texts):
        sentence = "a text is a list of tokens: send is_tokenized with the value true"
        raise RequestError(sentence, field=TEXTS)
    return texts


async def server_status(service: Service, context: RequestContext, request: None) -> dict[str, Any]:
    """The model, its longest text and its pooling."""
    model, _ = service.models.encoder(None)
    return {
        "status": 200,
        "server_version": version("malmoi"),
        "model_dir": model.name,
        "max_seq_len": model.tokenizer.max_tokens if model.tokenizer else None,
        "pooling_layer": [RECIPES[RECIPE].layers],
        "pooling_strategy": "REDUCE_MEAN",
        "num_worker": service.workers,
        "show_tokens_to_client": True,
        "statistic": {"num_total_request": service.metrics.num_requests},
    }


async def client_status(service: Service, context: RequestContext, request: None) -> dict[str, Any]:
    """The id of the request; the server keeps nothing else of a client."""
    return {"status": 200, "identity": context.request_id, "num_pending_request": 0}


ENDPOINTS = (
    Endpoint(
        path="/encode",
        method="POST",
        summary="Embed texts (bert-as-service)",
        handler=encode,
        request_type=EncodeRequest,
        response_type=EncodeAnswer,
        dialect="bert-as-service",
    ),
    Endpoint(
        path="/status/server",
        method="GET",
        summary="State of the server (bert-as-service)",
        handler=server_status,
        response_type=JSON,
        dialect="bert-as-service",
    ),
    Endpoint(
        path="/status/client",
        method="GET",
        summary="State of the client (bert-as-service)",
        handler=client_status,
        response_type=JSON,
        dialect="bert-as-service",
    ),
)
