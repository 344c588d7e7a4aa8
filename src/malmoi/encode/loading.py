"""Loads an encoder of any kind by its name, and chooses one by the language of the texts.

Each kind is imported when it is needed.
"""

import re
from collections.abc import Iterable
from itertools import islice
from os import PathLike
from pathlib import Path

from malmoi.arguments import expect
from malmoi.encode.checkpoint.locate import (
    PACKAGES,
    UNIVERSAL,
    check_has_layers,
    check_not_model_file,
    is_elmo,
    is_recipe_folder,
    is_static,
    is_universal,
    is_vectors,
    split_parts,
    split_precision,
)
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import Vectors

ENGLISH = next(iter(PACKAGES))
SAMPLE_TEXTS, SAMPLE_CHARACTERS = 1000, 1000  # texts, and characters of each
MIN_HANGUL_SHARE = 0.01  # of all letters; a smaller share is a name here and there
LETTER = re.compile(r"[^\W\d_]")
HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")


def load_encoder(name: str) -> Encoder:
    """Load an encoder of any kind.

    Args:
        name: A model folder, a file of word vectors, `minilm`, `use`, or a name on the Hub such as
            `intfloat/e5-small-v2`. `:quantized` after the name of a transformer runs it in
            integers, which is faster and a little less exact. `a+b` is the vectors of two models
            side by side; see `concatenate_encoders`.

    Returns:
        A `TransformerEncoder` for models of the BERT family, an `ElmoEncoder` for folders with an
        options.json of AllenNLP, a `StaticEncoder` for folders of `distill_static`, model2vec or
        sentence-transformers' StaticEmbedding, a `UniversalEncoder` for `use`, an `AverageEncoder`
        for word vectors (`average_encoder` has its options), a `RecipeEncoder` for a recipe that
        `learn_layer_weights` saved, and a `ConcatenatedEncoder` for several. Code that needs
        layers, words or tokens should call `load_contextual`.

    Raises:
        InvalidFileError: There is no such model, or its files are damaged.
        InvalidArgumentError: The name asks for something that the model does not have.
        MissingDependencyError: A package for this kind of model is not installed.
    """
    hint = "average_encoder(vectors) makes an encoder of them" if isinstance(name, Vectors) else ""
    expect(name, str | PathLike, "name", "the name or path of a model", hint=hint)
    name = str(name)
    path, precision = split_precision(name)
    if precision == "quantized" and (is_universal(path) or is_vectors(path) or is_static(path)):
        suffix = name.removeprefix(path)
        raise InvalidArgumentError(f"{path} has no layers to quantize: name it without {suffix}")
    if len(parts := split_parts(name)) > 1:
        from malmoi.encode.pipeline.concatenated import concatenate_encoders

        return concatenate_encoders(*map(load_encoder, parts), name=name)
    if is_recipe_folder(Path(name)):
        from malmoi.encode.pipeline.recipe_encoder import load_recipe

        return load_recipe(Path(name), load_contextual)
    if is_universal(name):
        from malmoi.encode.universal import load_universal

        return load_universal()
    if is_vectors(name):
        from malmoi.encode.static.average import average_encoder
        from malmoi.formats import load

        check_not_model_file(name)
        return average_encoder(load(name), name=name)
    if is_static(path):
        from malmoi.encode.static.static_encoder import load_static

        return load_static(path)
    return load_contextual(name)


def load_contextual(name: str) -> ContextualEncoder:
    """Load an encoder with layers: a transformer or an ELMo model.

    Args:
        name: A model folder, a name on the Hub, or `minilm`, as for `load_encoder`.

    Returns:
        A `TransformerEncoder` or an `ElmoEncoder`.

    Raises:
        InvalidFileError: There is no such model, or its files are damaged.
        InvalidArgumentError: The name is that of an encoder without layers.
        MissingDependencyError: A package for this kind of model is not installed.
    """
    expect(name, str | PathLike, "name", "the name or path of a model")
    path, precision = split_precision(str(name))
    check_has_layers(path)
    if is_elmo(path):
        from malmoi.encode.elmo.encoder import load_elmo

        if precision == "quantized":
            raise InvalidArgumentError(f"{path} is an ELMo model, which runs in float32 only")
        return load_elmo(path)
    from malmoi.encode.encoder import load_transformer

    return load_transformer(str(name))


def default_model(texts: Iterable[str]) -> str:
    """The model for texts if none is named: `use` for texts with Hangul, else `minilm`."""
    letters = hangul = 0
    for text in islice(texts, SAMPLE_TEXTS):
        letters += len(LETTER.findall(text[:SAMPLE_CHARACTERS]))
        hangul += len(HANGUL.findall(text[:SAMPLE_CHARACTERS]))
    return UNIVERSAL if hangul > MIN_HANGUL_SHARE * letters else ENGLISH
