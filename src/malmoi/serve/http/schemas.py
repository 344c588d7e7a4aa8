"""Schemas of requests and answers; the OpenAPI document is made from them."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from malmoi.encode.bulk.embed import Per
from malmoi.encode.pooling.groups import Pool, WordPooling
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.nearest.top_k import Metric
from malmoi.query.analogy import AnalogyMethod
from malmoi.search.index import RERANK_TOP

PairField = Annotated[
    list[str], Meta(min_length=2, max_length=2, description="Two texts as a pair.")
]
TextsField = Annotated[list[str | PairField], Meta(min_length=1)]
TokenId = Annotated[int, Meta(ge=0)]
ModelName = Annotated[
    str, Meta(description="One of /models; by default the first that can answer.")
]
Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]  # what all JSON writers support
LayersField = Annotated[
    Integer
    | Annotated[str, Meta(max_length=1000)]
    | Annotated[list[Integer], Meta(max_length=1000)],
    Meta(description="Hidden states: -2, [0, 3], '-4:' or 'all' (0 = input embeddings)."),
]
TopK = Annotated[int, Meta(ge=1, description="Number of results.")]
WordField = Annotated[str, Meta(min_length=1)]


class EmbeddingsRequest(Struct, kw_only=True):
    """A request of OpenAI's API."""

    input: Annotated[
        str | list[str | TokenId | list[TokenId]],
        Meta(description="A text, texts, the token ids of a text, or one list of ids per text."),
    ]
    model: str
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    user: str | None = None


class Embedding(Struct, kw_only=True):
    """The vector of one text."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(Struct, kw_only=True):
    """The number of tokens."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(Struct, kw_only=True):
    """An answer of OpenAI's API."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage


class OpenAIModel(Struct, kw_only=True):
    """A model in OpenAI's API."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class OpenAIModels(Struct, kw_only=True):
    """The models in OpenAI's API."""

    object: Literal["list"]
    data: list[OpenAIModel]


class EmbedRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Texts and a recipe; without any part of a recipe, the model's own is used."""

    texts: str | TextsField
    model: ModelName | None = None
    layers: LayersField | None = None
    layer_pooling: (
        Annotated[LayerPooling, Meta(description="How several layers become one.")] | None
    ) = None
    pool: Annotated[Pool, Meta(description="How tokens become one vector.")] | None = None
    recipe: Annotated[str, Meta(description="A recipe by its name.")] | None = None
    weights: Annotated[list[float], Meta(max_length=1000)] | None = None
    scale: float | None = None
    include_special_tokens: (
        Annotated[bool, Meta(description="Whether [CLS] and [SEP] are pooled.")] | None
    ) = None
    per: Per = "text"
    word_pooling: Annotated[WordPooling, Meta(description="How tokens become a word.")] = "mean"
    prompt: Annotated[str, Meta(description="One of the model's prompts, by name.")] | None = None
    truncate: Annotated[bool, Meta(description="Truncate long texts, or reject them.")] = True
    normalize: Annotated[bool, Meta(description="Scale all vectors to length 1.")] = False


class SpanVector(Struct, kw_only=True, omit_defaults=True):
    """A word or token: `begin` and `end` are characters, `sequence_id` is the text of a pair."""

    begin: int
    end: int
    vector: list[float]
    word: str | None = None
    token: str | None = None
    sequence_id: int = 0


class EmbeddedSpans(Struct, kw_only=True, omit_defaults=True):
    """A text as the model reads it (in NFC), to which `begin` and `end` refer."""

    text: str
    pair: str | None = None
    words: list[SpanVector] | None = None
    tokens: list[SpanVector] | None = None


class EmbedAnswer(Struct, kw_only=True, omit_defaults=True):
    """`embeddings` has one vector per text; per word or token, `texts` has them instead."""

    model: str
    dim: int
    num_tokens: int
    truncated: Annotated[list[int], Meta(description="Indices of the truncated texts.")]
    embeddings: list[list[float]] | None = None
    texts: list[EmbeddedSpans] | None = None


class EncodeRequest(Struct, kw_only=True):
    """A request of bert-as-service."""

    texts: Annotated[list[str | list[str]], Meta(min_length=1)]
    id: Integer | Annotated[str, Meta(max_length=1000)] | None = None
    is_tokenized: bool = False
    show_tokens: bool = False
    model: ModelName | None = None


class EncodeAnswer(Struct, kw_only=True, omit_defaults=True):
    """An answer of bert-as-service, which documents `results` and sends `result`."""

    id: int | str | None
    status: int
    result: list[list[float]]
    results: list[list[float]]
    tokens: list[list[str]] | None = None


class TokenizeRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Texts to tokenize."""

    texts: str | TextsField
    model: ModelName | None = None


class TokenizedText(Struct, kw_only=True):
    """The tokens of a text; the word id of a special token is -1."""

    text: str
    pair: str | None
    tokens: list[str]
    ids: list[int]
    token_type_ids: list[int]
    word_ids: list[int]
    offsets: list[list[int]]
    truncated: bool


class TokenizeAnswer(Struct, kw_only=True):
    """The tokens of each text."""

    model: str
    texts: list[TokenizedText]


class NeighboursRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """A word, and how many neighbours to find."""

    word: WordField
    model: ModelName | None = None
    k: TopK = 10
    metric: Metric = "cosine"


class ScoredWord(Struct, kw_only=True):
    """A word and its score."""

    key: str
    score: float


class WordsAnswer(Struct, kw_only=True):
    """For words without a vector of their own: the words that answer for them, and notes."""

    model: str
    read_as: dict[str, dict[str, float]]
    notes: list[str]


class NeighboursAnswer(WordsAnswer, kw_only=True):
    """The nearest words, best first."""

    neighbours: list[ScoredWord]


class AnalogyRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """An expression of words: king - man + woman."""

    expression: WordField
    model: ModelName | None = None
    k: TopK = 10
    method: AnalogyMethod = "add"


class AnalogyAnswer(WordsAnswer, kw_only=True):
    """The words nearest to the expression, best first."""

    answers: list[ScoredWord]


class SimilarityRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Two words, or two texts for a model that embeds texts."""

    a: WordField
    b: WordField
    model: ModelName | None = None


class SimilarityAnswer(WordsAnswer, kw_only=True):
    """The cosine similarity of the two."""

    similarity: float


class ModelState(Struct, kw_only=True, omit_defaults=True):
    """One model; a transformer and a reranker have `layers` and `max_tokens`."""

    name: str
    kind: Literal["transformer", "elmo", "encoder", "vectors", "index", "classifier", "reranker"]
    dim: int
    layers: int | None = None
    max_tokens: int | None = None
    words: int | None = None
    texts: int | None = None
    labels: int | None = None


class ModelsAnswer(Struct, kw_only=True):
    """All models."""

    models: list[ModelState]


class SearchOptions(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a search by POST and a search by GET have in common."""

    k: TopK = 10
    hybrid: bool = False
    lexical: bool = False
    weight: (
        Annotated[float, Meta(ge=0, le=1, description="Weight of BM25 in a hybrid search.")] | None
    ) = None
    rerank: (
        Annotated[str, Meta(min_length=1, description="A reranker of /models, by name.")] | None
    ) = None
    rerank_top: Annotated[int, Meta(ge=1, description="Hits that `rerank` orders.")] = RERANK_TOP


class SearchRequest(SearchOptions, kw_only=True):
    """A query: by embedding, by words (`lexical`, BM25), or by both (`hybrid`)."""

    query: WordField
    model: ModelName | None = None
    where: Annotated[
        list[str], Meta(description="Filters that must all hold: year>=2020, lang=ko.")
    ] = []


class SearchQuery(SearchOptions, kw_only=True):
    """A search by GET: `q` is the query, `index` the name of an index; `where` may be repeated."""

    q: WordField
    index: ModelName | None = None
    where: Annotated[
        list[str], Meta(description="A filter: year>=2020; repeat it for several.")
    ] = []


class SearchHit(Struct, kw_only=True, omit_defaults=True):
    """A text of the index; `retrieval_score` is the score before reranking."""

    id: str
    score: float
    text: str
    fields: dict[str, Any]
    span: (
        Annotated[
            tuple[int, int], Meta(description="Characters of the best passage of a long text.")
        ]
        | None
    )
    retrieval_score: float | None = None


class SearchAnswer(Struct, kw_only=True):
    """The best texts, best first; `weight` is that of BM25 in a hybrid search."""

    model: str
    weight: float | None
    hits: list[SearchHit]


class PageQuery(Struct, kw_only=True):
    """The projector's page of a model; `picture` is the reduction of one of its pictures."""

    model: ModelName | None = None
    picture: Annotated[str, Meta(description="PCA, t-SNE or PaCMAP.")] | None = None


class ErrorDetail(Struct, kw_only=True):
    """An error: `code` for programs, `message` for people."""

    status: int
    code: str
    message: str


class ErrorBody(Struct, kw_only=True):
    """An error answer."""

    error: ErrorDetail


class OpenAIErrorDetail(Struct, kw_only=True):
    """An error in OpenAI's API."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIErrorBody(Struct, kw_only=True):
    """An error answer of OpenAI's API."""

    error: OpenAIErrorDetail


class BertErrorBody(Struct, kw_only=True):
    """An error answer of bert-as-service."""

    description: str
    type: str
    status: int


class HealthAnswer(Struct, kw_only=True):
    """The state of the server."""

    status: Literal["ok", "draining"]


# Names before 0.1.0: requests that use them are rejected with the new name.
RENAMED_FIELDS: dict[type[Struct], dict[str, str]] = {
    EmbedRequest: {
        "mix": "layer_pooling",
        "join": "word_pooling",
        "special": "include_special_tokens",
    },
    SimilarityRequest: {"one": "a", "other": "b"},
}
