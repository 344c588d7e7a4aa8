"""The tasks whose data are below $MALMOI_DATA: which files they need, and how each is read.

Test questions come from development splits; SciFact's from its train queries, as its name says.
Large sets are sampled, always the same way, so that a suite takes minutes on two cores.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from malmoi.evaluate.sets.locate_sets import data_folder
from malmoi.evaluate.sets.sentence_sets import read_sentences
from malmoi.evaluate.suites.label_tasks import ClassificationTask, ClusteringTask, LabelledText
from malmoi.evaluate.suites.pair_tasks import EntailmentTask, LabelledPair, SimilarityTask
from malmoi.evaluate.suites.ranking_tasks import ParaphraseTask, TranslationTask
from malmoi.evaluate.suites.task import EvaluationTask, Language
from malmoi.evaluate.suites.task_files import (
    LABEL_NAMES,
    OTHER_NAMES,
    TEXT_NAMES,
    columns,
    retrieval_task,
    squad_task,
    unique_pairs,
)
from malmoi.text.readers import JsonLinesReader, TableReader, text_lines

Suite = Literal["ko", "en", "all"]
GROUP_SIZE = 10  # paraphrases of the same question follow each other in paraKQC
LABELLED_TEXTS, QUESTIONS, TRANSLATIONS = 4000, 5000, 2000  # texts of large sets
SUBJECT = re.compile(r"^Subject:\s*((?:re:\s*)*)(.*)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class InstalledTask:
    """A task below $MALMOI_DATA; `pattern` finds its file or folder."""

    name: str
    languages: tuple[Suite, ...]  # the suites that it is part of
    pattern: str
    read: Callable[[str, Path], EvaluationTask]

    def find(self) -> Path | None:
        """The first file that fits, without compressed doubles; None if there is none."""
        folder = data_folder()
        found = sorted(folder.glob(self.pattern)) if folder and folder.is_dir() else []
        return found[0] if found else None


def _similarity(language: Language) -> Callable[[str, Path], EvaluationTask]:
    return lambda name, path: SimilarityTask(name, language, read_sentences(path))


def _entailment(name: str, path: Path) -> EvaluationTask:
    rows = columns(path, (TEXT_NAMES, OTHER_NAMES, LABEL_NAMES))
    return EntailmentTask(name, "ko", tuple(LabelledPair(*row) for row in rows))


def _sick(name: str, path: Path) -> EvaluationTask:
    rows = columns(path, (("sentence_A",), ("sentence_B",), ("entailment_judgment",)))
    return EntailmentTask(name, "en", tuple(LabelledPair(a, b, c.lower()) for a, b, c in rows))


def _paraphrases(name: str, path: Path) -> EvaluationTask:
    lines = [line for line, _ in text_lines(path, "utf-8") if line.strip()]
    texts = [line.rpartition("\t")[2].strip() for line in lines]
    starts = range(0, len(texts), GROUP_SIZE)
    groups = tuple(tuple(texts[start : start + GROUP_SIZE]) for start in starts)
    return ParaphraseTask(name, "ko", groups).limited(QUESTIONS)


def _translations(name: str, path: Path) -> EvaluationTask:
    rows = [line.split("\t") for line, _ in text_lines(path, "utf-8")]
    pairs = unique_pairs(path, ((row[0].strip(), row[1].strip()) for row in rows if row[1:]))
    return TranslationTask(name, "ko-en", pairs, ("en", "ko")).limited(TRANSLATIONS)


def _reviews(name: str, path: Path) -> EvaluationTask:
    rows = columns(path, (("document",), ("label",)))
    texts = tuple(LabelledText(text, label) for text, label in rows)
    return ClassificationTask(name, "ko", texts).limited(LABELLED_TEXTS)


def _spam(name: str, path: Path) -> EvaluationTask:
    rows = TableReader(path, "v2", encoding="latin-1").rows()
    next(rows)
    texts = tuple(LabelledText(row[1], row[0]) for _, row, _ in rows if len(row) > 1 and row[1])
    return ClassificationTask(name, "en", texts).limited(LABELLED_TEXTS)


def _newsgroups(name: str, path: Path) -> EvaluationTask:
    """The subjects of posts, each once, as in MTEB."""
    texts: dict[str, LabelledText] = {}
    for _, post, _ in JsonLinesReader(path, "text").objects():
        subject = SUBJECT.search(str(post["text"]))
        if subject and subject[2].strip():
            text = subject[2].strip()
            texts.setdefault(text, LabelledText(text, str(post["group"])))
    return ClusteringTask(name, "en", tuple(texts.values())).limited(LABELLED_TEXTS)


def _scifact(name: str, path: Path) -> EvaluationTask:
    return replace(retrieval_task(path, "en"), name=name)


def _korquad(name: str, path: Path) -> EvaluationTask:
    return replace(squad_task(path, "ko"), name=name)


INSTALLED: tuple[InstalledTask, ...] = (
    InstalledTask("KorSTS", ("ko", "all"), "sts/korsts/*dev*", _similarity("ko")),
    InstalledTask("STSBenchmark", ("en", "all"), "sts/stsb_en/*dev*", _similarity("en")),
    InstalledTask("SICK-R", ("en", "all"), "sts/sick/*trial*", _similarity("en")),
    InstalledTask("XNLI ko", ("ko", "all"), "nli/*dev.ko*", _entailment),
    InstalledTask("SICK-E", ("en", "all"), "sts/sick/*trial*", _sick),
    InstalledTask("paraKQC", ("ko", "all"), "parakqc/*.txt*", _paraphrases),
    InstalledTask("KorQuAD", ("ko", "all"), "korquad/*dev*.json*", _korquad),
    InstalledTask("SciFact train queries", ("en", "all"), "scifact", _scifact),
    InstalledTask("Tatoeba kor-eng", ("ko", "all"), "parallel/manythings*", _translations),
    InstalledTask("NSMC", ("ko", "all"), "nsmc/*.txt*", _reviews),
    InstalledTask("SMS spam", ("en", "all"), "spam/*.csv*", _spam),
    InstalledTask("TwentyNewsgroupsClustering", ("en", "all"), "newsgroups/*", _newsgroups),
)


def installed_tasks(suite: Suite) -> tuple[list[EvaluationTask], list[str]]:
    """The tasks of a suite whose data are there, and what the others lack."""
    tasks, missing = [], []
    for one in INSTALLED:
        if suite not in one.languages:
            continue
        path = one.find()
        if path is None:
            missing.append(f"{one.name} ({one.pattern})")
        else:
            tasks.append(one.read(one.name, path))
    return tasks, missing
