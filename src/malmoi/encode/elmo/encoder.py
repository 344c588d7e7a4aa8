"""ElmoEncoder: an ELMo model as an encoder, and how it is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Self

from malmoi.arguments import expect
from malmoi.encode.checkpoint.elmo_options import ElmoConfig, read_options
from malmoi.encode.checkpoint.elmo_weights import read_elmo_weights
from malmoi.encode.checkpoint.locate import find_model
from malmoi.encode.elmo.engine import ElmoEngine
from malmoi.encode.elmo.tokenizer import ElmoTokenizer, elmo_tokenizer
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder, ContextualKind
from malmoi.encode.pipeline.text_pooling import Pooling, recipe_pooling
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError

# Equal weights of all layers, as in the paper before they are learned, and the mean of all words.
OWN_RECIPE = Recipe(layers="all", layer_pooling="mean", pool="mean", include_special_tokens=False)


@dataclass(frozen=True, eq=False, repr=False)
class ElmoEncoder(ContextualEncoder):
    """An ELMo model (Peters et al. 2018): its tokens are words; see `load_elmo`.

    Layer 0 is the vector of a word by its characters, twice; the others are the outputs of LSTMs
    that read the text forward and backward. Without a recipe, a text's vector is the mean of all
    layers and words. Texts are independent of each other: no state is carried from one to the
    next, as the original programs do.
    """

    config: ElmoConfig
    tokenizer: ElmoTokenizer
    engine: ElmoEngine

    @property
    def kind(self) -> ContextualKind:
        """An ELMo model."""
        return "elmo"

    @property
    def dim(self) -> int:
        """The dimension of a text's vector without a recipe."""
        return self.config.dim

    @cached_property
    def own_layers(self) -> tuple[int, ...]:
        """All layers."""
        return choose_layers(OWN_RECIPE.layers, self.config.num_states)

    @property
    def own_pooling(self) -> Pooling:
        """The mean of all layers and words."""
        return recipe_pooling(OWN_RECIPE)

    @property
    def pools_special_tokens(self) -> bool:
        """The boundaries <S> and </S> are read but not pooled."""
        return False

    @property
    def prompts(self) -> Mapping[str, str]:
        """None: ELMo was not trained with prompts."""
        return {}

    @property
    def default_prompt(self) -> str | None:
        """None."""
        return None

    def with_prompts(self, prompts: Mapping[str, str], default: str | None) -> Self:
        """The same encoder, if there is no prompt."""
        given = [prompt for prompt in prompts.values() if prompt]
        if given:
            raise InvalidArgumentError(
                f"'{self.name}' takes no prompt '{given[0]}': prompts are for transformers"
            )
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by name: another process loads the model again."""
        return load_elmo, (self.name,)

    def __repr__(self) -> str:
        sizes = f"{self.config.layers} layers × {self.config.dim}"
        return f"ElmoEncoder({self.name}, {sizes}, {self.config.cells} cells)"


def load_elmo(name: str) -> ElmoEncoder:
    """Load an ELMo model: a folder with options.json and weights in HDF5 or safetensors.

    Args:
        name: The folder, or its name on the Hub.

    Returns:
        The encoder.

    Raises:
        InvalidFileError: A file is missing or damaged, or they do not belong together.
        InvalidArgumentError: The model names a tokenizer that does not exist.
        MissingDependencyError: The package of its tokenizer is not installed.
    """
    expect(name, str | PathLike, "name", "the path of a folder")
    folder = find_model(str(name))
    config = read_options(folder)
    weights = read_elmo_weights(folder, config)
    return ElmoEncoder(str(name), config, elmo_tokenizer(config), ElmoEngine(weights, config))
