"""gensim's own test files hold for us what they hold for gensim, and ours open in gensim."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.models.fasttext import load_facebook_model, load_facebook_vectors

from malmoi.errors import InvalidFileError, MalmoiWarning, UnknownWordError
from malmoi.formats import load, save
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

Data = Callable[[str], Path]

TEXT = [
    "EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt",
    "IT.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt",
    "crime-and-punishment.vec",
    "high_precision.kv.txt",  # doubles in decimal: both round them to float32
    "lee_fasttext.vec",
    "toy-model.vec",
    "word2vec_pre_kv_c",
]
BINARY = ["euclidean_vectors.bin", "high_precision.kv.bin", "poincare_vectors.bin"]
FASTTEXT = [
    "crime-and-punishment.bin",
    "lee_fasttext.bin",
    "lee_fasttext_new.bin",
    "non_ascii_fasttext.bin",
    "toy-model.bin",
    "toy-model-pretrained.bin",
]
ONLY_WE_READ = {
    "pang_lee_polarity_fasttext.vec": (UnicodeDecodeError, "five keys are not UTF-8"),
    "w2v_keyedvectors_load_test.modeldata": (UnicodeDecodeError, "both keys are cut mid-letter"),
    "pang_lee_polarity_fasttext.bin": (NotImplementedError, "a supervised model"),
}
UNSEEN = ["kingdom", "unseeable", "강아지", "하늘과 바람", "naïveté", "příliš", "преступник", "😀"]
END_OF_LINE = "</s>"

# gensim leaves the file open that it reads without a header.
leaky = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def assert_same_rows(ours: Vectors, theirs: Any) -> None:
    assert list(ours.keys) == list(theirs.index_to_key)
    np.testing.assert_allclose(ours.matrix, theirs.vectors, atol=1e-6, rtol=0)


def assert_same_vectors(ours: Vectors, theirs: Any, words: Iterable[str]) -> None:
    asked = list(words)
    found = [theirs.get_vector(word) for word in asked]
    np.testing.assert_allclose(ours[asked], found, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", TEXT)
def test_word2vec_text_is_the_same(name: str, gensim_data: Data) -> None:
    path = gensim_data(name)
    assert_same_rows(load(path), KeyedVectors.load_word2vec_format(path))


@pytest.mark.parametrize("name", BINARY)
def test_word2vec_binary_is_the_same(name: str, gensim_data: Data) -> None:
    path = gensim_data(name)
    assert_same_rows(load(path), KeyedVectors.load_word2vec_format(path, binary=True))


@leaky
def test_glove_text_is_the_same(gensim_data: Data) -> None:
    path = gensim_data("test_glove.txt")
    assert_same_rows(load(path), KeyedVectors.load_word2vec_format(path, no_header=True))


@pytest.mark.parametrize("name", FASTTEXT)
def test_fasttext_models_are_the_same(name: str, gensim_data: Data) -> None:
    ours, theirs = load(gensim_data(name)), load_facebook_vectors(gensim_data(name))
    assert list(ours.keys) == list(theirs.index_to_key)
    # gensim gives the end of a line n-grams, fastText does not: test_equal_to_fasttext has it.
    assert_same_vectors(ours, theirs, (word for word in ours if word != END_OF_LINE))
    assert_same_vectors(ours, theirs, UNSEEN)
    assert ours.counts is not None
    assert ours.counts.tolist() == [theirs.get_vecattr(word, "count") for word in ours]


def test_model_in_another_encoding_has_the_same_words(gensim_data: Data) -> None:
    path = gensim_data("cp852_fasttext.bin")
    ours = load(path, encoding="cp852")
    theirs = load_facebook_vectors(path, encoding="cp852")
    assert list(ours.keys) == list(theirs.index_to_key)
    # gensim hashes UTF-8 whatever the model was trained on, which is right for ASCII alone;
    # test_equal_to_fasttext has the others.
    assert_same_vectors(ours, theirs, (word for word in ours if word.isascii()))
    assert_same_vectors(ours, theirs, ["kingdom", "unseeable"])


@pytest.mark.parametrize("name", sorted(ONLY_WE_READ))
def test_files_that_gensim_cannot_read(name: str, gensim_data: Data) -> None:
    path, (error, why) = gensim_data(name), ONLY_WE_READ[name]
    reader = load_facebook_vectors if name.endswith(".bin") else KeyedVectors.load_word2vec_format
    with pytest.raises(error):
        reader(path)
    with pytest.warns(MalmoiWarning, match="not UTF-8"):
        ours = load(path)
    assert len(ours) > 0, why


@pytest.mark.parametrize(
    "name", ["pang_lee_polarity_fasttext.vec", "w2v_keyedvectors_load_test.modeldata"]
)
def test_broken_keys_aside_the_rows_are_the_same(name: str, gensim_data: Data) -> None:
    with pytest.warns(MalmoiWarning, match="not UTF-8"):
        ours = load(gensim_data(name))
    theirs = KeyedVectors.load_word2vec_format(gensim_data(name), unicode_errors="replace")
    shown = [ours.keys.bytes_at(row).decode("utf-8", "replace") for row in range(len(ours))]
    assert list(dict.fromkeys(shown)) == theirs.index_to_key
    for row, key in enumerate(shown):
        if shown.index(key) == row:
            np.testing.assert_allclose(ours.matrix[row], theirs[key], atol=1e-6)


def test_a_false_header_is_refused_by_both(gensim_data: Data) -> None:
    path = gensim_data("pretrained.vec")
    with pytest.raises(EOFError):
        KeyedVectors.load_word2vec_format(path)
    with pytest.raises(InvalidFileError, match="announces 3 rows, but there are 1"):
        load(path)
    with pytest.warns(MalmoiWarning, match="announces 3 rows"):
        assert list(load(path, strict=False)) == ["dummy"]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_gensim_reads_our_word2vec(
    binary: bool, zipped: str, words: Vectors, tmp_path: Path
) -> None:
    path = tmp_path / f"ours{'.bin' if binary else '.vec'}{zipped}"
    save(words, path)
    theirs = KeyedVectors.load_word2vec_format(path, binary=binary)
    assert theirs.index_to_key == list(words)
    assert theirs.vectors.tobytes() == words.matrix.tobytes()


@leaky
def test_gensim_reads_our_glove(words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / "ours.txt")
    theirs = KeyedVectors.load_word2vec_format(tmp_path / "ours.txt", no_header=True)
    assert theirs.index_to_key == list(words)
    assert theirs.vectors.tobytes() == words.matrix.tobytes()


@pytest.mark.parametrize("binary", [False, True])
def test_we_read_what_gensim_writes(binary: bool, words: Vectors, tmp_path: Path) -> None:
    theirs = KeyedVectors(words.dim)
    theirs.add_vectors(list(words), words.matrix)
    theirs.save_word2vec_format(tmp_path / "theirs", binary=binary)
    assert_same_rows(load(tmp_path / "theirs"), theirs)


def test_gensim_reads_our_fasttext(subworded: SubwordVectors, tmp_path: Path) -> None:
    path = tmp_path / "ours.bin"
    save(subworded, path)
    model = load_facebook_model(path)
    for theirs in (load_facebook_vectors(path), model.wv):
        assert theirs.index_to_key == list(subworded)
        assert_same_vectors(subworded, theirs, list(subworded)[1:])
        assert_same_vectors(subworded, theirs, UNSEEN)
    assert subworded.context_matrix is not None
    assert model.syn1neg.tolist() == subworded.context_matrix.tolist()


def test_gensim_reads_our_fasttext_without_ngrams(words: Vectors, tmp_path: Path) -> None:
    save(words, tmp_path / "plain.bin", format="fasttext")
    theirs = load_facebook_vectors(tmp_path / "plain.bin")
    assert_same_rows(words, theirs)
    with pytest.raises(KeyError):
        theirs.get_vector("kingdom")
    with pytest.raises(UnknownWordError):
        load(tmp_path / "plain.bin").vector("kingdom")
