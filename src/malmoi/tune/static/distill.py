"""Distills an encoder into a static student: token vectors whose mean imitates its vectors."""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, replace
from hashlib import blake2b
from math import inf
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from malmoi.arguments import settings_or_default
from malmoi.encode.checkpoint.static_folder import StaticParts
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.encode.static.saving import save_static
from malmoi.encode.static.static_encoder import StaticEncoder, static_encoder
from malmoi.encode.static.token_lookup import TokenLookup
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import Score
from malmoi.evaluate.sentences import sentence_similarity
from malmoi.evaluate.sets.sentence_sets import PairSource
from malmoi.files.checkpoint import (
    Checkpointer,
    RunFingerprint,
    checkpoint_path,
    discard_checkpoint,
)
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, SilentReporter, expect_reporter
from malmoi.text.corpus import Corpus
from malmoi.text_inputs import TextLike
from malmoi.tune.saving import check_target
from malmoi.tune.static.result import StaticResult, static_card
from malmoi.tune.static.settings import StaticSettings
from malmoi.tune.static.teacher import (
    MIN_TEXTS,
    principal_axes,
    project,
    teacher_vectors,
    vectors_path,
)
from malmoi.tune.static.trainer import first_table, fit_table
from malmoi.tune.static.vocabulary import learn_tokenizer
from malmoi.unicode import normalize

TEACHER_SHARE = 0.85  # of the minutes; the rest is for tokens and training
FINGERPRINTED = ("seed",)  # the teacher reads the texts in an order by seed
CorpusLike = str | PathLike[str] | Iterable[TextLike]


def distill_static(
    texts: CorpusLike,
    teacher: str | Encoder,
    out: str | PathLike[str],
    settings: StaticSettings | None = None,
    *,
    dev: PairSource | None = None,
    resume: bool = False,
    reporter: Reporter = DEFAULT_REPORTER,
) -> StaticResult:
    """Distill an encoder into a static one, and save it as a folder.

    The folder is loaded by `load_encoder`, by model2vec and by sentence-transformers. The
    teacher's vectors of the texts are the slow part: they are written to a file beside `out`, so
    that an interrupted run can resume.

    Args:
        texts: Short texts, such as sentences, of all languages that the student should know: a
            file with one per line, a folder, or strings.
        teacher: An encoder, or its name: `use`, `minilm`, a model folder.
        out: The folder to write; it must not exist yet.
        settings: How to distill; the defaults of `StaticSettings` if not given.
        dev: Pairs with scores, on which student and teacher are compared.
        resume: Continue an interrupted run with the same texts, teacher and seed.
        reporter: Receives progress, losses and warnings.

    Returns:
        How well the student fits the teacher on texts that it was not trained on.

    Raises:
        InvalidArgumentError: There are too few texts, or a setting does not suit the teacher.
        InvalidFileError: A file cannot be read, `out` exists, or it cannot be written.
        MissingDependencyError: A package for the teacher or tokenizers is not installed.
    """
    expect_reporter(reporter)
    settings, folder = settings_or_default(settings, StaticSettings), Path(out)
    check_target(folder)
    start = monotonic()
    encoder = load_encoder(teacher) if isinstance(teacher, str | PathLike) else teacher
    expect_encoder(encoder, "teacher")
    if settings.dim > encoder.dim:
        raise InvalidArgumentError(
            f"dim is {settings.dim}, but the vectors of {encoder.name} have {encoder.dim}"
            " dimensions: choose at most as many"
        )
    distinct = read_texts(texts, settings, reporter)
    run = RunFingerprint(_identity(encoder, settings), digest(distinct), "a distillation")
    checkpointer = Checkpointer(checkpoint_path(folder), run, resume=resume)
    limit = inf if settings.minutes is None else 60 * TEACHER_SHARE * settings.minutes
    path = vectors_path(folder)
    vectors = teacher_vectors(encoder, distinct, path, checkpointer, limit, reporter)
    stopped = ""
    if len(vectors) < len(distinct):
        stopped = f"the teacher has read {len(vectors):,} of {len(distinct):,} texts in its time"
    student, result = _fit(encoder, distinct[: len(vectors)], vectors, folder, settings, reporter)
    scores = None if dev is None else (_score(student, dev), _score(encoder, dev))
    result = replace(result, seconds=monotonic() - start, stopped=stopped, dev=scores)
    sources = [str(texts)] if isinstance(texts, str | PathLike) else []
    card = static_card(result, settings, sources)
    save_static(folder, student.parts.table, student.parts.tokenizer, card=card)
    path.unlink(missing_ok=True)
    discard_checkpoint(checkpoint_path(folder))
    return result


def _fit(
    teacher: Encoder,
    texts: list[str],
    vectors: Any,
    folder: Path,
    settings: StaticSettings,
    reporter: Reporter,
) -> tuple[StaticEncoder, StaticResult]:
    """Learn the tokens of the texts, then their vectors."""
    if len(texts) < MIN_TEXTS:
        raise InvalidArgumentError(
            f"there are {len(texts)} texts: a student needs thousands, and at least {MIN_TEXTS}"
        )
    tokenizer = learn_tokenizer(texts, settings.vocabulary_size, settings.vocabulary)
    tokens = TokenLookup(tokenizer)(texts)
    size = tokenizer.get_vocab_size()
    axes = principal_axes(vectors, settings.dim)
    names = sorted(tokenizer.get_vocab(), key=tokenizer.token_to_id)
    counts = np.bincount(tokens[1], minlength=size)
    table = first_table(teacher, names, counts, axes, settings.smoothing)
    path = folder.with_name(f"{folder.name}.targets")
    with ExitStack() as stack:
        stack.callback(path.unlink, missing_ok=True)
        targets = project(vectors, axes, path)
        best, fits = fit_table(table, tokens, targets, settings, reporter)
        del targets
    parts = StaticParts(
        folder=folder,
        table=best,
        tokenizer=tokenizer,
        normalize=True,
        skips_unknown=True,
        max_length=None,
    )
    result = StaticResult(
        folder=folder,
        teacher=teacher.name,
        texts=len(texts),
        tokens=size,
        dim=settings.dim,
        seconds=0.0,
        stopped="",
        fits=fits,
    )
    return static_encoder(parts, folder), result


def read_texts(texts: CorpusLike, settings: StaticSettings, reporter: Reporter) -> list[str]:
    """Different texts in NFC, in an order by seed, so that the first are a sample of all."""
    source = Path(texts) if isinstance(texts, str | PathLike) else texts
    every = [
        normalize("NFC", text.strip()) for text in Corpus.of(source, field=settings.field).texts
    ]
    distinct = list(dict.fromkeys(text for text in every if text))
    if lost := len(every) - len(distinct):
        reporter.warn(f"{lost:,} of {len(every):,} texts are empty or repeated: left out")
    order = np.random.default_rng(settings.seed).permutation(len(distinct))
    return [distinct[i] for i in order.tolist()]


def digest(texts: Iterable[str]) -> str:
    """A digest of texts, to recognize them when a run is resumed."""
    hashed = blake2b(digest_size=16)
    for text in texts:
        hashed.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return hashed.hexdigest()


def _identity(teacher: Encoder, settings: StaticSettings) -> dict[str, Any]:
    values = {name: value for name, value in asdict(settings).items() if name in FINGERPRINTED}
    identity: dict[str, Any] = json.loads(json.dumps(values | {"teacher": teacher.name}))
    return identity


def _score(encoder: Encoder, dev: PairSource) -> Score:
    return sentence_similarity(encoder, dev, reporter=SilentReporter()).spearman
