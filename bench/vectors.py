"""How good trained vectors are beside gensim's and fastText's: same text, same settings.

Each is trained with two seeds, slow peers with one: what lies between two seeds is noise. CBOW
has a part of its own, `cbow`. Tests ignore case: of *May* and *may* the first answers for both, so
a peer's rows are put in our order, in which capitals come first among words seen equally often.
`MALMOI_CORPUS_MB` cuts each corpus to its first megabytes: quicker, with lower scores for all.
"""

import gzip
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.data import Data
from bench.measure import MILLION, Figure, say
from bench.text import CORPORA
from bench.words import GENSIM, ORIGINAL, SUBWORDS, WORDS
from malmoi.errors import MalmoiWarning
from malmoi.evaluate.analogies import analogies
from malmoi.evaluate.similarity import word_similarity
from malmoi.evaluate.typo_robustness import typo_robustness
from malmoi.formats import load
from malmoi.text.corpus import Corpus
from malmoi.text.tokenizers import Whitespace
from malmoi.train.word2vec.fasttext import train_fasttext
from malmoi.train.word2vec.word2vec import train_word2vec
from malmoi.vectors import Vectors

EPOCHS = 5
SETS = CORPORA.parent / "words"
ENGLISH = {
    "WS-353": "EN-WS-353-ALL.txt",
    "MEN": "EN-MEN-TR-3k.txt",
    "analogies": "questions-words.txt",
}
KOREAN = {"WS353-ko": "WS353_korean.csv", "analogies": "word_analogy_korean.txt"}
GENSIM_RATE = 0.025  # at which it learns; fastText and ours learn at twice that
T_AT_5_PERCENT = {2: 2.920, 4: 2.132, 6: 1.943}  # Student's t by degrees of freedom, one-sided
SPLIT = Whitespace()
KEPT = 0.8  # of the Spearman, with typos

