"""Models hold for us what they hold for Facebook's fastText, and ours open in fastText."""

import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import fasttext
import numpy as np
import pytest

from malmoi.errors import MalmoiWarning, UnknownWordError
from malmoi.formats import load, save
from malmoi.formats.fasttext.write_fasttext import MAGIC, VERSION
from malmoi.subwords import Subwords, SubwordVectors, fasttext_hash
from malmoi.vectors import Vectors
from tests import naive

Data = Callable[[str], Path]

MODELS = [
    "crime-and-punishment.bin",
    "lee_fasttext_new.bin",
    "toy-model.bin",
    "toy-model-pretrained.bin",
]
# Written before fastText had a magic number, flags for quantised matrices and pruned n-grams.
ONLY_WE_READ = {
    "lee_fasttext.bin": "utf-8",
    "non_ascii_fasttext.bin": "utf-8",
    "cp852_fasttext.bin": "cp852",
}
UNSEEN = ["kingdom", "unseeable", "강아지", "하늘과", "naïveté", "příliš", "преступник", "😀", "a"]


def signed(old: bytes) -> bytes:
    """A model without a magic number as today's fastText would have written it."""
    settings, sizes = old[:56], old[56:76]
    (entries,) = struct.unpack_from("<i", sizes)
    _, end = naive.scan_fasttext_entries(old, 76, entries)
    rows, columns = struct.unpack_from("<2q", old, end)
    output = end + 16 + 4 * rows * columns
    return b"".join(
        [struct.pack("<2i", MAGIC, VERSION), settings, sizes, struct.pack("<q", -1), old[76:end],
         b"\0", old[end:output], b"\0", old[output:]]
    )  # fmt: skip


def assert_same_vectors(
    ours: Vectors, model: Any, words: Iterable[str], encoding: str = "utf-8"
) -> None:
    asked = list(words)
    theirs = [model.get_word_vector(word.encode(encoding, "surrogateescape")) for word in asked]
    np.testing.assert_allclose(ours[asked], theirs, atol=1e-6, rtol=0)


def assert_same_words(ours: Vectors, model: Any) -> None:
    theirs, counts = model.f.getVocab("replace")  # get_words stops at bytes that are not UTF-8
    shown = [ours.keys.bytes_at(row).decode("utf-8", "replace") for row in range(len(ours))]
    assert shown == theirs
    assert ours.counts is not None
    assert ours.counts.tolist() == list(counts)


@pytest.mark.parametrize("name", MODELS)
def test_seen_and_unseen_words_are_the_same(name: str, gensim_data: Data) -> None:
    ours, model = load(gensim_data(name)), fasttext.load_model(str(gensim_data(name)))
    assert_same_words(ours, model)
    assert_same_vectors(ours, model, ours)
    assert_same_vectors(ours, model, UNSEEN)


def test_supervised_model_is_the_same(gensim_data: Data) -> None:
    path = gensim_data("pang_lee_polarity_fasttext.bin")
    with pytest.warns(MalmoiWarning, match=r"not UTF-8 \(preserved byte for byte\): 5"):
        ours = load(path)
    model = fasttext.load_model(str(path))
    assert_same_words(ours, model)
    assert_same_vectors(ours, model, ours)
    # It has no n-grams: fastText answers with zeros, we say so.
    assert not model.get_word_vector("unseeable").any()
    with pytest.raises(UnknownWordError):
        ours.vector("unseeable")


def test_quantised_and_pruned_model_is_the_same(lid_ftz: Path) -> None:
    ours, model = load(lid_ftz), fasttext.load_model(str(lid_ftz))
    assert_same_words(ours, model)
    assert_same_vectors(ours, model, ours)
    found = [word for word in UNSEEN if model.get_word_vector(word).any()]
    assert len(found) > 5
    assert_same_vectors(ours, model, found)
    for word in set(UNSEEN) - set(found):
        with pytest.raises(UnknownWordError):
            ours.vector(word)


