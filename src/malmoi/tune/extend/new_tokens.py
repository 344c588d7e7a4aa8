"""The tokens that a vocabulary lacks: from WordPiece files, learned from texts, and syllables.

Tokens of Latin letters, digits and signs alone are never added: with them, texts that the model
reads already would be tokenized in another way.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import category, normalize

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.extras import require
from malmoi.reporting.reporter import Reporter
from malmoi.text.corpus import Corpus
from malmoi.text.wordpiece import SPECIAL, UNKNOWN, learn_tokens, read_tokens
from malmoi.tune.extend.settings import SyllableSet

LAST_LATIN = "\u024f"  # of Basic Latin to Latin Extended-B
BRACKETED = re.compile(r"\[[^\]]+\]|<[^>]+>")  # [unused7], <s>
FOREIGN_WORD = re.compile(rf"(?<!\S)\S*[^\x00-{LAST_LATIN}\s]\S*")
HANGUL = re.compile("[가-힣]")
ALL_SYLLABLES = [chr(code) for code in range(ord("가"), ord("힣") + 1)]
JAMO = [chr(code) for code in range(ord("ㄱ"), ord("ㅣ") + 1)]  # ㅋ, ㅠ: as people type them
MAX_LETTERS = 8000  # different ones in a learned vocabulary: all syllables that occur


@dataclass
class NewTokens:
    """Tokens to add to a WordPiece `tokenizer`, which normalizes as the extended model will.

    `added` counts them by origin, `skipped` the others by reason.
    """

    tokenizer: Any
    tokens: list[str] = field(default_factory=list)
    added: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._known = set(self.tokenizer.get_vocab())
        self._prefix = str(self.tokenizer.model.continuing_subword_prefix)

    def add(self, tokens: Iterable[str], origin: str) -> None:
        """Add those tokens that are new, can occur, and change no Latin text."""
        for token in tokens:
            reason = self._why_not(token)
            if reason:
                self.skipped[reason] += 1
                continue
            self._known.add(token)
            self.tokens.append(token)
            self.added[origin] += 1

    def add_syllables(self, kind: SyllableSet, seen: Iterable[str]) -> None:
        """Add single syllables and jamo, at the start of a word and inside: no word is unknown."""
        syllables = ALL_SYLLABLES if kind == "all" else sorted({*common_syllables(), *seen})
        letters = [*syllables, *JAMO]
        new = [letter for letter in letters if letter not in self._known]
        inside = [self._prefix + letter for letter in letters]
        self.add([*new, *(token for token in inside if token not in self._known)], "syllables")

    def _why_not(self, token: str) -> str:
        """Why a token is not added; "" if it is."""
        content = token.removeprefix(self._prefix)
        if token in self._known:
            return "known already"
        if token in SPECIAL or BRACKETED.fullmatch(token) or not content:
            return "special"
        if is_latin(content):
            return "Latin letters, digits or signs"
        if not self._can_occur(content, is_inside=token != content):
            return "never produced by the tokenizer"
        return ""

    def _can_occur(self, content: str, *, is_inside: bool) -> bool:
        """Whether the normalizer keeps a token as it is, and no word ends inside.

        BERT's normalizer puts spaces around ideographs: each is a word, and never inside of one.
        """
        normalizer, splitter = self.tokenizer.normalizer, self.tokenizer.pre_tokenizer
        if normalizer is not None:
            normalized = normalizer.normalize_str(content)
            if (normalized if is_inside else normalized.strip()) != content:
                return False
        return splitter is None or len(splitter.pre_tokenize_str(content)) == 1


def is_latin(content: str) -> bool:
    """Whether no letter is of another script than Latin."""
    return not any(letter > LAST_LATIN and category(letter).startswith("L") for letter in content)


def common_syllables() -> list[str]:
    """The 2,350 syllables of KS X 1001, which cover nearly all Korean text."""
    rows, columns = range(0xB0, 0xC9), range(0xA1, 0xFF)
    return [bytes((row, column)).decode("euc_kr") for row in rows for column in columns]


def read_vocabulary(path: Path) -> list[str]:
    """The tokens of a WordPiece vocabulary, one per line.

    Raises:
        InvalidFileError: The file cannot be read, or has no tokens.
    """
    tokens = [normalize("NFC", token) for token in read_tokens(path) if token]
    if not tokens:
        raise InvalidFileError(f"{path} has no tokens: expected one per line")
    if spaced := next((token for token in tokens if len(token.split()) != 1), None):
        raise InvalidFileError(
            f"{path} is not a WordPiece vocabulary: '{spaced[:40]}' is not one token"
        )
    return tokens


def learn_new_tokens(
    corpora: Sequence[Corpus], tokenizer: Any, size: int, reporter: Reporter
) -> tuple[list[str], set[str]]:
    """Tokens learned from the words of other scripts, and all syllables among them.

    Raises:
        InvalidArgumentError: There are no such words.
    """
    tokenizers = require("tokenizers", extra="bert")
    learner = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token=UNKNOWN))
    learner.normalizer, learner.pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
    seen: set[str] = set()
    words = _foreign_words(corpora, seen, reporter)
    tokens = learn_tokens(words, learner, size, max_letters=MAX_LETTERS)
    if len(tokens) == len(SPECIAL):
        names = ", ".join(corpus.name for corpus in corpora)
        raise InvalidArgumentError(
            f"{names}: no word has letters of another script than Latin: pass texts of the"
            " language to learn"
        )
    return tokens[len(SPECIAL) :], {letter for letter in seen if HANGUL.match(letter)}


def _foreign_words(corpora: Sequence[Corpus], seen: set[str], reporter: Reporter) -> Iterator[str]:
    """The words of each document that have letters beyond Latin; adds all letters to `seen`."""
    for corpus in corpora:
        progress = reporter.stage(f"reading {corpus.name}")
        documents = corpus.texts.with_progress(progress)
        for document in documents:
            words = " ".join(FOREIGN_WORD.findall(document))
            if words:
                seen.update(words)
                yield words
