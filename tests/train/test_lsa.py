"""LSA: TF-IDF beside its formula and scikit-learn's, singular vectors beside both peers'."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.reporting.reporter import no_progress
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.inputs import encode_token_lists
from malmoi.train.counts.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.train.counts.lsa import LSA, MatrixKind, SparseMatrix, right_vectors, tf_idf, train_lsa
from malmoi.train.counts.pmi import PMI, mutual_information
from malmoi.vocabulary import Vocabulary
from tests.reporters import CallbackReporter

sparse: Any = pytest.importorskip("scipy.sparse")
linalg: Any = pytest.importorskip("scipy.sparse.linalg")
peer_text: Any = pytest.importorskip("sklearn.feature_extraction.text")
peer_svd: Any = pytest.importorskip("sklearn.decomposition")

LETTERS = Vocabulary.of(dict.fromkeys("abcde", 1))

streams = st.lists(st.sampled_from([0, 1, 2, 3, 4, UNKNOWN, LINE_END, LINE_END]), max_size=40).map(
    lambda ids: np.array(ids, dtype=np.uint32)
)


def corpus(words: int = 600, lines: int = 1500) -> tuple[UInt32Array, Vocabulary]:
    """Lines of words that belong to a topic more often than not."""
    random = np.random.default_rng(3)
    topics = random.dirichlet(np.full(words, 0.05), size=12)
    sentences = [
        [f"w{i}" for i in random.choice(words, 12, p=topics[random.integers(12)])]
        for _ in range(lines)
    ]
    encoded = encode_token_lists(sentences)
    return encoded.ids, encoded.vocabulary


def as_sparse(table: Float64Array) -> SparseMatrix:
    rows = sparse.csr_array(table.astype(np.float32))
    rows.sort_indices()
    starts, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.uint32)
    return SparseMatrix(starts, columns, rows.data, table.shape[1])


def as_scipy(matrix: SparseMatrix) -> Any:
    shape = len(matrix.starts) - 1, matrix.width
    return sparse.csr_array((matrix.values, matrix.columns, matrix.starts), shape=shape)


def formula(ids: UInt32Array) -> Float64Array:
    """scikit-learn's TfidfVectorizer, line by line."""
    lines: list[list[int]] = [[]]
    for word in ids.tolist():
        if word == LINE_END:
            lines.append([])
        else:
            lines[-1].append(word)
    if len(ids) == 0 or ids[-1] == LINE_END:
        lines.pop()
    counts = np.array([[line.count(i) for i in range(5)] for line in lines]).reshape(-1, 5)
    idf = np.log((1 + len(lines)) / (1 + (counts > 0).sum(axis=0))) + 1
    table = counts * idf
    lengths = np.sqrt((table**2).sum(axis=1, keepdims=True))
    unit: Float64Array = table / np.where(lengths > 0, lengths, 1)
    return unit


@given(streams)
def test_tf_idf_is_its_formula(ids: UInt32Array) -> None:
    matrix = tf_idf(ids, LETTERS)
    np.testing.assert_allclose(as_scipy(matrix).toarray(), formula(ids), rtol=1e-5)
    for first, last in zip(matrix.starts[:-1], matrix.starts[1:], strict=True):
        assert np.all(np.diff(matrix.columns[first:last].astype(int)) > 0)


@pytest.mark.parametrize("kind", ["tf-idf", "ppmi"])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_vectors_are_scipys_singular_vectors(kind: MatrixKind, power: float) -> None:
    ids, vocabulary = corpus()
    settings = LSA(dim=10, matrix=kind, power=power, window=4, shift=1.5, smoothing=0.75)
    ours = train_lsa(EncodedCorpus(ids, vocabulary), settings).matrix
    if kind == "tf-idf":
        words = as_scipy(tf_idf(ids, vocabulary)).T
    else:
        counts = count_cooccurrences(EncodedCorpus(ids, vocabulary), Cooccurrence(window=4))
        words = mutual_information(counts, PMI(shift=1.5, smoothing=0.75)).dense()
    left, values, _ = linalg.svds(words.astype(np.float64), k=10, random_state=1)
    order = np.argsort(-values)
    theirs = left[:, order] * values[order] ** power
    theirs *= np.sign(theirs[np.abs(theirs).argmax(axis=0), range(10)])
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * np.abs(theirs).max())
    lengths = np.linalg.norm(ours, axis=0)
    np.testing.assert_allclose(lengths, values[order] ** power, rtol=1e-4)


def lines_of(ids: UInt32Array, vocabulary: Vocabulary) -> list[list[str]]:
    """The words of each line, ended or not."""
    lines: list[list[str]] = []
    for line in np.split(ids, np.flatnonzero(ids == LINE_END) + 1):
        if len(line):
            lines.append([vocabulary.words[i] for i in line.tolist() if i < UNKNOWN])
    return lines


@given(streams.filter(len))
def test_tf_idf_is_scikit_learns_default(ids: UInt32Array) -> None:
    vectorizer = peer_text.TfidfVectorizer(analyzer=list, vocabulary=list(LETTERS.words))
    theirs = vectorizer.fit_transform(lines_of(ids, LETTERS))
    ours = as_scipy(tf_idf(ids, LETTERS))
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-5)


