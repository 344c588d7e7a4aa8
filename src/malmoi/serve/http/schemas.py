"""What endpoints are asked and what they answer; the OpenAPI document is made from these."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from malmoi.encode.bulk.embed import Per
from malmoi.encode.pooling.groups import Pool, WordPooling
from malmoi.encode.pooling.layer_pooling import LayerPooling
from malmoi.nearest.top_k import Metric
from malmoi.query.analogy import Method

Text = Annotated[str, Meta(description="A text.")]
Pair = Annotated[list[str], Meta(min_length=2, max_length=2, description="Two texts as a pair.")]
Texts = Annotated[list[str | Pair], Meta(min_length=1)]
TokenId = Annotated[int, Meta(ge=0)]
ModelName = Annotated[str, Meta(description="One of /models; the first that fits if none.")]
Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]  # what JSON's writers agree on
Layers = Annotated[
    Number | Annotated[str, Meta(max_length=1000)] | Annotated[list[Number], Meta(max_length=1000)],
    Meta(description="-2, [0, 3], '-4:' or 'all'; 0 goes into layer 1."),
]
Count = Annotated[int, Meta(ge=1, description="How many answers.")]
Word = Annotated[str, Meta(min_length=1)]


class EmbeddingsRequest(Struct, kw_only=True):
    """As OpenAI's: a text, texts, token ids, or lists of token ids."""

    input: Annotated[
        str | list[str | TokenId | list[TokenId]],
        Meta(description="A text, texts, the ids of a text's tokens, or several texts' ids."),
    ]
    model: str
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    user: str | None = None


class Embedding(Struct, kw_only=True):
    """One text's vector."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(Struct, kw_only=True):
    """How much was read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(Struct, kw_only=True):
    """As OpenAI's."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage


class OpenAIModel(Struct, kw_only=True):
    """As OpenAI's."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class OpenAIModels(Struct, kw_only=True):
    """As OpenAI's."""

    object: Literal["list"]
    data: list[OpenAIModel]


class EmbedRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Texts and a recipe; without any part of a recipe, the vectors are the model's own."""

    texts: str | Texts
    model: ModelName | None = None
    layers: Layers | None = None
    mix: LayerPooling | None = None
    pool: Pool | None = None
    recipe: Annotated[str, Meta(description="A recipe by its name.")] | None = None
    weights: Annotated[list[float], Meta(max_length=1000)] | None = None
    scale: float | None = None
    special: Annotated[bool, Meta(description="Whether [CLS] and [SEP] count.")] | None = None
    per: Per = "text"
    join: Annotated[WordPooling, Meta(description="How pieces become a word.")] = "mean"
    prompt: Annotated[str, Meta(description="One of the model's prompts, by name.")] | None = None
    truncate: Annotated[bool, Meta(description="Cut long texts off, or else refuse them.")] = True
    normalize: Annotated[bool, Meta(description="Make all vectors of length 1.")] = False


class Part(Struct, kw_only=True, omit_defaults=True):
    """A word or piece: `begin` and `end` are characters of the text, `part` which of a pair."""

    begin: int
    end: int
    vector: list[float]
    word: str | None = None
    piece: str | None = None
    part: int = 0


class TextParts(Struct, kw_only=True, omit_defaults=True):
    """A text as the model read it (in NFC), to which the places of its parts refer."""

    text: str
    pair: str | None = None
    words: list[Part] | None = None
    pieces: list[Part] | None = None


class EmbedAnswer(Struct, kw_only=True, omit_defaults=True):
    """`embeddings` has a vector a text; with words or pieces, `texts` has them instead."""

    model: str
    dim: int
    tokens: int
    truncated: list[int]
    embeddings: list[list[float]] | None = None
    texts: list[TextParts] | None = None


class EncodeRequest(Struct, kw_only=True):
    """As bert-as-service's."""

    texts: Annotated[list[str | list[str]], Meta(min_length=1)]
    id: Number | Annotated[str, Meta(max_length=1000)] | None = None
    is_tokenized: bool = False
    show_tokens: bool = False
    model: ModelName | None = None


