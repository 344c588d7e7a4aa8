"""Tasks from files: tables, a folder in BEIR's layout, JSON in the layout of SQuAD and KorQuAD."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from malmoi.arguments import expect, expect_path
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.retrieval import RetrievalSet, first_file, load_beir
from malmoi.evaluate.sets.sentence_sets import read_sentences, table_rows
from malmoi.evaluate.sets.test_file import read_text, set_name
from malmoi.evaluate.suites.label_tasks import ClassificationTask, ClusteringTask, LabelledText
from malmoi.evaluate.suites.pair_tasks import EntailmentTask, LabelledPair, SimilarityTask
from malmoi.evaluate.suites.ranking_tasks import ParaphraseTask, RetrievalTask, TranslationTask
from malmoi.evaluate.suites.task import EvaluationTask, Language, TaskKind
from malmoi.search.entries import RecordSource

SPLITS = ("test", "dev", "train")  # of a BEIR folder: the first that exists
TEXT_NAMES = ("text", "document", "sentence", "sentence1", "premise", "question", "title")
OTHER_NAMES = ("sentence2", "sentence_B", "hypothesis")
LABEL_NAMES = ("label", "class", "category", "gold_label", "group", "topic", "intent")


def load_task(path: str | Path, kind: TaskKind, *, language: Language = "") -> EvaluationTask:
    """Read a task from a file or folder.

    Args:
        path: For `sts` two texts and a score per row; for `nli` two texts and a relation; for
            `classification` and `clustering` a text and a label; for `paraphrases` a text and the
            name of its group; for `bitext` a text and its translation, in tables (CSV, TSV, JSON
            lines) or compressed ones. For `retrieval` a folder in BEIR's layout, or a JSON file
            in that of SQuAD and KorQuAD, whose paragraphs are the texts to find.
        kind: What is asked of an encoder.
        language: The language of the texts, if known.

    Returns:
        The task, for `evaluate_suite`.

    Raises:
        InvalidFileError: The file cannot be read or has no usable rows.
        InvalidArgumentError: The kind is unknown, or a column is missing.
    """
    expect(kind, str, "kind", f"one of {', '.join(READERS)}")
    if kind not in READERS:
        raise InvalidArgumentError(f"kind is '{kind}': choose one of {', '.join(READERS)}")
    return READERS[kind](expect_path(path), language)


def _sts(path: Path, language: Language) -> EvaluationTask:
    return SimilarityTask(set_name(path), language, read_sentences(path))


def _nli(path: Path, language: Language) -> EvaluationTask:
    rows = columns(path, (TEXT_NAMES, OTHER_NAMES, LABEL_NAMES))
    pairs = tuple(LabelledPair(one, other, label.lower()) for one, other, label in rows)
    return EntailmentTask(set_name(path), language, pairs)


def _classification(path: Path, language: Language) -> EvaluationTask:
    return ClassificationTask(set_name(path), language, _labelled(path))


def _clustering(path: Path, language: Language) -> EvaluationTask:
    return ClusteringTask(set_name(path), language, _labelled(path))


def _paraphrases(path: Path, language: Language) -> EvaluationTask:
    groups: dict[str, list[str]] = {}
    for one in _labelled(path):
        groups.setdefault(one.label, []).append(one.text)
    return ParaphraseTask(set_name(path), language, tuple(map(tuple, groups.values())))


def _bitext(path: Path, language: Language) -> EvaluationTask:
    pairs = [(str(row[0]).strip(), str(row[1]).strip()) for _, row in table_rows(path) if row[1:]]
    return TranslationTask(set_name(path), language, unique_pairs(path, pairs))


def retrieval_task(path: Path, language: Language) -> RetrievalTask:
    """A task from a folder in BEIR's layout, or from JSON in that of SQuAD."""
    if not path.is_dir():
        return squad_task(path, language)
    splits = [split for split in SPLITS if _has_split(path, split)]
    if not splits:
        raise InvalidFileError(
            f"{path} has no judgements: expected qrels/{SPLITS[0]}.tsv, as in BEIR's layout"
        )
    texts = RecordSource(text=("title", "text"), id="_id")
    corpus = {entry.id: entry.text for entry in texts.entries(first_file(path, "corpus.jsonl"))}
    name = f"{path.resolve().name} {splits[0]} queries"
    return RetrievalTask(name, language, corpus, load_beir(path, splits[0]))


def squad_task(path: Path, language: Language) -> RetrievalTask:
    """Questions that find their paragraph among all paragraphs of a SQuAD-style file."""
    try:
        articles = json.loads(read_text(path))["data"]
        paragraphs = [each for article in articles for each in article["paragraphs"]]
        corpus: dict[str, str] = {}
        queries: dict[str, str] = {}
        relevant: dict[str, Mapping[str, float]] = {}
        for paragraph in paragraphs:
            text = str(paragraph["context"]).strip()
            name = corpus.setdefault(text, str(len(corpus)))  # equal paragraphs are one text
            for asked in paragraph["qas"]:
                queries[str(asked["id"])] = str(asked["question"]).strip()
                relevant[str(asked["id"])] = {name: 1.0}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidFileError(
            f"{path} is not JSON in the layout of SQuAD: expected data, paragraphs, context and"
            " qas with id and question; for BEIR pass the folder"
        ) from error
    if not queries:
        raise InvalidFileError(f"{path} has no questions")
    texts = {name: text for text, name in corpus.items()}
    return RetrievalTask(set_name(path), language, texts, RetrievalSet(queries, relevant))


READERS: Mapping[str, Callable[[Path, Language], EvaluationTask]] = {
    "sts": _sts,
    "nli": _nli,
    "paraphrases": _paraphrases,
    "retrieval": retrieval_task,
    "bitext": _bitext,
    "classification": _classification,
    "clustering": _clustering,
}


def unique_pairs(path: Path, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Pairs of which neither text occurs twice, so that each text has one translation."""
    seen: set[str] = set()
    chosen = []
    for pair in pairs:
        if all(pair) and not seen & {*pair}:
            chosen.append(pair)
            seen |= {*pair}
    if not chosen:
        raise InvalidFileError(f"{path} has no pairs: expected a text and its translation per row")
    return tuple(chosen)


def columns(path: Path, names: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """The columns of a table with a header, each by the first of its names that exists."""
    rows = table_rows(path)
    header = [str(name).strip() for name in next(rows, (0, []))[1]]
    indices = []
    for known in names:
        index = next((header.index(name) for name in known if name in header), None)
        if index is None:
            raise InvalidArgumentError(
                f"{path} has none of the columns {', '.join(known)}: it has"
                f" {', '.join(header) or 'no rows'}"
            )
        indices.append(index)
    fields = ([_field(row, index) for index in indices] for _, row in rows)
    chosen = [tuple(each) for each in fields if all(each)]
    if not chosen:
        raise InvalidFileError(f"{path} has a header and no usable rows")
    return chosen


def _labelled(path: Path) -> tuple[LabelledText, ...]:
    rows = columns(path, (TEXT_NAMES, LABEL_NAMES))
    return tuple(LabelledText(text, label) for text, label in rows)


def _field(row: list[Any], index: int) -> str:
    value = row[index] if index < len(row) else None
    return "" if value is None else str(value).strip()


def _has_split(folder: Path, split: str) -> bool:
    try:
        first_file(folder, f"qrels_{split}.tsv", f"qrels/{split}.tsv")
    except InvalidFileError:
        return False
    return True
