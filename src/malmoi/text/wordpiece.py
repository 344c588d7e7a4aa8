"""WordPiece, as BERT cuts words: the longest known pieces from the left, `##` inside a word."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.extras import require
from malmoi.files.output import written
from malmoi.files.source import InputFile

UNKNOWN = "[UNK]"
SPECIAL = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True)
class WordPiece:
    """Pieces by a `vocab.txt`, a piece a line.

    `lower` folds case and drops accents, as the uncased BERT models do.
    """

    name: ClassVar[str] = "wordpiece"
    vocabulary: str = ""
    lower: bool = False

    def __post_init__(self) -> None:
        engine(self.vocabulary, self.lower)  # says at once what is wrong

    def __call__(self, text: str) -> list[str]:
        """The pieces of a text, without special ones."""
        pieces: list[str] = engine(self.vocabulary, self.lower).encode(text).tokens
        return pieces

    def ids(self, text: str, pair: str | None = None) -> list[int]:
        """The numbers BERT sees: `[CLS] text [SEP]`, or `[CLS] text [SEP] pair [SEP]`."""
        tokenizer = engine(self.vocabulary, self.lower)
        classify, separate = (tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
        if classify is None or separate is None:
            raise InvalidFileError(
                f"{self.vocabulary} has no [CLS] and [SEP]: it is not a BERT vocabulary"
            )
        parts = [text] if pair is None else [text, pair]
        encoded = [[*tokenizer.encode(part).ids, separate] for part in parts]
        return [classify, *(number for part in encoded for number in part)]


@cache
def engine(vocabulary: str, lower: bool) -> Any:
    """The tokenizer of the `tokenizers` library."""
    if not vocabulary:
        raise InvalidArgumentError("wordpiece needs a vocabulary: name a vocab.txt, a piece a line")
    if not Path(vocabulary).is_file():
        raise InvalidFileError(f"{vocabulary} does not exist")
    tokenizers = require("tokenizers", extra="wordpiece")
    content = b"".join(block.tobytes() for block, _ in InputFile(Path(vocabulary)).blocks())
    try:
        pieces = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidFileError(
            f"{vocabulary} is not UTF-8 at byte {error.start:,}: save it so"
        ) from error
    numbers = {piece: number for number, piece in enumerate(pieces)}
    if UNKNOWN not in numbers:
        raise InvalidFileError(f"{vocabulary} has no {UNKNOWN}: it is no WordPiece vocabulary")
    model = tokenizers.models.WordPiece(numbers, unk_token=UNKNOWN, max_input_chars_per_word=100)
    return cutting_like_bert(model, lower)


def cutting_like_bert(model: Any, lower: bool) -> Any:
    """A tokenizer that makes text uniform and splits it before the model as BERT does."""
    tokenizers = require("tokenizers", extra="wordpiece")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def train_wordpiece(
    documents: Iterable[str], path: Path, *, size: int = 30_000, lower: bool = False
) -> WordPiece:
    """Learn a vocabulary of so many pieces and write it as `vocab.txt`."""
    tokenizers = require("tokenizers", extra="wordpiece")
    tokenizer = cutting_like_bert(tokenizers.models.WordPiece(unk_token=UNKNOWN), lower)
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=list(SPECIAL), show_progress=False
    )
    tokenizer.train_from_iterator(documents, trainer)
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    with written(path) as (file,):
        file.writelines(piece.encode() + b"\n" for piece, _ in pieces)
    return WordPiece(str(path), lower)