class EncodeAnswer(Struct, kw_only=True, omit_defaults=True):
    """As bert-as-service's; `results` is what its manual said, `result` what it sent."""

    id: int | str | None
    status: int
    result: list[list[float]]
    results: list[list[float]]
    tokens: list[list[str]] | None = None


class TokenizeRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Texts to be cut."""

    texts: str | Texts
    model: ModelName | None = None


class TokenizedText(Struct, kw_only=True):
    """A text as a model sees it; `words` numbers the words, -1 is no word."""

    text: str
    pair: str | None
    pieces: list[str]
    ids: list[int]
    segments: list[int]
    words: list[int]
    offsets: list[list[int]]
    truncated: bool


class TokenizeAnswer(Struct, kw_only=True):
    """Texts as a model sees them."""

    model: str
    texts: list[TokenizedText]


class NeighboursRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """A word of some vectors."""

    word: Word
    model: ModelName | None = None
    k: Count = 10
    metric: Metric = "cosine"


class Scored(Struct, kw_only=True):
    """A word and how near it is."""

    key: str
    score: float


class WordsAnswer(Struct, kw_only=True):
    """Of words that have no row of their own: which were read as others, and a note on each."""

    model: str
    read_as: dict[str, dict[str, float]]
    notes: list[str]


class NeighboursAnswer(WordsAnswer, kw_only=True):
    """The nearest words, nearest first."""

    neighbours: list[Scored]


class AnalogyRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Words added and subtracted: king - man + woman."""

    expression: Word
    model: ModelName | None = None
    k: Count = 10
    method: Method = "add"


class AnalogyAnswer(WordsAnswer, kw_only=True):
    """The words that it comes closest to."""

    answers: list[Scored]


class SimilarityRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Two words of some vectors, or two texts for an encoder."""

    one: Word
    other: Word
    model: ModelName | None = None


class SimilarityAnswer(WordsAnswer, kw_only=True):
    """The cosine between them."""

    similarity: float


class ModelState(Struct, kw_only=True, omit_defaults=True):
    """One model; of those that read in context also how deep and how far."""

    name: str
    kind: Literal["contextual", "encoder", "vectors", "index"]
    dim: int
    layers: int | None = None
    longest: int | None = None
    words: int | None = None
    texts: int | None = None


class ModelsAnswer(Struct, kw_only=True):
    """All models; the first is asked where none is named."""

    models: list[ModelState]


class SearchRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """What to look for in an index: by meaning, or by its words (`lexical`), or by both."""

    query: Word
    model: ModelName | None = None
    k: Count = 10
    where: Annotated[list[str], Meta(description="year>=2020, lang=ko: all must hold.")] = []
    hybrid: bool = False
    lexical: bool = False
    weight: (
        Annotated[float, Meta(ge=0, le=1, description="Of words in a hybrid search.")] | None
    ) = None


class SearchHit(Struct, kw_only=True):
    """A text that was found."""

    id: str
    score: float
    text: str
    fields: dict[str, Any]
    span: (
        Annotated[
            tuple[int, int], Meta(description="Where the passage of a long text is that fits best.")
        ]
        | None
    )


class SearchAnswer(Struct, kw_only=True):
    """The best texts, best first; `weight` is that of words in a hybrid search."""

    model: str
    weight: float | None
    hits: list[SearchHit]


class ErrorDetail(Struct, kw_only=True):
    """What went wrong: a word for programs, a sentence for people."""

    status: int
    code: str
    message: str


class ErrorBody(Struct, kw_only=True):
    """Why there is no answer."""

    error: ErrorDetail


class OpenAIErrorDetail(Struct, kw_only=True):
    """As OpenAI's."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIErrorBody(Struct, kw_only=True):
    """As OpenAI's."""

    error: OpenAIErrorDetail


class BertErrorBody(Struct, kw_only=True):
    """As bert-as-service's."""

    description: str
    type: str
    status: int


class HealthAnswer(Struct, kw_only=True):
    """Whether it is up."""

    status: Literal["ok", "draining"]
