"""Runner: the runs of a comparison in the order in which they tell most, within a time limit.

First every classifier once, then learning curves, then further seeds. A classifier that fails is
left out with its reason.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.compare.costs import cache_vectors
from malmoi.classify.compare.run import Part, Run, run_classifier
from malmoi.classify.compare.run_cache import RunCache
from malmoi.classify.compare.settings import CompareSettings
from malmoi.errors import InvalidArgumentError, MalmoiError
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.tune.data.splits import TextSplit, split_folds, split_texts, stratified_sample

CURVE_SHARES = (0.1, 0.3)
MIN_CURVE_TEXTS = 30
ALL = 1.0


class PlannedRun(NamedTuple):
    """A classifier with a seed (or fold), trained on a share of the texts to train on."""

    model: str
    seed: int
    share: float


class Runner:
    """Runs classifiers on the same splits; `finished` and `failed` are by name."""

    def __init__(
        self,
        data: LabelledSet,
        models: Mapping[str, ClassifierSettings],
        settings: CompareSettings,
        reporter: Reporter,
    ) -> None:
        self.data, self.models, self.settings, self.reporter = data, models, settings, reporter
        self.cache = RunCache(data, reporter, enabled=settings.cache)
        self.finished: dict[str, dict[PlannedRun, Run]] = {}
        self.failed: dict[str, str] = {}
        self.split = cache(self._split)
        self.seconds_per_vector = cache(self._seconds_per_vector)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the splits, or the numbers of the folds."""
        first = self.settings.seed
        return tuple(range(first, first + (self.settings.folds or self.settings.seeds)))

    @property
    def finished_seeds(self) -> tuple[int, ...]:
        """The seeds of which there is a run: fewer than planned if the time was over."""
        seeds = {planned.seed for runs in self.finished.values() for planned in runs}
        return tuple(sorted(seeds))

    def run(self) -> None:
        """Run all that is planned, or what fits in the time."""
        start, planned = time.monotonic(), list(self.plan())
        limit = None if self.settings.minutes is None else 60 * self.settings.minutes
        progress = self.reporter.stage("comparing", "runs")
        for done, run in enumerate(planned):
            progress(done, len(planned))
            if limit is not None and time.monotonic() - start > limit:
                break
            if run.model not in self.failed:
                self._finish(run)
        progress(len(planned), len(planned))
        for name in self.models:
            if name not in self.finished:
                self.failed.setdefault(name, "the time was over before its turn")

    def plan(self) -> Iterator[PlannedRun]:
        """The runs in their order."""
        first, *others = self.seeds
        yield from (PlannedRun(name, first, ALL) for name in self.models)
        for share in CURVE_SHARES if self.settings.curve else ():
            if share * len(self.split(first).train) >= MIN_CURVE_TEXTS:
                yield from (PlannedRun(name, first, share) for name in self.models)
        yield from (PlannedRun(name, seed, ALL) for seed in others for name in self.models)

    def _finish(self, planned: PlannedRun) -> None:
        part = self._part(planned)
        settings = replace(self.models[planned.model], seed=planned.seed)
        path = self.cache.path(part, settings)
        run = self.cache.get(path)
        if run is None:
            is_first = planned.seed == self.seeds[0] and planned.share == ALL
            try:
                run = run_classifier(
                    self.data,
                    part,
                    settings,
                    seconds_per_vector=self.seconds_per_vector(planned.model),
                    explain=is_first,
                )
            except MalmoiError as error:
                self.failed[planned.model] = str(error)
                self.finished.pop(planned.model, None)
                self.reporter.warn(f"{planned.model} is left out: {error}")
                return
            self.cache.put(path, run)
        self.finished.setdefault(planned.model, {})[planned] = run

    def _seconds_per_vector(self, model: str) -> float:
        return cache_vectors(self.models[model], self.data.texts)

    def _part(self, planned: PlannedRun) -> Part:
        split = self.split(planned.seed)
        if planned.share == ALL:
            return Part(split.train, split.test)
        labels = self.data.first_labels[split.train]
        chosen = stratified_sample(labels, planned.share, planned.seed)
        return Part(split.train[chosen], split.test)

    def _split(self, seed: int) -> TextSplit:
        if self.settings.folds:
            folds = split_folds(self.data, self.settings.folds, self.settings.seed)
            split = folds[seed - self.settings.seed]
        else:
            split = split_texts(self.data, self.settings.test_share, seed)
        if not len(split.test):
            raise InvalidArgumentError(
                f"{self.data.source} has no text to test on that is not trained on: its texts"
                " repeat each other"
            )
        return split
