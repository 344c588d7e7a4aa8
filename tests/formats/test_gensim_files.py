"""gensim's own files: read without gensim, equal to what gensim loads."""

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Doc2Vec, FastText, KeyedVectors, Word2Vec
from gensim.models.doc2vec import TaggedDocument
from gensim.models.fasttext import FastTextKeyedVectors
from gensim.test.utils import common_texts, datapath

import malmoi as mm
from malmoi.cli import run

BUCKETS = 500
ROOT = Path(__file__).parents[2]
MAKERS: dict[str, Callable[[], Any]] = {
    "word2vec": lambda: Word2Vec(common_texts, min_count=1, vector_size=20),
    "hierarchical": lambda: Word2Vec(common_texts, min_count=1, vector_size=20, hs=1, negative=0),
    "fasttext": lambda: FastText(common_texts, min_count=1, vector_size=20, bucket=BUCKETS),
    "doc2vec": lambda: Doc2Vec(
        [TaggedDocument(words, [i]) for i, words in enumerate(common_texts)],
        min_count=1,
        vector_size=20,
    ),
    "vectors": lambda: MAKERS["word2vec"]().wv,
    "fasttext vectors": lambda: MAKERS["fasttext"]().wv,
}
RELEASES = "0.13.4 1.0.0 1.0.1 2.0.0 2.1.0 2.2.0 2.3.0 3.0.0 3.1.0 3.2.0 3.3.0 3.4.0"
STILL_OPENED = [  # by gensim 4 too
    *(f"old_w2v_models/w2v_{release}.mdl" for release in RELEASES.split()),
    "model-from-gensim-3.8.0.w2v",
    "word2vec_3.3",
    "word2vec_old",
    "word2vec_old_sep",
]
NO_LONGER_OPENED = {  # by gensim 4, which lacks their classes; and how many vectors they have
    **{f"old_w2v_models/w2v_0.12.{i}.mdl": (3, 4) for i in range(5)},
    **{f"old_w2v_models/w2v_0.13.{i}.mdl": (3, 4) for i in range(4)},
    **{f"word2vec_pre_kv_{kind}": (9, 2) for kind in ("py2", "py3", "py3_4", "sep_py2", "sep_py3")},
    "w2v-lee-v0.12.0": (806, 100),
    "ft_kv_3.6.0.model.gz": (12, 3),
    "ft_model_2.3.0": (1763, 10),
    "fasttext_old": (12, 100),
    "fasttext_old_sep": (12, 100),
    "lee_fasttext": (1762, 10),
}


def assert_equal(ours: mm.Vectors, theirs: Any) -> None:
    assert list(ours.keys) == theirs.index_to_key
    np.testing.assert_allclose(ours.matrix, theirs.vectors, atol=1e-7)
    counts = [theirs.get_vecattr(word, "count") for word in theirs.index_to_key]
    assert ours.counts is not None
    assert ours.counts.tolist() == counts


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("sep_limit", [0, 10 * 1024**2])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", MAKERS)
def test_models_of_gensim_4(
    kind: str, protocol: int, sep_limit: int, suffix: str, tmp_path: Path
) -> None:
    model, path = MAKERS[kind](), tmp_path / f"x.model{suffix}"
    model.save(str(path), pickle_protocol=protocol, sep_limit=sep_limit)
    ours, theirs = mm.load(path), getattr(model, "wv", model)
    assert_equal(ours, theirs)
    if kind.startswith("fasttext"):
        np.testing.assert_allclose(ours["compuutr"], theirs["compuutr"], atol=1e-7)
    if kind in ("word2vec", "fasttext"):
        assert ours.context_matrix is not None
        np.testing.assert_array_equal(ours.context_matrix, model.syn1neg)


@pytest.mark.parametrize("name", STILL_OPENED)
def test_models_of_former_releases(name: str) -> None:
    assert_equal(mm.load(datapath(name)), Word2Vec.load(datapath(name)).wv)


def test_vectors_of_former_releases() -> None:
    path = datapath("old_keyedvectors_320.dat")
    assert_equal(mm.load(path), KeyedVectors.load(path))


@pytest.mark.filterwarnings("ignore:.*only its words are read")
@pytest.mark.parametrize("name", NO_LONGER_OPENED)
def test_models_that_gensim_4_no_longer_opens(name: str) -> None:
    vectors = mm.load(datapath(name))
    assert vectors.matrix.shape == NO_LONGER_OPENED[name]
    assert np.isfinite(vectors.matrix).all()
    assert vectors.matrix.any()


def test_arrays_in_the_file_and_beside_it_are_the_same() -> None:
    whole, separate = (mm.load(datapath(name)) for name in ("word2vec_old", "word2vec_old_sep"))
    assert whole.keys == separate.keys
    assert separate.context_matrix is not None
    assert separate.context_matrix.shape == separate.matrix.shape


