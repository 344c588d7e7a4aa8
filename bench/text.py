"""How long text takes to become numbers beside gensim, and Hangul its letters and back."""

import gzip
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.data import Data
from bench.measure import ROOT, Figure, best_of, faster, say, within
from malmoi.hangul import join_jamo, split_jamo
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, VocabularySettings, encode_corpus

CORPORA = Path(os.environ.get("MALMOI_DATA", ROOT.parent / "shared" / "data")) / "corpora"
ROUNDS, ASKED, CACHED = 3, 5, 0.2
JAMO_ASKED = 5e6  # characters a second
CHOICE = VocabularySettings(min_count=5)


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpora are not there."""
    if not CORPORA.is_dir():
        say(f"no corpora in {CORPORA} (set MALMOI_DATA): text is left out")
        return
    plain = data.folder / "enwiki.txt"
    plain.write_bytes(gzip.decompress((CORPORA / "enwiki.txt.gz").read_bytes()))
    yield from encoding(plain, data.folder / "cache")
    for name in ("kowiki", "reviews_ko"):
        yield from jamo(name)


def encoding(plain: Path, cache: Path) -> Iterator[Figure]:
    """Reading, making uniform, cutting at white space, counting and encoding."""

    def ours() -> EncodedCorpus:
        shutil.rmtree(cache, ignore_errors=True)
        return encode_corpus(Corpus.of(plain), settings=CHOICE, folder=cache)

    ours()
    say(f"text to ids, {ROUNDS} rounds of both")
    mine, theirs = best_of(ROUNDS, ours, lambda: gensim_ids(plain))
    yield faster("enwiki, 54.7 MB, to ids", mine, theirs, ASKED)
    ours()
    (again,) = best_of(
        ROUNDS, lambda: encode_corpus(Corpus.of(plain), settings=CHOICE, folder=cache)
    )
    yield within("the same again", again, CACHED)


def gensim_ids(plain: Path) -> list[Any]:
    """gensim's vocabulary scan, then each sentence as its ids."""
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    model = Word2Vec(min_count=CHOICE.min_count)
    model.build_vocab(LineSentence(str(plain)))
    ids = model.wv.key_to_index
    lines = LineSentence(str(plain))
    return [np.array([ids[word] for word in line if word in ids], np.uint32) for line in lines]


def jamo(name: str) -> Iterator[Figure]:
    """Letters and back, line by line."""
    text = gzip.decompress((CORPORA / f"{name}.txt.gz").read_bytes()).decode()
    lines = text.split("\n")
    say(f"the letters of {name}")
    (split,) = best_of(2, lambda: [split_jamo(line) for line in lines])
    rate = len(text) / split
    yield Figure(
        name=f"{name} to jamo",
        ours=f"{rate / 1e6:.1f} M/s",
        asked="≥ 5 M/s",
        met=rate >= JAMO_ASKED,
    )
    exact = all(join_jamo(split_jamo(line)) == line for line in lines)
    yield Figure(name="  and back", ours="exact" if exact else "differs", asked="exact", met=exact)
