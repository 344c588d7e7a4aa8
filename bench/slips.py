"""What words that are not known are worth: mistyped ones, and new ones; beside n-grams alone.

Near words must help with typos and must not harm new words: those left out of the training text.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.text import CORPORA
from bench.vectors import ENGLISH, EPOCHS, KOREAN, SETS, unpacked
from bench.words import SUBWORDS
from malmoi.arrays import Float32Array
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.lookup import look_up_words
from malmoi.evaluate.scores import spearman
from malmoi.evaluate.sets.word_sets import SimilaritySet, read_pairs
from malmoi.evaluate.similarity import word_pair_cosines, word_similarity
from malmoi.evaluate.typo_robustness import add_typo, typo_robustness
from malmoi.subwords import SubwordVectors
from malmoi.train.word2vec.fasttext import FastText, train_fasttext
from malmoi.vectors import Vectors, l2_normalize

SEEDS = range(5)  # of typos
UNSEEN = 5  # one word in so many
NOISE = 0.01  # of a Spearman, between two seeds of training
RARE = SETS / "EN-RW-STANFORD.txt"
MISSPELLED = SETS.parent / "typos" / "codespell_dictionary.txt"


class NgramsAlone(SubwordVectors):
    """Vectors that never think of near words, as fastText's."""

    def query_vector(self, word: str) -> Float32Array:
        """The mean of its n-grams."""
        return self.vector(word)


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpora are not there."""
    if not CORPORA.is_dir():
        say(f"no corpora in {CORPORA} (set MALMOI_DATA): slips are left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    subwords = replace(SUBWORDS, epochs=EPOCHS, seed=1)
    english = unpacked(data.folder / "english.txt", "enwiki")
    korean = unpacked(data.folder / "korean.txt", "kowiki", "reviews_ko")
    yield from language("English", english, SETS / ENGLISH["WS-353"], subwords)
    yield from language(
        "Korean", korean, SETS / KOREAN["WS353-ko"], replace(subwords, units="jamo")
    )


def language(name: str, corpus: Path, path: Path, settings: FastText) -> Iterator[Figure]:
    """Typos of words that are known, and words that are new."""
    say(f"{name}, with all words and without one in {UNSEEN} of {path.stem}")
    pairs = read_pairs(path)
    both = beside(train_fasttext(corpus, settings))
    kept = [
        [typo_robustness(each, pairs, seed=seed).retained.value or 0.0 for seed in SEEDS]
        for each in both
    ]
    yield figure(f"{name}, kept with typos", kept)
    limit = [all_corrected(both[0], pairs, seed) for seed in SEEDS]
    yield Figure(
        name="  by a perfect corrector",
        ours=f"{np.mean(limit):.3f}",
        remark=f"{name}: typos that are words themselves cost even whoever knows the right words"
        f" so much: {min(limit):.2f} to {max(limit):.2f} is left of 1.",
    )
    kept = [[one_mistyped(each, pairs, seed) for seed in SEEDS] for each in both]
    yield figure(f"{name}, one of two mistyped", kept)
    if name == "English":
        yield figure("English, misspellings", [[misspelled(each)] for each in both])
        found = [[word_similarity(each, RARE).spearman.value or 0.0] for each in both]
        yield figure("English, rare words", found, NOISE)
    both = beside(train_fasttext(without_some(corpus, pairs), settings))
    found = [[word_similarity(each, pairs).spearman.value or 0.0] for each in both]
    yield figure(f"{name}, with new words", found, NOISE)


def figure(name: str, values: Sequence[Sequence[float]], noise: float = 0.0) -> Figure:
    """The mean with near words and by n-grams alone, and where one lies over several seeds."""
    ours, alone = (float(np.mean(each)) for each in values)
    low, high = min(values[0]), max(values[0])
    spread = f"{name}: {low:.2f} to {high:.2f} by the seed of the typos." if low < high else ""
    return Figure(
        name=name,
        ours=f"{ours:.3f}",
        peer=f"{alone:.3f}",
        asked="≥ n-grams",
        met=ours >= alone - noise,
        remark=spread,
    )


def beside(vectors: SubwordVectors) -> tuple[Vectors, Vectors]:
    """The vectors, and the same by n-grams alone."""
    parts = {field.name: getattr(vectors, field.name) for field in fields(vectors)}
    return vectors, NgramsAlone(**parts)


def one_mistyped(vectors: Vectors, pairs: SimilaritySet, seed: int) -> float:
    """What is kept of the correlation with a typo in the first word of each pair alone."""
    random = np.random.default_rng(seed)
    typed = [word for pair in pairs.pairs for word in (add_typo(pair[0], random), pair[1])]
    return kept_of(vectors, pairs, typed)


def all_corrected(vectors: Vectors, pairs: SimilaritySet, seed: int) -> float:
    """What whoever knows the right words would keep: typos that are words stay what they are."""
    random = np.random.default_rng(seed)
    words = [word for pair in pairs.pairs for word in pair[:2]]
    both = [(word, add_typo(word, random)) for word in words]
    return kept_of(vectors, pairs, [typo if typo in vectors else word for word, typo in both])


def kept_of(vectors: Vectors, pairs: SimilaritySet, asked: Sequence[str]) -> float:
    """The correlation with these words asked for, over that with the right ones."""
    people = np.array([pair.score for pair in pairs.pairs])
    words = [word for pair in pairs.pairs for word in pair[:2]]
    found, right = (
        spearman(word_pair_cosines(look_up_words(vectors, list(each)))[0], people) or 0.0
        for each in (asked, words)
    )
    return found / right


def misspelled(vectors: Vectors) -> float:
    """The mean cosine of what people really mistyped, and nobody wrote, with the right word."""
    lines = MISSPELLED.read_text(encoding="utf-8").splitlines()
    pairs = [line.split("->") for line in lines if "," not in line]
    asked = [(seen, meant) for seen, meant in pairs if meant in vectors and seen not in vectors]
    cosines = [
        float(l2_normalize(vectors.query_vector(seen)) @ l2_normalize(vectors[meant]))
        for seen, meant in asked[::10]
    ]
    return float(np.mean(cosines))


def without_some(corpus: Path, pairs: SimilaritySet) -> Path:
    """The corpus without some of the words asked for, however they are written."""
    words = sorted({word.lower() for pair in pairs.pairs for word in pair[:2]})
    left_out = set(np.random.default_rng(0).permutation(words)[: len(words) // UNSEEN].tolist())
    path = corpus.with_name(f"some_{corpus.name}")
    with corpus.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as file:
        for line in lines:
            kept = (word for word in line.split() if bare(word) not in left_out)
            file.write(" ".join(kept) + "\n")
    return path


def bare(word: str) -> str:
    """A word without the marks around it, in small letters."""
    return word.strip("\"'“”‘’.,;:!?()[]").lower()
