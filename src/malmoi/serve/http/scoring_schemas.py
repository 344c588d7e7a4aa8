"""Schemas of what scores texts: /classify and /rerank."""

from typing import Annotated

from msgspec import Meta, Struct

from malmoi.serve.http.schemas import ModelName, WordField


class ClassifyRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Texts to classify."""

    input: str | Annotated[list[str], Meta(min_length=1)]
    model: ModelName | None = None
    top_k: Annotated[int, Meta(ge=1, description="Labels per text; by default all.")] | None = None
    explain: Annotated[bool, Meta(description="Add what speaks for which label.")] = False


class ScoredLabel(Struct, kw_only=True):
    """A label and its probability."""

    label: str
    score: float


class ContributionObject(Struct, kw_only=True):
    """A part of a text, the label that it speaks for, and by how much; `spans` are characters."""

    part: str
    label: str
    value: float
    spans: list[tuple[int, int]]


class ExplainedText(Struct, kw_only=True):
    """A text as the classifier reads it (in NFC), to which `spans` refer."""

    text: str
    contributions: list[ContributionObject]


class ClassifyAnswer(Struct, kw_only=True, omit_defaults=True):
    """The labels of each text, most probable first."""

    model: str
    predictions: list[list[ScoredLabel]]
    explanations: list[ExplainedText] | None = None


class DocumentObject(Struct, kw_only=True):
    """A document of Cohere's API."""

    text: str


class RerankRequest(Struct, kw_only=True):
    """A query with `documents` (Cohere's API) or `texts` (text-embeddings-inference)."""

    query: WordField
    documents: Annotated[list[str | DocumentObject], Meta(min_length=1)] | None = None
    texts: Annotated[list[str], Meta(min_length=1)] | None = None
    model: ModelName | None = None
    top_n: Annotated[int, Meta(ge=1, description="Results; by default all.")] | None = None
    return_documents: bool = False
    return_text: bool = False
    raw_scores: Annotated[bool, Meta(description="Logits instead of sigmoids.")] = False
    truncate: Annotated[bool, Meta(description="Truncate long pairs, or reject them.")] = True


class RerankResult(Struct, kw_only=True, omit_defaults=True):
    """A document by its index in the request."""

    index: int
    relevance_score: float
    document: DocumentObject | None = None


class RerankAnswer(Struct, kw_only=True):
    """The answer to `documents`, best first."""

    model: str
    results: list[RerankResult]


class RankedText(Struct, kw_only=True, omit_defaults=True):
    """A text by its index in the request; the answer to `texts` is a list of these."""

    index: int
    score: float
    text: str | None = None
