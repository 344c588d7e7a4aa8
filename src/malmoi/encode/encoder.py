"""TransformerEncoder: a model of the BERT family as an encoder, and how it is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Self

from malmoi.arguments import expect
from malmoi.encode.checkpoint.config import Config, read_config
from malmoi.encode.checkpoint.locate import check_is_transformer, find_model, split_precision
from malmoi.encode.checkpoint.sentence_transformers import SentenceModules, read_modules
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder, ContextualKind
from malmoi.encode.pipeline.text_pooling import Pooling, model_pooling
from malmoi.encode.runtime.engine import AutoEngine
from malmoi.encode.tokens.tokenizer import ModelTokenizer, load_tokenizer


@dataclass(frozen=True, eq=False, repr=False)
class TransformerEncoder(ContextualEncoder):
    """A model of the BERT family with its tokenizer and an engine; see `load_transformer`."""

    config: Config
    tokenizer: ModelTokenizer
    engine: AutoEngine
    modules: SentenceModules

    @property
    def kind(self) -> ContextualKind:
        """A transformer."""
        return "transformer"

    @cached_property
    def dim(self) -> int:
        """The dimension of a text's vector without a recipe."""
        return self.modules.output_dim(self.config.dim)

    @property
    def own_layers(self) -> tuple[int, ...]:
        """The last layer."""
        return (self.config.num_states - 1,)

    @property
    def own_pooling(self) -> Pooling:
        """The modules after the last layer that the model folder defines."""
        return model_pooling(self.modules)

    @property
    def pools_special_tokens(self) -> bool:
        """Special tokens such as [CLS] are pooled, as sentence-transformers does."""
        return True

    @property
    def prompts(self) -> Mapping[str, str]:
        """The model's prompts by name."""
        return self.modules.prompts

    @property
    def default_prompt(self) -> str | None:
        """The name of the prompt that is put before texts if none is named."""
        return self.modules.default_prompt

    def with_prompts(self, prompts: Mapping[str, str], default: str | None) -> Self:
        """The same encoder with other prompts."""
        modules = replace(self.modules, prompts=dict(prompts), default_prompt=default)
        return replace(self, modules=modules)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by name and prompts: another process loads the model again."""
        return _reload, (self.name, dict(self.modules.prompts), self.modules.default_prompt)

    def __repr__(self) -> str:
        sizes = f"{self.config.layers} layers × {self.config.dim} in {self.engine.arithmetic}"
        limit = f"up to {self.tokenizer.max_length} tokens"
        return f"TransformerEncoder({self.name}, {sizes}, {limit})"


def load_transformer(name: str) -> TransformerEncoder:
    """Load a model of the BERT family, with access to its layers, words and tokens.

    `load_encoder` loads encoders of any kind; this function accepts transformers only, so that its
    result has the whole interface of `TransformerEncoder`.

    Args:
        name: A model folder, a name on the Hub, or `minilm`. `:quantized` after it runs the model
            in integers (int8 with AVX-512 VNNI, int16 with AVX2), which is faster and a little
            less exact; `encoder.engine.arithmetic` tells which.

    Returns:
        The encoder.

    Raises:
        InvalidFileError: There is no such model, or its files are damaged.
        InvalidArgumentError: The name is that of an encoder without layers.
        MissingDependencyError: A package for these models is not installed.
    """
    expect(name, str | PathLike, "name", "the name or path of a model")
    path, precision = split_precision(str(name))
    check_is_transformer(path)
    modules = read_modules(find_model(path))
    config = read_config(modules.transformer)
    engine = AutoEngine(modules.transformer, config, precision)
    return TransformerEncoder(str(name), config, load_tokenizer(modules, config), engine, modules)


def _reload(name: str, prompts: dict[str, str], default_prompt: str | None) -> TransformerEncoder:
    """An encoder from another process, with prompts that its folder may not have."""
    return load_transformer(name).with_prompts(prompts, default_prompt)
