"""TextVectorizer in scikit-learn: its own estimator checks, pipelines, tables, processes."""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import malmoi as mm
from malmoi.integrations.sklearn import TextVectorizer

TEXTS = [
    *("a cute cat", "the dog barks", "kittens and puppies", "my hamster sleeps"),
    *("stocks fell today", "the bank raised rates", "a loan with interest", "money in the market"),
]
LABELS = ["pets"] * 4 + ["money"] * 4
WORDS = ["the", "of", "king", "queen", "man", "woman", "city", "river"]
CHECKS_WITHOUT_DATA = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_mixin_order,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
    estimator_checks.check_transformer_get_feature_names_out,
    estimator_checks.check_set_output_transform,
]


@pytest.fixture(scope="module", autouse=True)
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A file of word vectors, small.malmoi, in the current folder."""
    folder = tmp_path_factory.mktemp("vectors")
    words = dict.fromkeys(WORDS + " ".join(TEXTS).split())
    matrix = np.random.default_rng(1).normal(size=(len(words), 50))
    mm.save(mm.Vectors(words, matrix), folder / "small.malmoi")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_estimator_checks_for_text() -> None:
    """scikit-learn checks estimators with numbers; of one for texts, that it can be cloned."""
    results = estimator_checks.check_estimator(TextVectorizer("small.malmoi"), on_fail=None)
    assert [each["status"] for each in results] == ["passed"]


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_estimator_checks_that_need_no_numbers(check: Callable[[str, Any], None]) -> None:
    check("TextVectorizer", TextVectorizer("small.malmoi"))


class RowVectorizer(TextVectorizer):
    """A TextVectorizer that reads each row of numbers as a text, for all of the checks."""

    def __init__(
        self,
        model: Any = "small.malmoi",
        *,
        weighting: Any = None,
        normalize: bool = False,
        prompt: str | None = None,
    ) -> None:
        super().__init__(model, weighting=weighting, normalize=normalize, prompt=prompt)

    def fit(self, X: Any, y: Any = None) -> "RowVectorizer":  # noqa: N803
        return super().fit(as_texts(validate_data(self, X)))

    def transform(self, X: Any) -> Any:  # noqa: N803
        check_is_fitted(self)
        return super().transform(as_texts(validate_data(self, X, reset=False)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.string = tags.input_tags.one_d_array = False
        return tags


def as_texts(rows: Any) -> list[str]:
    return [" ".join(WORDS[int(abs(x) * 10) % len(WORDS)] for x in row) for row in rows]


def test_all_estimator_checks_with_rows_as_texts() -> None:
    """With weights of words that `fit` learns."""
    results = estimator_checks.check_estimator(
        RowVectorizer(weighting="idf"), on_skip=None, on_fail=None
    )
    failed = [each["check_name"] for each in results if each["status"] == "failed"]
    skipped = [each["check_name"] for each in results if each["status"] == "skipped"]
    assert failed == []
    assert skipped == ["check_array_api_input"]  # needs SCIPY_ARRAY_API in the environment
    assert len(results) >= 40


@pytest.mark.parametrize(
    "make",
    [list, tuple, pd.Series, pl.Series, pa.array, lambda texts: np.array(texts, object), np.array],
    ids=["list", "tuple", "pandas", "polars", "arrow", "objects", "strings"],
)
def test_texts_of_any_kind(make: Callable[[list[str]], Any]) -> None:
    vectorizer = TextVectorizer("minilm").fit(TEXTS)
    expected = mm.load_encoder("minilm").encode(TEXTS)
    found = vectorizer.fit_transform(make(TEXTS))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_output_as_tables_with_names() -> None:
    vectorizer = mm.sklearn.TextVectorizer("small.malmoi").set_output(transform="pandas")
    texts = pd.Series(TEXTS, index=range(100, 108))
    table = vectorizer.fit_transform(texts)
    assert list(table.index) == list(texts.index)
    assert list(table.columns) == list(vectorizer.get_feature_names_out())
    assert table.columns[0] == "textvectorizer0"
    assert table.shape == (8, 50)
    table = vectorizer.set_output(transform="polars").transform(TEXTS)
    assert isinstance(table, pl.DataFrame)


def test_grid_search_in_several_processes() -> None:
    pipeline = make_pipeline(TextVectorizer("small.malmoi"), LogisticRegression())
    choices = {"textvectorizer__weighting": ["mean", "idf"], "logisticregression__C": [1, 100]}
    search = GridSearchCV(pipeline, choices, cv=2, n_jobs=2).fit(TEXTS, LABELS)
    assert len(search.cv_results_["params"]) == 4
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_allclose(
        again.predict_proba(["a cat"]), search.best_estimator_.predict_proba(["a cat"])
    )


def test_column_of_a_table() -> None:
    table = pd.DataFrame({"text": TEXTS, "price": range(8)})
    columns = ColumnTransformer(
        [("text", TextVectorizer("small.malmoi"), "text")], remainder="passthrough"
    )
    assert columns.fit_transform(table).shape == (8, 51)


def test_weights_of_words_are_learnt_by_fit() -> None:
    one = TextVectorizer("small.malmoi", weighting="idf").fit(["the cat"] * 3 + ["the dog"])
    two = TextVectorizer("small.malmoi", weighting="idf").fit(["the cat"] + ["the dog"] * 3)
    assert not np.allclose(one.transform(["cat dog"]), two.transform(["cat dog"]))
    encoder = mm.average_encoder(
        mm.load("small.malmoi"), weighting="idf", texts=["the cat"] * 3 + ["the dog"]
    )
    np.testing.assert_array_equal(one.transform(["cat dog"]), encoder.encode(["cat dog"]))


def test_models_may_be_values(words: mm.Vectors) -> None:
    vectorizer = TextVectorizer(words, normalize=True)
    (row,) = clone(vectorizer).fit(["king"]).transform(["king queen"])
    assert np.linalg.norm(row) == pytest.approx(1)
    encoder = mm.load_encoder("minilm")
    np.testing.assert_allclose(
        clone(TextVectorizer(encoder, prompt="query: ")).fit(["a"]).transform(["a cat"]),
        encoder.encode(["query: a cat"]),
        atol=1e-6,
    )


def test_the_model_follows_the_language() -> None:
    assert TextVectorizer().fit(["한국의 수도는 서울이다."]).encoder_.name == "use"
    assert TextVectorizer().fit(["a cat"]).encoder_.name == "minilm"


def test_clones_share_a_loaded_model() -> None:
    vectorizer = TextVectorizer("minilm").fit(["a"])
    assert clone(vectorizer).fit(["b"]).encoder_ is vectorizer.encoder_


def test_wrong_input() -> None:
    with pytest.raises(NotFittedError):
        TextVectorizer("minilm").transform(["a"])
    with pytest.raises(mm.InvalidArgumentError, match="for word vectors"):
        TextVectorizer("minilm", weighting="idf").fit(["a"])
    with pytest.raises(mm.InvalidArgumentError, match="0 samples"):
        TextVectorizer("minilm").fit([])
    with pytest.raises(mm.InvalidArgumentError, match="number 2 is missing"):
        TextVectorizer("minilm").fit(pd.Series(["a", None]))
    with pytest.raises(mm.InvalidArgumentError, match="single string"):
        TextVectorizer("minilm").fit("a text")
    with pytest.raises(mm.InvalidArgumentError, match="pass one column"):
        TextVectorizer("minilm").fit(pd.DataFrame({"text": ["a"]}))
    with pytest.raises(mm.InvalidFileError):
        TextVectorizer("no-such-model").fit(["a"])
    with pytest.raises(mm.InvalidArgumentError, match="model must be an encoder"):
        TextVectorizer(3).fit(["a"])  # type: ignore[arg-type]
