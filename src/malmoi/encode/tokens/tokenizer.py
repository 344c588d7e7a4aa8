"""A model's tokenizer: truncates at the model's maximum length and adds special tokens.

Padding and truncation settings of a tokenizer.json are ignored: they suited somebody's batches.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from malmoi.encode.checkpoint.config import Config, read_json
from malmoi.encode.checkpoint.sentence_transformers import SentenceModules
from malmoi.encode.tokens.fragments import FragmentCounter, fragment_counter
from malmoi.encode.tokens.inputs import Text, normalize_text
from malmoi.encode.tokens.text_tokenizer import TextTokenizer
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.extras import require
from malmoi.text.wordpiece import SPECIAL as SPECIAL_TOKENS
from malmoi.text.wordpiece import bert_tokenizer, load_wordpiece

MAX_SPECIAL_TOKENS = 4  # of a pair
UNKNOWN_TOKENS = ("[UNK]", "<unk>")
BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))  # of characters without a token
WORD_START = "▁"  # which is a token of its own before an unknown character
CHARACTERS_PER_TOKEN = 32  # a long text is first tokenized up to max_length · this
MAX_WORD_LENGTH = 100  # characters; WordPiece turns a longer word into one unknown token
WORDPIECE_FAMILIES = ("bert", "distilbert", "electra")  # a vocab.txt is all they need
BLOCK_CHARACTERS = 1 << 16  # of a long text that is tokenized in blocks
# Splitting before white space after a word does not change the tokens: no tokenizer of this kind
# has a token that spans it, nor composes characters across it.
BREAK = re.compile(r"(?<=\S)(?=[ \t\n\r])")


@dataclass(frozen=True)
class EncodedIds:
    """Token ids that a client passes, with special tokens; `overflowing` are those truncated."""

    ids: list[int]
    special_tokens_mask: list[int]
    overflowing: list[int]

    @property
    def type_ids(self) -> list[int]:
        """All tokens are those of a first text."""
        return [0] * len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class ModelTokenizer(TextTokenizer):
    """The tokenizer of a transformer.

    `backend` is a `tokenizers.Tokenizer`; the model has `vocab_size` token embeddings, 0 where
    that is not known.
    """

    backend: Any
    max_length: int
    lowercase: bool = False
    vocab_size: int = 0

    def normalize(self, text: Text) -> Text:
        """A text as the tokenizer gets it (NFC, maybe lower case); offsets refer to it."""
        if isinstance(text, tuple):
            first, second = text
            return self._normalize(first), self._normalize(second)
        return self._normalize(text)

    def fold(self, text: str) -> str:
        """A text as the vocabulary has it: in lower case, for example."""
        normalizer, nfc = self.backend.normalizer, self._normalize(text)
        return str(normalizer.normalize_str(nfc)) if normalizer else nfc

    def _normalize(self, text: str) -> str:
        text = normalize_text(text)
        return text.lower() if self.lowercase else text

    def encode_batch(self, texts: Sequence[Text], *, offsets: bool = False) -> list[Any]:
        """The encodings of normalized texts; offsets and word ids take a little longer.

        Of a long text only the beginning is tokenized: enough to get the same first tokens.
        """
        size = self.max_length * CHARACTERS_PER_TOKEN
        pairs = iter(self._shorten_pairs([text for text in texts if isinstance(text, tuple)]))
        heads = [head(text, size) if isinstance(text, str) else next(pairs) for text in texts]
        encodings = self._encode(heads, offsets)
        for i, text in enumerate(texts):
            if len(text) > size and isinstance(text, str):
                encodings[i] = self._encode_beginning(text, encodings[i], offsets)
        return encodings

    def _encode_beginning(self, text: str, encoding: Any, offsets: bool) -> Any:
        """At least 2 · max_length tokens of a long text, if it has as many."""
        size = self.max_length * CHARACTERS_PER_TOKEN
        while size < len(text) and _num_tokens(encoding) < 2 * self.max_length:
            size *= 8
            (encoding,) = self._encode([head(text, size)], offsets)
        return encoding

    def _shorten_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs whose texts have few more tokens than the model reads.

        A tokenizer keeps the overflow of a pair as every end of one text with every end of the
        other: for two long texts, that is their product in memory. The longer text stays the
        longer one, since it gets the odd token; of very long texts only the beginnings are
        compared.
        """
        parts = [
            head(part, self.max_length * CHARACTERS_PER_TOKEN) for pair in pairs for part in pair
        ]
        long = [i for i, part in enumerate(parts) if len(part) > self.max_length]
        encodings = dict(zip(long, self._encode([parts[i] for i in long], True), strict=True))
        for i in range(0, len(parts), 2):
            first, second = (_num_tokens(encodings[k]) if k in encodings else 0 for k in (i, i + 1))
            longer, shorter = (i, i + 1) if first > second else (i + 1, i)
            if len(ends := _window_ends(encodings.get(longer))) > 3:
                parts[longer] = parts[longer][: ends[2] + MAX_WORD_LENGTH]
                if len(ends := _window_ends(encodings.get(shorter))) > 1:
                    parts[shorter] = parts[shorter][: ends[0] + MAX_WORD_LENGTH]
        return list(zip(parts[::2], parts[1::2], strict=True))

    def encode_whole(self, text: str, *, offsets: bool = False) -> Iterator[tuple[int, list[Any]]]:
        """All tokens of a normalized text of any length: encodings of blocks with their starts."""
        for start, block in split_blocks(text):
            (encoding,) = self._encode([block], offsets)
            yield start, [encoding, *encoding.overflowing]

    def _encode(self, texts: list[Any], offsets: bool) -> list[Any]:
        function = self.backend.encode_batch if offsets else self.backend.encode_batch_fast
        encodings: list[Any] = function(texts)
        return encodings

    @cached_property
    def max_text_tokens(self) -> int:
        """The maximum number of tokens of a text without the special ones."""
        return self.max_length - int(self.backend.num_special_tokens_to_add(False))

    @cached_property
    def unk_token_id(self) -> int | None:
        """The id of the unknown token."""
        ids = (self.backend.token_to_id(name) for name in UNKNOWN_TOKENS)
        return next((token_id for token_id in ids if token_id is not None), None)

    @cached_property
    def fragments(self) -> FragmentCounter:
        """Counts words that the vocabulary covers only by letters, bytes or unknown tokens."""
        return fragment_counter(self.backend, self.unk_token_id)

    @cached_property
    def special_ids(self) -> tuple[list[int], list[int]]:
        """The ids of the special tokens before a text, and of those after it."""
        (sample,) = self.encode_batch(["a"])
        start = sample.special_tokens_mask.index(0)
        return sample.ids[:start], sample.ids[start + 1 :]

    def encode_ids(self, ids: Sequence[int]) -> EncodedIds:
        """The encoding of token ids; special tokens are added where they are missing.

        Raises:
            InvalidArgumentError: An id is not in the vocabulary.
        """
        vocab_size = self.vocab_size or self.backend.get_vocab_size()
        for token_id in ids:
            if not 0 <= token_id < vocab_size:
                raise InvalidArgumentError(
                    f"token id {token_id} is out of range: ids go from 0 to {vocab_size - 1}"
                )
        (prefix, suffix), inner = self.special_ids, list(ids)
        if inner[: len(prefix)] == prefix and inner[-len(suffix) :] == suffix:
            inner = inner[len(prefix) : len(inner) - len(suffix)]
        max_inner = self.max_length - len(prefix) - len(suffix)
        mask = [1] * len(prefix) + [0] * len(inner[:max_inner]) + [1] * len(suffix)
        return EncodedIds([*prefix, *inner[:max_inner], *suffix], mask, inner[max_inner:])

    def encode_tokens(self, tokens: Sequence[str]) -> EncodedIds:
        """The encoding of tokens; those outside the vocabulary become the unknown token."""
        unknown_id = self.unk_token_id or 0
        ids = map(self.backend.token_to_id, tokens)
        return self.encode_ids([unknown_id if one is None else one for one in ids])

    def token_strings(self, ids: Sequence[int]) -> list[str]:
        """The tokens with these ids."""
        return list(map(self.backend.id_to_token, ids))