@pytest.mark.parametrize("name", sorted(ONLY_WE_READ))
def test_models_without_a_magic_number(name: str, gensim_data: Data, tmp_path: Path) -> None:
    path, encoding = gensim_data(name), ONLY_WE_READ[name]
    with pytest.raises(ValueError, match="wrong file format"):
        fasttext.load_model(str(path))
    (tmp_path / "signed.bin").write_bytes(signed(path.read_bytes()))
    model = fasttext.load_model(str(tmp_path / "signed.bin"))
    unseen = [word for word in UNSEEN if encoding == "utf-8" or word.isascii() or word == "příliš"]
    for source in (path, tmp_path / "signed.bin"):
        ours = load(source, encoding=encoding)
        assert len(ours) == len(model.f.getVocab("replace")[0])
        assert_same_vectors(ours, model, ours, encoding)
        assert_same_vectors(ours, model, unseen, encoding)


@pytest.mark.parametrize("word", ["eating", "한국", "преступник", "x", "</s>", "a\u00a0b"])
def test_ngrams_and_their_rows_are_the_same(word: str, gensim_data: Data) -> None:
    model = fasttext.load_model(str(gensim_data("toy-model.bin")))
    subwords = Subwords(min_n=3, max_n=6, buckets=100)
    ngrams, rows = model.get_subwords(word)
    ours = subwords.ngrams(word)
    assert [ngram.decode() for ngram in ours] == ngrams
    first = len(model.get_words())
    assert [first + subwords.bucket(ngram) for ngram in ours] == rows.tolist()


@pytest.mark.parametrize(("shortest", "longest"), [(9, 6), (3, 500), (0, 2), (1, 1)])
def test_odd_lengths_of_ngrams_mean_the_same(
    shortest: int, longest: int, gensim_data: Data, tmp_path: Path
) -> None:
    content = bytearray(gensim_data("toy-model.bin").read_bytes())
    struct.pack_into("<2i", content, 44, shortest, longest)
    (tmp_path / "odd.bin").write_bytes(content)
    ours, model = load(tmp_path / "odd.bin"), fasttext.load_model(str(tmp_path / "odd.bin"))
    assert_same_vectors(ours, model, ours)
    found = [word for word in UNSEEN if model.get_word_vector(word).any()]
    assert_same_vectors(ours, model, found)
    for word in set(UNSEEN) - set(found):
        with pytest.raises(UnknownWordError):
            ours.vector(word)


@pytest.mark.parametrize("text", ["a", "king", "한국", "<한국>", "é", "😀"])
def test_the_hash_is_the_same(text: str, gensim_data: Data) -> None:
    model = fasttext.load_model(str(gensim_data("crime-and-punishment.bin")))
    expected = model.get_subword_id(text) - len(model.get_words())
    assert fasttext_hash(text.encode()) % 100 == expected


def test_fasttext_reads_our_model(subworded: SubwordVectors, tmp_path: Path) -> None:
    save(subworded, tmp_path / "ours.bin")
    model = fasttext.load_model(str(tmp_path / "ours.bin"))
    assert_same_words(subworded, model)
    assert_same_vectors(subworded, model, [*subworded, *UNSEEN])
    assert subworded.context_matrix is not None
    assert model.get_output_matrix().tolist() == subworded.context_matrix.tolist()
    assert model.get_nearest_neighbors("eating", k=1)[0][1] in list(subworded)


def test_fasttext_reads_our_plain_vectors(words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / "plain.bin", format="fasttext")
    model = fasttext.load_model(str(tmp_path / "plain.bin"))
    assert_same_words(words, model)
    assert_same_vectors(words, model, words)


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")
@pytest.mark.parametrize("name", [*MODELS, "pang_lee_polarity_fasttext.bin"])
def test_a_model_written_again_is_the_same(name: str, gensim_data: Data, tmp_path: Path) -> None:
    ours = load(gensim_data(name))
    save(ours, tmp_path / "again.bin")
    model = fasttext.load_model(str(tmp_path / "again.bin"))
    assert_same_words(ours, model)
    assert_same_vectors(ours, model, ours)
    if not name.startswith("pang_lee"):
        assert_same_vectors(ours, model, UNSEEN)
