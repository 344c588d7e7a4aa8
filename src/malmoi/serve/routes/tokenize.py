"""/tokenize: texts as the tokens of a transformer."""

from functools import partial
from typing import Any

from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.schemas import TokenizeAnswer, TokenizeRequest
from malmoi.serve.service.request_checks import check_texts
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.request_texts import num_characters
from malmoi.serve.service.service import Service


async def tokenize(
    service: Service, context: RequestContext, request: TokenizeRequest
) -> dict[str, Any]:
    """Tokens, ids, token type ids, word ids and offsets of each text."""
    model, tokenizer = service.models.transformer(request.model)
    texts = [request.texts] if isinstance(request.texts, str) else request.texts
    checked = check_texts(service.limits, texts, "texts")
    call = partial(tokenizer.tokenize, checked, offsets=True)
    encodings = await service.offload_if_large(context, call, num_characters(checked))
    tokenized = [one.tokenized for one in encodings if one.tokenized is not None]
    context.model_name, context.num_texts = model.name, len(tokenized)
    context.num_tokens = sum(map(len, tokenized))
    answers = [
        {
            "text": one.text,
            "pair": one.pair,
            "tokens": one.tokens,
            "ids": one.ids,
            "token_type_ids": one.token_type_ids,
            "word_ids": one.word_ids,
            "offsets": one.offsets,
            "truncated": one.truncated,
        }
        for one in tokenized
    ]
    return {"model": model.name, "texts": answers}


ENDPOINTS = (
    Endpoint(
        path="/tokenize",
        method="POST",
        summary="Tokens of texts",
        handler=tokenize,
        request_type=TokenizeRequest,
        response_type=TokenizeAnswer,
    ),
)
