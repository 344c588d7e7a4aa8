"""Words that are not known: are right ones left alone, and mistyped ones understood?

Vectors learn from one half of a corpus (every other line). Right words that they lack are those of
the other half's vocabulary: each that is read as another word is a false correction. Typos are
those of frequent words, by `bench.mistyping`; one is understood if its nearest word is the right
one. The model in `malmoi.typos.noisy_channel` was fitted with the halves exchanged, so on other
right words, and on typos of other frequent words, but by the same generator: the rates of edits
fit it. `HANGUL` was added after a first result of 4.4 % at two syllables: take the Korean figures
as slightly favourable.
"""

import random
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.mistyping import mistyped
from bench.text import CORPORA
from bench.vectors import unpacked
from malmoi.errors import MalmoiWarning
from malmoi.explanation import Explanation
from malmoi.query.neighbours import neighbours
from malmoi.subwords import SubwordVectors
from malmoi.text.tokenizers import English
from malmoi.train.word2vec.fasttext import FastText, train_fasttext

MIN_COUNT = 5
ASKED, MISTYPED, FREQUENT = 2000, 1000, 5000  # words of each length, typos, and of which words
SCALES = (0.25, 0.5, 1, 2, 4)  # of the chance that a word is new, for the curve
UNDERSTOOD = 0.88
TOKENIZER = English()
SETTINGS = FastText(dim=50, epochs=1, min_count=MIN_COUNT, threads=2, seed=1)
SYLLABLES = {"2 syllables": (2, 2, 0.04), "3": (3, 3, 0.02), "4 and more": (4, 99, 0.02)}
LETTERS = {"all lengths": (2, 99, 0.03)}


class Language(NamedTuple):
    """What is asked for in one language."""

    name: str
    corpus: str
    letters: re.Pattern[str]  # what a word is made of
    settings: FastText
    false: dict[str, tuple[int, int, float]]  # of words from so long to so long: at most
    shortest: int  # word that is mistyped


LANGUAGES = (
    Language(
        "Korean",
        "kowiki",
        re.compile("[가-힣]+"),
        replace(SETTINGS, units="jamo"),
        SYLLABLES,
        2,
    ),
    Language("English", "enwiki", re.compile("[a-z]+"), SETTINGS, LETTERS, 3),
)


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpora are not there."""
    if not CORPORA.is_dir():
        say(f"no corpora in {CORPORA} (set MALMOI_DATA): typos are left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    for language in LANGUAGES:
        yield from one_language(data.folder, language)


def one_language(folder: Path, language: Language) -> Iterator[Figure]:
    """False corrections by length, typos understood, and one against the other."""
    corpus = unpacked(folder / f"{language.corpus}.txt", language.corpus)
    halves = [corpus.with_suffix(f".{i}.txt") for i in range(2)]
    lines = corpus.read_text(encoding="utf-8").splitlines(keepends=True)
    for i, path in enumerate(halves):
        path.write_text("".join(lines[i::2]), encoding="utf-8")
    say(f"{language.name}: {len(lines[1::2]):,} lines")
    vectors = train_fasttext(halves[1], language.settings, tokenizer=TOKENIZER)
    words = new_words(vectors, halves[0], language)
    told: dict[str, list[Explanation]] = {}
    for name, (shortest, longest, most) in language.false.items():
        asked = [word for word in words if shortest <= len(word) <= longest][:ASKED]
        told[name] = [vectors.explain(word) for word in asked]
        yield false_corrections(f"{language.name}, false, {name}", told[name], most)
    typos, words_themselves = mistyped_words(vectors, language)
    yield understood(language.name, vectors, typos, words_themselves)
    yield curve(language.name, told, [(vectors.explain(seen), meant) for seen, meant in typos])


def new_words(vectors: SubwordVectors, other: Path, language: Language) -> list[str]:
    """The words of the other half's vocabulary that the vectors lack, in random order."""
    with other.open(encoding="utf-8") as lines:
        counts = Counter(word for line in lines for word in TOKENIZER(line))
    found = sorted(
        word
        for word, count in counts.items()
        if count >= MIN_COUNT and word not in vectors and language.letters.fullmatch(word)
    )
    random.Random(0).shuffle(found)
    return found


