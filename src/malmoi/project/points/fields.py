"""Fields of words to colour by: frequency, script, part of speech."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from malmoi.project.scene import Field
from malmoi.vectors import Vectors

SCRIPTS = ("Latin", "Hangul", "Han", "Kana", "Cyrillic", "Greek", "Arabic", "Hebrew")
UNICODE = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "HALFWIDTH": "Kana"}
NUMBER, SIGN, OTHER = "numbers", "signs", "other scripts"
# kiwipiepy's tags by how they begin, longest first.
PARTS = (
    ("NNP", "name"),
    ("NP", "pronoun"),
    ("NR", "numeral"),
    ("N", "noun"),
    ("VA", "adjective"),
    ("V", "verb"),
    ("MA", "adverb"),
    ("M", "determiner"),
    ("I", "interjection"),
    ("J", "particle"),
    ("E", "ending"),
    ("X", "affix"),
)
NO_PART = "none"
MIN_SECOND_SCRIPT_SHARE = 0.1  # of the words, to colour by script at first
TAG = re.compile("[A-Z][A-Z_-]+")  # of kiwipiepy: NNG, VA-I, W_URL
MIN_TAGGED_SHARE = 0.5  # of the keys: a few paths or fractions are not tags


def frequency_fields(vectors: Vectors) -> tuple[Field, ...]:
    """The rank of each word by frequency, and its count where that is known."""
    counts = vectors.counts
    order = np.arange(len(vectors)) if counts is None else np.argsort(-counts, kind="stable")
    rank = np.empty(len(vectors), dtype=np.float32)
    rank[order] = np.arange(1, len(vectors) + 1)
    fields = [Field("frequency rank", "number", rank)]
    if counts is not None:
        logarithm = np.log10(np.maximum(counts, 1)).astype(np.float32)
        fields.append(Field("count, as a power of ten", "number", logarithm))
    return tuple(fields)


def label_field(name: str, labels: Sequence[str]) -> Field:
    """A field of one label per point; the most frequent labels come first."""
    kinds, which, sizes = np.unique(
        np.array(labels, object), return_inverse=True, return_counts=True
    )
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return Field(name, "label", rank[which], tuple(str(kinds[at]) for at in order))


def script_field(keys: Iterable[str]) -> Field | None:
    """The script that each word is written in, if there are several."""
    field = label_field("script", [script(key) for key in keys])
    return field if len(field.labels) > 1 else None


def are_mixed(scripts: Field) -> bool:
    """Whether a good share of the words is in another script than most are."""
    sizes = np.bincount(scripts.values.astype(np.int64), minlength=len(scripts.labels))
    written = [
        size for size, label in zip(sizes, scripts.labels, strict=True)
        if label not in (NUMBER, SIGN)
    ]  # fmt: skip
    return len(written) > 1 and bool(
        sorted(written)[-2] >= MIN_SECOND_SCRIPT_SHARE * len(scripts.values)
    )


def script(word: str) -> str:
    """The script of a word's first letter; numbers and signs have none."""
    letter = next((one for one in word if one.isalpha()), None)
    if letter is None:
        return NUMBER if any(one.isnumeric() for one in word) else SIGN
    return _script_of(letter)


@cache
def _script_of(letter: str) -> str:
    first = unicodedata.name(letter, OTHER).split()[0]
    named = UNICODE.get(first, first.capitalize())
    return named if named in SCRIPTS else OTHER


def speech_field(keys: Iterable[str]) -> Field | None:
    """The part of speech of each key that carries its tag (`한국/NNP`).

    Only the tokenizer saw the sentence: the same form, alone, would often get another tag, so
    keys without tags have no such field.
    """
    tags = [_tag(key) for key in keys]
    tagged = len(tags) - tags.count("")
    if tagged == 0 or tagged < MIN_TAGGED_SHARE * len(tags):
        return None
    return label_field("part of speech", [_part(tag) for tag in tags])


def _tag(key: str) -> str:
    """The tag behind a key's last slash; empty if there is none."""
    form, _, tag = key.rpartition("/")
    return tag if form and TAG.fullmatch(tag) else ""


def _part(tag: str) -> str:
    return next((name for start, name in PARTS if tag.startswith(start)), NO_PART)
