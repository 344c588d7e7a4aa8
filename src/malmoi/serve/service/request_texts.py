"""The texts of a request: tokenized, counted, embedded in batches, stacked into a matrix."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.serve.service.errors import RequestError
from malmoi.serve.service.jobs import EncodedText, EncoderJob, OutputSpec, TokenizedItem
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.request_tokenizer import Pretokenized, RequestTokenizer
from malmoi.serve.service.service import Service

BYTES_PER_NUMBER = 16  # four in the vector, about twelve in JSON
CHARACTERS_PER_TOKEN = 4  # about, where the texts are not tokenized yet


def num_characters(texts: Sequence[Text]) -> int:
    """The characters of all texts."""
    return sum(len(text) if isinstance(text, str) else sum(map(len, text)) for text in texts)


def approximate_tokens(texts: Sequence[Text]) -> list[int]:
    """About how many tokens each text has, where no tokenizer counts them."""
    return [1 + len(text) // CHARACTERS_PER_TOKEN for text in texts]


async def tokenize_texts(
    service: Service,
    context: RequestContext,
    model: LoadedModel,
    tokenizer: RequestTokenizer,
    texts: Sequence[Text],
    *,
    offsets: bool = False,
    prompt: str = "",
) -> list[Pretokenized]:
    """Tokenize texts, and report those that are truncated or fragmented."""

    def call() -> tuple[list[Pretokenized], TextStats]:
        encodings = tokenizer.tokenize(texts, offsets=offsets, prompt=prompt)
        return encodings, tokenizer.count_inputs(encodings, texts)

    encodings, stats = await service.offload_if_large(context, call, num_characters(texts))
    context.model_name, context.num_texts = model.name, len(texts)
    context.reporter.inputs(model.name, stats)
    return encodings


def report_pretokenized(
    context: RequestContext, model: LoadedModel, encodings: Sequence[Pretokenized]
) -> None:
    """Report the truncated texts of a client that sends tokens or token ids."""
    context.model_name, context.num_texts = model.name, len(encodings)
    numbers = [number for number, one in enumerate(encodings, 1) if one.is_truncated]
    context.reporter.inputs(model.name, TextStats(texts=len(encodings), truncated=numbers))


async def embed_encodings(
    service: Service,
    context: RequestContext,
    tokenizer: RequestTokenizer,
    encodings: Sequence[Pretokenized],
    output: OutputSpec,
) -> Float32Array:
    """Embed tokenized texts, [texts, dim]."""
    rows = await run_encodings(service, context, tokenizer, encodings, output)
    return await service.offload_if_large(
        context, partial(stack_finite, rows), len(rows) * rows[0].size
    )


async def run_encodings(
    service: Service,
    context: RequestContext,
    tokenizer: RequestTokenizer,
    encodings: Sequence[Pretokenized],
    output: OutputSpec,
) -> list[Float32Array]:
    """Run tokenized texts through a transformer: one vector per text, or its states."""
    items = [TokenizedItem(encoding, output) for encoding in encodings]
    sizes = [len(encoding) for encoding in encodings]
    context.num_tokens += sum(sizes)
    rows = len(sizes) if output.pooled else sum(sizes)
    reserve_answer(service, context, rows * output.num_states * tokenizer.encoder.config.dim)
    return await service.run_job(context, tokenizer.job(output), items, sizes)


async def embed_texts(
    service: Service, context: RequestContext, model: LoadedModel, texts: Sequence[Text]
) -> Float32Array:
    """Embed texts with an encoder that is not a transformer, [texts, dim]."""
    if model.encoder is None:
        raise RequestError(f"'{model.name}' cannot embed texts", field="model")
    if not all(isinstance(text, str) for text in texts):
        raise RequestError(f"'{model.name}' cannot embed pairs: send single texts", field="texts")
    sizes = approximate_tokens(texts)
    context.model_name, context.num_texts = model.name, len(texts)
    context.num_tokens += sum(sizes)
    reserve_answer(service, context, len(texts) * model.dim)
    encoded: list[EncodedText] = await service.run_job(
        context, EncoderJob(model.encoder), texts, sizes
    )
    call = partial(stack_finite, [text.vector for text in encoded])
    vectors = await service.offload_if_large(context, call, len(texts) * model.dim)
    reporter = context.reporter
    reporter.truncated += [i for i, text in enumerate(encoded) if text.is_truncated]
    reporter.fragmented += [i for i, text in enumerate(encoded) if text.is_fragmented]
    reporter.count_zero_vectors(vectors)
    return vectors


def stack_finite(rows: Sequence[Float32Array]) -> Float32Array:
    """Stack rows into a matrix [rows, dim] of finite numbers."""
    matrix: Float32Array = np.stack(rows)
    check_finite(matrix)
    return matrix


def check_finite(vectors: Float32Array) -> None:
    """Reject vectors that JSON cannot represent."""
    if not np.isfinite(vectors).all():
        raise RequestError(
            "the vectors hold nan or infinity: the weights or the scale are too large,"
            " or the model is damaged",
            code="not_finite",
        )


def reserve_answer(service: Service, context: RequestContext, count: int) -> None:
    """Check how many numbers the answer will have, and reserve memory for them."""
    if count > service.limits.max_answer_numbers:
        raise RequestError(
            f"the answer would have {count:,} numbers: at most"
            f" {service.limits.max_answer_numbers:,} are allowed; send fewer texts, or request"
            " fewer layers",
            code="answer_too_large",
            field="texts",
        )
    service.reserve_memory(context, BYTES_PER_NUMBER * count)


def check_not_truncated(context: RequestContext, max_tokens: int | None, field: str) -> None:
    """Reject the request if one of its texts was truncated."""
    if context.reporter.truncated:
        limit = f"the {max_tokens} tokens that " if max_tokens else ""
        raise RequestError(
            f"text {context.reporter.truncated[0]} is longer than {limit}this model reads:"
            " shorten it, or allow truncation",
            code="context_length_exceeded",
            field=field,
        )
