"""An encoder that reads in context: texts to hidden states, or to one vector each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from malmoi.encode.activations import Activations, pool_texts
from malmoi.encode.config import Config, read_config
from malmoi.encode.cutting import Cutter, make_cutter
from malmoi.encode.engine import Engines
from malmoi.encode.finding import find_model, refuse_without_layers
from malmoi.encode.layers import Layers, choose_layers
from malmoi.encode.mixing import Mix
from malmoi.encode.notes import Notes
from malmoi.encode.pooling import Pool, group_bounds
from malmoi.encode.protocol import Precision
from malmoi.encode.recipes import Recipe, choose_recipe
from malmoi.encode.running import Then, run_batches
from malmoi.encode.sentence import SentenceModules, read_modules
from malmoi.encode.texts import Text, as_texts
from malmoi.errors import BadSetting
from malmoi.files.progress import Progress, silent
from malmoi.vectors import Matrix

CHUNK = 4096  # texts that are cut, sorted and run together
HELD = 256  # texts whose states are held at once


@dataclass(frozen=True, eq=False, repr=False)
class ContextualEncoder:
    """A model of BERT's family, with its tokenizer and an engine to run it."""

    name: str
    config: Config
    cutter: Cutter
    engine: Engines
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
        chosen = None
        if any(part is not None for part in (layers, mix, pool, recipe)):
            chosen = choose_recipe(recipe, layers=layers, mix=mix, pool=pool)
        asked, found, done = as_texts(texts), [np.empty((0, self.dim), np.float32)], 0
        for chunk in self.stream(asked, chosen, prompt):
            found.append(chunk)
            done += len(chunk)
            progress(done, len(asked))
        return np.concatenate(found[1:] or found)

    def stream(
        self, texts: Iterable[Text], recipe: Recipe | None = None, prompt: str | None = None
    ) -> Iterator[Matrix]:
        """The same in chunks, each as soon as it is ready: `None` is the folder's own recipe."""
        then = self.pooling(recipe)
        numbers = choose_layers(recipe.layers if recipe else -1, self.config.states)
        before, notes, asked = self.prompt(prompt), Notes(self.cutter), as_texts(texts)
        for start in range(0, len(asked), CHUNK):
            chunk = self.cutter.prompted(asked[start : start + CHUNK], before)
            encodings = self.cutter.encoded([self.cutter.uniform(text) for text in chunk])
            notes.count(encodings)
            yield np.stack(run_batches(self.engine, self.config, encodings, numbers, then))
        notes.report(self.name)

    def activations(self, texts: Iterable[Text], layers: Layers = "all") -> Activations:
        """The hidden states of each text, [layers, pieces, dim], and what its pieces are."""
        asked, notes = as_texts(texts), Notes(self.cutter)
        found = self._activations(asked, choose_layers(layers, self.config.states), notes)
        notes.report(self.name)
        return found

    def stream_activations(
        self, texts: Sequence[Text], layers: Layers = "all"
    ) -> Iterator[Activations]:
        """The same for some texts at a time, so that not all states are held at once."""
        numbers, notes = choose_layers(layers, self.config.states), Notes(self.cutter)
        for start in range(0, len(texts), HELD):
            yield self._activations(texts[start : start + HELD], numbers, notes)
        notes.report(self.name)

    def _activations(
        self, texts: Sequence[Text], layers: tuple[int, ...], notes: Notes
    ) -> Activations:
        uniform = [self.cutter.uniform(text) for text in texts]
        encodings = self.cutter.encoded(uniform, offsets=True)
        notes.count(encodings)
        states = run_batches(self.engine, self.config, encodings, layers, split_states)
        pieces = (self.cutter.pieces(*each) for each in zip(uniform, encodings, strict=True))
        return Activations(tuple(pieces), tuple(states), layers, self.config.states)

    def pooling(self, recipe: Recipe | None) -> Then[Matrix]:
        """How the states of a batch become a vector a text: `None` is the folder's own recipe."""
        return partial(_vectors_by, recipe) if recipe else self._own_vectors

    def _own_vectors(self, states: list[Matrix], texts: list[Any]) -> Matrix:
        return self.modules.finish(states[0], group_bounds([len(text) for text in texts]))

    def prompt(self, name: str | None) -> str:
        """What goes before each text: the prompt of this name, or else the folder's default."""
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


def load_contextual(name: str, precision: Precision = "float32") -> ContextualEncoder:
    """An encoder with layers, by the folder it is in, by its name on the hub, or `minilm`."""
    refuse_without_layers(str(name))
    modules = read_modules(find_model(str(name)))
    config = read_config(modules.transformer)
    engine = Engines(modules.transformer, config, precision)
    return ContextualEncoder(str(name), config, make_cutter(modules, config), engine, modules)


def _vectors_by(recipe: Recipe, states: list[Matrix], texts: list[Any]) -> Matrix:
    """The vectors of a batch by a recipe, [texts, dim]."""
    rows = recipe.mixed(states)
    if recipe.special:
        return pool_texts(rows, [len(text) for text in texts], recipe)
    kept = [np.equal(text.special_tokens_mask, 0) for text in texts]
    return pool_texts(rows[np.concatenate(kept)], [int(keep.sum()) for keep in kept], recipe)


def split_states(states: list[Matrix], texts: list[Any]) -> list[Matrix]:
    """The states of a batch, text by text: [layers, pieces, dim]."""
    bounds = group_bounds([len(text) for text in texts])
    stacked = np.stack(states)
    return [part.copy() for part in np.split(stacked, bounds[1:-1], axis=1)]
