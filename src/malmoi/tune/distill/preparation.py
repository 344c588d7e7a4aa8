"""All that a distillation needs before its first step: texts, targets, tasks, and the guard."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import cast

import numpy as np

from malmoi.arrays import Int32Array
from malmoi.encode.checkpoint.weights import sha256_of, weights_file
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.sentence_sets import PairSource, SentenceSet, read_sentences
from malmoi.evaluate.suites.embedder import Embedder
from malmoi.evaluate.suites.pair_tasks import SimilarityTask
from malmoi.evaluate.suites.ranking_tasks import TranslationTask
from malmoi.evaluate.suites.task import EvaluationTask, Measure
from malmoi.files.checkpoint import RunFingerprint
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.text_inputs import column_names
from malmoi.tune.data.numbering import tokenize_texts
from malmoi.tune.distill.collapse import CollapseGuard, check_tokens
from malmoi.tune.distill.parallel import DistillData, ParallelTexts, read_parallel, without
from malmoi.tune.distill.ridge import r_squared
from malmoi.tune.distill.settings import DistillSettings
from malmoi.tune.distill.targets import CachedVectors, DistillTargets, make_targets
from malmoi.tune.sentence.tuning import NOT_FINGERPRINTED

SAME_R2 = 0.999  # of vectors that are the same but for rounding
DevSets = PairSource | Sequence[PairSource]


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedDistillation:
    """An untrained student with its texts and targets; `before` are its measures per task."""

    encoder: TransformerEncoder
    settings: DistillSettings
    data: ParallelTexts
    targets: DistillTargets
    token_ids: list[Int32Array]
    guard: CollapseGuard
    tasks: tuple[EvaluationTask, ...]
    before: list[list[Measure]]

    def fingerprint(self) -> RunFingerprint:
        """What identifies the run: settings, the student's weights, texts and targets."""
        digest = blake2b(digest_size=16)
        held_out = np.frombuffer(repr(self.data.held_out).encode(), np.uint8)
        for array in (*self.token_ids, self.targets.vectors, self.targets.held_out, held_out):
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        weights = sha256_of(weights_file(self.encoder.modules.transformer))
        values = {
            name: value
            for name, value in asdict(self.settings).items()
            if name not in (*NOT_FINGERPRINTED, "force")
        }
        by_name = json.loads(json.dumps(values | {"model": weights}))
        return RunFingerprint(by_name, digest.hexdigest(), "a distillation")


def prepare(
    data: DistillData, model: str, settings: DistillSettings, dev: DevSets, reporter: Reporter
) -> PreparedDistillation:
    """Read and tokenize all texts, compute their targets, and check and score the student.

    Raises:
        InvalidArgumentError: The data or settings do not fit each other or the models.
        CollapseError: The student cannot read the target language.
        InvalidFileError: A file cannot be read.
    """
    encoder = load_transformer(model)
    if settings.train_layers is not None and settings.train_layers > encoder.config.layers:
        raise InvalidArgumentError(
            f"train_layers is {settings.train_layers}, but {encoder.name} has"
            f" {encoder.config.layers} layers"
        )
    sets = [read_sentences(one) for one in dev_sets(dev)]
    read = read_parallel(
        data, settings.columns, settings.held_out, settings.seed, reporter, settings.field
    )
    for one in sets:
        read = without(read, {text for pair in one.pairs for text in pair[:2]}, one.name, reporter)
    targeted = [pair[1] for pair in read.pairs]
    check_tokens(encoder, targeted, reporter, force=settings.force)
    settings = replace(settings, train_layers=_trained_layers(encoder, read, settings, reporter))
    # Where only new rows are trained, source texts keep their vectors without being trained on.
    with_sources = settings.train_layers != 0 or settings.rows == "all"
    targets = make_targets(
        read, settings.teacher, settings.bridge, with_sources=with_sources, reporter=reporter
    )
    guard = CollapseGuard(
        [pair[1] for pair in read.held_out],
        targets.held_out,
        reporter,
        learning_rate=settings.learning_rate,
        force=settings.force,
    )
    guard.check_before(encoder)
    tasks: tuple[EvaluationTask, ...] = (
        *(SimilarityTask(one.name, "", one) for one in sets),
        TranslationTask("held-out translations", "", read.held_out, ("source", "target")),
    )
    embed = Embedder(encoder, None, SilentReporter())
    return PreparedDistillation(
        encoder=encoder,
        settings=settings,
        data=read,
        targets=targets,
        token_ids=tokenize_texts(encoder, targets.texts, reporter),
        guard=guard,
        tasks=tasks,
        before=[task.measure(embed) for task in tasks],
    )


def _trained_layers(
    encoder: TransformerEncoder, data: ParallelTexts, settings: DistillSettings, reporter: Reporter
) -> int:
    """How many of the lowest layers are trained, if the settings leave it open.

    None where new rows are trained and the student gives source texts the teacher's vectors.
    """
    texts = [pair[0] for pair in data.held_out]
    theirs = CachedVectors(settings.teacher, reporter)(texts, "teacher")
    if theirs.shape[1] != encoder.dim:
        raise InvalidArgumentError(
            f"the vectors of the teacher {settings.teacher} have {theirs.shape[1]} dimensions and"
            f" those of {encoder.name} {encoder.dim}: choose a teacher with {encoder.dim}"
        )
    if settings.train_layers is not None:
        return settings.train_layers
    own = encoder.encode(texts, reporter=SilentReporter())
    if settings.rows != "new" or r_squared(own, theirs) < SAME_R2:
        return encoder.config.layers
    reporter.warn(
        f"{encoder.name} has the vectors of {settings.teacher} for source texts: only the rows of"
        " new tokens are trained, which keeps them (train_layers trains layers too)"
    )
    return 0


def dev_sets(dev: DevSets) -> list[PairSource]:
    """One set, or several."""
    is_one = isinstance(dev, str | Path | SentenceSet) or bool(column_names(dev))
    return [cast(PairSource, dev)] if is_one else list(cast(Iterable[PairSource], dev))
