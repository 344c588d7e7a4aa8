"""/search: the texts of an index that match a query."""

from functools import partial
from typing import Any

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.search.index import Index
from malmoi.search.querying.hits import Hit, reordered
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.schemas import SearchAnswer, SearchQuery, SearchRequest
from malmoi.serve.routes.rerank import pair_logits
from malmoi.serve.routes.word_vectors import QUERY_TOKENS
from malmoi.serve.service.jobs import CallJob
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_checks import check_filters, check_k, check_texts
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.request_texts import embed_encodings, tokenize_texts
from malmoi.serve.service.request_tokenizer import RequestTokenizer
from malmoi.serve.service.service import Service


async def search(
    service: Service, context: RequestContext, request: SearchRequest
) -> dict[str, Any]:
    """The texts that match a query best; `rerank` orders the best `rerank_top` of them again."""
    model, index = service.models.index(request.model)
    context.model_name, k = model.name, check_k(service.limits, request.k)
    judge = None if request.rerank is None else service.models.reranker(request.rerank)
    if judge is not None:
        k = max(k, check_k(service.limits, request.rerank_top, "rerank_top"))
    check_texts(service.limits, [request.query], "query")
    check_filters(service.limits, request.where)
    is_lexical = request.lexical and not request.hybrid
    vector = None
    if not is_lexical:
        vector = await query_vector(service, context, model, index, request.query)
    call = partial(
        index.search,
        request.query,
        k,
        where=request.where or None,
        hybrid=request.hybrid,
        lexical=request.lexical,
        weight=request.weight,
        vector=vector,
    )
    (hits,) = await service.run_job(context, CallJob(), [call], [QUERY_TOKENS])
    if judge is not None and hits:
        pairs = [(request.query, hit.passage) for hit in hits]
        logits = await pair_logits(service, context, *judge, pairs)
        hits = reordered(hits, judge[1].order(logits, request.k))
    context.model_name = model.name  # of the index: its reranker was the last to set it
    return {"model": model.name, "weight": hits.weight, "hits": [hit_object(hit) for hit in hits]}


async def search_by_get(
    service: Service, context: RequestContext, request: SearchQuery
) -> dict[str, Any]:
    """The texts that match a query best."""
    same = SearchRequest(
        query=request.q,
        model=request.index,
        k=request.k,
        where=request.where,
        hybrid=request.hybrid,
        lexical=request.lexical,
        weight=request.weight,
        rerank=request.rerank,
        rerank_top=request.rerank_top,
    )
    return await search(service, context, same)


def hit_object(hit: Hit) -> dict[str, Any]:
    """A hit as JSON; its score before reranking if there was any."""
    before = {} if hit.retrieval_score is None else {"retrieval_score": hit.retrieval_score}
    shown = {"id": hit.id, "score": hit.score, **before, "text": hit.text}
    return shown | {"fields": dict(hit.fields), "span": hit.span}


async def query_vector(
    service: Service, context: RequestContext, model: LoadedModel, index: Index, query: str
) -> Float32Array | None:
    """Embed the query in the same batches as all texts, [dim].

    `None` if the encoder of the index has no layers: the index then embeds the query.
    """
    encoder = index.encoder if index.state.model else None
    if not isinstance(encoder, ContextualEncoder):
        return None
    prompts, tokenizer = index.state.prompts, RequestTokenizer(encoder)
    prompt = prompts.query if prompts else encoder.prompt_text(None)
    encodings = await tokenize_texts(service, context, model, tokenizer, [query], prompt=prompt)
    output = tokenizer.default_output
    vectors = await embed_encodings(service, context, tokenizer, encodings, output)
    vector: Float32Array = vectors[0]
    return vector


ENDPOINTS = (
    Endpoint(
        path="/search",
        method="GET",
        summary="Search an index",
        handler=search_by_get,
        request_type=SearchQuery,
        response_type=SearchAnswer,
    ),
    Endpoint(
        path="/search",
        method="POST",
        summary="Search an index",
        handler=search,
        request_type=SearchRequest,
        response_type=SearchAnswer,
    ),
)
