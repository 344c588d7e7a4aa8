"""Names of classifiers: `ngrams`, `minilm`, `gru:units=jamo`, `ngrams+use`, and their settings.

A name is that of a kind (`KINDS`) or of an encoder, optionally with settings after colons. Kinds
and encoders that are joined by + are combined; encoders alone are concatenated.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.combined.settings import CombinedClassifier
from malmoi.classify.encoders.settings import EncoderClassifier
from malmoi.classify.majority import MajorityClassifier
from malmoi.classify.networks.settings import (
    EmbeddingClassifier,
    FineTunedClassifier,
    NetworkKind,
)
from malmoi.classify.ngrams.settings import NgramClassifier
from malmoi.encode.checkpoint.locate import split_parts
from malmoi.encode.loading import ENGLISH, default_model
from malmoi.errors import InvalidArgumentError

KINDS: dict[str, tuple[type[ClassifierSettings], dict[str, Any]]] = {
    "majority": (MajorityClassifier, {}),
    "ngrams": (NgramClassifier, {}),
    "words": (NgramClassifier, {"min_n": 1, "max_n": 0, "words": 2}),
    "jamo": (NgramClassifier, {"min_n": 1, "max_n": 0, "jamo": 8}),
    **{name: (EmbeddingClassifier, {"network": name}) for name in get_args(NetworkKind)},
    "fine-tune": (FineTunedClassifier, {}),
}
WORD_VECTORS = "glove-6b-50d"  # English
TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0")


def classifier_settings(name: str) -> ClassifierSettings:
    """The settings of a classifier by its name.

    Args:
        name: A kind: majority, ngrams, words, jamo (n-grams of these), mean, flatten, cnn, gru,
            lstm (networks on embeddings) or fine-tune (then `model=`); or an encoder, such as
            minilm, a file of vectors or a folder. Settings follow after colons, as in
            `gru:units=jamo:epochs=3`. Names that are joined by + are combined.

    Returns:
        The settings.

    Raises:
        InvalidArgumentError: A setting does not exist, or its value is not valid.

    Example:
        mm.classifier_settings("gru:units=jamo").network  # 'gru'
    """
    parts = split_parts(name)
    if len(parts) > 1 and any(_kind(part) in KINDS for part in parts):
        return CombinedClassifier(parts=tuple(map(classifier_settings, parts)))
    title, options = _kind(name), _options(name)
    kind, values = KINDS.get(title, (EncoderClassifier, {"model": title}))
    return kind(**values | _parsed(kind, options, name))


def choose_classifier(name: str, options: ClassifierSettings) -> ClassifierSettings:
    """The classifier of this name with the options that every kind has.

    Options of one kind of classifier, such as n-grams, are for a name of that kind.

    Raises:
        InvalidArgumentError: An option is of another kind.
    """
    named = classifier_settings(name)
    default = type(options)()
    changed = {
        each.name: value
        for each in fields(options)
        if (value := getattr(options, each.name)) != getattr(default, each.name)
    }
    known = {each.name for each in fields(named)}
    for key in changed:
        if key not in known:
            option = key.replace("_", "-")
            raise InvalidArgumentError(f"--{option} is not an option of '{name}'")
    return replace(named, **changed)


def default_kinds(texts: Iterable[str]) -> tuple[str, ...]:
    """The classifiers to compare where none are named, by the language of the texts."""
    encoder = default_model(texts)
    if encoder == ENGLISH:
        pretrained = f"cnn:vectors={WORD_VECTORS}"
        own: tuple[str, ...] = (WORD_VECTORS, f"{pretrained}:train_vectors=no", pretrained)
    else:
        own = ("jamo", "cnn:units=jamo")
    return ("majority", "words", "ngrams", *own, "cnn", encoder, f"ngrams+{encoder}")


def _kind(name: str) -> str:
    """The name without its settings."""
    return ":".join(part for part in name.split(":") if "=" not in part)


def _options(name: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in name.split(":") if "=" in part)
    return {key.strip().replace("-", "_"): value.strip() for key, _, value in pairs}


def _parsed(kind: type[ClassifierSettings], options: dict[str, str], name: str) -> dict[str, Any]:
    """The values of options as the types of the settings."""
    hints, known = get_type_hints(kind), {each.name for each in fields(kind)}
    for key in options:
        if key not in known:
            shown = ", ".join(sorted(known - {each.name for each in fields(ClassifierSettings)}))
            raise InvalidArgumentError(f"'{name}' has no setting '{key}': choose from {shown}")
    return {key: _value(hints[key], text, f"{key} in '{name}'") for key, text in options.items()}


def _value(hint: Any, text: str, what: str) -> Any:
    if get_origin(hint) is Literal:
        return text  # the settings check it
    if get_origin(hint) in (Union, type(int | None)):
        hint = next(each for each in get_args(hint) if each is not type(None))
    if hint is bool:
        if text.lower() not in TRUE + FALSE:
            raise InvalidArgumentError(f"{what} is {text}: choose yes or no")
        return text.lower() in TRUE
    convert: Callable[[str], Any] = hint if hint in (int, float) else str
    try:
        return convert(text)
    except ValueError:
        raise InvalidArgumentError(f"{what} is {text}: it must be a number") from None
