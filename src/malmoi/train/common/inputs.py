"""Text for trainers: a path, documents, token lists, a Corpus or an EncodedCorpus, as ids."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.keys import Keys
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import (
    EncodedCorpus,
    VocabularySettings,
    encode_corpus,
    select_vocabulary,
)
from malmoi.text.tokenizers import Tokenizer, make_tokenizer
from malmoi.text_inputs import TextLike, as_tokens, explain_invalid, iterate
from malmoi.unicode import normalize

# A file, a folder or "-" by its path, documents as strings or token lists, a corpus, or one that
# is encoded.
TextInput = str | Path | Iterable[TextLike] | Corpus | EncodedCorpus


def encode_text(
    text: TextInput,
    settings: VocabularySettings | None = None,
    tokenizer: Tokenizer | str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> EncodedCorpus:
    """Encode a text as ids; an `EncodedCorpus` is returned as it is."""
    if isinstance(text, EncodedCorpus):
        return text
    if not isinstance(text, str | Path | Corpus):
        documents = iterate(text, "text")
        first = list(next_values(documents))
        text = chain(first, documents)
        if not first or sentence_tokens(first[0]) is not None:
            if first and tokenizer is not None:
                raise InvalidArgumentError(
                    "the text is lists of tokens, which need no tokenizer: leave it out"
                )
            return encode_token_lists(text, settings, reporter)
    corpus = text if isinstance(text, Corpus) else Corpus.of(text)
    tokenize = make_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    return encode_corpus(corpus, tokenize, settings, reporter=reporter)


def next_values(values: Iterator[Any]) -> Iterator[Any]:
    """The next value, if there is one."""
    for value in values:
        yield value
        return


def sentence_tokens(sentence: object) -> list[str] | None:
    """The tokens of a list, a tuple, an array or a Series; None for all other values."""
    return as_tokens(list(sentence) if isinstance(sentence, tuple) else sentence)


def explain_sentence(sentence: object, position: int) -> str:
    """The sentence about a value among token lists that is not one."""
    if isinstance(sentence, str):
        return f"sentence number {position} is a string, those before are lists of tokens"
    return explain_invalid(sentence, position, "sentence")


class TokenNumbers(dict[str, int]):
    """The number of each token; `words` are the normalized tokens, numbered as they appear."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        number = self.words.setdefault(normalize("NFC", token), len(self.words))
        self[token] = number
        return number


def encode_token_lists(
    sentences: Iterable[object],
    settings: VocabularySettings | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> EncodedCorpus:
    """Encode sentences that are tokenized already; tokens are normalized to NFC and nothing else.

    Raises:
        InvalidArgumentError: A sentence is not a list of tokens, or no word occurs often enough.
    """
    numbers, stream = TokenNumbers(), array("I")
    for position, sentence in enumerate(sentences, 1):
        tokens = sentence_tokens(sentence)
        if tokens is None:
            raise InvalidArgumentError(explain_sentence(sentence, position))
        stream.extend([numbers[token] for token in tokens])
        stream.append(LINE_END)
    words, ids = numbers.words, np.frombuffer(stream, np.uint32)
    is_end = ids == LINE_END
    if "" in words:
        is_empty = ids == words[""]
        reporter.warn(f"{int(is_empty.sum()):,} tokens are empty strings and were skipped")
        ids, is_end = ids[~is_empty], is_end[~is_empty]
    if is_end.all():
        raise InvalidArgumentError("the corpus has no words: pass a text with at least one word")
    counts = np.bincount(ids[~is_end], minlength=len(words))
    keys = Keys.of(words)
    vocabulary = select_vocabulary(keys, counts, settings or VocabularySettings())
    rows = vocabulary.words.find_all(keys)
    row_of = np.append(np.where(rows < 0, UNKNOWN, rows), LINE_END).astype(np.uint32)
    return EncodedCorpus(row_of[np.minimum(ids, len(words))], vocabulary)
