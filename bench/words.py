"""How fast Word2Vec and FastText train beside gensim and fastText: same text, same settings.

Training alone, an epoch of it, without reading the text; and from the text file to vectors.
"""

import gzip
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bench.data import Data
from bench.measure import MILLION, ROOT, Figure, best_of, faster, megabytes, say, seconds
from bench.probe import memory_field
from bench.text import CORPORA
from malmoi.kernels.threads import THREADS
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, VocabularySettings, encode_corpus
from malmoi.train.word2vec.fasttext import FastText, train_fasttext
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors
from tests.reporters import CallbackReporter

CHOICE = VocabularySettings(min_count=5)
SHARED: dict[str, Any] = {
    "dim": 100,
    "window": 5,
    "negative_samples": 5,
    "subsample": 1e-3,
    "epochs": 1,
}
WORDS = {
    "skip-gram": Word2Vec(**SHARED, threads=2),
    "cbow": Word2Vec(**SHARED, threads=2, architecture="cbow"),
}
SUBWORDS = FastText(**SHARED, threads=2)
GENSIM = {"vector_size": 100, "window": 5, "negative": 5, "sample": 1e-3, "min_count": 5}
ORIGINAL = {"dim": 100, "ws": 5, "neg": 5, "t": 1e-3, "minCount": 5, "epoch": 1, "thread": 2}
ASKED = {"skip-gram": 6, "cbow": 4}
ASKED_SUBWORDS = {"fastText": 8, "gensim": 6}
GAIN, EVEN, COPIES = 1.8, 0.15, 10
ROUNDS = 2

Task = Callable[[], object]


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpora are not there."""
    if not CORPORA.is_dir():
        say(f"no corpora in {CORPORA} (set MALMOI_DATA): words are left out")
        return
    plain = data.folder / "enwiki.txt"
    plain.write_bytes(gzip.decompress((CORPORA / "enwiki.txt.gz").read_bytes()))
    cache = data.folder / "cache"
    corpus = encode_corpus(Corpus.of(plain), settings=CHOICE, folder=cache)
    warm_up()
    for name, settings in WORDS.items():
        yield from words(name, corpus, plain, settings)
    yield threads(corpus)
    yield from end_to_end(plain, cache)
    yield from subwords(corpus, plain)
    yield from larger(plain, data.folder / "copies")


def warm_up() -> None:
    """Kernels are compiled before time is taken."""
    lines = ["a b c d e f g"] * 50
    for settings in WORDS.values():
        train_word2vec(lines, replace(settings, min_count=1))
    train_fasttext(lines, replace(SUBWORDS, min_count=1))


def words(name: str, corpus: EncodedCorpus, plain: Path, settings: Word2Vec) -> Iterator[Figure]:
    """An epoch of Word2Vec beside gensim's, from a file or an iterator, whichever is faster."""
    say(f"{name}, {ROUNDS} rounds of ours and gensim's")
    peers = [gensim_epoch("Word2Vec", plain, name, by_file=by_file) for by_file in (True, False)]
    first = best_of(1, *peers)
    faster_peer = peers[first.index(min(first))]
    ours, theirs = quickest(ROUNDS, partial(trained, corpus, settings), lasting(faster_peer))
    rate = int(corpus.vocabulary.counts.sum()) / MILLION
    theirs = min(theirs, *first)
    yield faster(
        f"{name}, an epoch of enwiki",
        ours,
        theirs,
        ASKED[name],
        f"{name}: {rate / ours:.2f} M words/s, gensim {rate / theirs:.2f} (by file"
        f" {seconds(first[0])}, by iterator {seconds(first[1])}).",
    )


def trained(corpus: EncodedCorpus, settings: Word2Vec | FastText) -> float:
    """Seconds of learning alone, as gensim's are: all is prepared when progress is first told."""
    times: list[float] = []

    def note(done: int, total: int) -> None:
        times.append(time.perf_counter())

    if isinstance(settings, FastText):
        train_fasttext(corpus, settings, reporter=CallbackReporter(progress=note))
    else:
        train_word2vec(corpus, settings, reporter=CallbackReporter(progress=note))
    return times[-1] - times[0]


def lasting(task: Task) -> Callable[[], float]:
    """How long a task lasts."""
    return lambda: best_of(1, task)[0]


def quickest(rounds: int, *tasks: Callable[[], float]) -> list[float]:
    """The shortest of what tasks tell, which take turns, so that noise hits all."""
    told = [[task() for task in tasks] for _ in range(rounds)]
    return [min(each) for each in zip(*told, strict=True)]


def gensim_epoch(kind: str, plain: Path, name: str, *, by_file: bool) -> Task:
    """An epoch of gensim's training, its vocabulary made before."""
    from gensim import models
    from gensim.models.word2vec import LineSentence

    lines = LineSentence(str(plain))
    given = {"corpus_file": str(plain)} if by_file else {"corpus_iterable": lines}
    skipgram = int(name == "skip-gram")
    model = getattr(models, kind)(**GENSIM, sg=skipgram, workers=2, epochs=1)
    model.build_vocab(**given)
    size = {"total_examples": model.corpus_count, "total_words": model.corpus_total_words}
    return lambda: model.train(**given, **size, epochs=1)


