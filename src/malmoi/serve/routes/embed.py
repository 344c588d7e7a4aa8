"""/embed: vectors of texts, words or tokens; each request has its own recipe."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.bulk.embed import EmbedSettings, Per
from malmoi.encode.pipeline.activations import Activations, SpanVectors
from malmoi.encode.pooling.recipes import Recipe, requested_recipe
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.schemas import EmbedAnswer, EmbedRequest
from malmoi.serve.service.errors import RequestError
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_checks import check_texts
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.request_texts import (
    check_finite,
    check_not_truncated,
    embed_encodings,
    embed_texts,
    run_encodings,
    tokenize_texts,
)
from malmoi.serve.service.request_tokenizer import Pretokenized, RequestTokenizer
from malmoi.serve.service.service import Service
from malmoi.vectors import l2_normalize

TEXTS = "texts"
RECIPE_FIELDS = (
    "layers",
    "layer_pooling",
    "pool",
    "recipe",
    "weights",
    "scale",
    "include_special_tokens",
)


async def embed(service: Service, context: RequestContext, request: EmbedRequest) -> dict[str, Any]:
    """One vector per text, or one per word or token of each text."""
    model, _ = service.models.encoder(request.model)
    texts = [request.texts] if isinstance(request.texts, str) else request.texts
    checked, tokenizer = check_texts(service.limits, texts, TEXTS), model.tokenizer
    answer: dict[str, Any] = {"model": model.name}
    if tokenizer is None:
        answer |= await embed_without_layers(service, context, model, checked, request)
    else:
        settings = embed_settings(request)
        by_text = settings.per == "text"
        prompt = tokenizer.encoder.prompt_text(settings.prompt) if by_text else ""
        encodings = await tokenize_texts(
            service, context, model, tokenizer, checked, offsets=not by_text, prompt=prompt
        )
        if not request.truncate:
            check_not_truncated(context, tokenizer.max_tokens, TEXTS)
        if by_text:
            recipe = settings.recipe
            output = tokenizer.output(recipe) if recipe else tokenizer.default_output
            vectors = await embed_encodings(service, context, tokenizer, encodings, output)
            answer |= await vectors_answer(service, context, vectors, request)
        else:
            answer |= await embed_spans(service, context, tokenizer, encodings, request)
    return answer | {"num_tokens": context.num_tokens, "truncated": context.reporter.truncated}


async def embed_without_layers(
    service: Service,
    context: RequestContext,
    model: LoadedModel,
    texts: Sequence[Text],
    request: EmbedRequest,
) -> dict[str, Any]:
    """Embed texts with an encoder that is not a transformer."""
    fields = [name for name in (*RECIPE_FIELDS, "prompt") if getattr(request, name) is not None]
    if fields or request.per != "text":
        field = fields[0] if fields else f"vector per {request.per}"
        raise RequestError(f"'{model.name}' is not a transformer: it has no {field}")
    vectors = await embed_texts(service, context, model, texts)
    if not request.truncate:
        check_not_truncated(context, None, TEXTS)
    return await vectors_answer(service, context, vectors, request)


async def vectors_answer(
    service: Service, context: RequestContext, vectors: Float32Array, request: EmbedRequest
) -> dict[str, Any]:
    """The part of the answer with one vector per text."""
    call = partial(normalized, vectors, request)
    vectors = await service.offload_if_large(context, call, vectors.size)
    return {"dim": vectors.shape[1], "embeddings": list(vectors)}


async def embed_spans(
    service: Service,
    context: RequestContext,
    tokenizer: RequestTokenizer,
    encodings: Sequence[Pretokenized],
    request: EmbedRequest,
) -> dict[str, Any]:
    """The part of the answer with one vector per word or token."""
    settings = embed_settings(request)
    recipe = settings.recipe or Recipe()
    output = tokenizer.output(recipe, pooled=False)
    states = await run_encodings(service, context, tokenizer, encodings, output)
    tokenized = tuple(one.tokenized for one in encodings if one.tokenized is not None)
    encoder = tokenizer.encoder
    count, special = encoder.config.num_states, encoder.pools_special_tokens
    activations = Activations(tokenized, tuple(states), output.layers, count, special)
    call = partial(spans_answer, activations, request, settings, recipe)
    return await service.offload_if_large(context, call, sum(state.size for state in states))


def spans_answer(
    activations: Activations, request: EmbedRequest, settings: EmbedSettings, recipe: Recipe
) -> dict[str, Any]:
    """Texts with the vectors of their words or tokens."""
    if settings.per == "word":
        spans = activations.words(recipe, word_pooling=settings.word_pooling)
    else:
        spans = activations.tokens(recipe)
    for one in spans:
        check_finite(one.matrix)
    special = recipe.pools_special_tokens(activations.pools_special_tokens)
    texts = [
        text_spans(text, one, request, special)
        for text, one in zip(activations.texts, spans, strict=True)
    ]
    return {"dim": spans[0].matrix.shape[1], "texts": texts}


def text_spans(
    text: Tokenized, spans: SpanVectors, request: EmbedRequest, pools_special: bool
) -> dict[str, Any]:
    """One text with the vectors of its words or tokens."""
    pooled = np.flatnonzero(~text.is_special | pools_special)
    sequence_ids = text.sequence_ids[text.word_starts if request.per == "word" else pooled]
    name, vectors = (
        ("word" if request.per == "word" else "token"),
        normalized(spans.matrix, request),
    )
    each = zip(spans.keys, spans.offsets.tolist(), sequence_ids.tolist(), vectors, strict=True)
    objects = [
        {name: key, "begin": begin, "end": end, "sequence_id": sequence_id, "vector": vector}
        for key, (begin, end), sequence_id, vector in each
    ]
    pair = {} if text.pair is None else {"pair": text.pair}
    return {"text": text.text, **pair, f"{name}s": objects}


def embed_settings(request: EmbedRequest) -> EmbedSettings:
    """The settings of a request: where its fields get the names of `malmoi.encode`.

    Without any field of a recipe, the recipe is the model's own.
    """
    per: Per = "token" if request.pool == "none" else request.per
    recipe = requested_recipe(
        request.recipe,
        layers=tuple(request.layers) if isinstance(request.layers, list) else request.layers,
        layer_pooling=request.layer_pooling,
        pool=request.pool,
        weights=None if request.weights is None else tuple(request.weights),
        scale=request.scale,
        include_special_tokens=request.include_special_tokens,
    )
    return EmbedSettings(
        recipe=recipe, per=per, word_pooling=request.word_pooling, prompt=request.prompt
    )


def normalized(vectors: Float32Array, request: EmbedRequest) -> Float32Array:
    """Vectors scaled to length 1 if the request wants them so."""
    return l2_normalize(vectors) if request.normalize else vectors


ENDPOINTS = (
    Endpoint(
        path="/embed",
        method="POST",
        summary="Vectors of texts, words or tokens, by a recipe",
        handler=embed,
        request_type=EmbedRequest,
        response_type=EmbedAnswer,
    ),
)
