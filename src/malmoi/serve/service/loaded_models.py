"""The models that are served, each under a name: opened once, before anything is answered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from malmoi.encode.checkpoint.locate import is_universal, is_vectors
from malmoi.encode.encoder import load_transformer
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder
from malmoi.encode.static.average import AverageEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.search.build import open_index
from malmoi.search.index import Index
from malmoi.search.storage.folder import is_index
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.service.request_tokenizer import RequestTokenizer
from malmoi.vectors import Vectors

Kind = Literal["contextual", "encoder", "vectors", "index"]


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """One model: `reader` where it reads in context, `encoder` where it embeds texts at all."""

    name: str
    path: str
    encoder: Encoder | None = None
    reader: RequestTokenizer | None = None
    vectors: Vectors | None = None
    index: Index | None = None

    @property
    def kind(self) -> Kind:
        """What it is."""
        if self.index is not None:
            return "index"
        if self.reader is not None:
            return "contextual"
        return "vectors" if self.vectors is not None else "encoder"

    @property
    def dim(self) -> int:
        """How many numbers a vector of it has."""
        return self.encoder.dim if self.encoder else self.vectors.dim if self.vectors else 0


@dataclass(frozen=True, eq=False)
class Models:
    """All models by name; the first is meant where none is named."""

    by_name: Mapping[str, LoadedModel]

    def __iter__(self) -> Iterator[LoadedModel]:
        return iter(self.by_name.values())

    def __call__(self, name: str | None) -> LoadedModel:
        """The model of this name."""
        if name is None:
            return next(iter(self))
        if name not in self.by_name:
            raise ApiError(
                404,
                f"there is no model '{name}' here: {', '.join(self.by_name)} can be asked",
                code="model_not_found",
                parameter="model",
            )
        return self.by_name[name]

    def reader(self, name: str | None) -> tuple[LoadedModel, RequestTokenizer]:
        """A model that reads in context."""
        model = self(name) if name else next((one for one in self if one.reader), self(None))
        if model.reader is None:
            raise ApiError(400, f"'{model.name}' does not read in context", parameter="model")
        return model, model.reader

    def vectors(self, name: str | None) -> tuple[LoadedModel, Vectors]:
        """A model that is vectors of words."""
        model = self(name) if name else next((one for one in self if one.vectors), self(None))
        if model.vectors is None:
            raise ApiError(400, f"'{model.name}' holds no vectors of words", parameter="model")
        return model, model.vectors

    def index(self, name: str | None) -> tuple[LoadedModel, Index]:
        """A model that is an index over texts."""
        model = self(name) if name else next((one for one in self if one.index), self(None))
        if model.index is None:
            raise ApiError(400, f"'{model.name}' is no index of texts", parameter="model")
        return model, model.index

    def encoder(self, name: str | None) -> tuple[LoadedModel, Encoder]:
        """A model that embeds texts."""
        model = self(name) if name else next((one for one in self if one.encoder), self(None))
        if model.encoder is None:
            raise ApiError(400, f"'{model.name}' embeds no texts", parameter="model")
        return model, model.encoder


def load_models(places: Mapping[str, str]) -> Models:
    """Open models by name and path; the first that cannot be opened ends it."""
    if not places:
        raise InvalidArgumentError("no model is named: give one as --model NAME=PATH")
    loaded: dict[str, LoadedModel] = {}
    for name, path in places.items():
        loaded[name] = load_model(name, path, tuple(loaded.values()))
    return Models(loaded)


def load_model(name: str, path: str, others: Sequence[LoadedModel] = ()) -> LoadedModel:
    """Open one model, whatever it is, and try it; an index takes its encoder from `others`."""
    if is_index(Path(path)):
        return load_index(name, path, others)
    if is_vectors(path) or is_universal(path):
        encoder = load_encoder(path)
        vectors = encoder.vectors if isinstance(encoder, AverageEncoder) else None
        return LoadedModel(name, path, encoder=encoder, vectors=vectors)
    contextual = load_transformer(path)
    contextual.compile()
    contextual.encode(["ready"])  # what runs it is compiled and opened now, while nobody waits
    return LoadedModel(name, path, encoder=contextual, reader=RequestTokenizer(contextual))


def load_index(name: str, path: str, others: Sequence[LoadedModel]) -> LoadedModel:
    """Open an index; its encoder too, so that nobody waits for that."""
    index = open_index(path)
    same = (one.encoder for one in others if one.encoder and one.path == index.state.model)
    if encoder := next(same, None):
        index = open_index(path, encoder)
    if index.state.model:
        index.encoder.encode(["ready"])
    return LoadedModel(name, path, vectors=index.vectors, index=index)


def parse_places(asked: tuple[str, ...]) -> dict[str, str]:
    """`NAME=PATH` each, or a path alone, whose last part is then the name."""
    places: dict[str, str] = {}
    for one in asked:
        name, _, path = one.partition("=") if "=" in one else (Path(one).stem or one, "", one)
        if not name or not path:
            raise InvalidArgumentError(f"'{one}' names no model: write it as NAME=PATH")
        if name in places:
            raise InvalidArgumentError(
                f"two models are called '{name}': give each a name of its own"
            )
        places[name] = path
    return places
