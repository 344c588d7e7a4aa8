"""The models that are served, each under a name; all are loaded before the first request."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from malmoi.classify.base.classifier import Classifier
from malmoi.classify.files import is_classifier, load_classifier
from malmoi.encode.loading import load_encoder
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.protocol import Encoder
from malmoi.encode.static.average import AverageEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import SilentReporter
from malmoi.rerank.cross_encoder_folder import is_cross_encoder
from malmoi.rerank.reranker import Reranker, load_reranker
from malmoi.search.analyser import SYLLABLES
from malmoi.search.build import open_index
from malmoi.search.index import Index
from malmoi.search.storage.address import is_postgres, parse_address
from malmoi.search.storage.folder import is_index
from malmoi.serve.service.errors import RequestError, UnknownModelError
from malmoi.serve.service.request_tokenizer import RequestTokenizer
from malmoi.vectors import Vectors

MAX_SAMPLED_TEXTS = 200  # that are searched for Hangul
WARM_UP_TEXTS = 800  # so many that they are classified by compiled kernels
ModelKind = Literal["transformer", "elmo", "encoder", "vectors", "index", "classifier", "reranker"]


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """One model; `encoder` embeds texts, `tokenizer` is that of one with layers."""

    name: str
    path: str
    encoder: Encoder | None = None
    tokenizer: RequestTokenizer | None = None
    vectors: Vectors | None = None
    index: Index | None = None
    classifier: Classifier | None = None
    reranker: Reranker | None = None

    @property
    def kind(self) -> ModelKind:
        """What the model is."""
        if self.reranker is not None:
            return "reranker"
        if self.classifier is not None:
            return "classifier"
        if self.index is not None:
            return "index"
        if self.tokenizer is not None:
            return self.tokenizer.encoder.kind
        return "vectors" if self.vectors is not None else "encoder"

    @property
    def dim(self) -> int:
        """The width of its vectors."""
        if self.index is not None:
            return self.index.state.dim
        return self.encoder.dim if self.encoder else self.vectors.dim if self.vectors else 0


@dataclass(frozen=True, eq=False)
class Models:
    """All models by name.

    A request without a name gets the first model that can answer it. Each lookup raises
    `UnknownModelError` for a name that is not served, and `RequestError` for a model that cannot
    answer.
    """

    by_name: Mapping[str, LoadedModel]

    def __iter__(self) -> Iterator[LoadedModel]:
        return iter(self.by_name.values())

    def get(self, name: str | None) -> LoadedModel:
        """The model of this name, or the first."""
        if name is None:
            return next(iter(self))
        if name not in self.by_name:
            raise UnknownModelError(name, list(self.by_name))
        return self.by_name[name]

    def transformer(self, name: str | None) -> tuple[LoadedModel, RequestTokenizer]:
        """A transformer."""
        model = self.get(name) if name else next((m for m in self if m.tokenizer), self.get(None))
        if model.tokenizer is None:
            raise RequestError(f"'{model.name}' is not a transformer", field="model")
        return model, model.tokenizer

    def vectors(self, name: str | None) -> tuple[LoadedModel, Vectors]:
        """A model with word vectors."""
        model = self.get(name) if name else next((m for m in self if m.vectors), self.get(None))
        if model.vectors is None:
            raise RequestError(f"'{model.name}' has no word vectors", field="model")
        return model, model.vectors

    def index(self, name: str | None) -> tuple[LoadedModel, Index]:
        """A search index."""
        model = self.get(name) if name else next((m for m in self if m.index), self.get(None))
        if model.index is None:
            raise RequestError(f"'{model.name}' is not a search index", field="model")
        return model, model.index

    def classifier(self, name: str | None) -> tuple[LoadedModel, Classifier]:
        """A classifier."""
        model = self.get(name) if name else next((m for m in self if m.classifier), self.get(None))
        if model.classifier is None:
            raise RequestError(f"'{model.name}' is not a classifier", field="model")
        return model, model.classifier

    def reranker(self, name: str | None) -> tuple[LoadedModel, Reranker]:
        """A reranker."""
        model = self.get(name) if name else next((m for m in self if m.reranker), self.get(None))
        if model.reranker is None:
            raise RequestError(f"'{model.name}' is not a reranker", field="model")
        return model, model.reranker

    def encoder(self, name: str | None) -> tuple[LoadedModel, Encoder]:
        """A model that embeds texts."""
        model = self.get(name) if name else next((m for m in self if m.encoder), self.get(None))
        if model.encoder is None:
            raise RequestError(f"'{model.name}' cannot embed texts", field="model")
        return model, model.encoder


def load_models(paths: Mapping[str, str]) -> Models:
    """Load models by name and path; the first that cannot be loaded raises its error."""
    if not paths:
        raise InvalidArgumentError("no model to serve: add --model NAME=PATH")
    loaded: dict[str, LoadedModel] = {}
    for name, path in paths.items():
        loaded[name] = load_model(name, path, tuple(loaded.values()))
    return Models(loaded)


def load_model(name: str, path: str, others: Sequence[LoadedModel] = ()) -> LoadedModel:
    """Load and warm up one model of any kind; an index may share an encoder of `others`."""
    if is_postgres(path) or is_index(Path(path)):
        return load_index(name, path, others)
    if is_classifier(Path(path)):
        classifier = load_classifier(path)
        classifier.probabilities([f"ready {i}" for i in range(WARM_UP_TEXTS)])
        return LoadedModel(name, path, classifier=classifier)
    if is_cross_encoder(Path(path)):
        reranker = load_reranker(path)
        reranker.compile()
        reranker.score(
            "ready", ["ready"], reporter=SilentReporter()
        )  # opens the graph before the first request
        return LoadedModel(name, path, reranker=reranker)
    encoder = load_encoder(path)
    if not isinstance(encoder, ContextualEncoder):
        vectors = encoder.vectors if isinstance(encoder, AverageEncoder) else None
        return LoadedModel(name, path, encoder=encoder, vectors=vectors)
    encoder.compile()
    encoder.encode(["ready"])  # opens the graph before the first request
    return LoadedModel(name, path, encoder=encoder, tokenizer=RequestTokenizer(encoder))


def load_index(name: str, path: str, others: Sequence[LoadedModel]) -> LoadedModel:
    """Load an index and its encoder."""
    index = open_index(path)
    same = (one.encoder for one in others if one.encoder and one.path == index.state.model)
    if encoder := next(same, None):
        index = open_index(path, encoder)
    if index.state.model:
        index.encoder.encode(["ready"], reporter=SilentReporter())
    warm_up_analyser(index)
    vectors = None if is_postgres(path) else index.vectors  # those of a database stay there
    return LoadedModel(name, path, vectors=vectors, index=index)


def warm_up_analyser(index: Index) -> None:
    """Load what analyses Korean, if the index has any: it would block all threads for seconds."""
    sample = " ".join(entry.text for entry in islice(index.entries(), MAX_SAMPLED_TEXTS))
    if SYLLABLES.search(sample):
        index.state.analyser("준비")


def parse_model_paths(options: tuple[str, ...]) -> dict[str, str]:
    """Parse `NAME=PATH` options; the name of a path alone is its last part.

    Raises:
        InvalidArgumentError: An option has no name or no path, or two have the same name.
    """
    paths: dict[str, str] = {}
    for option in options:
        if "=" in option and not is_postgres(option):
            name, _, path = option.partition("=")
        elif is_postgres(option):
            name, path = parse_address(option).table, option
        else:
            name, path = Path(option).stem or option, option
        if not name or not path:
            raise InvalidArgumentError(f"'{option}' is not a model: write it as NAME=PATH")
        if name in paths:
            raise InvalidArgumentError(
                f"two models are called '{name}': give each a name of its own"
            )
        paths[name] = path
    return paths
