"""Reranker: a cross-encoder that scores how well documents answer a query.

Each pair of texts runs through the pipeline of encoders; the head of the model is the pooling.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from malmoi.arguments import expect, expect_count
from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import read_config
from malmoi.encode.checkpoint.locate import check_is_transformer, find_model, split_precision
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.runtime.engine import AutoEngine
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.tokenizer import load_tokenizer
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.rerank.cross_encoder_folder import (
    NEEDED,
    SCORE_ACTIVATIONS,
    read_activation,
    read_cross_encoder,
    read_head,
)
from malmoi.table import HEAD, Table, TabularList
from malmoi.text_inputs import TextLike, strings

ScoreActivation = Literal["identity", "sigmoid", "tanh"]


@dataclass(frozen=True)
class RankedDocument:
    """A document, its score, and its index among the documents that were ranked."""

    index: int
    score: float
    text: str


class RankedDocuments(TabularList[RankedDocument]):
    """Documents, best first."""

    def _table(self) -> Table:
        rows = [(one.index, one.score, one.text) for one in self[:HEAD]]
        return Table(f"{len(self):,} documents", ["index", "score", "text"], rows, len(self))


@dataclass(frozen=True, eq=False, repr=False)
class Reranker:
    """A cross-encoder; see `load_reranker`.

    The vector of a pair by `encoder` is its logit, [1]; `activation` makes a score of it.
    """

    encoder: TransformerEncoder
    activation: str

    @property
    def name(self) -> str:
        """The name or path that the reranker was loaded by."""
        return self.encoder.name

    def score(
        self,
        query: str,
        documents: Iterable[TextLike],
        *,
        activation: ScoreActivation | None = None,
        reporter: Reporter = DEFAULT_REPORTER,
    ) -> Float32Array:
        """How well each document answers a query.

        Args:
            query: A text.
            documents: Texts: a list, a generator, a Series or an array.
            activation: "identity", "sigmoid" or "tanh" instead of the model's own, which is the
                sigmoid unless its folder says otherwise; "identity" gives logits.
            reporter: Gets the progress, and the counts of pairs that were truncated, empty,
                unknown or fragmented.

        Returns:
            One score per document, [documents], higher is better.

        Raises:
            InvalidArgumentError: The query is not a text, the documents are not texts, or the
                activation is unknown.
        """
        return self._activated(
            self._logits(query, list(strings(documents, "document")), reporter), activation
        )

    def rank(
        self,
        query: str,
        documents: Iterable[TextLike],
        k: int | None = None,
        *,
        activation: ScoreActivation | None = None,
        reporter: Reporter = DEFAULT_REPORTER,
    ) -> RankedDocuments:
        """The documents that answer a query best.

        Args:
            query: A text.
            documents: Texts: a list, a generator, a Series or an array.
            k: How many documents to return; by default all.
            activation: As for `score`.
            reporter: As for `score`.

        Returns:
            Index, score and text of documents, best first; equal ones in their own order.

        Raises:
            InvalidArgumentError: As for `score`, or k is not a positive integer.
        """
        if k is not None:
            expect_count(k)
        texts = list(strings(documents, "document"))
        order = self.order(self._logits(query, texts, reporter), k, activation)
        return RankedDocuments(RankedDocument(i, score, texts[i]) for i, score in order)

    def order(
        self, logits: Float32Array, k: int | None = None, activation: str | None = None
    ) -> list[tuple[int, float]]:
        """Index and score of the k highest logits, best first."""
        scores = self._activated(logits, activation).tolist()
        return [(i, scores[i]) for i in best_first(logits)[:k]]

    def compile(self) -> None:
        """Switch to the fastest engine now, instead of after some thousand tokens."""
        self.encoder.compile()

    def _logits(self, query: str, documents: Sequence[str], reporter: Reporter) -> Float32Array:
        """The output of the model for each pair, [documents]."""
        expect(query, str, "query", "one text")
        pairs = [(query, document) for document in documents]
        progress, stats = reporter.stage("scoring", "documents"), TextStats(outputs="scores")
        logits = [np.empty((0, 1), np.float32)]
        for chunk in self.encoder.stream(pairs, stats=stats):
            logits.append(chunk)
            progress(sum(map(len, logits)), len(pairs))
        stats.needs_layers = True
        reporter.inputs(self.name, stats)
        return np.concatenate(logits)[:, 0]

    def _activated(self, logits: Float32Array, activation: str | None) -> Float32Array:
        chosen = self.activation if activation is None else activation
        if chosen not in SCORE_ACTIVATIONS:
            known = ", ".join(SCORE_ACTIVATIONS)
            raise InvalidArgumentError(f"activation must be one of {known}; got {chosen!r}")
        return SCORE_ACTIVATIONS[chosen](logits)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by name: another process loads the model again."""
        return load_reranker, (self.name,)

    def __repr__(self) -> str:
        config, engine = self.encoder.config, self.encoder.engine
        sizes = f"{config.layers} layers × {config.dim} in {engine.arithmetic}"
        return f"Reranker({self.name}, {sizes}, {self.activation})"


def load_reranker(name: str) -> Reranker:
    """Load a cross-encoder, which scores pairs of a query and a document.

    Args:
        name: A folder of sentence-transformers' CrossEncoder, or of a model for sequence
            classification that transformers saved, with one output; or its name on the Hub.
            `:quantized` after it runs the model in integers, as for `load_transformer`.

    Returns:
        The reranker.

    Raises:
        InvalidFileError: There is no such model, it has no classifier head or several outputs,
            or its files are damaged.
        InvalidArgumentError: The name is that of a model that is not a transformer.
        MissingDependencyError: A package for these models is not installed.

    Example:
        reranker = mm.load_reranker("cross-encoder")
        index = mm.build_index(mm.load_encoder("minilm"), ["It rains.", "The bank is closed."])
        hits = index.search("Is the bank open?", rerank=reranker)
    """
    expect(name, str | PathLike, "name", "the name or path of a cross-encoder")
    path, precision = split_precision(str(name))
    try:
        check_is_transformer(path)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{path} is not a cross-encoder: {NEEDED}") from error
    folder = find_model(path)
    modules = read_cross_encoder(folder)
    config = read_config(modules.transformer)
    head = read_head(modules.transformer, config)
    activation = read_activation(folder, modules.transformer)
    modules = replace(modules, pools=("cls",), steps=head)
    tokenizer = load_tokenizer(modules, config)
    engine = AutoEngine(modules.transformer, config, precision)
    encoder = TransformerEncoder(str(name), config, tokenizer, engine, modules)
    return Reranker(encoder, activation)


def best_first(scores: Float32Array) -> list[int]:
    """The indices of scores from the highest to the lowest; equal ones in their own order."""
    order: list[int] = (-scores).argsort(kind="stable").tolist()
    return order
