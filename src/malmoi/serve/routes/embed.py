"""/embed: vectors of texts, words or pieces, with a recipe a request."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.activations import Activations, SpanVectors
from malmoi.encode.bulk.embed import EmbedSettings
from malmoi.encode.pooling.recipes import Recipe, choose_recipe
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.tokenized import Tokenized
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.schemas import EmbedAnswer, EmbedRequest
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_texts import (
    characters,
    check_finite,
    checked,
    note_fragments,
    note_texts,
    refuse_long,
    run_encodings,
    run_states,
    run_texts,
)
from malmoi.serve.service.request_tokenizer import Pretokenized, RequestTokenizer
from malmoi.serve.service.service import RequestContext, Service
from malmoi.vectors import l2_normalize

TEXTS = "texts"
RECIPE_PARTS = ("layers", "mix", "pool", "recipe", "weights", "scale", "special")


async def embed(service: Service, visit: RequestContext, asked: EmbedRequest) -> dict[str, Any]:
    """What was asked of each text."""
    model, _ = service.models.encoder(asked.model)
    texts = checked(service, [asked.texts] if isinstance(asked.texts, str) else asked.texts, TEXTS)
    if model.reader is None:
        return await embed_plainly(service, visit, model, texts, asked)
    reader, wish = model.reader, as_wish(asked)
    encodings = await cut(service, visit, reader, texts, wish)
    truncated = [i for i, one in enumerate(encodings) if reader.is_truncated(one)]
    if not asked.truncate:
        refuse_long(reader, truncated, TEXTS)
    note_texts(service, visit, model, len(texts), truncated)
    await note_fragments(service, visit, reader, encodings, texts)
    answer: dict[str, Any] = {"model": model.name}
    if wish.per == "text":
        ending = reader.ending(wish.recipe) if wish.recipe else reader.own
        rows = await run_encodings(service, visit, reader, encodings, ending)
        rows = await service.aside(visit, partial(scaled, rows, asked), rows.size)
        answer |= {"dim": rows.shape[1], "embeddings": list(rows)}
    else:
        answer |= await embed_parts(service, visit, reader, encodings, asked, wish)
    return answer | {"tokens": visit.tokens, "truncated": truncated}


async def embed_plainly(
    service: Service,
    visit: RequestContext,
    model: LoadedModel,
    texts: Sequence[Text],
    asked: EmbedRequest,
) -> dict[str, Any]:
    """Vectors of an encoder without layers."""
    given = [name for name in (*RECIPE_PARTS, "prompt") if getattr(asked, name) is not None]
    if given or asked.per != "text":
        part = given[0] if given else f"vector per {asked.per}"
        raise ApiError(400, f"'{model.name}' does not read in context: it has no {part}")
    rows = await run_texts(service, visit, model, texts)
    note_texts(service, visit, model, len(texts), [])
    rows = await service.aside(visit, partial(scaled, rows, asked), rows.size)
    return {
        "model": model.name,
        "dim": rows.shape[1],
        "tokens": visit.tokens,
        "truncated": [],
        "embeddings": list(rows),
    }


async def embed_parts(
    service: Service,
    visit: RequestContext,
    reader: RequestTokenizer,
    encodings: Sequence[Pretokenized],
    asked: EmbedRequest,
    wish: EmbedSettings,
) -> dict[str, Any]:
    """Vectors of the words or pieces of each text."""
    recipe = wish.recipe or Recipe()
    ending = reader.ending(recipe, pooled=False)
    states = await run_states(service, visit, reader, encodings, ending)
    pieces = tuple(one.pieces for one in encodings if one.pieces is not None)
    held = Activations(pieces, tuple(states), ending.layers, reader.encoder.config.num_states)
    call = partial(all_parts, held, asked, wish, recipe)
    return await service.aside(visit, call, sum(state.size for state in states))


def all_parts(
    held: Activations, asked: EmbedRequest, wish: EmbedSettings, recipe: Recipe
) -> dict[str, Any]:
    """Texts with the vectors of their words or pieces."""
    per_word = wish.per == "word"
    found = held.words(recipe, word_pooling=wish.word_pooling) if per_word else held.tokens(recipe)
    for parts in found:
        check_finite(parts.matrix)
    return {
        "dim": found[0].matrix.shape[1],
        "texts": [
            as_parts(text, parts, per_word, asked, recipe)
            for text, parts in zip(held.texts, found, strict=True)
        ],
    }


def as_parts(
    text: Tokenized, parts: SpanVectors, per_word: bool, asked: EmbedRequest, recipe: Recipe
) -> dict[str, Any]:
    """A text with the vectors of its words or pieces."""
    kept = np.flatnonzero(~text.is_special | recipe.include_special_tokens)
    which = text.sequence_ids[text.word_starts] if per_word else text.sequence_ids[kept]
    name, rows = ("word" if per_word else "token"), scaled(parts.matrix, asked)
    each = zip(parts.keys, parts.offsets.tolist(), which.tolist(), rows, strict=True)
    found = [
        {name: key, "begin": begin, "end": end, "part": part, "vector": row}
        for key, (begin, end), part, row in each
    ]
    pair = {} if text.pair is None else {"pair": text.pair}
    return {"text": text.text, **pair, f"{name}s": found}


def as_wish(asked: EmbedRequest) -> EmbedSettings:
    """The parts of a recipe together; without any, the vectors are the model's own."""
    per = "token" if asked.pool == "none" else asked.per
    recipe = None
    if any(getattr(asked, name) is not None for name in RECIPE_PARTS):
        layers = tuple(asked.layers) if isinstance(asked.layers, list) else asked.layers
        recipe = choose_recipe(
            asked.recipe, layers=layers, layer_pooling=asked.mix, pool=asked.pool
        )
        changes: dict[str, Any] = {"scale": asked.scale, "include_special_tokens": asked.special}
        changes["weights"] = None if asked.weights is None else tuple(asked.weights)
        recipe = replace(recipe, **{k: v for k, v in changes.items() if v is not None})
    return EmbedSettings(recipe=recipe, per=per, word_pooling=asked.join, prompt=asked.prompt)


async def cut(
    service: Service,
    visit: RequestContext,
    reader: RequestTokenizer,
    texts: Sequence[Text],
    wish: EmbedSettings,
) -> list[Pretokenized]:
    """Texts cut as the wish needs them."""
    by_text = wish.per == "text"
    prompt = reader.encoder.prompt_text(wish.prompt) if by_text else ""
    call = partial(reader.cut, texts, offsets=not by_text, prompt=prompt)
    return await service.aside(visit, call, characters(texts))


def scaled(rows: Float32Array, asked: EmbedRequest) -> Float32Array:
    """Vectors as they are, or of length 1."""
    return l2_normalize(rows) if asked.normalize else rows


ENDPOINTS = (
    Endpoint(
        path="/embed",
        method="POST",
        summary="Vectors of texts, words or pieces, with a recipe",
        handler=embed,
        asks=EmbedRequest,
        answers=EmbedAnswer,
    ),
)
