"""Mines hard negatives: for each query, texts that are near it and are not its positives."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from malmoi.arguments import settings_or_default
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import DEFAULT_REPORTER, InputTotals, Reporter, expect_reporter
from malmoi.search.index import Index
from malmoi.table import Table, Tabular
from malmoi.text_inputs import TextLike, strings
from malmoi.tune.data.columns import choose_columns
from malmoi.tune.data.tables import DataSource, read_table
from malmoi.tune.mining.candidates import (
    Candidate,
    CandidateSource,
    IndexCandidates,
    Judge,
    TextCandidates,
)
from malmoi.tune.mining.guards import SkippedCandidates, make_rules
from malmoi.tune.mining.settings import MiningSettings


class MinedTriplet(NamedTuple):
    """A query, its positive, a hard negative, and their scores with the query.

    With a judge, `margin` is its difference of the two scores, otherwise that of the encoder.
    """

    anchor: str
    positive: str
    negative: str
    positive_score: float
    negative_score: float
    margin: float


@dataclass(frozen=True, repr=False)
class MinedNegatives(Tabular):
    """The triplets, and why other candidates are not negatives.

    `skipped` counts candidates by reason and `examples` has a query and a text of each;
    `incomplete` counts pairs that got fewer negatives than the settings want.
    """

    triplets: tuple[MinedTriplet, ...]
    pairs: int
    incomplete: int
    skipped: dict[str, int] = field(default_factory=dict)
    examples: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"MinedNegatives({len(self.triplets):,} triplets of {self.pairs:,} pairs)"

    def __len__(self) -> int:
        return len(self.triplets)

    def _table(self) -> Table:
        rows = [(reason, count, *self.examples[reason]) for reason, count in self.skipped.items()]
        header = ["skipped because", "candidates", "query", "text"]
        return Table(f"{len(self.triplets):,} triplets of {self.pairs:,} pairs", header, rows)


def mine_negatives(
    pairs: DataSource,
    corpus: Index | Iterable[TextLike] | None = None,
    encoder: Encoder | str | None = None,
    settings: MiningSettings | None = None,
    *,
    judge: Encoder | str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> MinedNegatives:
    """Find hard negatives for pairs of a query and a text that answers it.

    Args:
        pairs: A table of two texts per row: a file, a DataFrame, or a list of tuples. A query may
            have several rows; all its positives are then excluded.
        corpus: An index, or the texts to search, to which the positives are added; None for the
            positives alone.
        encoder: The encoder or its name, unless the corpus is an index, which has its own.
        settings: Which texts are negatives; the defaults of `MiningSettings` if not given.
        judge: A second encoder or its name: what is within the margin by either encoder is not a
            negative.
        reporter: Receives the progress and warnings.

    Returns:
        Triplets for `tune_sentence`, and counts of what was skipped.

    Raises:
        InvalidArgumentError: The pairs are not pairs, or a setting does not fit.
        InvalidFileError: A file cannot be read.
    """
    expect_reporter(reporter)
    settings = settings_or_default(settings, MiningSettings)
    positives = _positives(pairs, settings, reporter)
    with InputTotals(reporter) as totals:
        source = _source(corpus, encoder, positives, totals)
        second = None if judge is None else Judge(_loaded(judge, "judge"), totals)
        return _mined(positives, source, settings, second, reporter)


def _mined(
    positives: dict[str, list[str]],
    source: CandidateSource,
    settings: MiningSettings,
    judge: Judge | None,
    reporter: Reporter,
) -> MinedNegatives:
    pairs = [(query, text) for query, texts in positives.items() for text in texts]
    known = dict(zip(pairs, source.scores(pairs), strict=True))
    most = max(map(len, positives.values()))
    candidates = list(source.nearest(list(positives), settings.candidates(most) + most))
    if judge is not None:
        texts = [text for _, text in pairs] + [each.text for near in candidates for each in near]
        judge.learn(list(positives), texts)
    skipped, random, triplets, incomplete = (
        SkippedCandidates(),
        Random(settings.seed),
        list[MinedTriplet](),
        0,
    )
    progress = reporter.stage("mining", "queries")
    for done, (query, near) in enumerate(zip(positives, candidates, strict=True), 1):
        scores = {text: known[query, text] for text in positives[query]}
        negatives = _negatives(query, scores, near, settings, judge, skipped)
        negatives = _chosen(negatives[: settings.candidates(most)], settings, random)
        incomplete += len(scores) * (len(negatives) < settings.negatives)
        for text, score in scores.items():
            triplets += [_triplet(query, text, score, each, judge) for each in negatives]
        progress(done, len(positives))
    return MinedNegatives(tuple(triplets), len(pairs), incomplete, skipped.counts, skipped.examples)


def _negatives(
    query: str,
    positives: dict[str, float],
    near: list[Candidate],
    settings: MiningSettings,
    judge: Judge | None,
    skipped: SkippedCandidates,
) -> list[Candidate]:
    """The candidates that no rule excludes; the others are counted by the first rule that does."""
    judged = min((judge(query, text) for text in positives), default=0.0) if judge else 0.0
    by_judge = None if judge is None else (lambda text: judge(query, text))
    lowest = min(positives.values())
    rules = make_rules(settings, positives, lowest, judge=by_judge, judged=judged)
    chosen = []
    for each in near:
        reason = next((reason for reason, excludes in rules if excludes(*each)), None)
        if reason is None:
            chosen.append(each)
        else:
            skipped.add(reason, query, each.text)
    return chosen


def _chosen(
    candidates: list[Candidate], settings: MiningSettings, random: Random
) -> list[Candidate]:
    """The negatives of a query, nearest first."""
    after = candidates[settings.range_min :]
    if settings.sampling == "random" and len(after) > settings.negatives:
        after = sorted(random.sample(after, settings.negatives), key=lambda each: -each.score)
    return after[: settings.negatives]


def _triplet(
    query: str, positive: str, score: float, negative: Candidate, judge: Judge | None
) -> MinedTriplet:
    margin = score - negative.score
    if judge is not None:
        margin = judge(query, positive) - judge(query, negative.text)
    return MinedTriplet(query, positive, negative.text, score, negative.score, margin)


def _positives(
    pairs: DataSource, settings: MiningSettings, reporter: Reporter
) -> dict[str, list[str]]:
    """The positives of each query, each once; rows without a text are counted and skipped."""
    table = read_table(pairs, reporter)
    chosen = choose_columns(table, settings.columns, may_have_label=len(settings.columns) != 2)
    both = chosen.texts
    if len(both) < 2 or chosen.label is not None:
        raise InvalidArgumentError(
            f"{table.source} has no pairs ({chosen.describe(table)}): pass a query and its answer"
            " per row, or name these two columns"
        )
    positives: dict[str, list[str]] = {}
    for line, fields in table.rows[chosen.first_row :]:
        values = [fields[column] if column < len(fields) else None for column in both[:2]]
        query, text = (value.strip() if isinstance(value, str) else "" for value in values)
        if not query or not text:
            table.skipped.add("no text", line)
        elif text not in positives.setdefault(query, []):
            positives[query].append(text)
    table.skipped.report(table.source, reporter)
    if not positives:
        raise InvalidArgumentError(f"{table.source} has no usable rows: expected two texts per row")
    return positives


def _source(
    corpus: Index | Iterable[TextLike] | None,
    encoder: Encoder | str | None,
    positives: dict[str, list[str]],
    reporter: Reporter,
) -> CandidateSource:
    if isinstance(corpus, Index):
        if encoder is not None:
            raise InvalidArgumentError("an index has its own encoder: leave encoder out")
        return IndexCandidates(corpus, reporter)
    if encoder is None:
        raise InvalidArgumentError("encoder is missing: name one, such as minilm, or pass an index")
    given = [] if corpus is None else list(strings(corpus))
    texts = [*given, *(text for own in positives.values() for text in own)]
    return TextCandidates(_loaded(encoder, "encoder"), texts, reporter)


def _loaded(encoder: Encoder | str, name: str) -> Encoder:
    if isinstance(encoder, str):
        return load_encoder(encoder)
    expect_encoder(encoder, name)
    return encoder
