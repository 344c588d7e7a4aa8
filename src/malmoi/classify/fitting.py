"""Fits a classifier of any kind to texts with labels: the kind is that of its settings."""

from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.classify.combined.settings import CombinedClassifier
from malmoi.classify.encoders.settings import EncoderClassifier
from malmoi.classify.majority import MajorityClassifier, fit_majority
from malmoi.classify.networks.settings import EmbeddingClassifier, FineTunedClassifier
from malmoi.classify.ngrams.linear_classifier import fit_ngrams
from malmoi.classify.ngrams.settings import NgramClassifier
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.tune.data.labelled_set import LabelledSet


def fit_classifier(
    data: LabelledSet, settings: ClassifierSettings, reporter: Reporter = DEFAULT_REPORTER
) -> TrainedClassifier:
    """A classifier of all these texts; some of them calibrate its probabilities."""
    if isinstance(settings, NgramClassifier):
        return fit_ngrams(data, settings, reporter)
    if isinstance(settings, EncoderClassifier):
        from malmoi.classify.encoders.training import fit_on_encoder

        return fit_on_encoder(data, settings, reporter)
    if isinstance(settings, CombinedClassifier):
        if any(isinstance(part, FineTunedClassifier) for part in settings.parts):
            raise InvalidArgumentError(
                "a fine-tuned transformer is a folder of its own and cannot be combined"
            )
        from malmoi.classify.combined.training import fit_combined

        return fit_combined(data, settings, fit_classifier, reporter)
    if isinstance(settings, MajorityClassifier):
        return fit_majority(data)
    if isinstance(settings, EmbeddingClassifier):
        require("torch", extra="train")
        from malmoi.classify.networks.training import fit_embedding

        return fit_embedding(data, settings, reporter)
    if isinstance(settings, FineTunedClassifier):
        require("torch", extra="train")
        from malmoi.classify.networks.fine_tuning import fit_transformer

        return fit_transformer(data, settings, reporter)
    raise InvalidArgumentError(f"{type(settings).__name__} is not a kind of classifier")
