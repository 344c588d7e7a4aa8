"""The recommendation of a comparison: the cheapest classifier that is as good as the best."""

from collections.abc import Sequence

from malmoi.classify.compare.result import ModelScores

NOTABLE = 1.5  # times as cheap


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
        found = f"take {cheapest.name}: {_percent(cheapest)}, as good as {best.name}"
        return cheapest.name, f"{found} ({_percent(best)}) within noise, {_times(ratio)}× cheaper"
    found = f"take {best.name}: {_percent(best)}"
    if len(equal) > 1:
        return best.name, f"{found}, the best; nothing that is as good is much cheaper"
    if len(models) > 1:
        second = models[1]
        return best.name, f"{found}, better than {second.name} ({_percent(second)}) beyond noise"
    return best.name, found


def _percent(model: ModelScores) -> str:
    return f"{100 * (model.accuracy.value or 0):.1f} %"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