Train = Callable[[int], Vectors]  # takes a seed


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpora are not there."""
    if not CORPORA.is_dir():
        say(f"no corpora in {CORPORA} (set MALMOI_DATA): vectors are left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    size = round(MILLION * float(os.environ.get("MALMOI_CORPUS_MB", "0"))) or None
    english = write_words(data.folder / "english.txt", "enwiki", size=size)
    korean = write_words(data.folder / "korean.txt", "kowiki", "reviews_ko", size=size)
    peer = partial(gensim_vectors, data.folder)
    settings = replace(WORDS["skip-gram"], epochs=EPOCHS, learning_rate=GENSIM_RATE)
    ours = [train_word2vec(english, replace(settings, seed=seed)) for seed in (1, 2)]
    theirs = [peer("Word2Vec", english, seed) for seed in (1, 2)]
    yield from beside("skip-gram", ENGLISH, ours, theirs, "gensim")
    subwords = replace(SUBWORDS, epochs=EPOCHS)
    slower = replace(subwords, learning_rate=GENSIM_RATE)
    ours = [train_fasttext(english, replace(slower, seed=seed)) for seed in (1, 2)]
    yield from beside("subwords", ENGLISH, ours, [peer("FastText", english, 1)], "gensim")
    ours = [train_fasttext(english, replace(subwords, seed=seed)) for seed in (1, 2)]
    yield from beside(
        "subwords", ENGLISH, ours, [fasttext_vectors(data.folder, english)], "fastText"
    )
    by_jamo = replace(subwords, units="jamo")
    ours = [train_fasttext(korean, replace(by_jamo, seed=seed)) for seed in (1, 2)]
    theirs = [peer("FastText", korean, 1)]
    yield from beside("jamo", KOREAN, ours, theirs, "gensim")
    yield from typos(ours, theirs)


def unpacked(path: Path, *names: str) -> Path:
    """Corpora in one file."""
    with path.open("wb") as file:
        for name in names:
            file.write(gzip.decompress((CORPORA / f"{name}.txt.gz").read_bytes()))
    return path


def write_words(path: Path, *names: str, size: int | None = None) -> Path:
    """Corpora in one file, one space between words as our tokenizer finds them.

    gensim and fastText split at ASCII white space only. With a `size`, the first bytes of each.
    """
    with path.open("w", encoding="utf-8") as file:
        for name in names:
            with gzip.open(CORPORA / f"{name}.txt.gz") as packed:
                text = packed.read(-1 if size is None else size).rpartition(b"\n")[0].decode()
            for line in Corpus.of(text.split("\n")):
                file.write(" ".join(SPLIT(line)) + "\n")
    return path


def in_order_of(first: Vectors, second: Vectors) -> Vectors:
    """The rows of `second` in the order of the words of `first`, which are the same words.

    fastText has one word more, the end of a line.
    """
    rows = second.keys.find_all(first.keys)
    if len(second) - len(first) > 1 or rows.min() < 0:
        raise RuntimeError(f"{len(first)} words beside {len(second)}: the vocabularies differ")
    return second.take(rows)


def gensim_vectors(folder: Path, kind: str, plain: Path, seed: int) -> Vectors:
    """What gensim's skip-gram learns; FastText's with its n-grams."""
    from gensim import models
    from gensim.models.fasttext import save_facebook_model

    say(f"gensim's {kind}, seed {seed}, {plain.stem}")
    given: dict[str, Any] = {**GENSIM, "sg": 1, "workers": 2, "epochs": EPOCHS, "seed": seed}
    model = getattr(models, kind)(corpus_file=str(plain), **given)
    path = folder / "gensim.bin"
    if kind == "FastText":
        save_facebook_model(model, str(path))
    else:
        model.wv.save_word2vec_format(str(path), binary=True)
    return detached(path)


def fasttext_vectors(folder: Path, plain: Path) -> Vectors:
    """What fastText learns, with its n-grams."""
    import fasttext

    say("fastText itself")
    given = ORIGINAL | {"epoch": EPOCHS}
    path = folder / "original.bin"
    fasttext.train_unsupervised(str(plain), model="skipgram", verbose=0, **given).save_model(
        str(path)
    )
    return detached(path)


def detached(path: Path) -> Vectors:
    """Vectors of a file that may be written anew: a mapped one stays as it was once unlinked."""
    vectors = load(path)
    path.unlink()
    return vectors


def beside(
    name: str, sets: dict[str, str], ours: Sequence[Vectors], peers: Sequence[Vectors], peer: str
) -> Iterator[Figure]:
    """A figure for each set: as good as the peer, but for what lies between two seeds."""
    peers = [in_order_of(ours[0], each) for each in peers]
    for title, file in sets.items():
        mine, theirs = ([score(each, SETS / file) for each in group] for group in (ours, peers))
        noise = noise_of(mine, theirs)
        yield Figure(
            name=f"{name}, {title}",
            ours=" ".join(f"{value:.3f}" for value in mine),
            peer=" ".join(f"{value:.3f}" for value in theirs),
            asked=f"≥ {peer}",
            met=bool(np.mean(mine) >= np.mean(theirs) - noise),
        )


def noise_of(*groups: Sequence[float]) -> float:
    """How far the means of two groups may differ by chance.

    That is a one-sided t-test at 5 % where each has two seeds or more, as many as the other; else
    what lies between the seeds.
    """
    if min(map(len, groups)) < 2:
        return float(max(map(np.ptp, groups)))
    variance = np.mean([np.var(each, ddof=1) for each in groups])
    t = T_AT_5_PERCENT[sum(map(len, groups)) - len(groups)]
    return float(t * np.sqrt(variance * sum(1 / len(each) for each in groups)))


def score(vectors: Vectors, path: Path) -> float:
    """Spearman's correlation, or the share of analogies that are right."""
    if "questions" in path.name or "analogy" in path.name:
        return analogies(vectors, path).total.value or 0.0
    return word_similarity(vectors, path).spearman.value or 0.0


def typos(ours: Sequence[Vectors], peers: Sequence[Vectors]) -> Iterator[Figure]:
    """How many words are answered at all, and what typos leave of the similarity."""
    path = SETS / KOREAN["WS353-ko"]
    found = [word_similarity(each, path).spearman for each in (ours[0], peers[0])]
    yield Figure(
        name="jamo, pairs answered",
        ours=f"{found[0].answered}/{found[0].total}",
        peer=f"{found[1].answered}/{found[1].total}",
        asked="all",
        met=found[0].answered == found[0].total,
    )
    kept = [
        [typo_robustness(each, path).retained.value or 0.0 for each in group]
        for group in (ours, peers)
    ]
    yield Figure(
        name="jamo, kept with typos",
        ours=" ".join(f"{value:.2f}" for value in kept[0]),
        peer=" ".join(f"{value:.2f}" for value in kept[1]),
        asked=f"≥ {KEPT}",
        met=bool(np.mean(kept[0]) >= KEPT),
    )
