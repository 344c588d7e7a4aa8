"""The texts of a request: within limits, cut, embedded, and what befell them told."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.tokens.fragments import is_fragmented
from malmoi.encode.tokens.inputs import Text
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.service.jobs import EncoderJob, OutputSpec, TokenizedItem
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_tokenizer import RequestTokenizer
from malmoi.serve.service.service import RequestContext, Service

BYTES = 16  # of a number: four of its vector, and about twelve as JSON
PER_CHARACTER = 4  # characters are about a piece, where nobody has cut them


def checked(service: Service, texts: Sequence[str | list[str]], parameter: str) -> list[Text]:
    """Texts and pairs that are neither too many nor too long."""
    limits = service.limits
    check_count(service, len(texts), parameter)
    found: list[Text] = []
    for place, text in enumerate(texts):
        both = (text,) if isinstance(text, str) else (text[0], text[1])
        longest = max(map(len, both))
        if longest > limits.characters:
            sentence = f"text {place} has {longest:,} characters: {limits.characters:,} may be sent"
            raise ApiError(400, sentence, code="text_too_long", parameter=parameter)
        found.append(both[0] if len(both) == 1 else both)
    return found


def check_count(service: Service, count: int, parameter: str) -> None:
    """Refuse more texts than may be sent."""
    if count > service.limits.texts:
        sentence = f"{count:,} texts at once are too many: {service.limits.texts:,} may be sent"
        raise ApiError(400, sentence, code="too_many_texts", parameter=parameter)


def characters(texts: Sequence[Text]) -> int:
    """How many characters texts have."""
    return sum(len(text) if isinstance(text, str) else sum(map(len, text)) for text in texts)


async def run_encodings(
    service: Service,
    visit: RequestContext,
    reader: RequestTokenizer,
    encodings: Sequence[Any],
    ending: OutputSpec,
) -> Float32Array:
    """The vectors that a model gives texts that were cut, [texts, dim]."""
    found = await run_states(service, visit, reader, encodings, ending)
    return await service.aside(visit, partial(stacked, found), len(found) * found[0].size)


async def run_states(
    service: Service,
    visit: RequestContext,
    reader: RequestTokenizer,
    encodings: Sequence[Any],
    ending: OutputSpec,
) -> list[Float32Array]:
    """What a model makes of each text that was cut: a vector, or its states."""
    items = [TokenizedItem(encoding, ending) for encoding in encodings]
    sizes = [len(encoding) for encoding in encodings]
    visit.tokens += sum(sizes)
    rows = len(sizes) if ending.pooled else sum(sizes)
    hold_numbers(service, visit, rows * ending.width * reader.encoder.config.dim)
    return await service.ask(visit, reader.states(ending), items, sizes)


def stacked(rows: Sequence[Float32Array]) -> Float32Array:
    """Rows as a matrix, all of them numbers."""
    matrix: Float32Array = np.stack(rows)
    check_finite(matrix)
    return matrix


def check_finite(rows: Float32Array) -> None:
    """Refuse vectors that JSON has no numbers for."""
    if not np.isfinite(rows).all():
        sentence = "the vectors hold nan or infinity: the weights or the scale are too large"
        raise ApiError(400, f"{sentence}, or the model is damaged", code="not_finite")


def hold_numbers(service: Service, visit: RequestContext, count: int) -> None:
    """Make room for the vectors of an answer, unless they are too many."""
    if count > service.limits.numbers:
        sentence = f"the answer would have {count:,} numbers: {service.limits.numbers:,} may be"
        sentence += " asked for; send fewer texts at a time, or ask for fewer layers"
        raise ApiError(400, sentence, code="answer_too_large", parameter="texts")
    service.hold(visit, BYTES * count)


async def run_texts(
    service: Service, visit: RequestContext, model: LoadedModel, texts: Sequence[Text]
) -> Float32Array:
    """The vectors of an encoder that has no layers, [texts, dim]."""
    if model.encoder is None:
        raise ApiError(400, f"'{model.name}' embeds no texts", parameter="model")
    if not all(isinstance(text, str) for text in texts):
        raise ApiError(400, f"'{model.name}' reads no pairs: send single texts", parameter="texts")
    sizes = [1 + len(text) // PER_CHARACTER for text in texts]
    visit.tokens += sum(sizes)
    hold_numbers(service, visit, len(texts) * model.dim)
    found = await service.ask(visit, EncoderJob(model.encoder), texts, sizes)
    rows = await service.aside(visit, partial(stacked, found), len(texts) * model.dim)
    visit.zeros = len(rows) - int(np.count_nonzero(rows.any(axis=1)))
    if visit.zeros:
        visit.headers["x-zero-vectors"] = str(visit.zeros)
    return rows


def note_texts(
    service: Service,
    visit: RequestContext,
    model: LoadedModel,
    count: int,
    truncated: Sequence[int],
) -> None:
    """Count texts, and those that were cut off; the client is told too."""
    visit.model, visit.texts, visit.truncated = model.name, count, len(truncated)
    if truncated:
        visit.headers["x-truncated-texts"] = str(len(truncated))


async def note_fragments(
    service: Service,
    visit: RequestContext,
    reader: RequestTokenizer,
    encodings: Sequence[Any],
    texts: Sequence[Text],
) -> None:
    """Count texts of which most words are single letters, bytes or unknown tokens to the model."""

    def count() -> int:
        found = reader.encoder.tokenizer.fragments.count(encodings, texts)
        return int(is_fragmented(*found).sum())

    if fragmented := await service.aside(visit, count, characters(texts)):
        visit.headers["x-fragmented-texts"] = str(fragmented)


def refuse_long(reader: RequestTokenizer, truncated: Sequence[int], parameter: str) -> None:
    """Refuse the first text that is too long, where nobody wants it cut off."""
    if truncated:
        raise ApiError(
            400,
            f"text {truncated[0]} has more than the {reader.encoder.tokenizer.max_length} pieces that"
            " this model reads: shorten it, or let it be cut off with truncate",
            code="context_length_exceeded",
            parameter=parameter,
        )
