"""What `malmoi evaluate` asks of encoders, and what it shows of the answers."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.score_table import Row, answered
from malmoi.encode.loading import load_encoder
from malmoi.evaluate.sentences import SentenceScore, evaluate_sentences
from malmoi.evaluate.sets.locate_sets import find_sentence_sets

Scores = tuple[SentenceScore, ...]


def sentence_scores(
    models: Sequence[str], files: Sequence[str] | None, columns: str | None, seed: int = 0
) -> list[Scores]:
    """What each model answers to the same tests."""
    sets = find_sentence_sets(files, names_of(columns))
    scores = []
    for model in models:
        encoder = load_encoder(model)
        with progress_bar(f"testing {model}", "texts") as progress:
            scores.append(evaluate_sentences(encoder, sets, seed=seed, progress=progress))
    return scores


def names_of(columns: str | None) -> list[str] | None:
    """Columns as they are written on the command line."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def sentence_rows(found: Scores) -> list[Row]:
    """What is shown of a model, in the order of the tests."""
    rows = [Row("sentence similarity, Spearman")]
    rows += [Row(f"  {one.name}", one.spearman, answered(one.spearman)) for one in found]
    rows += [Row("the same, Pearson")]
    rows += [Row(f"  {one.name}", one.pearson, answered(one.pearson)) for one in found]
    return rows


def sentence_record(model: str, found: Scores) -> dict[str, Any]:
    """Everything, for JSON."""
    return {"model": model, "sentences": [asdict(one) for one in found]}
