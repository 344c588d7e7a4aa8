"""CBOW at gensim's learning rates: the same words and settings, four seeds of each.

gensim splits a file at ASCII white space only, so it gets the words as we split them. Tests ignore
case: of *May* and *may* the first answers for both. Where both were seen equally often, we put
capitals first and gensim does not, so gensim's rows are put in our order before they are scored.

gensim's rate falls as ours does when it reads sentences, or a file with one worker. With several
workers on one file each of them counts its own words only, so that the rate falls by half of what
it should on two: that is another training. So gensim runs with one worker, two seeds at once.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from bench.text import CORPORA
from bench.vectors import ENGLISH, beside, in_order_of, write_words
from bench.words import GENSIM, SHARED
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, VocabularySettings, encode_corpus
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors

RATES = (0.025, 0.05)
SEEDS = (1, 2, 3, 4)
EPOCHS = 5
SIZE = 27_000_000  # bytes of text, about 4.4 million words: gensim takes half a minute on one core
AT_ONCE = 2  # seeds of gensim
BANDS = {"norm, top 100": (0, 100), "norm, top 5,000": (100, 5000)}
LEVEL = 0.03  # of the mean norm of words by rank: how much was learnt


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpora are not there."""
    if not CORPORA.is_dir():
        say(f"no corpora in {CORPORA} (set MALMOI_DATA): cbow is left out")
        return
    plain = data.folder / "cbow.txt"
    write_words(plain, "enwiki", size=SIZE)
    corpus = encode_corpus(
        Corpus.of(plain), settings=VocabularySettings(min_count=5), folder=data.folder / "cbow"
    )
    for rate in RATES:
        ours = [our_vectors(corpus, rate, seed) for seed in SEEDS]
        say(f"gensim's CBOW at {rate}, seeds {SEEDS}")
        with ThreadPoolExecutor(AT_ONCE) as pool:  # without Python's lock while it trains
            peers = list(pool.map(partial(gensim_vectors, plain, rate), SEEDS))
        yield from beside(f"at {rate}", ENGLISH, ours, peers, "gensim")
        yield from lengths(f"at {rate}", ours, [in_order_of(ours[0], each) for each in peers])


def our_vectors(corpus: EncodedCorpus, rate: float, seed: int) -> Vectors:
    """What we learn."""
    given = SHARED | {"epochs": EPOCHS, "seed": seed, "learning_rate": rate, "threads": 2}
    return train_word2vec(corpus, Word2Vec(**given, architecture="cbow"))


def gensim_vectors(plain: Path, rate: float, seed: int) -> Vectors:
    """What gensim learns."""
    from gensim.models import Word2Vec as GensimWord2Vec

    given = GENSIM | {"alpha": rate, "seed": seed, "epochs": EPOCHS}
    held = GensimWord2Vec(corpus_file=str(plain), sg=0, workers=1, **given).wv
    return Vectors(held.index_to_key, np.array(held.vectors))


def lengths(name: str, ours: Sequence[Vectors], theirs: Sequence[Vectors]) -> Iterator[Figure]:
    """How long vectors have grown, which differs less between seeds than what they are good for."""
    for title, band in BANDS.items():
        mine, peer = (np.mean([length(each, *band) for each in group]) for group in (ours, theirs))
        yield Figure(
            name=f"{name}, {title}",
            ours=f"{mine:.3f}",
            peer=f"{peer:.3f}",
            asked=f"± {LEVEL:.0%}",
            met=bool(abs(mine / peer - 1) <= LEVEL),
        )


def length(vectors: Vectors, first: int, last: int) -> float:
    """The mean length of the vectors of words by their rank."""
    return float(np.linalg.norm(vectors.matrix[first:last], axis=1).mean())
