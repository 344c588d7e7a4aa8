"""/rerank: documents in the order in which they answer a query, for clients of Cohere and TEI."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.rerank.cross_encoder_folder import sigmoid
from malmoi.rerank.reranker import Reranker, best_first
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.scoring_schemas import RankedText, RerankAnswer, RerankRequest
from malmoi.serve.service.errors import RequestError
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_checks import check_texts
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.request_texts import (
    check_not_truncated,
    embed_encodings,
    tokenize_texts,
)
from malmoi.serve.service.request_tokenizer import RequestTokenizer
from malmoi.serve.service.service import Service


async def rerank(
    service: Service, context: RequestContext, request: RerankRequest
) -> dict[str, Any] | list[dict[str, Any]]:
    """Documents, best first: `documents` as Cohere's API answers, `texts` as TEI does.

    With `texts`, the answer is a list of objects with `index` and `score`.
    """
    model, reranker = service.models.reranker(request.model)
    texts, field = request_texts(request)
    check_texts(service.limits, [request.query], "query")
    check_texts(service.limits, texts, field)
    pairs = [(request.query, one) for one in texts]
    whole = None if request.truncate else field
    logits = await pair_logits(service, context, model, reranker, pairs, whole)
    scores = (logits if request.raw_scores else sigmoid(logits)).tolist()
    order = best_first(logits)[: request.top_n]
    if request.documents is None:
        kept = [{"text": texts[i]} if request.return_text else {} for i in order]
        return [{"index": i, "score": scores[i], **own} for i, own in zip(order, kept, strict=True)]
    results: list[dict[str, Any]] = []
    for i in order:
        own = {"document": {"text": texts[i]}} if request.return_documents else {}
        results.append({"index": i, "relevance_score": scores[i], **own})
    return {"model": model.name, "results": results}


async def pair_logits(
    service: Service,
    context: RequestContext,
    model: LoadedModel,
    reranker: Reranker,
    pairs: Sequence[tuple[str, str]],
    whole_field: str | None = None,
) -> Float32Array:
    """The logit of each pair, in the same batches as all texts, [pairs].

    Pairs that are too long are truncated, or rejected in the name of `whole_field`.
    """
    tokenizer, prompt = RequestTokenizer(reranker.encoder), reranker.encoder.prompt_text(None)
    encodings = await tokenize_texts(service, context, model, tokenizer, pairs, prompt=prompt)
    if whole_field is not None:
        check_not_truncated(context, tokenizer.max_tokens, whole_field)
    output = tokenizer.default_output
    rows = await embed_encodings(service, context, tokenizer, encodings, output)
    return np.ascontiguousarray(rows[:, 0])


def request_texts(request: RerankRequest) -> tuple[list[str], str]:
    """The documents of a request, and the field that has them."""
    if (request.documents is None) == (request.texts is None):
        raise RequestError("send either documents or texts", field="documents")
    if request.documents is None:
        return request.texts or [], "texts"
    documents = request.documents
    return [one if isinstance(one, str) else one.text for one in documents], "documents"


ENDPOINTS = tuple(
    Endpoint(
        path=path,
        method="POST",
        summary="Documents in the order in which they answer a query",
        handler=rerank,
        request_type=RerankRequest,
        response_type=RerankAnswer | list[RankedText],
    )
    for path in ("/rerank", "/v1/rerank", "/v2/rerank")
)
