"""Counts words of sentences and chooses those that have vectors, by gensim's rules."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import UInt32Array
from malmoi.errors import warn
from malmoi.kernels.marks import LINE_END

RULE_DEFAULT, RULE_DISCARD, RULE_KEEP = 0, 1, 2  # what a trim_rule returns

TrimRule = Callable[[str, int, int], int]  # of a word, its count and min_count


@dataclass
class WordScan:
    """The words of a corpus with their counts, and the size of the corpus."""

    counts: dict[str, int]
    total_words: int
    sentences: int


def scan_sentences(
    sentences: Iterable[Sequence[str]],
    max_vocab_size: int | None = None,
    trim_rule: TrimRule | None = None,
) -> WordScan:
    """Count the words of sentences; beyond `max_vocab_size` words the rarest are forgotten."""
    counts: dict[str, int] = defaultdict(int)
    total = number = 0
    min_reduce = 1
    for number, sentence in enumerate(sentences, 1):
        if number == 1 and isinstance(sentence, str):
            warn(
                f"the first sentence is the string '{sentence[:20]}': each item of sentences should"
                " be a list of words; its characters are taken as words"
            )
        for word in sentence:
            counts[word] += 1
        total += len(sentence)
        if max_vocab_size and len(counts) > max_vocab_size:
            for word in [
                one for one in counts if not keeps(one, counts[one], min_reduce, trim_rule)
            ]:
                del counts[word]
            min_reduce += 1
    return WordScan(counts, total, number)


def keeps(word: str, count: int, min_count: int, trim_rule: TrimRule | None) -> bool:
    """Whether a word stays in the vocabulary."""
    rule = RULE_DEFAULT if trim_rule is None else trim_rule(word, count, min_count)
    return rule == RULE_KEEP or (rule != RULE_DISCARD and count >= min_count)


def effective_min_count(
    counts: Mapping[str, int], min_count: int, max_final_vocab: int | None
) -> int:
    """`min_count`, or more if otherwise more than `max_final_vocab` words would stay."""
    if max_final_vocab is None or max_final_vocab >= len(counts):
        return min_count
    return max(min_count, sorted(counts.values(), reverse=True)[max_final_vocab] + 1)


def encode_sentences(
    sentences: Iterable[Sequence[str]], rows: Mapping[str, int]
) -> tuple[UInt32Array, int, int]:
    """The rows of known words, a line end after each sentence; all words, and the sentences."""
    ids: list[UInt32Array] = []
    total = 0
    for sentence in sentences:
        total += len(sentence)
        known = [row for word in sentence if (row := rows.get(word)) is not None]
        ids.append(np.array([*known, LINE_END], dtype=np.uint32))
    return np.concatenate(ids or [np.empty(0, np.uint32)]), total, len(ids)
