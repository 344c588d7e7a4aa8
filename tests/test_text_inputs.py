"""Texts of every kind that people hold them in, through every function that takes texts."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import malmoi as mm
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.text_inputs import TextColumn, strings

TEXTS = ["the cat sat here", "the dog ran", "강아지가 공원에서 논다", "the cat ran here"]
TOKENS = [text.split() for text in TEXTS]

CONTAINERS: dict[str, Callable[[], Iterable[Any]]] = {
    "list": lambda: list(TEXTS),
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "pandas": lambda: pd.Series(TEXTS, index=[7, 3, 9, 1]),
    "pandas of objects": lambda: pd.Series(TEXTS, dtype=object),
    "pandas of categories": lambda: pd.Series(TEXTS, dtype="category"),
    "pandas of Arrow": lambda: pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "Polars": lambda: pl.Series("t", TEXTS),
    "NumPy": lambda: np.array(TEXTS),
    "NumPy of objects": lambda: np.array(TEXTS, dtype=object),
    "Arrow": lambda: pa.array(TEXTS),
    "Arrow in chunks": lambda: pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "Arrow column": lambda: pa.table({"t": TEXTS})["t"],
    "token lists": lambda: [list(tokens) for tokens in TOKENS],
    "generator of token lists": lambda: (tokens for tokens in TOKENS),
    "pandas of token lists": lambda: pd.Series(TOKENS),
    "Polars of token lists": lambda: pl.Series("t", TOKENS),
    "Arrow of token lists": lambda: pa.array(TOKENS),
    "pandas of token arrays": lambda: pd.Series([np.array(tokens) for tokens in TOKENS]),
}
NOT_TEXTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: pd.DataFrame({"q": TEXTS, "n": 1}), r"DataFrame with the columns q, n: .*\['q'\]"),
    (lambda: pl.DataFrame({"q": TEXTS}), r"DataFrame with the columns q: pass one column"),
    (lambda: pa.table({"q": TEXTS}), r"Table with the columns q: pass one column"),
    (lambda: {"a": "text"}, r"is a dict: pass a list"),
    (lambda: np.array([TEXTS, TEXTS]), r"is a ndarray of 2 × 4: pass one dimension"),
    (lambda: 7, r"is 7 \(int\): pass a list"),
    (lambda: None, r"is None \(NoneType\): pass a list"),
    (lambda: pd.Series(["a b", None]), r"number 2 is missing \((nan|None)\): leave it out"),
    (lambda: pd.Series(["a b", pd.NA], dtype="string"), r"number 2 is missing \(<NA>\)"),
    (lambda: pl.Series(["a b", None]), r"number 2 is missing \(None\)"),
    (lambda: pa.array([None, "a b"]), r"number 1 is missing \(None\)"),
    (lambda: ["a b", 3], r"number 2 is 3 \(int\): pass a string, or a list of tokens"),
    (lambda: [b"a b"], r"number 1 is bytes: decode it"),
    (lambda: [["a", 3]], r"number 1 is \['a', 3\] \(list\)"),
]
SMALL: dict[str, Any] = {"dim": 4, "min_count": 1, "threads": 1, "epochs": 1, "subsample": 0}

SMOOTHED = mm.NGram(smoothing="add-k")

TRAINERS: dict[str, Callable[[Any], Any]] = {
    "word2vec": lambda texts: mm.train_word2vec(texts, mm.Word2Vec(**SMALL)).matrix,
    "fasttext": lambda texts: mm.train_fasttext(texts, mm.FastText(buckets=50, **SMALL)).matrix,
    "glove": lambda texts: (
        mm.train_glove(texts, mm.GloVe(dim=4, min_count=1, threads=1, iterations=1)).matrix
    ),
    "lsa": lambda texts: mm.train_lsa(texts, mm.LSA(dim=2, min_count=1)).matrix,
    "cooccurrences": lambda texts: np.array(
        mm.count_cooccurrences(texts, mm.Cooccurrence(min_count=1)).vocabulary.counts
    ),
    "one_hot": lambda texts: mm.one_hot(texts).columns,
    "ngram": lambda texts: np.array([mm.train_ngram(texts, SMOOTHED).perplexity(TOKENS)]),
    "nnlm": lambda texts: mm.train_nnlm(
        texts, mm.NNLM(epochs=1, dim=4, hidden=4, context=2)
    ).distribution(),
    "elmo": lambda texts: (
        mm.train_elmo(
            texts,
            mm.Elmo(dim=4, filters=((1, 4),), epochs=1, min_count=1, ngrams=False, threads=1),
        ).softmax
    ),
}


def bag() -> Any:
    words = sorted({word for tokens in TOKENS for word in tokens})
    return mm.average_encoder(mm.Vectors(words, np.eye(len(words))), weighting="mean")


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_strings(container: str) -> None:
    assert list(strings(CONTAINERS[container]())) == TEXTS
    column = TextColumn.of(CONTAINERS[container]())
    assert list(column) == list(column) == TEXTS


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("trainer", TRAINERS)
def test_training_takes_every_container(trainer: str, container: str) -> None:
    train = TRAINERS[trainer]
    np.testing.assert_array_equal(train(CONTAINERS[container]()), train(TEXTS))


@pytest.mark.parametrize("container", CONTAINERS)
def test_encoding_and_searching_take_every_container(container: str, tmp_path: Path) -> None:
    make, encoder = CONTAINERS[container], bag()
    expected = encoder.encode(TEXTS)
    np.testing.assert_array_equal(encoder.encode(make()), expected)
    index = mm.build_index(encoder, make(), ids=pd.Series(list("abcd")))
    assert [index[id].text for id in "abcd"] == TEXTS
    index.add(make(), ids=np.array(list("efgh")))
    assert len(index) == 8
    mm.write_embeddings(encoder, make(), tmp_path / "v.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), expected)
    pairs = SentenceSet.of(make(), make(), pd.Series([1.0, 2, 3, 4]))
    assert [pair.one for pair in pairs.pairs] == TEXTS
    assert list(mm.Corpus.of(make()).texts) == TEXTS


@pytest.mark.parametrize("container", CONTAINERS)
def test_transformers_take_every_container(container: str) -> None:
    minilm = mm.load_transformer("minilm")
    with pytest.warns(mm.MalmoiWarning, match="minilm"):
        expected = minilm.encode(TEXTS)
    with pytest.warns(mm.MalmoiWarning, match="minilm"):
        vectors = minilm.encode(CONTAINERS[container]())
    np.testing.assert_array_equal(vectors, expected)
    assert len(mm.occurrences(minilm, "cat", CONTAINERS[container]()).keys) == 2


@pytest.mark.parametrize(("make", "sentence"), NOT_TEXTS)
def test_what_is_not_a_collection_of_texts_is_explained(
    make: Callable[[], Any], sentence: str, tmp_path: Path
) -> None:
    encoder = bag()
    for use in (
        encoder.encode,
        lambda texts: mm.train_word2vec(texts, mm.Word2Vec(**SMALL)),
        lambda texts: mm.build_index(encoder, [] if texts is None else texts),
        lambda texts: mm.write_embeddings(encoder, texts, tmp_path / "v.npy"),
        mm.Corpus.of,
    ):
        if make() is None and "build_index" in use.__code__.co_names:
            continue  # no texts are an empty index
        with pytest.raises(InvalidArgumentError, match=sentence):
            use(make())


def test_tokens_are_not_tokenized_again() -> None:
    vectors = mm.train_word2vec(
        [["New York", "is", "far"], ["is", "far", "New York"]] * 3, mm.Word2Vec(**SMALL)
    )
    assert set(vectors.keys) == {"New York", "is", "far"}


def test_rare_tokens_are_dropped_and_empty_ones_skipped() -> None:
    with pytest.warns(mm.MalmoiWarning, match="2 tokens are empty strings"):
        vectors = mm.train_word2vec(
            [["a", "b", ""], ["a", "b", "c", ""]], mm.Word2Vec(**SMALL | {"min_count": 2})
        )
    assert set(vectors.keys) == {"a", "b"}


def test_decomposed_tokens_are_one_word() -> None:
    decomposed = "각"
    vectors = mm.train_word2vec([["각", decomposed, "b"]] * 3, mm.Word2Vec(**SMALL))
    assert set(vectors.keys) == {"각", "b"}


def test_encode_normalizes_reports_and_takes_a_single_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    encoder = bag()
    assert encoder.encode("the cat").shape == (encoder.dim,)
    units = encoder.encode(TEXTS, normalize=True, batch_size=2, show_progress=True)
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1, atol=1e-6)
    with pytest.raises(InvalidArgumentError, match="batch_size must be at least 1; got 0"):
        encoder.encode(TEXTS, batch_size=0)


@pytest.mark.parametrize(
    ("argument", "instead"),
    [
        ({"normalize_embeddings": True}, "write normalize=True"),
        ({"show_progress_bar": True}, "write show_progress=True"),
        ({"convert_to_tensor": True}, "torch.from_numpy"),
        ({"device": "cuda"}, "encoders run on the CPU"),
    ],
)
def test_arguments_of_sentence_transformers_are_explained(
    argument: dict[str, Any], instead: str
) -> None:
    encoder: Any = bag()
    with pytest.raises(InvalidArgumentError, match=instead):
        encoder.encode(TEXTS, **argument)
    with pytest.raises(TypeError, match="unknown"):
        encoder.encode(TEXTS, unknown=1)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_sentence_pairs_may_be_a_table(make: Callable[[dict[str, Any]], Any]) -> None:
    encoder, scores = bag(), [5.0, 0.0, 2.0, 3.0]
    table = make({"sentence1": TEXTS, "sentence2": TEXTS[::-1], "score": scores})
    renamed = make({"a": TEXTS, "b": TEXTS[::-1], "gold": scores})
    expected = mm.sentence_similarity(encoder, SentenceSet.of(TEXTS, TEXTS[::-1], scores))
    assert mm.sentence_similarity(encoder, table) == expected
    assert mm.sentence_similarity(encoder, renamed, columns=["a", "b", "gold"]) == expected
    assert mm.sentence_similarity(encoder, renamed) == expected
    assert mm.evaluate_sentences(encoder, table) == (expected,)
    with pytest.raises(InvalidArgumentError, match="score number 2 is nan"):
        SentenceSet.of(TEXTS[:2], TEXTS[:2], [1.0, float("nan")])
    with pytest.raises(InvalidArgumentError, match="4 first texts, 3 second texts and 4 scores"):
        SentenceSet.of(TEXTS, TEXTS[:3], scores)
