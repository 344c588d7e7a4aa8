"""An encoder that reads in context: texts to hidden states, or to one vector each."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from malmoi.encode.activations import Activations, pool_texts
from malmoi.encode.config import Config, read_config
from malmoi.encode.cutting import Cutter, Text, as_texts, make_cutter
from malmoi.encode.engine import Engine, OnnxEngine
from malmoi.encode.finding import find_model
from malmoi.encode.layers import Layers, choose_layers
from malmoi.encode.mixing import Mix
from malmoi.encode.notes import Notes
from malmoi.encode.pooling import Pool, group_bounds
from malmoi.encode.recipes import Recipe, choose_recipe
from malmoi.encode.running import Then, run_batches
from malmoi.encode.sentence import SentenceModules, read_modules
from malmoi.errors import BadSetting
from malmoi.files.progress import Progress, silent
from malmoi.vectors import Matrix

CHUNK = 4096  # texts that are cut, sorted and run together


@dataclass(frozen=True, eq=False, repr=False)
class ContextualEncoder:
    """A model of BERT's family, with its tokenizer and an engine to run it."""

    name: str
    config: Config
    cutter: Cutter
    engine: Engine
    modules: SentenceModules

    @property
    def dim(self) -> int:
        """How many numbers a text's vector has, if nothing else is asked for."""
        nothing = np.zeros((1, self.config.dim), np.float32)
        return int(self.modules.finish(nothing, group_bounds([1])).shape[1])

    def encode(
        self,
        texts: Iterable[Text],
        *,
        layers: Layers | None = None,
        mix: Mix | None = None,
        pool: Pool | None = None,
        recipe: Recipe | str | None = None,
        prompt: str | None = None,
        progress: Progress = silent,
    ) -> Matrix:
        """A vector a text, [texts, dim].

        With nothing but texts the vectors are what the model's folder asks for, as
        sentence-transformers makes them. With layers, mix, pool or a recipe they are exactly
        that, without the folder's own last steps. `prompt` names one of the folder's prompts,
        which are put before each text. What was cut off or empty is reported.
        """
        if layers is None and mix is None and pool is None and recipe is None:
            numbers = choose_layers(-1, self.config.states)
            then: Then[Matrix] = self._own_vectors
        else:
            chosen = choose_recipe(recipe, layers=layers, mix=mix, pool=pool)
            numbers = choose_layers(chosen.layers, self.config.states)
            then = partial(_vectors_by, chosen)
        asked = self.cutter.prompted(as_texts(texts), self._prompt(prompt))
        if not asked:
            return np.empty((0, self.dim), np.float32)
        rows, notes = list[Matrix](), Notes(self.cutter)
        for start in range(0, len(asked), CHUNK):
            uniform = [self.cutter.uniform(text) for text in asked[start : start + CHUNK]]
            encodings = self.cutter.encoded(uniform)
            notes.count(encodings)
            rows += run_batches(self.engine, self.config, encodings, numbers, then)
            progress(len(rows), len(asked))
        notes.report(self.name)
        return np.stack(rows)

    def activations(self, texts: Iterable[Text], layers: Layers = "all") -> Activations:
        """The hidden states of each text, [layers, pieces, dim], and what its pieces are."""
        uniform = [self.cutter.uniform(text) for text in as_texts(texts)]
        encodings = self.cutter.encoded(uniform, offsets=True)
        numbers = choose_layers(layers, self.config.states)
        states = run_batches(self.engine, self.config, encodings, numbers, _split)
        notes = Notes(self.cutter)
        notes.count(encodings)
        notes.report(self.name)
        pieces = (self.cutter.pieces(*each) for each in zip(uniform, encodings, strict=True))
        return Activations(tuple(pieces), tuple(states), numbers, self.config.states)

    def _own_vectors(self, states: list[Matrix], texts: list[Any]) -> Matrix:
        return self.modules.finish(states[0], group_bounds([len(text) for text in texts]))

    def _prompt(self, name: str | None) -> str:
        prompts, chosen = self.modules.prompts, name or self.modules.default_prompt
        if chosen is None:
            return ""
        if chosen not in prompts:
            known = f"it has {', '.join(prompts)}" if prompts else "it has none"
            raise BadSetting(f"{self.name} has no prompt '{chosen}': {known}")
        return prompts[chosen]

    def __repr__(self) -> str:
        sizes = f"{self.config.layers} layers × {self.config.dim}"
        return f"ContextualEncoder({self.name}, {sizes}, up to {self.cutter.longest} pieces)"


def load_encoder(name: str) -> ContextualEncoder:
    """An encoder by the folder it is in, by its name on the hub, or `minilm`."""
    modules = read_modules(find_model(str(name)))
    config = read_config(modules.transformer)
    engine = OnnxEngine(modules.transformer, config)
    return ContextualEncoder(str(name), config, make_cutter(modules, config), engine, modules)


def _vectors_by(recipe: Recipe, states: list[Matrix], texts: list[Any]) -> Matrix:
    """The vectors of a batch by a recipe, [texts, dim]."""
    rows = recipe.mixed(states)
    if recipe.special:
        return pool_texts(rows, [len(text) for text in texts], recipe)
    kept = [np.equal(text.special_tokens_mask, 0) for text in texts]
    return pool_texts(rows[np.concatenate(kept)], [int(keep.sum()) for keep in kept], recipe)


def _split(states: list[Matrix], texts: list[Any]) -> list[Matrix]:
    """The states of a batch, text by text: [layers, pieces, dim]."""
    bounds = group_bounds([len(text) for text in texts])
    stacked = np.stack(states)
    return [part.copy() for part in np.split(stacked, bounds[1:-1], axis=1)]
