"""An encoder that reads in context: texts to hidden states, or to one vector each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.activations import Activations
from malmoi.encode.bulk.chunks import CHARACTERS, ahead, chunks
from malmoi.encode.checkpoint.config import Config, read_config
from malmoi.encode.checkpoint.locate import find_model, precision_of, refuse_without_layers
from malmoi.encode.checkpoint.sentence_transformers import SentenceModules, read_modules
from malmoi.encode.pooling.groups import Pool, group_bounds
from malmoi.encode.pooling.layers import Layers, choose_layers
from malmoi.encode.pooling.mixing import Mix
from malmoi.encode.pooling.recipes import Recipe, choose_recipe
from malmoi.encode.runtime.engine import AutoEngine
from malmoi.encode.runtime.run_batches import Then, run_batches
from malmoi.encode.text_pooling import Pooling, own_pooling, pooling_by
from malmoi.encode.tokens.inputs import Text, as_texts
from malmoi.encode.tokens.passages import Span, split_text
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.encode.tokens.tokenizer import ModelTokenizer, load_tokenizer
from malmoi.encode.tokens.windows import (
    Long,
    all_ids,
    all_pieces,
    check_windows,
    refuse_too_many,
    windows_of,
)
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Progress, no_progress

CHUNK = 4096  # texts that are cut, sorted and run together, at most
LEAST = 16  # pieces of a passage, whatever a prompt takes
HELD, CHARACTERS_HELD = 256, 1 << 18  # texts whose states are held at once, at most


@dataclass(frozen=True, eq=False, repr=False)
class TransformerEncoder:
    """A model of BERT's family, with its tokenizer and an engine to run it."""

    name: str
    config: Config
    cutter: ModelTokenizer
    engine: AutoEngine
    modules: SentenceModules

    @cached_property
    def dim(self) -> int:
        """How many numbers a text's vector has, if nothing else is asked for."""
        nothing = np.zeros((1, self.config.dim), np.float32)
        return int(self.modules.finish(nothing, group_bounds([1])).shape[1])

    def width(self, recipe: Recipe | None) -> int:
        """How many numbers a vector by a recipe has: `None` is the folder's own."""
        if recipe is None:
            return self.dim
        layers = choose_layers(recipe.layers, self.config.states)
        return self.config.dim * (len(layers) if recipe.mix == "concat" else 1)

    def encode(
        self,
        texts: Iterable[Text],
        *,
        layers: Layers | None = None,
        mix: Mix | None = None,
        pool: Pool | None = None,
        recipe: Recipe | str | None = None,
        prompt: str | None = None,
        long: Long = "truncate",
        overlap: int | None = None,
        progress: Progress = no_progress,
    ) -> Float32Array:
        """A vector a text, [texts, dim].

        With nothing but texts the vectors are what the model's folder asks for, as
        sentence-transformers makes them. With layers, mix, pool or a recipe they are exactly
        that, without the folder's own last steps. `prompt` names one of the folder's prompts,
        which are put before each text. What is longer than the model takes is cut off, or with
        long="windows" read in windows that share `overlap` pieces, half of them if nobody says.
        What was cut off, empty or unknown is reported.
        """
        chosen = None
        if any(part is not None for part in (layers, mix, pool, recipe)):
            chosen = choose_recipe(recipe, layers=layers, mix=mix, pool=pool)
        asked, found, done = as_texts(texts), [np.empty((0, self.width(chosen)), np.float32)], 0
        for chunk in self.stream(asked, chosen, prompt, long=long, overlap=overlap):
            found.append(chunk)
            done += len(chunk)
            progress(done, len(asked))
        return np.concatenate(found[1:] or found)

    def stream(
        self,
        texts: Iterable[Text],
        recipe: Recipe | str | None = None,
        prompt: str | None = None,
        *,
        long: Long = "truncate",
        overlap: int | None = None,
        notes: TextStats | None = None,
    ) -> Iterator[Float32Array]:
        """The same in chunks, each as soon as it is ready: `None` is the folder's own recipe.

        Never more than a few chunks of texts are held. What was cut off, empty or unknown goes
        into `notes`, or is reported at the end if there are none.
        """
        self.engine.rouse()
        chosen = None if recipe is None else choose_recipe(recipe)
        pooling = self.pooling(chosen)
        numbers = choose_layers(chosen.layers if chosen else -1, self.config.states)
        before, shared = self.prompt(prompt), check_windows(long, overlap, self.cutter)
        met = TextStats() if notes is None else notes
        met.by_layers = chosen is not None

        def cut(chunk: list[Text]) -> tuple[list[Text], list[Any]]:
            uniform = [self.cutter.uniform(t) for t in self.cutter.prompted(chunk, before)]
            return uniform, self.cutter.encoded(uniform)

        for chunk, encodings in ahead(cut, chunks(texts, CHUNK, CHARACTERS)):
            met.count(encodings, chunk, self.cutter, truncating=shared is None)
            if shared is None:
                yield np.stack(self._run(encodings, numbers, pooling))
            else:
                yield self._joined(chunk, encodings, numbers, pooling, shared)
        if notes is None:
            met.report(self.name)

    def passages(self, texts: Sequence[str]) -> list[list[Span]]:
        """For each text, in NFC, where the passages begin and end that the model reads whole."""
        prompt = self.cutter.encoded([self.cutter.uniform(self.prompt(None))])[0]
        room = max(LEAST, self.cutter.longest - len(prompt))
        found: list[list[Span]] = [[(0, len(text))] for text in texts]
        long = [i for i, text in enumerate(texts) if len(text) > room]
        for some in (long[i : i + HELD] for i in range(0, len(long), HELD)):
            uniform = [self.cutter.uniform(texts[i]) for i in some]
            for i, cut in zip(some, self.cutter.encoded(uniform), strict=True):
                if len(cut) > room or self.cutter.is_truncated(cut):
                    found[i] = self._split(texts[i], room)
        return found

    def _split(self, text: str, room: int) -> list[Span]:
        (cut,) = self.cutter([text])
        whole = all_pieces(self.cutter, cut)
        if len(whole.text) != len(text):  # lower case is longer at times: places would be wrong
            return [(0, len(text))]
        return split_text(text, whole.offsets[~whole.special], room)

    def activations(
        self,
        texts: Iterable[Text],
        layers: Layers = "all",
        *,
        long: Long = "truncate",
        overlap: int | None = None,
    ) -> Activations:
        """The hidden states of each text, [layers, pieces, dim], and what its pieces are."""
        asked, notes = as_texts(texts), TextStats()
        numbers = choose_layers(layers, self.config.states)
        shared = check_windows(long, overlap, self.cutter)
        found = self._activations(asked, numbers, notes, shared)
        notes.report(self.name)
        return found

    def stream_activations(
        self,
        texts: Iterable[Text],
        layers: Layers = "all",
        *,
        long: Long = "truncate",
        overlap: int | None = None,
        notes: TextStats | None = None,
    ) -> Iterator[Activations]:
        """The same for some texts at a time, so that not all states are held at once."""
        numbers = choose_layers(layers, self.config.states)
        shared = check_windows(long, overlap, self.cutter)
        met = TextStats() if notes is None else notes
        for chunk in chunks(texts, HELD, CHARACTERS_HELD):
            yield self._activations(chunk, numbers, met, shared)
        if notes is None:
            met.report(self.name)

    def _activations(
        self, texts: Sequence[Text], layers: tuple[int, ...], notes: TextStats, overlap: int | None
    ) -> Activations:
        uniform = [self.cutter.uniform(text) for text in texts]
        encodings = self.cutter.encoded(uniform, offsets=True)
        notes.by_layers = True
        notes.count(encodings, uniform, self.cutter, truncating=overlap is None)
        pieces = [self.cutter.pieces(*each) for each in zip(uniform, encodings, strict=True)]
        if overlap is None:
            states = self._run(encodings, layers, split_states)
        else:
            pieces = [all_pieces(self.cutter, cut) for cut in pieces]
            refuse_too_many(pieces, len(layers) * self.config.dim)
            each = zip(encodings, pieces, strict=True)
            windows = [windows_of(cut, all_.ids[~all_.special], overlap) for cut, all_ in each]
            parts = self._run(list(chain(*windows)), layers, split_windows)
            bounds = group_bounds([len(some) for some in windows])
            states = [np.concatenate(parts[a:b], axis=1) for a, b in pairwise(bounds)]
        return Activations(tuple(pieces), tuple(states), layers, self.config.states)

    def _joined(
        self,
        texts: list[Text],
        cut: list[Any],
        layers: Sequence[int],
        pooling: Pooling,
        overlap: int,
    ) -> Float32Array:
        each = zip(texts, cut, strict=True)
        windows = [windows_of(one, all_ids(self.cutter, text, one), overlap) for text, one in each]
        flat = list(chain(*windows))
        parts = np.stack(self._run(flat, layers, pooling.partly))
        return pooling.joined(parts, flat, [len(some) for some in windows])

    def _run(
        self, cut: list[Any], layers: Sequence[int], then: Then[Float32Array]
    ) -> list[Float32Array]:
        return run_batches(self.engine, self.config, cut, layers, then)

    def pooling(self, recipe: Recipe | None) -> Pooling:
        """How the states of a batch become a vector a text: `None` is the folder's own recipe."""
        return pooling_by(recipe) if recipe else own_pooling(self.modules)

    def prompt(self, name: str | None) -> str:
        """What goes before each text: the prompt of this name, or else the folder's default."""
        prompts, chosen = self.modules.prompts, name or self.modules.default_prompt
        if chosen is None:
            return ""
        if chosen not in prompts:
            known = f"it has {', '.join(prompts)}" if prompts else "it has none"
            raise InvalidArgumentError(f"{self.name} has no prompt '{chosen}': {known}")
        return prompts[chosen]

    def __reduce__(self) -> tuple[Any, ...]:
        """By its name and prompts: another process opens it again."""
        return reopened, (self.name, dict(self.modules.prompts), self.modules.default_prompt)

    def __repr__(self) -> str:
        sizes = f"{self.config.layers} layers × {self.config.dim} in {self.engine.arithmetic}"
        return f"ContextualEncoder({self.name}, {sizes}, up to {self.cutter.longest} pieces)"


