"""Texts cut as a model wants them: its own tokenizer, its longest text, special pieces added.

Padding and truncation that a tokenizer.json brings along are switched off: they are what was
right for somebody's batches, and silently wrong for anybody else's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.encode.checkpoint.config import Config, read_json
from malmoi.encode.checkpoint.sentence_transformers import SentenceModules
from malmoi.encode.tokens.breaks import blocks, head
from malmoi.encode.tokens.fragments import Fragments, fragments_of
from malmoi.encode.tokens.inputs import Text, as_texts, uniform
from malmoi.encode.tokens.tokenized import SPECIAL, Tokenized
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.text.wordpiece import SPECIAL as SPECIAL_PIECES
from malmoi.text.wordpiece import bert_tokenizer, load_wordpiece

MOST_SPECIAL = 4  # special pieces of a pair
UNKNOWN = ("[UNK]", "<unk>")
CHARACTERS = 32  # of a text for each piece that counts, before the rest is not even looked at
LONGEST_WORD = 100  # characters: one that is longer is a single unknown piece for WordPiece
WORDPIECE = ("bert", "distilbert", "electra")  # whose vocab.txt says all there is to say


@dataclass(frozen=True, eq=False)
class ModelTokenizer:
    """Cuts texts; what is longer than `longest` pieces, special ones among them, is cut off."""

    tokenizer: Any
    longest: int
    lower: bool = False

    def prompted(self, texts: Sequence[Text], prompt: str) -> list[Text]:
        """Texts with a prompt before each; of a pair, before the first."""
        if not prompt:
            return list(texts)
        return [
            prompt + text if isinstance(text, str) else (prompt + text[0], text[1])
            for text in texts
        ]

    def uniform(self, text: Text) -> Text:
        """A text as the tokenizer gets it: NFC, so that Hangul is whole; offsets refer to it."""
        if isinstance(text, tuple):
            first, second = text
            return self._uniform(first), self._uniform(second)
        return self._uniform(text)

    def _uniform(self, text: str) -> str:
        text = uniform(text)
        return text.lower() if self.lower else text

    def encoded(self, texts: Sequence[Text], *, offsets: bool = False) -> list[Any]:
        """What the tokenizer makes of uniform texts; offsets and words take a while longer.

        Of a long text only the beginning is cut: as much as gives the same first pieces.
        """
        size = self.longest * CHARACTERS
        pairs = iter(self._short_pairs([text for text in texts if isinstance(text, tuple)]))
        heads = [head(text, size) if isinstance(text, str) else next(pairs) for text in texts]
        found = self._cut(heads, offsets)
        for i, text in enumerate(texts):
            if len(text) > size and isinstance(text, str):
                found[i] = self._beginning(text, found[i], offsets)
        return found

    def _beginning(self, text: str, encoding: Any, offsets: bool) -> Any:
        """As many pieces of a long text as count, and as many again: its end is far off."""
        size = self.longest * CHARACTERS
        while size < len(text) and _count(encoding) < 2 * self.longest:
            size *= 8
            (encoding,) = self._cut([head(text, size)], offsets)
        return encoding

    def _short_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs of which neither text has many more pieces than a model reads.

        A tokenizer keeps what it cuts off a pair as every end of the one text with every end of
        the other: two long texts are their product in memory. The longer text stays the longer,
        for it has the odd piece; of texts that are very long, only the beginnings are compared.
        """
        parts = [head(part, self.longest * CHARACTERS) for pair in pairs for part in pair]
        long = [i for i, part in enumerate(parts) if len(part) > self.longest]
        cut = dict(zip(long, self._cut([parts[i] for i in long], True), strict=True))
        for i in range(0, len(parts), 2):
            first, second = (_count(cut[k]) if k in cut else 0 for k in (i, i + 1))
            longer, shorter = (i, i + 1) if first > second else (i + 1, i)
            if len(ends := _ends(cut.get(longer))) > 3:
                parts[longer] = parts[longer][: ends[2] + LONGEST_WORD]
                if len(ends := _ends(cut.get(shorter))) > 1:
                    parts[shorter] = parts[shorter][: ends[0] + LONGEST_WORD]
        return list(zip(parts[::2], parts[1::2], strict=True))

    def all_of(self, text: str, *, offsets: bool = False) -> Iterator[tuple[int, list[Any]]]:
        """All pieces of a uniform text, however long: block by block, with where each begins."""
        for start, block in blocks(text):
            (encoding,) = self._cut([block], offsets)
            yield start, [encoding, *encoding.overflowing]

    def _cut(self, texts: list[Any], offsets: bool) -> list[Any]:
        many = self.tokenizer.encode_batch if offsets else self.tokenizer.encode_batch_fast
        found: list[Any] = many(texts)
        return found

    @cached_property
    def room(self) -> int:
        """How many pieces of a text there is room for, beside the special ones."""
        return self.longest - int(self.tokenizer.num_special_tokens_to_add(False))

    @cached_property
    def unknown(self) -> int | None:
        """The piece that stands for what the vocabulary does not have."""
        found = (self.tokenizer.token_to_id(name) for name in UNKNOWN)
        return next((number for number in found if number is not None), None)

    @cached_property
    def fragments(self) -> Fragments:
        """Counts words that the vocabulary knows only as letters, bytes or unknown tokens."""
        return fragments_of(self.tokenizer, self.unknown)

    def is_truncated(self, encoding: Any) -> bool:
        """Whether a text went on."""
        return len(encoding) >= self.longest and bool(encoding.overflowing)

    def __call__(self, texts: Sequence[Text]) -> list[Tokenized]:
        """The pieces of each text."""
        uniform = [self.uniform(text) for text in as_texts(texts)]
        encodings = self.encoded(uniform, offsets=True)
        return [self.pieces(*each) for each in zip(uniform, encodings, strict=True)]

    def pieces(self, text: Text, encoding: Any) -> Tokenized:
        """All that is known of a uniform text's pieces."""
        first, second = text if isinstance(text, tuple) else (text, None)
        parts = [SPECIAL if part is None else part for part in encoding.sequence_ids]
        words = [SPECIAL if word is None else word for word in encoding.word_ids]
        further = 1 + max((w for w, p in zip(words, parts, strict=True) if p == 0), default=-1)
        numbered = [
            word + further if part == 1 and word != SPECIAL else word
            for word, part in zip(words, parts, strict=True)
        ]
        return Tokenized(
            text=first,
            pair=second,
            pieces=tuple(encoding.tokens),
            ids=np.array(encoding.ids, np.int32),
            segments=np.array(encoding.type_ids, np.int32),
            parts=np.array(parts, np.int32),
            words=np.array(numbered, np.int32),
            offsets=np.array(encoding.offsets, np.int32).reshape(-1, 2),
            truncated=self.is_truncated(encoding),
        )


