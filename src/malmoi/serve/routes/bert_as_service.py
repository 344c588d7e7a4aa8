"""/encode and /status, as the HTTP server of bert-as-service has them."""

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from malmoi.encode.pooling.recipes import RECIPES
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.schemas import EncodeAnswer, EncodeRequest
from malmoi.serve.service.request_texts import (
    characters,
    checked,
    note_fragments,
    note_texts,
    run_encodings,
    run_texts,
)
from malmoi.serve.service.request_tokenizer import Pretokenized, RequestTokenizer
from malmoi.serve.service.service import RequestContext, Service

PAIR = " ||| "  # between the two texts of a pair
RECIPE = "bert-as-service"
TEXTS = "texts"


async def encode(service: Service, visit: RequestContext, asked: EncodeRequest) -> dict[str, Any]:
    """A vector a text: the last layer but one, the mean of its pieces."""
    model, _ = service.models.encoder(asked.model)
    tokens: list[list[str]] | None = None
    if model.reader is None:
        if asked.is_tokenized or asked.show_tokens:
            raise ApiError(400, f"'{model.name}' knows no tokens: send texts", parameter=TEXTS)
        texts = checked(service, strings(asked), TEXTS)
        rows = await run_texts(service, visit, model, texts)
        note_texts(service, visit, model, len(texts), [])
    else:
        reader = model.reader
        encodings = await cut(service, visit, reader, asked)
        truncated = [i for i, one in enumerate(encodings) if reader.is_truncated(one)]
        note_texts(service, visit, model, len(encodings), truncated)
        if not asked.is_tokenized:
            await note_fragments(service, visit, reader, encodings, strings(asked))
        ending = reader.ending(RECIPES[RECIPE])
        rows = await run_encodings(service, visit, reader, encodings, ending)
        if asked.show_tokens:
            call = partial(names, reader, encodings)
            tokens = await service.aside(visit, call, visit.tokens)
    result = list(rows)
    answer = {"id": asked.id, "status": 200, "result": result, "results": result}
    return answer if tokens is None else answer | {"tokens": tokens}


async def cut(
    service: Service, visit: RequestContext, reader: RequestTokenizer, asked: EncodeRequest
) -> list[Pretokenized]:
    """Texts as a model sees them; those that are cut already are taken as they are."""
    if asked.is_tokenized:
        lists = [one for one in asked.texts if isinstance(one, list)]
        if len(lists) < len(asked.texts):
            sentence = "is_tokenized is true, but a text is no list of tokens"
            raise ApiError(400, sentence, parameter=TEXTS)
        call = partial(cut_lists, service, reader, lists)
        return await service.aside(visit, call, sum(map(len, lists)))
    split: list[str | list[str]] = [
        text.split(PAIR, 1) if PAIR in text else text for text in strings(asked)
    ]
    texts = checked(service, split, TEXTS)
    return await service.aside(visit, lambda: reader.cut(texts), characters(texts))


def cut_lists(
    service: Service, reader: RequestTokenizer, lists: list[list[str]]
) -> list[Pretokenized]:
    """Lists of tokens as a model sees them."""
    checked(service, [" ".join(pieces) for pieces in lists], TEXTS)
    return [reader.cut_pieces(pieces) for pieces in lists]


def names(reader: RequestTokenizer, encodings: Sequence[Pretokenized]) -> list[list[str]]:
    """The tokens of each text, by name."""
    name = reader.encoder.tokenizer.backend.id_to_token
    return [[name(number) for number in one.ids] for one in encodings]


def strings(asked: EncodeRequest) -> list[str]:
    """Texts that are nothing but texts."""
    found = [one for one in asked.texts if isinstance(one, str)]
    if len(found) < len(asked.texts):
        sentence = "a text is a list of tokens: say so with is_tokenized"
        raise ApiError(400, sentence, parameter=TEXTS)
    return found


async def server_status(service: Service, visit: RequestContext, asked: None) -> dict[str, Any]:
    """What its clients look at: which model, how long a text may be, how it is pooled."""
    model, _ = service.models.encoder(None)
    longest = model.reader.encoder.tokenizer.max_length if model.reader else None
    requests = sum(service.measures.requests.values())
    return {
        "status": 200,
        "server_version": version("malmoi"),
        "model_dir": model.name,
        "max_seq_len": longest,
        "pooling_layer": [RECIPES[RECIPE].layers],
        "pooling_strategy": "REDUCE_MEAN",
        "num_worker": service.workers,
        "show_tokens_to_client": True,
        "statistic": {"num_total_request": requests},
    }


async def client_status(service: Service, visit: RequestContext, asked: None) -> dict[str, Any]:
    """What is known of whoever asks, which is nothing that lasts."""
    return {"status": 200, "identity": visit.identity, "num_pending_request": 0}


ENDPOINTS = (
    Endpoint(
        path="/encode",
        method="POST",
        summary="Vectors of texts, as bert-as-service's",
        handler=encode,
        asks=EncodeRequest,
        answers=EncodeAnswer,
        dialect="bert-as-service",
    ),
    Endpoint(
        path="/status/server",
        method="GET",
        summary="The server, as bert-as-service's",
        handler=server_status,
        answers="application/json",
        dialect="bert-as-service",
    ),
    Endpoint(
        path="/status/client",
        method="GET",
        summary="The client, as bert-as-service's",
        handler=client_status,
        answers="application/json",
        dialect="bert-as-service",
    ),
)
