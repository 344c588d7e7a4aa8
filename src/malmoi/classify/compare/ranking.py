"""The classifiers from the best to the worst, and the one to take.

That is the cheapest of those that are as good as the best within noise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from malmoi.classify.compare.result import CurvePoint, ModelScores
from malmoi.classify.compare.run import Run
from malmoi.classify.compare.runner import ALL, PlannedRun
from malmoi.classify.compare.statistics import accuracy_over_seeds, difference_to

NOTABLE = 1.5  # times as cheap

RunsOfModel = Mapping[PlannedRun, Run]


def ranked_scores(finished: Mapping[str, RunsOfModel]) -> tuple[ModelScores, ...]:
    """The classifiers from the best to the worst, each with its difference to the best."""
    whole = {name: whole_runs(runs) for name, runs in finished.items()}
    scores = [model_scores(name, runs) for name, runs in finished.items()]
    scores.sort(key=lambda one: -(one.accuracy.value or 0))
    best = whole[scores[0].name]
    return (
        scores[0],
        *(replace(one, difference=difference_to(best, whole[one.name])) for one in scores[1:]),
    )


def whole_runs(runs: RunsOfModel) -> dict[int, Run]:
    """The runs on all texts to train on, by seed."""
    return {planned.seed: run for planned, run in runs.items() if planned.share == ALL}


def model_scores(name: str, runs: RunsOfModel) -> ModelScores:
    """The scores of one classifier; what only one run has comes from its first."""
    whole = whole_runs(runs)
    first = next(iter(whole.values()))
    confusion = np.sum([run.confusion for run in whole.values()], axis=0)
    curve = sorted(
        (planned.share, run.train_texts, run.accuracy)
        for planned, run in runs.items()
        if planned.seed == min(whole)
    )
    return ModelScores(
        name=name,
        kind=first.kind,
        accuracy=accuracy_over_seeds(whole),
        by_seed=tuple(run.accuracy for run in whole.values()),
        macro_f1=float(np.mean([run.macro_f1 for run in whole.values()])),
        calibration_error=float(np.mean([run.calibration_error for run in whole.values()])),
        train_cpu_seconds=float(np.median([run.cpu_seconds for run in whole.values()])),
        texts_per_second=float(np.median([run.texts_per_second for run in whole.values()])),
        size=first.size,
        labels=first.labels,
        confusion=tuple(tuple(int(each) for each in row) for row in confusion),
        curve=tuple(
            CurvePoint(share=share, texts=texts, accuracy=value) for share, texts, value in curve
        ),
        mistakes=first.mistakes,
    )


def cost(model: ModelScores, texts: int) -> float:
    """CPU-seconds to train the classifier and to classify so many texts."""
    return model.train_cpu_seconds + texts / max(model.texts_per_second, 1e-9)


def recommend(models: Sequence[ModelScores], texts: int) -> tuple[str, str]:
    """The name of the classifier to take, and a sentence that says why."""
    best = models[0]
    equal = [one for one in models if one.is_as_good_as_the_best]
    cheapest = min(equal, key=lambda one: cost(one, texts))
    ratio = cost(best, texts) / cost(cheapest, texts)
    if ratio >= NOTABLE:
        sentence = f"take {cheapest.name}: {_percent(cheapest)}, as good as {best.name}"
        return (
            cheapest.name,
            f"{sentence} ({_percent(best)}) within noise, {_times(ratio)}× cheaper",
        )
    sentence = f"take {best.name}: {_percent(best)}"
    if len(equal) > 1:
        return best.name, f"{sentence}, the best; nothing that is as good is much cheaper"
    if len(models) > 1:
        second = models[1]
        return best.name, f"{sentence}, better than {second.name} ({_percent(second)}) beyond noise"
    return best.name, sentence


def _percent(model: ModelScores) -> str:
    return f"{100 * (model.accuracy.value or 0):.1f} %"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
