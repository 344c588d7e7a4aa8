"""Token ids of many texts: by a kernel, or by a tokenizer whose words are remembered.

The tokenizer of a static student has a kernel, which takes over once there are many texts. Of any
other that splits at spaces, the tokens of a text are those of its words: texts repeat their words,
so that most of them need a dictionary only, which is many times faster than a tokenizer. Words are
normalized to NFC before they are tokenized.
"""

import json
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from malmoi.arrays import BoolArray, Int32Array, Int64Array
from malmoi.encode.tokens.inputs import normalize_text

Tokens = tuple[Int64Array, Int32Array]  # offsets of texts, ids
PartOfTokens = tuple[Int64Array, Int32Array, BoolArray]  # and which texts are left to others
TEXTS_WITHOUT_KERNEL = 1 << 14  # of a lookup: importing Numba takes longer
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
        self._texts = 0  # so far
        self._kernel: Callable[[Sequence[str]], PartOfTokens] | None = None
        self._numbers, self._characters = WordNumbers(), 0
        self._starts: Int64Array = np.zeros(1, np.int64)  # of each word in the ids
        self._ids: Int32Array = np.empty(0, np.int32)

    def __call__(self, texts: Sequence[str]) -> Tokens:
        """The token ids of all texts, end to end, and their offsets [texts + 1]."""
        kernel = self._kernel_after(len(texts))
        if kernel is None:
            return self._by_words(texts)

        def normalized(unusual: list[str]) -> Tokens:
            composed = list(map(normalize_text, unusual))
            return complete(kernel(composed), composed, self._by_words)

        return complete(kernel(texts), texts, normalized)

    @property
    def is_compiled(self) -> bool:
        """Whether a kernel has taken over."""
        return self._kernel is not None

    def _kernel_after(self, texts: int) -> Callable[[Sequence[str]], PartOfTokens] | None:
        """The kernel of the tokenizer, if it has one and there are enough texts with these."""
        with self._lock:
            is_due = self._texts < TEXTS_WITHOUT_KERNEL <= self._texts + texts
            self._texts += texts
            if is_due:
                from malmoi.encode.static.unigram import unigram_tokenizer

                self._kernel = unigram_tokenizer(self.tokenizer)
            return self._kernel

    def _by_words(self, texts: Sequence[str]) -> Tokens:
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


def complete(
    part: PartOfTokens, texts: Sequence[str], tokenize: Callable[[list[str]], Tokens]
) -> Tokens:
    """The tokens of a kernel, and those of the texts that it has left to `tokenize`."""
    offsets, ids, is_left = part
    if not is_left.any():
        return offsets, ids
    other_offsets, others = tokenize([texts[i] for i in np.flatnonzero(is_left).tolist()])
    counts = np.diff(offsets)
    counts[is_left] = np.diff(other_offsets)
    is_other = np.repeat(is_left, counts)
    merged = np.empty(len(is_other), np.int32)
    merged[is_other], merged[~is_other] = others, ids
    return np.concatenate([[0], np.cumsum(counts)]), merged


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
