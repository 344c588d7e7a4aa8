"""/search: the texts of an index that fit a query."""

from typing import Any

from malmoi.arrays import Float32Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.search.index import Index
from malmoi.serve.http.endpoint import Endpoint
from malmoi.serve.http.json_checks import check_filters
from malmoi.serve.http.schemas import SearchAnswer, SearchRequest
from malmoi.serve.routes.word_vectors import COST, count
from malmoi.serve.service.jobs import CallJob
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_texts import checked, note_fragments, note_texts, run_encodings
from malmoi.serve.service.request_tokenizer import RequestTokenizer
from malmoi.serve.service.service import RequestContext, Service


async def search(service: Service, visit: RequestContext, asked: SearchRequest) -> dict[str, Any]:
    """The best texts for a query."""
    model, index = service.models.index(asked.model)
    visit.model, k = model.name, count(service, asked.k)
    checked(service, [asked.query], "query")
    check_filters(service.limits, asked.where)
    by_words = asked.lexical and not asked.hybrid
    vector = None if by_words else await query_vector(service, visit, model, index, asked.query)
    question = [
        lambda: index.search(
            asked.query,
            k,
            where=asked.where or None,
            hybrid=asked.hybrid,
            lexical=asked.lexical,
            weight=asked.weight,
            vector=vector,
        )
    ]
    (hits,) = await service.ask(visit, CallJob(), question, [COST])
    return {
        "model": model.name,
        "weight": hits.weight,
        "hits": [
            {
                "id": hit.id,
                "score": hit.score,
                "text": hit.text,
                "fields": dict(hit.fields),
                "span": hit.span,
            }
            for hit in hits
        ],
    }


async def query_vector(
    service: Service, visit: RequestContext, model: LoadedModel, index: Index, query: str
) -> Float32Array | None:
    """The query through the model of the index, in the same batches as everybody's texts.

    None where that model does not read in context: the index asks it by itself.
    """
    encoder = index.encoder if index.state.model else None
    if not isinstance(encoder, TransformerEncoder):
        return None
    prompts, reader = index.state.prompts, RequestTokenizer(encoder)
    prompt = prompts.query if prompts else encoder.prompt_text(None)
    encodings = await service.aside(visit, lambda: reader.cut([query], prompt=prompt), len(query))
    truncated = [i for i, one in enumerate(encodings) if reader.is_truncated(one)]
    note_texts(service, visit, model, 1, truncated)
    await note_fragments(service, visit, reader, encodings, [query])
    vector: Float32Array = (await run_encodings(service, visit, reader, encodings, reader.own))[0]
    return vector


ENDPOINTS = (
    Endpoint(
        path="/search",
        method="POST",
        summary="The texts of an index that fit a query",
        handler=search,
        asks=SearchRequest,
        answers=SearchAnswer,
    ),
)
