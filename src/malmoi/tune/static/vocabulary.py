"""The tokenizer of a static student: a unigram model whose tokens are learnt from the texts.

Tokens are those of byte-pair encoding, learnt from the texts, or of WordPiece vocabularies, where
`word` begins a word and `##s` continues one; here they are `▁word` and `s`. How often each token
occurs is estimated from the texts, and the most probable tokens of a word are chosen. Characters
without a token become their bytes, so that no text is without tokens. Texts are NFC and lower
case.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.encode.static.token_lookup import TokenLookup
from malmoi.encode.tokens.tokenizer import BYTE_TOKENS, WORD_START
from malmoi.extras import require
from malmoi.text.wordpiece import SPECIAL, load_wordpiece

UNKNOWN, CONTINUED = "<unk>", "##"
MIN_COUNT, MAX_ALPHABET = 2, 5000  # of a token, and of characters
ROUNDS = 2  # of estimating the counts of tokens
FIRST_SCORE = -10.0  # of each token: the fewest tokens are the most probable ones
UNSEEN = 0.5  # added to every count


def learn_tokenizer(texts: Sequence[str], size: int, vocabularies: Sequence[str] = ()) -> Any:
    """A `tokenizers.Tokenizer` with about `size` tokens, or with those of vocab.txt files.

    Raises:
        InvalidFileError: A vocabulary cannot be read.
        MissingDependencyError: The package tokenizers is not installed.
    """
    tokens = dict.fromkeys(_read_tokens(vocabularies) if vocabularies else _learn(texts, size))
    tokens |= dict.fromkeys(sorted({letter for token in tokens for letter in token}))
    names = [UNKNOWN, *BYTE_TOKENS, *tokens]
    scores = [FIRST_SCORE] * len(names)
    for _ in range(ROUNDS):
        ids = TokenLookup(_tokenizer(names, scores))(texts)[1]
        counts = np.bincount(ids, minlength=len(names)) + UNSEEN
        scores = np.log(counts / counts.sum()).tolist()
    return _tokenizer(names, scores)


def _learn(texts: Iterable[str], size: int) -> list[str]:
    """The tokens of byte-pair encoding; the same texts give the same tokens."""
    tokenizers = require("tokenizers", extra="bert")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.normalizer, tokenizer.pre_tokenizer = _normalizer(), _words()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=MIN_COUNT,
        limit_alphabet=MAX_ALPHABET,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return sorted(tokenizer.get_vocab(), key=tokenizer.token_to_id)


def _read_tokens(vocabularies: Sequence[str]) -> list[str]:
    """The tokens of WordPiece vocabularies without special ones, in lower case."""
    files = [load_wordpiece(str(Path(path)), lower=True) for path in vocabularies]
    each = [sorted(one.get_vocab(), key=one.token_to_id) for one in files]
    words = [token.lower() for tokens in each for token in tokens if token not in SPECIAL]
    return [
        word.removeprefix(CONTINUED) if word.startswith(CONTINUED) else WORD_START + word
        for word in words
    ]


def _tokenizer(names: Sequence[str], scores: Sequence[float]) -> Any:
    tokenizers = require("tokenizers", extra="bert")
    vocabulary = list(zip(names, scores, strict=True))
    model = tokenizers.models.Unigram(vocabulary, 0, byte_fallback=True)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer = _normalizer(), _words()
    tokenizer.decoder = tokenizers.decoders.Sequence(
        [
            tokenizers.decoders.ByteFallback(),
            tokenizers.decoders.Metaspace(replacement=WORD_START),
        ]
    )
    return tokenizer


def _normalizer() -> Any:
    normalizers = require("tokenizers", extra="bert").normalizers
    return normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])


def _words() -> Any:
    """Words at white space, every punctuation mark by itself; each begins with `WORD_START`."""
    steps = require("tokenizers", extra="bert").pre_tokenizers
    return steps.Sequence([steps.BertPreTokenizer(), steps.Metaspace(replacement=WORD_START)])
