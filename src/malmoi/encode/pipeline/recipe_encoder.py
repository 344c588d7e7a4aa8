"""RecipeEncoder: a model whose vectors follow a recipe, saved as a folder that names the model.

The folder holds `recipe.json` with the name or path of the model and the fields of the recipe. So
a recipe goes wherever the name of a model goes: embed, index, search, evaluate, serve.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import read_json
from malmoi.encode.checkpoint.convert import folder_beside
from malmoi.encode.checkpoint.locate import RECIPE_FILE, is_recipe_folder
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pipeline.encode_call import StreamEncoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.passages import Span
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text_inputs import TextLike


@dataclass(frozen=True, eq=False, repr=False)
class RecipeEncoder(StreamEncoder):
    """A model and the recipe of its vectors; see `load_encoder`."""

    name: str
    model: ContextualEncoder
    recipe: Recipe

    @property
    def dim(self) -> int:
        """The dimension of a text's vector."""
        return self.model.recipe_dim(self.recipe)

    def stream(
        self, texts: Iterable[TextLike], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        """The vectors of `encode` in chunks, each as soon as it is ready."""
        return self.model.stream(texts, self.recipe, reporter=reporter)

    def passages(self, texts: Sequence[str], max_length: int | None = None) -> list[list[Span]]:
        """The start and end of passages that the model reads whole, for each text."""
        return self.model.passages(texts, max_length)

    def __repr__(self) -> str:
        return f"RecipeEncoder({self.name}, {self.model!r}, {self.recipe})"


def save_recipe(recipe: Recipe, model: str, folder: Path, card: str) -> None:
    """Write a folder with a recipe, the name of its model and a README.md.

    Raises:
        InvalidFileError: The folder exists already or cannot be written.
    """
    path = Path(model)
    name = str(path.resolve()) if path.is_dir() else model
    content = {"model": name, "recipe": asdict(recipe)}
    with folder_beside(folder) as part:
        text = json.dumps(content, ensure_ascii=False, indent=2)
        (part / RECIPE_FILE).write_text(text + "\n", encoding="utf-8")
        (part / "README.md").write_text(card, encoding="utf-8")


def load_recipe(folder: Path, load: Callable[[str], ContextualEncoder]) -> RecipeEncoder:
    """The encoder of a folder that `save_recipe` wrote; `load` loads its model.

    Raises:
        InvalidFileError: The file is damaged, or there is no such model.
    """
    path = folder / RECIPE_FILE
    content = read_json(path)
    model, values = content.get("model"), content.get("recipe")
    if not isinstance(model, str) or not isinstance(values, dict):
        raise InvalidFileError(f"{path} does not name a model and a recipe: write it again")
    recipe = _recipe(values, path)
    if is_recipe_folder(Path(model)):
        raise InvalidFileError(f"{path} names {model}, which is a recipe itself: name a model")
    return RecipeEncoder(str(folder), load(model), recipe)


def _recipe(values: dict[str, Any], path: Path) -> Recipe:
    known = {field.name for field in fields(Recipe)}
    if unknown := sorted(values.keys() - known):
        raise InvalidFileError(f"{path} has unknown fields of a recipe: {', '.join(unknown)}")
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    try:
        return Recipe(**values)
    except (InvalidArgumentError, TypeError) as error:
        raise InvalidFileError(f"{path} has an invalid recipe: {error}") from error
