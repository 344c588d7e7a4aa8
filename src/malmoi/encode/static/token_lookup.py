"""Token ids of many texts, by a tokenizer whose results are remembered word by word.

Where a tokenizer splits at spaces, the tokens of a text are those of its words. Texts repeat their
words, so that most of them need a dictionary only, which is many times faster than a tokenizer.
Words are normalized to NFC before they are tokenized.
"""

import json
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from malmoi.arrays import Int32Array, Int64Array
from malmoi.encode.tokens.inputs import normalize_text

MAX_WORDS, MAX_CHARACTERS = 1_000_000, 1 << 25  # remembered
SPLITTING = ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")  # at least at spaces
LOCAL = ("BertNormalizer", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")


class WordNumbers(dict[str, int]):
    """Numbers of words in the order of their first use; `new` are those not tokenized yet."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        self.new.append(word)
        return number


class TokenLookup:
    """Token ids of texts; `tokenizer` is a `tokenizers.Tokenizer` without special tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._splits = splits_at_spaces(tokenizer)
        self._lock = Lock()
        self._numbers, self._characters = WordNumbers(), 0
        self._starts: Int64Array = np.zeros(1, np.int64)  # of each word in the ids
        self._ids: Int32Array = np.empty(0, np.int32)

    def __call__(self, texts: Sequence[str]) -> tuple[Int64Array, Int32Array]:
        """The token ids of all texts, end to end, and their offsets [texts + 1]."""
        split = [text.split(" ") for text in texts] if self._splits else [[text] for text in texts]
        words = [word for one in split for word in one]
        with self._lock:  # of threads that serve requests
            numbers = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
            if self._numbers.new:
                self._tokenize_new()
            starts, ids = self._starts, self._ids
            if len(self._numbers) > MAX_WORDS or self._characters > MAX_CHARACTERS:
                self._forget()
        first, counts = starts[numbers], starts[numbers + 1] - starts[numbers]
        ends = np.concatenate([[0], np.cumsum(counts)])  # of words, among the ids of all texts
        positions = np.repeat(first - ends[:-1], counts) + np.arange(ends[-1])
        offsets = ends[np.concatenate([[0], np.cumsum(list(map(len, split)))])]
        return offsets, ids[positions]

    def _tokenize_new(self) -> None:
        new = self._numbers.new
        encodings = self.tokenizer.encode_batch_fast(
            list(map(normalize_text, new)), add_special_tokens=False
        )
        ids = [np.array(encoding.ids, np.int32) for encoding in encodings]
        ends = self._starts[-1] + np.cumsum([len(one) for one in ids])
        self._starts = np.concatenate([self._starts, ends])
        self._ids = np.concatenate([self._ids, *ids])
        self._characters += sum(map(len, new))
        self._numbers.new = []

    def _forget(self) -> None:
        self._numbers, self._characters = WordNumbers(), 0
        self._starts, self._ids = np.zeros(1, np.int64), np.empty(0, np.int32)


def splits_at_spaces(tokenizer: Any) -> bool:
    """Whether the tokens of a text are those of its words, so that words can be remembered."""
    values = json.loads(tokenizer.to_str())
    normalizers = _steps(values["normalizer"], "normalizers")
    first = next(iter(_steps(values["pre_tokenizer"], "pretokenizers")), {})
    added = [str(token["content"]) for token in values["added_tokens"]]
    return (
        all(step["type"] in LOCAL for step in normalizers)
        and first.get("type") in SPLITTING
        and not any(" " in token for token in added)
    )


def _steps(value: dict[str, Any] | None, name: str) -> list[dict[str, Any]]:
    """The steps of a normalizer or pre-tokenizer, of a sequence or a single one."""
    if value is None:
        return []
    return value[name] if value["type"] == "Sequence" else [value]