def load_tokenizer(modules: SentenceModules, config: Config) -> ModelTokenizer:
    """The tokenizer of a model folder.

    Raises:
        InvalidFileError: It is missing, damaged, or does not fit the model.
    """
    folder = modules.transformer
    path = folder / "tokenizer_config.json"
    options = read_json(path) if path.is_file() else {}
    backend = _read_tokenizer(folder, config, options)
    size = backend.get_vocab_size()
    if size > config.vocab_size:
        raise InvalidFileError(
            f"{folder}: its tokenizer has {size:,} tokens, but its model has"
            f" {config.vocab_size:,}: they do not belong together"
        )
    limit = modules.max_length or options.get("model_max_length") or config.positions
    try:
        max_length = min(int(limit), config.positions)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidFileError(f"{folder}: its maximum length '{limit}' is not a number") from error
    if max_length <= MAX_SPECIAL_TOKENS:
        raise InvalidFileError(
            f"{folder}: its maximum length of {max_length} tokens is too small for a text"
        )
    backend.no_padding()
    backend.enable_truncation(max_length)
    return ModelTokenizer(backend, max_length, modules.lowercase, config.vocab_size)


def head(text: str, size: int) -> str:
    """The text up to its first break after `size` characters; all of it if there is none."""
    if len(text) <= size:
        return text
    match = BREAK.search(text, size)
    return text[: match.start()] if match else text