@pytest.mark.parametrize("algorithm", ["arpack", "randomized"])
def test_vectors_are_those_of_scikit_learn(algorithm: str) -> None:
    ids, vocabulary = corpus()
    vectorizer = peer_text.TfidfVectorizer(analyzer=list, vocabulary=list(vocabulary.words))
    documents = vectorizer.fit_transform(lines_of(ids, vocabulary))
    svd = peer_svd.TruncatedSVD(10, algorithm=algorithm, n_iter=30, random_state=1)
    units = svd.fit(documents).components_.T
    units *= np.sign(units[np.abs(units).argmax(axis=0), range(10)])
    for power in (0.0, 0.5, 1.0):
        ours = train_lsa(EncodedCorpus(ids, vocabulary), LSA(dim=10, power=power)).matrix
        theirs = units * svd.singular_values_**power
        np.testing.assert_allclose(ours, theirs, atol=1e-4 * np.abs(theirs).max())


def test_words_as_rows_are_vectors_of_power_one() -> None:
    """What TruncatedSVD gives for words × documents, up to signs: the same dot products."""
    ids, vocabulary = corpus(words=100, lines=200)
    vectorizer = peer_text.TfidfVectorizer(analyzer=list, vocabulary=list(vocabulary.words))
    words = vectorizer.fit_transform(lines_of(ids, vocabulary)).T
    theirs = peer_svd.TruncatedSVD(8, algorithm="arpack", random_state=1).fit_transform(words)
    ours = train_lsa(EncodedCorpus(ids, vocabulary), LSA(dim=8, power=1.0)).matrix
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-4)


@pytest.mark.parametrize(
    "name", ["flat", "few", "falling", "equal", "wide", "rank 3", "small", "nothing"]
)
def test_singular_values_of_all_kinds_of_matrices(name: str) -> None:
    random = np.random.default_rng(5)
    some = random.standard_normal((300, 200))
    table: Float64Array = {
        "flat": some,
        "few": some * (random.random(some.shape) < 0.05),
        "falling": some * 0.9 ** np.arange(200),
        "equal": np.eye(200),
        "wide": some.T[:30],
        "rank 3": some[:, :3] @ some[:3],
        "small": some[:, :20],
        "nothing": np.zeros((300, 200)),
    }[name]
    right = right_vectors(as_sparse(table), 12, 1, no_progress)
    values = np.linalg.svd(table, compute_uv=False)[:12]
    np.testing.assert_allclose(
        np.linalg.norm(table @ right, axis=0), values, atol=1e-4 * values[0] + 1e-9
    )
    if name != "nothing":
        np.testing.assert_allclose(right.T @ right, np.eye(12), atol=1e-5)


def test_the_same_seed_gives_the_same_vectors() -> None:
    ids, vocabulary = corpus(words=200, lines=300)
    one, again, other = (
        train_lsa(EncodedCorpus(ids, vocabulary), LSA(dim=8, seed=seed)).matrix
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    np.testing.assert_allclose(one, other, atol=1e-3)  # signs too


def test_words_of_one_topic_are_near() -> None:
    lines = ["cat dog pet", "dog pet cat", "pet cat", "car road wheel", "road wheel", "wheel car"]
    encoded = encode_token_lists(line.split() for line in lines)
    for kind in ("tf-idf", "ppmi"):
        vectors = train_lsa(encoded, LSA(dim=2, matrix=kind, shift=0.5))
        assert vectors["cat"] @ vectors["dog"] > 10 * abs(vectors["cat"] @ vectors["road"])
        assert vectors.counts is not None
        assert vectors.counts.tolist() == encoded.vocabulary.counts.tolist()
        assert vectors.meta == {"method": "lsa", "matrix": kind, "tokenizer": encoded.tokenizer}


def test_dimensions_that_are_not_there_are_zero() -> None:
    encoded = encode_token_lists([["a", "b"]] * 5)
    for power in (0.0, 1.0, -1.0):
        matrix = train_lsa(encoded, LSA(dim=2, power=power)).matrix
        assert np.all(matrix[:, 0] > 0)
        assert np.all(matrix[:, 1] == 0)


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    train_lsa(
        EncodedCorpus(*corpus()),
        LSA(dim=10),
        reporter=CallbackReporter(progress=lambda done, total: seen.append((done, total))),
    )
    assert seen
    assert all(done <= total for done, total in seen)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"dim": 0}, "dim is 0"),
        ({"matrix": "lda"}, "matrix must be one of"),
        ({"power": float("nan")}, "power is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"window": 0}, "window is 0"),
        ({"shift": -1}, "shift is -1"),
        ({"memory_mb": 0}, "memory_mb is 0"),
    ],
)
def test_settings_that_make_no_sense(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        LSA(**wrong)  # type: ignore[arg-type]


def test_more_dimensions_than_the_matrix_has_are_refused() -> None:
    encoded = encode_token_lists([["a", "b", "c"], ["b", "c"]])
    with pytest.raises(InvalidArgumentError, match="dim is 3: a matrix of 2 × 3 has at most 2"):
        train_lsa(encoded, LSA(dim=3))
