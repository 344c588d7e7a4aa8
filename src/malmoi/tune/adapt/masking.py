"""Masks of masked-language modelling, and the units that are masked, or deleted, as a whole.

A unit is a word, all of whose tokens are masked together (whole-word masking). In Korean it is an
eojeol without its particles, and each run of particles is a unit of its own, as a preposition is
in English: in 학교에서는 the model predicts 학교 from its role, or the role from 학교. Particles
need kiwipiepy (extra `korean`); without it the whole eojeol is a unit. Knows nothing of torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from malmoi.arrays import Int32Array, Int64Array
from malmoi.encode.tokens.tokenized import SPECIAL, Tokenized
from malmoi.subwords import has_hangul
from malmoi.text.korean import load_analyser

KEPT_SHARE, RANDOM_SHARE = 0.1, 0.1  # of the masked tokens; all others become [MASK]
PARTICLE = "J"  # beginning of the tags of particles


@dataclass(frozen=True, eq=False)
class Passage:
    """The token ids of a text, and the unit of each token, -1 for special tokens."""

    ids: Int32Array
    units: Int32Array

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def num_units(self) -> int:
        """The number of units; they are numbered from 0."""
        return int(self.units.max(initial=-1)) + 1


@dataclass(frozen=True, eq=False)
class MaskedText:
    """A text with masks: token ids, the positions to predict, and the ids that were there."""

    ids: Int32Array
    positions: Int64Array
    labels: Int64Array


@dataclass(frozen=True, kw_only=True)
class Masking:
    """How texts are masked; `random_ids` are the tokens that may replace another one."""

    mask_id: int
    random_ids: Int32Array
    share: float

    def __call__(self, passage: Passage, random: np.random.Generator) -> MaskedText:
        """Mask whole units at random, until about `share` of the tokens are masked.

        Of the masked tokens 80 % become [MASK], 10 % a random token, and 10 % stay.
        """
        is_text = passage.units != SPECIAL
        wanted = max(1, round(self.share * int(is_text.sum())))
        sizes = np.bincount(passage.units[is_text], minlength=passage.num_units)
        chosen, count = list[int](), 0
        for unit in random.permutation(passage.num_units).tolist():
            # A long unit may exceed the share only where it is the first.
            if not chosen or count + sizes[unit] <= wanted:
                chosen.append(unit)
                count += int(sizes[unit])
            if count >= wanted:
                break
        positions = np.flatnonzero(np.isin(passage.units, chosen))
        draws = random.random(len(positions))
        ids = passage.ids.copy()
        ids[positions[draws >= KEPT_SHARE + RANDOM_SHARE]] = self.mask_id
        replaced = positions[(draws >= KEPT_SHARE) & (draws < KEPT_SHARE + RANDOM_SHARE)]
        ids[replaced] = random.choice(self.random_ids, len(replaced))
        return MaskedText(ids, positions, passage.ids[positions].astype(np.int64))


def delete_units(passage: Passage, share: float, random: np.random.Generator) -> Int32Array:
    """The token ids without about `share` of the units; at least one unit stays."""
    stays = random.random(passage.num_units) >= share
    if len(stays) and not stays.any():
        stays[random.integers(len(stays))] = True
    kept: Int32Array = passage.ids[np.r_[stays, True][passage.units]]  # the last: special tokens
    return kept


def find_units(texts: Sequence[Tokenized], *, particles: bool) -> list[Passage]:
    """The passages of texts; with `particles` those of Korean texts are units of their own."""
    korean = [i for i, text in enumerate(texts) if particles and has_hangul(text.text)]
    starts: dict[int, list[int]] = {}
    if korean:
        analysed = load_analyser().tokenize([texts[i].text for i in korean])
        starts = {i: particle_starts(each) for i, each in zip(korean, analysed, strict=True)}
    return [Passage(text.ids, _units(text, starts.get(i, []))) for i, text in enumerate(texts)]


def particle_starts(morphemes: Sequence[Any]) -> list[int]:
    """Where runs of particles begin, in characters."""
    runs = groupby(morphemes, key=lambda morpheme: morpheme.tag.startswith(PARTICLE))
    return [next(run).start for is_particle, run in runs if is_particle]


def _units(text: Tokenized, starts: Sequence[int]) -> Int32Array:
    """The unit of each token; a token that spans a border belongs to the unit it begins in."""
    number = np.searchsorted(np.array(starts, np.int64), text.offsets[:, 0], "right")
    keys = np.stack([text.word_ids, np.where(text.is_special, 0, number)], axis=1)
    changes = np.r_[True, (keys[1:] != keys[:-1]).any(axis=1)]
    is_text = text.word_ids != SPECIAL
    units = np.cumsum(changes & is_text) - 1
    return np.where(is_text, units, SPECIAL).astype(np.int32)