def mistyped_words(
    vectors: SubwordVectors, language: Language
) -> tuple[list[tuple[str, str]], int]:
    """Typos with the right word, of every other frequent one; how many more are words too."""
    frequent = (word for word in vectors.keys if language.letters.fullmatch(word))
    chosen = [word for word in frequent if len(word) >= language.shortest][:FREQUENT][1::2]
    chance = random.Random(0)
    pairs = [(mistyped(word, chance), word) for word in chance.sample(chosen, len(chosen))]
    typos = [(seen, word) for seen, word in pairs if seen not in vectors][:MISTYPED]
    before = pairs.index(typos[-1])
    return typos, before + 1 - len(typos)


def false_corrections(name: str, told: list[Explanation], most: float) -> Figure:
    """How many right words are read as others."""
    wrong = [one for one in told if one.source == "typo"]
    share = len(wrong) / len(told)
    such = ", ".join(f"{one.word} → {one.corrections[0].word}" for one in wrong[:5])
    return Figure(
        name=name,
        ours=f"{share:.1%}",
        asked=f"≤ {most:.0%}",
        met=share <= most,
        remark=f"{name}: {len(wrong)} of {len(told):,}, such as {such}." if wrong else "",
    )


def understood(
    name: str, vectors: SubwordVectors, typos: list[tuple[str, str]], words_themselves: int
) -> Figure:
    """How often the right word is the nearest, beside n-grams alone."""
    ours = [answered(vectors, seen) == meant for seen, meant in typos]
    built = [(seen, meant) for seen, meant in typos if vectors.explain(seen).ngrams]
    alone = neighbours(vectors, [vectors[seen] for seen, _ in built], 1)
    peer = sum(found[0].key == meant for (_, meant), found in zip(built, alone, strict=True))
    share = float(np.mean(ours))
    by_length: dict[int, list[bool]] = {}
    for (_, meant), is_right in zip(typos, ours, strict=True):
        by_length.setdefault(min(len(meant), 8), []).append(is_right)
    lengths = ", ".join(f"{size}: {np.mean(each):.0%}" for size, each in sorted(by_length.items()))
    return Figure(
        name=f"{name}, typos understood",
        ours=f"{share:.1%}",
        peer=f"{peer / len(typos):.1%}",
        asked=f"≥ {UNDERSTOOD:.0%}",
        met=share >= UNDERSTOOD,
        remark=f"{name}: {len(typos):,} typos of the {FREQUENT:,} most frequent words; by length"
        f" {lengths}. {words_themselves} more typos are words themselves. The peer: n-grams alone.",
    )


def answered(vectors: SubwordVectors, seen: str) -> str:
    """The nearest word to what was typed; '' if it is refused."""
    vector = vectors.understand(seen)[0]
    return "" if vector is None else neighbours(vectors, vector, 1)[0].key


def curve(
    name: str, told: dict[str, list[Explanation]], typos: list[tuple[Explanation, str]]
) -> Figure:
    """What other chances of new words would make of it: false corrections, typos corrected."""
    points = []
    for scale in SCALES:
        false = [np.mean([acts(one, scale) for one in each]) for each in told.values()]
        right = [acts(one, scale) and one.corrections[0].word == meant for one, meant in typos]
        points.append(f"×{scale:g}: {' / '.join(f'{x:.1%}' for x in false)}, {np.mean(right):.1%}")
    return Figure(
        name=f"{name}, other settings",
        ours="",
        remark=f"{name}, false corrections ({', '.join(told)}) and typos corrected, by the chance"
        f" that a word is new (readings.NEW): {'; '.join(points)}.",
    )


def acts(explanation: Explanation, scale: float) -> bool:
    """Whether near words would answer if new words were so many times as likely."""
    corrections = sum(share for _, share in explanation.corrections)
    return corrections > scale * (1 - corrections)