def test_fasttext_with_the_rows_of_used_buckets() -> None:
    path = datapath("compatible-hash-true.model")
    ours, theirs = mm.load(path), FastText.load(path).wv
    np.testing.assert_allclose(ours.matrix, theirs.vectors, atol=1e-7)
    assert isinstance(ours, mm.SubwordVectors)
    assert ours.bucket_rows.shape == (85, 5)
    word = theirs.index_to_key[0]
    assert ours.similarity(word, word + "s") > 0  # answers from n-grams


def test_fasttext_with_other_hashes_is_read_without_ngrams() -> None:
    with pytest.warns(mm.MalmoiWarning, match="before gensim 3.8"):
        vectors = mm.load(datapath("ft_model_2.3.0"))
    assert not isinstance(vectors, mm.SubwordVectors)


def test_old_ngrams_are_a_finding_with_its_advice() -> None:
    (finding,) = mm.inspect(datapath("ft_kv_3.6.0.model.gz")).findings
    assert "before gensim 3.8" in finding.problem
    assert "save it again" in finding.advice


def test_converted_and_inspected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.model", tmp_path / "new.malmoi"
    model = MAKERS["fasttext"]()
    model.save(str(old))
    assert run(["convert", str(old), str(new)]) == 0
    assert_equal(mm.load(new), model.wv)
    np.testing.assert_allclose(mm.load(new)["compuutr"], model.wv["compuutr"], atol=1e-7)
    capsys.readouterr()
    assert run(["inspect", str(old), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["format"] == "gensim model (FastText)"
    assert json.loads(shown["meta"]["gensim"])["class"] == "FastText"
    assert run(["inspect", str(old)]) == 0
    assert "gensim model (FastText)" in capsys.readouterr().out


def test_settings_are_kept() -> None:
    path = datapath("model-from-gensim-3.8.0.w2v")
    settings, theirs = json.loads(mm.load(path).meta["gensim"]), Word2Vec.load(path)
    assert settings.pop("class") == "Word2Vec"
    assert len(settings) > 15
    assert settings == {name: getattr(theirs, name) for name in settings}


def test_gensim_is_not_imported(tmp_path: Path) -> None:
    MAKERS["fasttext"]().save(str(tmp_path / "x.model"))
    code = (
        "import sys; sys.modules['gensim'] = None\n"
        "import malmoi as mm; print(len(mm.load('x.model')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "12\n"


def test_only_some_rows(tmp_path: Path) -> None:
    MAKERS["word2vec"]().save(str(tmp_path / "x.model"))
    whole = mm.load(tmp_path / "x.model")
    assert mm.load(tmp_path / "x.model", limit=3).keys == whole.keys[:3]
    (only,) = mm.load(tmp_path / "x.model", only=["graph"]).keys
    assert only == "graph"


def test_a_missing_array_is_named(tmp_path: Path) -> None:
    MAKERS["word2vec"]().save(str(tmp_path / "x.model"), sep_limit=0)
    (tmp_path / "x.model.wv.vectors.npy").unlink()
    with pytest.raises(mm.InvalidFileError, match=r"x\.model\.wv\.vectors\.npy.*beside it"):
        mm.load(tmp_path / "x.model")


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"PK\x03\x04", b"no array"])
def test_a_damaged_array_is_an_invalid_file(tmp_path: Path, content: bytes) -> None:
    MAKERS["word2vec"]().save(str(tmp_path / "x.model"), sep_limit=0)
    (tmp_path / "x.model.wv.vectors.npy").write_bytes(content)
    with pytest.raises(mm.InvalidFileError, match=r"not an array of numbers"):
        mm.load(tmp_path / "x.model")


def test_objects_beside_the_file_are_not_opened(tmp_path: Path) -> None:
    MAKERS["word2vec"]().save(str(tmp_path / "x.model"), sep_limit=0)
    objects = np.array([[{"a": 1}]], dtype=object)
    np.save(tmp_path / "x.model.wv.vectors.npy", objects, allow_pickle=True)
    with pytest.raises(mm.InvalidFileError, match=r"not an array of numbers"):
        mm.load(tmp_path / "x.model")


@pytest.mark.parametrize("name", ["lda_3_0_1_model", "nmf_model", "pre_0_13_2_model"])
def test_models_without_word_vectors_are_named(name: str) -> None:
    with pytest.raises(mm.InvalidFileError, match=r"LdaModel|Nmf"):
        mm.load(datapath(name))


def test_a_gzipped_copy_is_the_same(tmp_path: Path) -> None:
    source = Path(datapath("word2vec_old"))
    with source.open("rb") as plain, gzip.open(tmp_path / "x.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    assert np.array_equal(mm.load(tmp_path / "x.gz").matrix, mm.load(source).matrix)


def test_vectors_of_fasttext_are_gensims(tmp_path: Path) -> None:
    model = MAKERS["fasttext"]()
    model.wv.save(str(tmp_path / "x.kv"))
    theirs = FastTextKeyedVectors.load(str(tmp_path / "x.kv"))
    ours = mm.load(tmp_path / "x.kv")
    assert ours.most_similar("compuutr", topn=3)[0][0] == theirs.most_similar("compuutr")[0][0]
