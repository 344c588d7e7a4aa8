"""What a classifier costs: CPU time to train it and to classify, and the size of its file.

The vectors of frozen encoders are cached, since all seeds need the same ones. Their computation is
measured on some texts and added to the cost of every training, and classifying is timed without
the cache.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.classify.combined.settings import CombinedClassifier
from malmoi.classify.combined.stacked_classifier import StackedClassifier
from malmoi.classify.encoders.settings import EncoderClassifier
from malmoi.classify.encoders.text_vectors import TextVectors
from malmoi.classify.encoders.vector_classifier import VectorClassifier
from malmoi.classify.files import save_classifier
from malmoi.encode.loading import load_encoder
from malmoi.reporting.reporter import SilentReporter

MIN_TEXTS, MAX_TEXTS, ENOUGH_SECONDS = 64, 16_384, 0.5  # of a measurement
SILENT = SilentReporter()


def encoders_of(settings: ClassifierSettings) -> Iterator[EncoderClassifier]:
    """The classifiers on frozen vectors in settings, of which several may be combined."""
    if isinstance(settings, EncoderClassifier):
        yield settings
    if isinstance(settings, CombinedClassifier):
        for part in settings.parts:
            yield from encoders_of(part)


def cache_vectors(settings: ClassifierSettings, texts: Sequence[str]) -> float:
    """Compute the vectors that trainings need and that are not in the cache.

    Returns the CPU-seconds that the vectors of one text take, estimated on some of them.
    """
    seconds = 0.0
    for one in encoders_of(settings):
        encoder = load_encoder(one.model)
        TextVectors.of(encoder, texts, cache=True)(texts)
        seconds += 1 / speed(partial(encoder.encode, reporter=SILENT), texts)
    return seconds


def texts_per_second(classifier: TrainedClassifier, texts: Sequence[str]) -> float:
    """Texts classified per CPU-second, without cached vectors."""
    return speed(without_cache(classifier).probabilities, texts)


def speed(work: Callable[[list[str]], object], texts: Sequence[str]) -> float:
    """Texts per CPU-second: of few texts if they take long, otherwise of more and more."""
    count = MIN_TEXTS
    while True:
        chosen = [texts[i % len(texts)] for i in range(count)]
        start = time.process_time()
        work(chosen)
        took = time.process_time() - start
        if took >= ENOUGH_SECONDS or count >= MAX_TEXTS:
            return count / max(took, 1e-6)
        count *= 4


def without_cache(classifier: TrainedClassifier) -> TrainedClassifier:
    """The same classifier, which computes vectors anew."""
    if isinstance(classifier, VectorClassifier):
        vectors = replace(classifier.vectors, cache=False)
        vectors.encoder = classifier.vectors.encoder  # loaded already
        return replace(classifier, vectors=vectors)
    if isinstance(classifier, StackedClassifier):
        return replace(classifier, parts=tuple(map(without_cache, classifier.parts)))
    return classifier


def file_size(classifier: TrainedClassifier) -> int:
    """The bytes of the classifier's own file or folder; a frozen encoder is elsewhere."""
    with tempfile.TemporaryDirectory(prefix="malmoi-") as folder:
        path = Path(folder, "classifier")
        save_classifier(classifier, path)
        files = path.rglob("*") if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files if file.is_file())