def threads(corpus: EncodedCorpus) -> Figure:
    """How much faster two threads are than one."""
    say(f"skip-gram on one thread and two, {ROUNDS} rounds")
    settings = (replace(WORDS["skip-gram"], threads=number) for number in (1, 2))
    one, two = quickest(ROUNDS, *(partial(trained, corpus, each) for each in settings))
    return Figure(
        name="  two threads for one",
        ours=f"{one / two:.2f}×",
        asked=f"≥ {GAIN}×",
        met=one / two >= GAIN,
        remark="" if THREADS > 1 else "There is one core here.",
    )


def end_to_end(plain: Path, cache: Path) -> Iterator[Figure]:
    """From the text file to vectors, nothing encoded before."""
    from gensim.models import Word2Vec as GensimWord2Vec

    def ours() -> Vectors:
        shutil.rmtree(cache, ignore_errors=True)
        corpus = encode_corpus(Corpus.of(plain), settings=CHOICE, folder=cache)
        return train_word2vec(corpus, WORDS["skip-gram"])

    say("skip-gram from text to vectors")
    theirs = partial(GensimWord2Vec, **GENSIM, corpus_file=str(plain), sg=1, workers=2, epochs=1)
    mine, peer = best_of(1, ours, theirs)
    yield faster("  from the file to vectors", mine, peer, None)


def subwords(corpus: EncodedCorpus, plain: Path) -> Iterator[Figure]:
    """An epoch of FastText with n-grams of 3 to 6 beside fastText and gensim."""
    say(f"FastText, ours {ROUNDS} rounds, the peers one")
    (ours,) = quickest(ROUNDS, partial(trained, corpus, SUBWORDS))
    (original,) = best_of(1, partial(fasttext_epoch, plain))
    original -= fasttext_reading(plain)
    (theirs,) = best_of(1, gensim_epoch("FastText", plain, "skip-gram", by_file=True))
    rate = int(corpus.vocabulary.counts.sum()) / MILLION
    remark = f"FastText: {rate / ours:.2f} M words/s, fastText {rate / original:.2f}, gensim"
    yield faster(
        "subwords beside fastText",
        ours,
        original,
        ASKED_SUBWORDS["fastText"],
        f"{remark} {rate / theirs:.2f}.",
    )
    yield faster("subwords beside gensim", ours, theirs, ASKED_SUBWORDS["gensim"])


def fasttext_epoch(plain: Path) -> object:
    """fastText's reading and an epoch of its training."""
    import fasttext

    return fasttext.train_unsupervised(str(plain), model="skipgram", verbose=0, **ORIGINAL)


def fasttext_reading(plain: Path) -> float:
    """How long fastText reads before it trains: no word is seen this often, so it stops there."""
    import fasttext

    start = time.perf_counter()
    try:
        fasttext.train_unsupervised(str(plain), verbose=0, **ORIGINAL | {"minCount": 10**9})
    except ValueError:
        return time.perf_counter() - start
    raise RuntimeError("fastText found words that were seen a thousand million times")


def larger(plain: Path, folder: Path) -> Iterator[Figure]:
    """Whether ten times the text is trained as fast, and in the same memory."""
    say(f"{COPIES} times the text")
    folder.mkdir()
    for number in range(COPIES):
        (folder / f"{number}.txt").hardlink_to(plain)
    small, large = (told(path) for path in (plain, folder))
    ratio = large["rate"] / small["rate"]
    yield Figure(
        name=f"{COPIES} × the text, words/s",
        ours=f"{large['rate'] / MILLION:.2f} M",
        peer=f"{small['rate'] / MILLION:.2f} M",
        ratio=ratio,
        asked="± 15 %",
        met=abs(ratio - 1) <= EVEN,
    )
    yield Figure(
        name="  its memory",
        ours=megabytes(large["memory"]),
        peer=megabytes(small["memory"]),
        asked="the same",
        met=large["memory"] <= 1.1 * small["memory"],
        remark="Of ten times the text, words/s and memory (anonymous, above what was taken before)"
        " stand beside those of the text itself; the words are the same.",
    )


def told(path: Path) -> dict[str, float]:
    """Words a second and bytes of memory, of a fresh process that trains on a file or folder."""
    command = [sys.executable, "-m", "bench.words", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def tell(path: Path) -> None:
    """Train on a file or folder, and print what it took."""
    warm_up()
    choice = replace(CHOICE, min_count=CHOICE.min_count * (COPIES if path.is_dir() else 1))
    corpus = encode_corpus(Corpus.of(path), settings=choice, folder=path.parent / "tens")
    before, peaks = memory_field("status", "RssAnon"), []

    def look(done: int, total: int) -> None:
        peaks.append(memory_field("status", "RssAnon") - before)

    start = time.perf_counter()
    train_word2vec(corpus, WORDS["skip-gram"], reporter=CallbackReporter(progress=look))
    rate = int(corpus.vocabulary.counts.sum()) / (time.perf_counter() - start)
    print(json.dumps({"rate": rate, "memory": max(peaks)}))


if __name__ == "__main__":
    tell(Path(sys.argv[1]))
