"""What `malmoi evaluate` asks of word vectors, and what it shows of the answers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import Limit, open_model
from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.score_table import Row, answered
from malmoi.errors import warn
from malmoi.evaluate.analogies import AnalogyScore
from malmoi.evaluate.sets.locate_sets import find_sets
from malmoi.evaluate.sets.word_sets import SimilaritySet, TestSet
from malmoi.evaluate.word_vectors import WordScores, evaluate_words
from malmoi.query.analogy import Method

METHODS = {"add": "3CosAdd", "multiply": "3CosMul"}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class WordOptions:
    """What can be asked of word vectors."""

    typos: Annotated[bool, Parameter(negative="", help="Also with a typo in each word.")] = False
    sections: Annotated[bool, Parameter(negative="", help="Show each kind of analogy.")] = False
    method: Annotated[Method, Parameter(help="How analogies are answered.")] = "add"
    restrict: Annotated[
        int | None,
        Parameter(
            name=["--restrict", "--most-frequent"],
            help="Only so many of the most frequent words; analogies: 300,000 if not given.",
        ),
    ] = None
    fold_case: Annotated[bool, Parameter(help="Take Tiger for tiger.")] = True
    limit: Limit = None


def word_scores(
    models: Sequence[str], files: Sequence[str] | None, options: WordOptions, seed: int = 0
) -> list[WordScores]:
    """What each model answers to the same tests."""
    sets = find_sets(files)
    scores = []
    for model in models:
        vectors = open_model(model, options.limit)
        with progress_bar(f"testing {model}") as progress:
            found = evaluate_words(
                vectors,
                sets,
                typos=options.typos,
                method=options.method,
                most_frequent=options.restrict,
                fold_case=options.fold_case,
                seed=seed,
                progress=progress,
            )
        scores.append(found)
        hint_at_sentences(sets, found)
    return scores


def hint_at_sentences(sets: Sequence[TestSet], found: WordScores) -> None:
    """Say what may be wrong where no pair is answered, since the pairs are of texts."""
    pairs = [one for one in sets if isinstance(one, SimilaritySet)]
    for one, score in zip(pairs, found.similarity, strict=True):
        texts = sum(" " in pair.one or " " in pair.other for pair in one.pairs)
        if score.spearman.answered == 0 and 2 * texts > len(one.pairs):
            warn(f"{one.name} holds texts, not words: --sentences tests averages of word vectors")


def word_rows(found: WordScores, sections: bool) -> list[Row]:
    """What is shown of a model, in the order of the tests."""
    rows = [Row("word similarity, Spearman")] if found.similarity else []
    for one in found.similarity:
        built = f", {one.from_ngrams:,} by n-grams" if one.from_ngrams else ""
        rows.append(Row(f"  {one.name}", one.spearman, answered(one.spearman) + built))
    rows += [Row("the same with typos, share kept")] if found.typos else []
    for typed in found.typos:
        words = f"{typed.typos - typed.unanswered:,}/{typed.typos:,} words"
        rows.append(Row(f"  {typed.name}", typed.kept, words))
    for i, score in enumerate(found.analogies):
        rows += [Row(f"analogies, accuracy by {METHODS[score.method]}")] if i == 0 else []
        parts = [(f"  {score.name}", score.total)]
        parts += [("    semantic", score.semantic), ("    syntactic", score.syntactic)]
        if sections:
            parts += [(f"    {part.name}", part.accuracy) for part in score.sections]
        rows += [Row(label, part, answered(part)) for label, part in parts]
    return rows


def word_record(model: str, found: WordScores) -> dict[str, Any]:
    """Everything, for JSON."""
    return {
        "model": model,
        "similarity": [asdict(one) for one in found.similarity],
        "typos": [asdict(one) for one in found.typos],
        "analogies": [_analogy_record(one) for one in found.analogies],
    }


def _analogy_record(score: AnalogyScore) -> dict[str, Any]:
    kinds = {"total": score.total, "semantic": score.semantic, "syntactic": score.syntactic}
    return asdict(score) | {kind: asdict(one) for kind, one in kinds.items()}
