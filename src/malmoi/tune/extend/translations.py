"""Word translations from parallel sentences: which known tokens a new token stands for.

IBM Model 1 (Brown et al. 1993): each token e of a known sentence comes from one token f of its
translation, or from none, with a probability t(e|f) that depends on nothing else and is learned by
expectation maximization. Knows nothing of vectors.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.tables import read_table
from malmoi.tune.extend.new_tokens import is_latin

ITERATIONS = 8
MAX_TOKENS = 64  # of a sentence; longer ones align badly
MAX_LINKS = 20_000_000  # pairs of tokens of a sentence and its translation, about 1 GB
NO_TOKEN = 0  # where other tokens have their id + 1

Sentence = tuple[str, str]  # in the known language, and in the new one


@dataclass(frozen=True, eq=False)
class Translations:
    """The most probable known tokens of each new token, and how often it occurs."""

    ids: Int64Array  # [new tokens, k]
    probabilities: Float32Array  # [new tokens, k], each row adds up to 1, or is 0
    counts: Int64Array  # [new tokens]


def read_sentences_of(paths: Iterable[str | Path], reporter: Reporter) -> list[Sentence]:
    """Sentences with their translations: of each row the first text of Latin letters, and the
    first with others.

    Raises:
        InvalidFileError: A file cannot be read.
        InvalidArgumentError: A file has no such rows.
    """
    sentences: list[Sentence] = []
    for path in paths:
        table, before = read_table(path, reporter), len(sentences)
        for line, fields in table.rows:
            texts = [text for text in fields if isinstance(text, str) and text.strip()]
            known = next((text for text in texts if is_latin(text)), None)
            new = next((text for text in texts if not is_latin(text)), None)
            if known is None or new is None:
                table.skipped.add("no text and translation", line)
            else:
                sentences.append((known, new))
        if len(sentences) == before:
            raise InvalidArgumentError(
                f"{path} has no rows with a text of Latin letters and its translation"
            )
        table.skipped.report(str(path), reporter)
    return sentences


def translate_tokens(
    sentences: Sequence[Sentence], tokenizer: Any, first: int, k: int, reporter: Reporter
) -> Translations:
    """The translations of all tokens with ids from `first` on.

    Args:
        sentences: Sentences and their translations.
        tokenizer: The tokenizer with the new tokens.
        first: The id of the first new token.
        k: The number of known tokens per new one.
        reporter: Receives a warning where there are too many sentences.

    Returns:
        Translations; 0 for tokens that do not occur.
    """
    size = tokenizer.get_vocab_size()
    known, new = (
        [each.ids for each in tokenizer.encode_batch_fast(list(side), add_special_tokens=False)]
        for side in zip(*sentences, strict=True)
    )
    sources, targets, words = _links(known, new, reporter)
    pairs, link_pair = np.unique(sources * size + targets, return_inverse=True)
    probabilities = _expectation_maximization(pairs // size, link_pair, words)
    counts = np.bincount(np.concatenate([np.array(ids, np.int64) for ids in new]), minlength=size)
    return _best(pairs // size - 1, pairs % size, probabilities, counts, first, k)


def _links(
    known: Sequence[Sequence[int]], new: Sequence[Sequence[int]], reporter: Reporter
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Each token of a sentence with each token of its translation, and the number of the former."""
    sources, targets, words, links = [], [], [], 0
    number = 0
    for done, (one, other) in enumerate(zip(known, new, strict=True)):
        e, f = np.array(one, np.int64), np.array([NO_TOKEN - 1, *other], np.int64) + 1
        if len(e) > MAX_TOKENS or len(f) > MAX_TOKENS + 1:
            continue
        if links + len(e) * len(f) > MAX_LINKS:
            reporter.warn(f"only the first {done:,} of {len(known):,} sentences are aligned")
            break
        sources.append(np.tile(f, len(e)))
        targets.append(np.repeat(e, len(f)))
        words.append(np.repeat(np.arange(number, number + len(e)), len(f)))
        number, links = number + len(e), links + len(e) * len(f)
    if not links:
        raise InvalidArgumentError(
            f"no sentence has at most {MAX_TOKENS} tokens: pass sentences, not whole texts"
        )
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(words)


def _expectation_maximization(
    sources: Int64Array, link_pair: Int64Array, words: Int64Array
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """t(e|f) of each pair that occurs; `words` numbers the e that a link belongs to."""
    probabilities = np.ones(len(sources))
    for _ in range(ITERATIONS):
        shares = probabilities[link_pair]
        shares /= np.bincount(words, shares)[words]
        counts = np.bincount(link_pair, shares, len(sources))
        probabilities = counts / np.bincount(sources, counts)[sources]
    return probabilities


def _best(
    sources: Int64Array,
    targets: Int64Array,
    probabilities: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    counts: Int64Array,
    first: int,
    k: int,
) -> Translations:
    """The k most probable targets of each source from `first` on."""
    is_new = (sources >= first) & (targets < first)
    sources, targets, probabilities = sources[is_new], targets[is_new], probabilities[is_new]
    order = np.lexsort((-probabilities, sources))
    sources, targets, probabilities = sources[order], targets[order], probabilities[order]
    starts = np.searchsorted(sources, sources)  # where the source of each pair begins
    rank = np.arange(len(sources)) - starts
    top = rank < k
    ids = np.zeros((len(counts) - first, k), np.int64)
    weights = np.zeros(ids.shape, np.float32)
    ids[sources[top] - first, rank[top]] = targets[top]
    weights[sources[top] - first, rank[top]] = probabilities[top]
    totals = weights.sum(axis=1, keepdims=True)
    weights /= np.where(totals > 0, totals, 1)
    return Translations(ids, weights, np.where(totals[:, 0] > 0, counts[first:], 0))
