"""`malmoi evaluate` for encoders: scores, table rows and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from malmoi.cli.shared.score_table import ScoreRow, answered
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.encode.loading import load_encoder
from malmoi.evaluate.sentences import SentenceScore, evaluate_sentences
from malmoi.evaluate.sets.locate_sets import find_sentence_sets

Scores = tuple[SentenceScore, ...]


def sentence_scores(
    models: Sequence[str], files: Sequence[str] | None, columns: str | None, seed: int = 0
) -> list[Scores]:
    """The scores of each model on the same tests."""
    sets = find_sentence_sets(files, names_of(columns))
    scores: list[Scores] = []
    for model in models:
        encoder = load_encoder(model)
        with TerminalReporter() as reporter:
            scores.append(evaluate_sentences(encoder, sets, seed=seed, reporter=reporter))
    return scores


def names_of(columns: str | None) -> list[str] | None:
    """The columns in a comma-separated option."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def sentence_rows(scores: Scores) -> list[ScoreRow]:
    """The table rows of a model, in the order of the tests."""
    rows = [ScoreRow("sentence similarity, Spearman")]
    rows += [ScoreRow(f"  {one.name}", one.spearman, answered(one.spearman)) for one in scores]
    rows += [ScoreRow("the same, Pearson")]
    rows += [ScoreRow(f"  {one.name}", one.pearson, answered(one.pearson)) for one in scores]
    return rows


def sentence_record(model: str, scores: Scores) -> dict[str, Any]:
    """All scores, for JSON."""
    return {"model": model, "sentences": [asdict(one) for one in scores]}