def split_blocks(text: str, size: int = BLOCK_CHARACTERS) -> Iterator[tuple[int, str]]:
    """The text in blocks of about `size` characters, each with its start."""
    start = 0
    while start < len(text):
        match = BREAK.search(text, start + size)
        stop = match.start() if match else len(text)
        yield start, text[start:stop]
        start = stop


def _num_tokens(encoding: Any) -> int:
    return len(encoding) + sum(map(len, encoding.overflowing))


def _window_ends(encoding: Any) -> list[int]:
    """The end of each part of a text that is as long as the model reads, in characters."""
    windows = [] if encoding is None else [encoding, *encoding.overflowing]
    return [max(stop for _, stop in window.offsets) for window in windows]


def _read_tokenizer(folder: Path, config: Config, options: dict[str, Any]) -> Any:
    path = folder / "tokenizer.json"
    if path.is_file():
        tokenizers = require("tokenizers", extra="bert")
        try:
            return tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers has no exception type of its own
            raise InvalidFileError(f"{path} is not a tokenizer: {error}") from error
    is_wordpiece = config.family in WORDPIECE_FAMILIES
    if (folder / "vocab.txt").is_file() and is_wordpiece:
        return tokenizer_from_vocabulary(folder / "vocab.txt", options)
    needed = "tokenizer.json or vocab.txt" if is_wordpiece else "tokenizer.json"
    raise InvalidFileError(f"{folder} has no {needed}, which is needed to tokenize texts")


def tokenizer_from_vocabulary(path: Path, options: dict[str, Any]) -> Any:
    """BERT's WordPiece tokenizer, made from a vocab.txt."""
    tokenizers = require("tokenizers", extra="bert")
    lower = bool(options.get("do_lower_case", True))
    tokenizer = bert_tokenizer(load_wordpiece(str(path), lower).model, lower)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(
        lowercase=lower,
        strip_accents=options.get("strip_accents"),
        handle_chinese_chars=options.get("tokenize_chinese_chars", True),
    )
    added = [(token, tokenizer.token_to_id(token)) for token in ("[SEP]", "[CLS]")]
    for token, token_id in added:
        if token_id is None:
            raise InvalidFileError(f"{path} has no {token}: it is not a vocabulary of BERT")
    tokenizer.post_processor = tokenizers.processors.BertProcessing(*added)
    known = [token for token in SPECIAL_TOKENS if tokenizer.token_to_id(token) is not None]
    tokenizer.add_special_tokens(known)
    return tokenizer
