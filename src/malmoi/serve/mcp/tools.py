"""The tools of the Model Context Protocol server: an endpoint each, with the options that matter.

Knows nothing of the protocol, and of how its messages travel.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from malmoi.search.index import RERANK_TOP
from malmoi.serve.http.schemas import (
    EmbedRequest,
    SearchAnswer,
    SearchRequest,
    SimilarityAnswer,
    SimilarityRequest,
)
from malmoi.serve.routes.embed import embed
from malmoi.serve.routes.search import search
from malmoi.serve.routes.word_vectors import get_similarity
from malmoi.serve.service.loaded_models import LoadedModel, Models
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.service import Service

ToolName = Annotated[str, Meta(description="By name; by default the first.")]
SEARCH = (
    "Search an index of texts for those that fit a query best, best first. By default by meaning;"
    " hybrid by meaning and by words, which suits names and numbers; lexical by words alone."
    " Indexes: {indexes}."
)


class SearchCall(Struct, kw_only=True, forbid_unknown_fields=True):
    """What the tool `search` takes."""

    query: Annotated[str, Meta(min_length=1, description="A question, or words to look for.")]
    index: ToolName = ""
    k: Annotated[int, Meta(ge=1, le=100, description="How many texts to return.")] = 10
    filter: Annotated[
        list[str],
        Meta(description="Conditions on fields that must all hold: year>=2020, lang=ko."),
    ] = []
    hybrid: bool = False
    lexical: bool = False
    rerank: Annotated[str, Meta(description="A reranker that orders the best again.")] = ""
    rerank_top: Annotated[int, Meta(ge=1, description="Texts that it orders.")] = RERANK_TOP


class EmbedCall(Struct, kw_only=True, forbid_unknown_fields=True):
    """What the tool `embed` takes."""

    texts: Annotated[list[str], Meta(min_length=1)]
    model: ToolName = ""
    normalize: Annotated[bool, Meta(description="Scale all vectors to length 1.")] = False


class EmbedResult(Struct, kw_only=True):
    """One vector per text; `truncated` has the indices of texts that were too long."""

    model: str
    dim: int
    num_tokens: int
    truncated: list[int]
    embeddings: list[list[float]]


class SimilarityCall(Struct, kw_only=True, forbid_unknown_fields=True):
    """What the tool `similarity` takes."""

    a: Annotated[str, Meta(min_length=1)]
    b: Annotated[str, Meta(min_length=1)]
    model: ToolName = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class ServedTool:
    """One tool; `choices` are the values of fields that name a model, the default first."""

    name: str
    title: str
    description: str
    request_type: type[Struct]
    response_type: type[Struct]
    call: Callable[[Service, RequestContext, Any], Awaitable[dict[str, Any]]]
    choices: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments; a field without any choice is left out."""
        schema = object_schema(self.request_type)
        for name, choices in self.choices.items():
            if choices:
                schema["properties"][name]["enum"] = choices
                del schema["properties"][name]["default"]
            else:
                del schema["properties"][name]
        if not self.choices.get("rerank", ["any"]):
            del schema["properties"]["rerank_top"]
        return schema

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of the answer."""
        return object_schema(self.response_type)


def served_tools(models: Models) -> dict[str, ServedTool]:
    """The tools that the models can answer, by name."""
    indexes = [model for model in models if model.index is not None]
    encoders = [model.name for model in models if model.encoder is not None]
    similar = [one.name for one in models if one.index is None and (one.encoder or one.vectors)]
    tools: list[ServedTool] = []
    if indexes:
        rerankers = [model.name for model in models if model.reranker is not None]
        tools.append(
            ServedTool(
                name="search",
                title="Search texts",
                description=SEARCH.format(indexes="; ".join(map(described, indexes))),
                request_type=SearchCall,
                response_type=SearchAnswer,
                call=call_search,
                choices={"index": [one.name for one in indexes], "rerank": rerankers},
            )
        )
    if encoders:
        tools.append(
            ServedTool(
                name="embed",
                title="Embed texts",
                description="One vector per text, for programs that compute with vectors.",
                request_type=EmbedCall,
                response_type=EmbedResult,
                call=call_embed,
                choices={"model": encoders},
            )
        )
    if similar:
        tools.append(
            ServedTool(
                name="similarity",
                title="Compare two texts",
                description="The cosine similarity of two texts, or of two words: 1 is the same"
                " meaning, 0 is unrelated.",
                request_type=SimilarityCall,
                response_type=SimilarityAnswer,
                call=call_similarity,
                choices={"model": similar},
            )
        )
    return {tool.name: tool for tool in tools}


def described(model: LoadedModel) -> str:
    """An index in a few words: its name, its size and its fields."""
    index = model.index
    if index is None:
        return model.name
    fields = f" with the fields {', '.join(index.state.fields)}" if index.state.fields else ""
    return f"'{model.name}', {len(index):,} texts{fields}"


async def call_search(
    service: Service, context: RequestContext, call: SearchCall
) -> dict[str, Any]:
    """Search as /search does."""
    request = SearchRequest(
        query=call.query,
        model=call.index or None,
        k=call.k,
        where=call.filter,
        hybrid=call.hybrid,
        lexical=call.lexical,
        rerank=call.rerank or None,
        rerank_top=call.rerank_top,
    )
    return await search(service, context, request)


async def call_embed(service: Service, context: RequestContext, call: EmbedCall) -> dict[str, Any]:
    """Embed as /embed does."""
    request = EmbedRequest(
        texts=list(call.texts), model=call.model or None, normalize=call.normalize
    )
    return await embed(service, context, request)


async def call_similarity(
    service: Service, context: RequestContext, call: SimilarityCall
) -> dict[str, Any]:
    """Compare as /similarity does; the first model that is not an index is the default."""
    (names,) = served_tools(service.models)["similarity"].choices.values()
    request = SimilarityRequest(a=call.a, b=call.b, model=call.model or names[0])
    return await get_similarity(service, context, request)


def object_schema(kind: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a struct, whose root is an object and not a reference."""
    schema = msgspec.json.schema(kind)
    definitions = schema["$defs"]
    root: dict[str, Any] = definitions.pop(kind.__name__)
    return root | ({"$defs": definitions} if definitions else {})
