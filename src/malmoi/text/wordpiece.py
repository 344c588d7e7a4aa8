"""WordPiece, BERT's tokenizer: the longest known tokens from the left, `##` inside a word."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.extras import require
from malmoi.files.output import open_output
from malmoi.files.source import InputFile
from malmoi.text.tokenizers import Tokenizer

UNKNOWN = "[UNK]"
SPECIAL = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]")
MAX_LETTERS = 1000  # that a learned vocabulary keeps


@dataclass(frozen=True)
class WordPiece(Tokenizer):
    """WordPiece tokens by a `vocab.txt`.

    Args:
        vocabulary: The path of a `vocab.txt` with one token per line.
        lower: Fold case and remove accents, as the uncased BERT models do.

    Raises:
        InvalidFileError: The file does not exist, or is not a WordPiece vocabulary.
        MissingDependencyError: The package `tokenizers` is not installed.
    """

    name: ClassVar[str] = "wordpiece"
    vocabulary: str = ""
    lower: bool = False

    def __post_init__(self) -> None:
        load_wordpiece(self.vocabulary, self.lower)  # raises now if the file is invalid

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text, without special tokens."""
        tokens: list[str] = load_wordpiece(self.vocabulary, self.lower).encode(text).tokens
        return tokens

    def ids(self, text: str, pair: str | None = None) -> list[int]:
        """The input ids of BERT: `[CLS] text [SEP]`, or `[CLS] text [SEP] pair [SEP]`."""
        tokenizer = load_wordpiece(self.vocabulary, self.lower)
        cls_id, sep_id = (tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        if cls_id is None or sep_id is None:
            raise InvalidFileError(
                f"{self.vocabulary} has no [CLS] and [SEP]: it is not a BERT vocabulary"
            )
        parts = [text] if pair is None else [text, pair]
        encoded = [[*tokenizer.encode(part).ids, sep_id] for part in parts]
        return [cls_id, *(token_id for part in encoded for token_id in part)]


@cache
def load_wordpiece(vocabulary: str, lower: bool) -> Any:
    """The tokenizer of the `tokenizers` library."""
    if not vocabulary:
        raise InvalidArgumentError(
            "wordpiece needs a vocabulary: name a vocab.txt with one token per line"
        )
    tokenizers = require("tokenizers", extra="wordpiece")
    tokens = read_tokens(Path(vocabulary))
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    if UNKNOWN not in ids:
        raise InvalidFileError(f"{vocabulary} has no {UNKNOWN}: it is not a WordPiece vocabulary")
    model = tokenizers.models.WordPiece(ids, unk_token=UNKNOWN, max_input_chars_per_word=100)
    return bert_tokenizer(model, lower)


def read_tokens(path: Path) -> list[str]:
    """The lines of a `vocab.txt`.

    Raises:
        InvalidFileError: The file does not exist, or is not UTF-8.
    """
    if not path.is_file():
        raise InvalidFileError(f"{path} does not exist")
    content = b"".join(block.tobytes() for block, _ in InputFile(path).blocks())
    try:
        return content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidFileError(
            f"{path} is not UTF-8 at byte {error.start:,}: convert it to UTF-8"
        ) from error


def bert_tokenizer(model: Any, lower: bool) -> Any:
    """A tokenizer that normalizes and pre-tokenizes text as BERT does."""
    tokenizers = require("tokenizers", extra="wordpiece")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def train_wordpiece(
    documents: Iterable[str], path: Path, *, size: int = 30_000, lower: bool = False
) -> WordPiece:
    """Learn a WordPiece vocabulary and write it as `vocab.txt`.

    Args:
        documents: The texts to learn from.
        path: The file to write.
        size: The number of tokens.
        lower: Fold case and remove accents.

    Returns:
        The tokenizer of the new vocabulary.

    Raises:
        InvalidFileError: The file cannot be written.
        MissingDependencyError: The package tokenizers (extra `wordpiece`) is not installed.

    Example:
        tokenizer = mm.train_wordpiece(["the bank vault"] * 9, Path("own"), size=60)
    """
    tokenizers = require("tokenizers", extra="wordpiece")
    tokenizer = bert_tokenizer(tokenizers.models.WordPiece(unk_token=UNKNOWN), lower)
    tokens = learn_tokens(documents, tokenizer, size)
    with open_output(path) as (file,):
        file.writelines(token.encode() + b"\n" for token in tokens)
    return WordPiece(str(path), lower)


def learn_tokens(
    documents: Iterable[str], tokenizer: Any, size: int, *, max_letters: int = MAX_LETTERS
) -> list[str]:
    """The tokens that WordPiece learns from texts, the special tokens first.

    Args:
        documents: The texts to learn from.
        tokenizer: A `tokenizers.Tokenizer` with an empty WordPiece model, which is trained; its
            normalizer and pre-tokenizer decide what a word is.
        size: The number of tokens.
        max_letters: The number of different letters to keep, the most frequent ones.

    Returns:
        The tokens in the order of their ids.
    """
    tokenizers = require("tokenizers", extra="wordpiece")
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        limit_alphabet=max_letters,
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    by_id = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return [token for token, _ in by_id]