def load_transformer(name: str) -> TransformerEncoder:
    """An encoder with layers, by the folder it is in, by its name on the hub, or `minilm`.

    With `:quantized` after its name its weights are integers: int8 with AVX-512 VNNI, int16 with
    AVX2. It is then faster, and a little less exact; `encoder.engine.arithmetic` says which.
    """
    place, precision = precision_of(str(name))
    refuse_without_layers(place)
    modules = read_modules(find_model(place))
    config = read_config(modules.transformer)
    engine = AutoEngine(modules.transformer, config, precision)
    return TransformerEncoder(str(name), config, load_tokenizer(modules, config), engine, modules)


def reopened(name: str, prompts: dict[str, str], default_prompt: str | None) -> TransformerEncoder:
    """An encoder as it was in another process, with prompts that its folder may not have."""
    encoder = load_transformer(name)
    modules = replace(encoder.modules, prompts=prompts, default_prompt=default_prompt)
    return replace(encoder, modules=modules)


def split_states(states: list[Float32Array], texts: list[Any]) -> list[Float32Array]:
    """The states of a batch, text by text: [layers, pieces, dim]."""
    bounds = group_bounds([len(text) for text in texts])
    stacked = np.stack(states)
    return [part.copy() for part in np.split(stacked, bounds[1:-1], axis=1)]


def split_windows(states: list[Float32Array], windows: list[Any]) -> list[Float32Array]:
    """The states of a batch of windows, of each those that are kept: [layers, pieces, dim]."""
    each = zip(split_states(states, windows), windows, strict=True)
    return [part[:, window.kept] for part, window in each]
