"""`malmoi evaluate` for word vectors: options, scores, table rows and JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import open_model
from malmoi.cli.shared.score_table import ScoreRow, answered
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.errors import warn
from malmoi.evaluate.analogies import AnalogyScore
from malmoi.evaluate.sets.locate_sets import find_sets
from malmoi.evaluate.sets.word_sets import SimilaritySet, TestSet
from malmoi.evaluate.word_vectors import WordScores, evaluate_words
from malmoi.query.analogy import AnalogyMethod

METHODS = {"add": "3CosAdd", "multiply": "3CosMul"}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class WordOptions:
    """Options of the evaluation of word vectors."""

    typos: Annotated[
        bool, Parameter(negative="", help="Also measure similarity with a typo in each word.")
    ] = False
    sections: Annotated[bool, Parameter(negative="", help="Show each section of analogies.")] = (
        False
    )
    method: Annotated[AnalogyMethod, Parameter(help="How analogies are answered.")] = "add"
    restrict_vocab: Annotated[
        int | None,
        Parameter(help="Use only this many of the most frequent words (analogies: 300,000)."),
    ] = None
    fold_case: Annotated[bool, Parameter(help="Treat Tiger and tiger as the same word.")] = True
    limit: Annotated[
        int | None,
        Parameter(help="Read only the first rows of vectors; with tasks, texts per task."),
    ] = None


def word_scores(
    models: Sequence[str], files: Sequence[str] | None, options: WordOptions, seed: int = 0
) -> list[WordScores]:
    """The scores of each model on the same tests."""
    sets = find_sets(files)
    scores = []
    for model in models:
        vectors = open_model(model, options.limit)
        with TerminalReporter() as reporter:
            score = evaluate_words(
                vectors,
                sets,
                typos=options.typos,
                method=options.method,
                restrict_vocab=options.restrict_vocab,
                fold_case=options.fold_case,
                seed=seed,
                reporter=reporter,
            )
        scores.append(score)
        warn_of_sentences(sets, score)
    return scores


def warn_of_sentences(sets: Sequence[TestSet], scores: WordScores) -> None:
    """Warn of a set of which no pair was answered because the pairs are texts."""
    pairs = [one for one in sets if isinstance(one, SimilaritySet)]
    for one, score in zip(pairs, scores.similarity, strict=True):
        texts = sum(" " in pair.one or " " in pair.other for pair in one.pairs)
        if score.spearman.answered == 0 and 2 * texts > len(one.pairs):
            warn(f"{one.name} holds texts, not words: use --sentences to average word vectors")


def word_rows(scores: WordScores, sections: bool) -> list[ScoreRow]:
    """The table rows of a model, in the order of the tests."""
    rows = [ScoreRow("word similarity, Spearman")] if scores.similarity else []
    for one in scores.similarity:
        built = f", {one.from_ngrams:,} by n-grams" if one.from_ngrams else ""
        rows.append(ScoreRow(f"  {one.name}", one.spearman, answered(one.spearman) + built))
    rows += [ScoreRow("the same with typos, share retained")] if scores.typos else []
    for typed in scores.typos:
        words = f"{typed.typos - typed.unanswered:,}/{typed.typos:,} words"
        rows.append(ScoreRow(f"  {typed.name}", typed.retained, words))
    for i, score in enumerate(scores.analogies):
        rows += [ScoreRow(f"analogies, accuracy by {METHODS[score.method]}")] if i == 0 else []
        parts = [(f"  {score.name}", score.total)]
        parts += [("    semantic", score.semantic), ("    syntactic", score.syntactic)]
        if sections:
            parts += [(f"    {part.name}", part.accuracy) for part in score.sections]
        rows += [ScoreRow(label, part, answered(part)) for label, part in parts]
    return rows


def word_record(model: str, scores: WordScores) -> dict[str, Any]:
    """All scores, for JSON."""
    return {
        "model": model,
        "similarity": [asdict(one) for one in scores.similarity],
        "typos": [asdict(one) for one in scores.typos],
        "analogies": [_analogy_record(one) for one in scores.analogies],
    }


def _analogy_record(score: AnalogyScore) -> dict[str, Any]:
    kinds = {"total": score.total, "semantic": score.semantic, "syntactic": score.syntactic}
    return asdict(score) | {kind: asdict(one) for kind, one in kinds.items()}