def load_tokenizer(modules: SentenceModules, config: Config) -> ModelTokenizer:
    """The cutter of a model's folder."""
    folder = modules.transformer
    said = folder / "tokenizer_config.json"
    options = read_json(said) if said.is_file() else {}
    tokenizer = _read_tokenizer(folder, config, options)
    size = tokenizer.get_vocab_size()
    if size > config.vocabulary:
        raise InvalidFileError(
            f"{folder}: its tokenizer has {size:,} pieces, but its model knows"
            f" {config.vocabulary:,}: they do not belong together"
        )
    asked = modules.max_length or options.get("model_max_length") or config.positions
    try:
        longest = min(int(asked), config.positions)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidFileError(
            f"{folder}: its longest text is '{asked}', which is no number"
        ) from error
    if longest <= MOST_SPECIAL:
        raise InvalidFileError(
            f"{folder}: its longest text is {longest} pieces, which leaves no room"
        )
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return ModelTokenizer(tokenizer, longest, modules.lower)


def _count(encoding: Any) -> int:
    return len(encoding) + sum(map(len, encoding.overflowing))


def _ends(encoding: Any) -> list[int]:
    """Where each part of a text ends that is as long as a model reads."""
    windows = [] if encoding is None else [encoding, *encoding.overflowing]
    return [max(stop for _, stop in window.offsets) for window in windows]


def _read_tokenizer(folder: Path, config: Config, options: dict[str, Any]) -> Any:
    path = folder / "tokenizer.json"
    if path.is_file():
        tokenizers = require("tokenizers", extra="bert")
        try:
            return tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the library has no kind of its own
            raise InvalidFileError(f"{path} is no tokenizer: {error}") from error
    if (folder / "vocab.txt").is_file() and config.family in WORDPIECE:
        return tokenizer_from_vocabulary(folder / "vocab.txt", options)
    wanted = "tokenizer.json or vocab.txt" if config.family in WORDPIECE else "tokenizer.json"
    raise InvalidFileError(f"{folder} has no {wanted}: without it no text can be cut")


def tokenizer_from_vocabulary(path: Path, options: dict[str, Any]) -> Any:
    """WordPiece as BERT's own tokenizer has it, made from a vocab.txt."""
    tokenizers = require("tokenizers", extra="bert")
    lower = bool(options.get("do_lower_case", True))
    tokenizer = bert_tokenizer(load_wordpiece(str(path), lower).model, lower)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(
        lowercase=lower,
        strip_accents=options.get("strip_accents"),
        handle_chinese_chars=options.get("tokenize_chinese_chars", True),
    )
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in ("[SEP]", "[CLS]")]
    for mark, number in marks:
        if number is None:
            raise InvalidFileError(f"{path} has no {mark}: it is no vocabulary of BERT's kind")
    tokenizer.post_processor = tokenizers.processors.BertProcessing(*marks)
    known = [mark for mark in SPECIAL_PIECES if tokenizer.token_to_id(mark) is not None]
    tokenizer.add_special_tokens(known)
    return tokenizer
