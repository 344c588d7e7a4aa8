"""The unigram tokenizer of static students, compiled: the token ids of the package tokenizers.

A tokenizer that `learn_tokenizer` makes is recognized by its steps. What its normalizer and its
pre-tokenizer do to each character is asked of the package itself, so that versions of Unicode
cannot differ. Characters that may change with their neighbours are unusual, and texts with one are
left to the package: combining marks, conjoining jamo, and all beyond the first two planes.
"""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from math import isfinite
from operator import not_
from typing import Any

import numpy as np

from malmoi.arrays import BoolArray, Int32Array, Int64Array, UInt32Array
from malmoi.encode.tokens.tokenizer import BYTE_TOKENS, WORD_START
from malmoi.kernels.static.segment import (
    KIND_BITS,
    LETTER,
    PUNCTUATION,
    SPACE,
    UNUSUAL,
    UnigramModel,
    segment_texts,
)
from malmoi.kernels.static.token_trie import CHARACTERS, make_trie

METASPACE = {
    "type": "Metaspace",
    "replacement": WORD_START,
    "prepend_scheme": "always",
    "split": True,
}
STEPS: dict[str, Any] = {
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [{"type": "BertPreTokenizer"}, METASPACE],
    },
    "post_processor": None,
}
UNKNOWN_PENALTY = 10.0  # of a character without a token, below the least score
BLOCK_TEXTS = 1 << 14  # texts that are segmented at once
LEFT_OUT = ("Cn", "Co", "Cs", "Mc", "Me", "Mn")  # unassigned, private, surrogates, marks
SELECTORS = range(0xFE00, 0xFE10)  # marks that combine with nothing, as in many emoji
JAMO = (range(0x1100, 0x1200), range(0xA960, 0xA980), range(0xD7B0, 0xD800))  # conjoining
SEPARATOR = "\ue000"  # private: no step changes it


@dataclass(frozen=True, eq=False)
class UnigramTokenizer:
    """Token ids of texts by a kernel; see `unigram_tokenizer`."""

    model: UnigramModel

    def __call__(self, texts: Sequence[str]) -> tuple[Int64Array, Int32Array, BoolArray]:
        """The offsets of texts and their token ids, and which texts are left to the package."""
        starts = range(0, max(len(texts), 1), BLOCK_TEXTS)
        blocks = [self._block(texts[start : start + BLOCK_TEXTS]) for start in starts]
        counts = np.concatenate([np.diff(offsets) for offsets, _, _ in blocks])
        return (
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([ids for _, ids, _ in blocks]),
            np.concatenate([is_unusual for _, _, is_unusual in blocks]),
        )

    def _block(self, texts: Sequence[str]) -> tuple[Int64Array, Int32Array, BoolArray]:
        return segment_texts(*code_points(texts), self.model)


def unigram_tokenizer(tokenizer: Any) -> UnigramTokenizer | None:
    """The same tokenizer as a kernel, if it is of the kind that `learn_tokenizer` makes."""
    values = json.loads(tokenizer.to_str())
    model = values["model"]
    if any(values[name] != step for name, step in STEPS.items()) or model["type"] != "Unigram":
        return None
    names, scores = [name for name, _ in model["vocab"]], [score for _, score in model["vocab"]]
    ids = {name: i for i, name in enumerate(names)}
    byte_ids = [ids[token] for token in BYTE_TOKENS if token in ids]
    least = min(scores, default=0.0)
    is_usual = all(map(isfinite, scores)) and least <= 0  # else unknown characters may be a token
    has_unknown = model["byte_fallback"] and model["unk_id"] is not None
    if not (is_usual and has_unknown and len(byte_ids) == len(BYTE_TOKENS)):
        return None
    trie = make_trie(*code_points(names), np.array(scores))
    tables = trie, character_table(tokenizer), np.array(byte_ids, np.int32)
    return UnigramTokenizer(UnigramModel(*tables, ord(WORD_START), least - UNKNOWN_PENALTY))


def character_table(tokenizer: Any) -> UInt32Array:
    """The kind of each character and what replaces it, by the steps of a tokenizer."""
    usual = [chr(code) for code in range(CHARACTERS) if _is_usual(chr(code))]
    is_plain = [unicodedata.category(character) == "Lo" for character in usual]  # no case
    table = np.zeros(CHARACTERS, np.uint32)
    plain = np.array([ord(each) for each in compress(usual, is_plain)], np.uint32)
    table[plain] = LETTER << KIND_BITS | plain
    others = list(compress(usual, map(not_, is_plain)))
    lower = tokenizer.normalizer.normalize_str(SEPARATOR.join(others)).split(SEPARATOR)
    single = [(ord(old), new) for old, new in zip(others, lower, strict=True) if len(new) == 1]
    between = " ".join(f"a{new}a" for _, new in single)
    words = tokenizer.pre_tokenizer.pre_tokenize_str(between)
    parts = np.bincount([start // 4 for _, (start, _) in words], minlength=len(single))
    kinds = np.array([UNUSUAL, LETTER, SPACE, PUNCTUATION], np.uint32)[parts]
    new_codes = np.array([ord(new) for _, new in single], np.uint32)
    table[[old for old, _ in single]] = kinds << np.uint32(KIND_BITS) | new_codes
    return table


def _is_usual(character: str) -> bool:
    """Whether no neighbour can change a character, nor it another one."""
    is_left_out = unicodedata.category(character) in LEFT_OUT and ord(character) not in SELECTORS
    return (
        not is_left_out
        and character != WORD_START
        and not any(ord(character) in each for each in JAMO)
        and unicodedata.is_normalized("NFC", character)
    )


def code_points(texts: Sequence[str]) -> tuple[Int64Array, UInt32Array]:
    """The offsets of texts in the code points of all of them."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    return np.concatenate([[0], np.cumsum(sizes)]), codes
