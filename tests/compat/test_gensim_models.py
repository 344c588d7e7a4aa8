"""What gensim's own tests do not cover: arguments not honoured, callbacks, files, scores."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gensim.models
import numpy as np
import pytest
from gensim.test.utils import common_texts, datapath, lee_corpus_list

import malmoi as mm
from malmoi.compat.gensim import (
    RULE_KEEP,
    CallbackAny2Vec,
    FastText,
    FastTextKeyedVectors,
    KeyedVectors,
    Word2Vec,
    load_facebook_model,
)

SMALL: dict[str, Any] = {"vector_size": 10, "min_count": 1, "sample": 0, "workers": 1}
MAKERS: dict[str, Callable[..., Any]] = {
    "word2vec": lambda **more: Word2Vec(common_texts, **SMALL | more),
    "tree": lambda **more: Word2Vec(common_texts, **SMALL | {"hs": 1, "negative": 0} | more),
    "fasttext": lambda **more: FastText(common_texts, **SMALL | {"bucket": 500} | more),
}
every_model = pytest.mark.parametrize("kind", MAKERS)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"hashfxn": len}, "hashfxn does not apply"),
        ({"null_word": 1}, "null_word does not apply"),
        ({"batch_words": 10}, "batch_words does not apply"),
        ({"cbow_mean": 0}, "cbow_mean=0 does not apply"),
        ({"hs": 1, "negative": 5}, "takes negative sampling"),
    ],
)
@pytest.mark.parametrize("kind", ["word2vec", "fasttext"])
def test_arguments_that_are_not_honoured_warn(
    kind: str, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.warns(mm.MalmoiWarning, match=sentence):
        MAKERS[kind](**arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"word_count": 5}, "word_count does not apply"),
        ({"queue_factor": 3}, "queue_factor"),
        ({"total_examples": 5}, "there are 9 sentences"),
    ],
)
def test_arguments_of_train_warn(arguments: dict[str, Any], sentence: str) -> None:
    model = MAKERS["word2vec"]()
    with pytest.warns(mm.MalmoiWarning, match=sentence):
        model.train(common_texts, **{"total_examples": 9, "epochs": 1} | arguments)


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (lambda: FastText(word_ngrams=2), ValueError, "word_ngrams is 2"),
        (lambda: MAKERS["word2vec"](sample=2), ValueError, "sample is 2"),
        (lambda: MAKERS["word2vec"](hs=0, negative=0), ValueError, "both 0"),
        (lambda: MAKERS["word2vec"](window=0), ValueError, "window is 0"),
        (lambda: MAKERS["word2vec"](callbacks=[object()]), ValueError, "not a callback"),
        (lambda: Word2Vec(iter(common_texts), corpus_file="x"), TypeError, "not both"),
        (lambda: Word2Vec((one for one in common_texts), **SMALL), TypeError, "generator"),
        (lambda: Word2Vec(iter(common_texts), **SMALL), TypeError, "several times"),
        (lambda: Word2Vec(**SMALL).train(common_texts, "x", epochs=1), TypeError, "not both"),
        (lambda: Word2Vec(**SMALL).train(common_texts, epochs=1), RuntimeError, "build_vocab"),
        (lambda: Word2Vec(**SMALL | {"unknown": 1}), TypeError, "unknown"),
        (lambda: MAKERS["word2vec"]().wv.wmdistance(["a"], ["b"]), NotImplementedError, "optimal"),
        (lambda: MAKERS["word2vec"]().save("x", unknown=1), TypeError, "unknown"),
        (lambda: MAKERS["word2vec"]().wv.add_vectors([1], np.ones((1, 10))), ValueError, "words"),
        (lambda: MAKERS["word2vec"]().wv.add_vector("a", np.ones(3)), ValueError, "3 dimensions"),
        (lambda: MAKERS["tree"]().predict_output_word(["graph"]), RuntimeError, "negative"),
        (lambda: MAKERS["word2vec"]().score(common_texts), RuntimeError, "hs=1"),
    ],
)
def test_what_cannot_be_raises(
    call: Callable[[], object], kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        call()


class Recorder(CallbackAny2Vec):
    """Remembers what it is called with."""

    def __init__(self, stop_after: int = 100) -> None:
        self.events: list[str] = []
        self.vectors: list[Any] = []
        self.losses: list[float] = []
        self.stop_after = stop_after

    def on_train_begin(self, model: Any) -> None:
        self.events.append("train begins")

    def on_epoch_begin(self, model: Any) -> None:
        self.events.append("begin")

    def on_epoch_end(self, model: Any) -> None:
        self.events.append("end")
        self.vectors.append(model.wv.vectors)
        self.losses.append(model.get_latest_training_loss())
        if len(self.losses) == self.stop_after:
            raise mm.StopTraining

    def on_train_end(self, model: Any) -> None:
        self.events.append("train ends")


@every_model
def test_callbacks_are_called_in_gensims_order(kind: str) -> None:
    recorder = Recorder()
    model = MAKERS[kind](epochs=3, callbacks=[recorder])
    assert recorder.events == ["train begins", *["begin", "end"] * 3, "train ends"]
    assert not np.array_equal(recorder.vectors[0], recorder.vectors[1])
    np.testing.assert_array_equal(recorder.vectors[2], model.wv.vectors)


def test_the_loss_grows_with_each_epoch() -> None:
    recorder = Recorder()
    MAKERS["word2vec"](epochs=3, compute_loss=True, callbacks=[recorder])
    assert 0 < recorder.losses[0] < recorder.losses[1] < recorder.losses[2]


def test_a_callback_can_stop_the_training() -> None:
    recorder = Recorder(stop_after=2)
    model = MAKERS["word2vec"](epochs=5, callbacks=[recorder])
    assert len(recorder.vectors) == 2
    np.testing.assert_array_equal(model.wv.vectors, recorder.vectors[1])


@every_model
def test_a_saved_model_trains_on_as_if_it_had_not_been_saved(kind: str, tmp_path: Path) -> None:
    model = MAKERS[kind]()
    model.save(tmp_path / "x.model")
    assert [path.name for path in tmp_path.iterdir()] == ["x.model"]
    loaded = type(model).load(tmp_path / "x.model")
    assert str(loaded) == str(model)
    for one in (model, loaded):
        one.train(common_texts, total_examples=one.corpus_count, epochs=2)
    np.testing.assert_array_equal(model.wv.vectors, loaded.wv.vectors)
    assert mm.load(tmp_path / "x.model").dim == 10


@every_model
def test_models_can_be_copied(kind: str) -> None:
    model = MAKERS[kind](seed=np.int64(3))
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert copied.wv.most_similar("graph") == model.wv.most_similar("graph")
        copied.train(common_texts, total_examples=9, epochs=1)


def test_numbers_of_numpy_are_settings_too(tmp_path: Path) -> None:
    MAKERS["fasttext"](window=np.int32(4), epochs=np.int64(2))
    model = MAKERS["word2vec"](seed=np.int64(3), window=np.int32(4), min_count=np.int64(1))
    model.save(tmp_path / "x.model")
    assert Word2Vec.load(tmp_path / "x.model").seed == 3


def test_arguments_of_pickles_do_not_apply(tmp_path: Path) -> None:
    with pytest.warns(mm.MalmoiWarning, match="sep_limit does not apply"):
        MAKERS["word2vec"]().save(tmp_path / "x.model", sep_limit=0)


@pytest.mark.parametrize("kind", ["word2vec", "fasttext"])
def test_models_of_gensim_train_on(kind: str, tmp_path: Path) -> None:
    classes = {"word2vec": gensim.models.Word2Vec, "fasttext": gensim.models.FastText}
    more = {"bucket": 500} if kind == "fasttext" else {}
    theirs = classes[kind](common_texts, **SMALL, **more)
    theirs.save(str(tmp_path / "x.model"))
    ours = type(MAKERS[kind]()).load(tmp_path / "x.model")
    np.testing.assert_allclose(ours.wv.vectors, theirs.wv.vectors, atol=1e-7)
    assert (ours.window, ours.corpus_count) == (theirs.window, theirs.corpus_count)
    before = ours.wv.vectors.copy()
    ours.build_vocab([["graph", "entirely", "new"]] * 2, update=True)
    ours.train(common_texts, total_examples=9, epochs=2)
    assert "entirely" in ours.wv.key_to_index
    assert not np.array_equal(ours.wv.vectors[: len(before)], before)


def test_vectors_alone_are_not_a_model(tmp_path: Path) -> None:
    MAKERS["word2vec"]().wv.save(tmp_path / "x.kv")
    with pytest.raises(AttributeError, match="not a Word2Vec"):
        Word2Vec.load(tmp_path / "x.kv")
    with pytest.raises(AttributeError, match="on the class"):
        MAKERS["word2vec"]().load(tmp_path / "x.kv")


def test_vectors_with_ngrams_stay_so(tmp_path: Path) -> None:
    model = MAKERS["fasttext"]()
    model.wv.save(tmp_path / "x.kv")
    loaded = KeyedVectors.load(tmp_path / "x.kv")
    assert isinstance(loaded, FastTextKeyedVectors)
    np.testing.assert_array_equal(loaded["compuutr"], model.wv["compuutr"])


def test_a_word_without_known_ngrams_has_the_vector_zero() -> None:
    wv = MAKERS["fasttext"](bucket=1_000_000).wv
    with pytest.warns(mm.MalmoiWarning, match="its vector is zero"):
        assert not wv["말모이"].any()


def test_locked_words_keep_their_vectors() -> None:
    model = Word2Vec(**SMALL)
    model.build_vocab(common_texts)
    before = model.wv.vectors.copy()
    model.wv.vectors_lockf = np.ones(len(model.wv), np.float32)
    model.wv.vectors_lockf[[2, 5]] = 0
    model.train(common_texts, total_examples=9, epochs=2)
    same = np.flatnonzero((model.wv.vectors == before).all(axis=1))
    assert same.tolist() == [2, 5]
    model.wv.vectors_lockf[3] = 0.5
    with pytest.raises(mm.InvalidArgumentError, match="vectors_lockf"):
        model.train(common_texts, total_examples=9, epochs=2)


def test_vectors_of_a_file_are_taken_and_locked(tmp_path: Path) -> None:
    source = KeyedVectors(10)
    source.add_vectors(["graph", "unlisted"], np.eye(10)[:2])
    source.save_word2vec_format(tmp_path / "x.txt")
    model = Word2Vec(**SMALL)
    model.build_vocab(common_texts)
    with pytest.raises(mm.InvalidArgumentError, match="cannot be honoured"):
        source.save_word2vec_format(tmp_path / "x.txt", append=True)
    model.wv.intersect_word2vec_format(tmp_path / "x.txt")
    model.train(common_texts, total_examples=9, epochs=2)
    assert "unlisted" not in model.wv
    np.testing.assert_array_equal(model.wv["graph"], np.eye(10)[0])


def test_a_trim_rule_keeps_rare_words() -> None:
    rule = lambda word, count, min_count: RULE_KEEP if word == "eps" else 0  # noqa: E731
    model = Word2Vec(common_texts, vector_size=10, sample=0, min_count=4, trim_rule=rule)
    assert sorted(model.wv.index_to_key) == ["eps", "system"]


@pytest.fixture(scope="module")
def lee() -> tuple[Any, Any]:
    """Our model of a small corpus, and gensim's vectors with the same numbers."""
    ours = Word2Vec(lee_corpus_list, vector_size=20, min_count=5, epochs=5, workers=1)
    theirs = gensim.models.KeyedVectors(20)
    theirs.add_vectors(ours.wv.index_to_key, ours.wv.vectors)
    return ours.wv, theirs


@pytest.mark.parametrize("function", ["most_similar", "most_similar_cosmul"])
@pytest.mark.parametrize("dummy4unknown", [False, True])
def test_analogies_are_gensims(lee: Any, function: str, dummy4unknown: bool) -> None:
    options = {"similarity_function": function, "dummy4unknown": dummy4unknown}
    ours, theirs = (
        one.evaluate_word_analogies(datapath("questions-words.txt"), **options) for one in lee
    )
    assert ours[0] == theirs[0]
    assert [one["section"] for one in ours[1]] == [one["section"] for one in theirs[1]]
    for mine, his in zip(ours[1], theirs[1], strict=True):
        assert sorted(mine["correct"]) == sorted(his["correct"])
        assert sorted(mine["incorrect"]) == sorted(his["incorrect"])


@pytest.mark.parametrize("dummy4unknown", [False, True])
def test_pairs_are_gensims(lee: Any, dummy4unknown: bool) -> None:
    ours, theirs = (
        one.evaluate_word_pairs(datapath("wordsim353.tsv"), dummy4unknown=dummy4unknown)
        for one in lee
    )
    for mine, his in zip(ours[:2], theirs[:2], strict=True):
        assert tuple(mine) == pytest.approx(tuple(his), rel=1e-4)
    assert ours[2] == pytest.approx(theirs[2])


@pytest.mark.parametrize(
    "call",
    [
        lambda wv: wv.distances("war"),
        lambda wv: wv.distances("war", ["attacks", "government"]),
        lambda wv: wv.get_mean_vector(["war", "attacks"], weights=[2, -1]),
        lambda wv: wv.get_mean_vector(["war", "attacks"], pre_normalize=False, post_normalize=True),
        lambda wv: wv.get_normed_vectors(),
        lambda wv: wv.rank("war", "government"),
        lambda wv: wv.relative_cosine_similarity("war", "attacks"),
        lambda wv: [score for score, _ in wv.rank_by_centrality(["war", "attacks", "two"])],
        lambda wv: wv.cosine_similarities(wv["war"], wv.vectors[:5]),
        lambda wv: wv.n_similarity(["war", "attacks"], ["government"]),
        lambda wv: wv.norms[:7] if wv.fill_norms() is None else None,
    ],
)
def test_numbers_are_gensims(lee: Any, call: Callable[[Any], Any]) -> None:
    ours, theirs = (call(one) for one in lee)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_words_are_gensims(lee: Any) -> None:
    ours, theirs = lee
    assert ours.closer_than("war", "attacks") == theirs.closer_than("war", "attacks")
    assert ours.doesnt_match(["war", "attacks", "two"]) == theirs.doesnt_match(
        ["war", "attacks", "two"]
    )
    assert ours.most_similar_to_given("war", ["two", "attacks"]) == theirs.most_similar_to_given(
        "war", ["two", "attacks"]
    )


def test_predictions_are_gensims() -> None:
    ours = MAKERS["word2vec"](epochs=50)
    theirs = gensim.models.Word2Vec(common_texts, **SMALL)
    order = [theirs.wv.get_index(word) for word in ours.wv.index_to_key]
    theirs.wv.vectors[order], theirs.syn1neg[order] = ours.wv.vectors, ours.syn1neg
    found, expected = (one.predict_output_word(["graph", "trees"], 4) for one in (ours, theirs))
    assert [word for word, _ in found] == [word for word, _ in expected]
    np.testing.assert_allclose([p for _, p in found], [p for _, p in expected], rtol=1e-5)


@pytest.mark.parametrize("sg", [0, 1])
def test_likely_sentences_score_higher(sg: int) -> None:
    model = Word2Vec(
        [["a", "b", "c"], ["x", "y", "z"]] * 50, vector_size=10, hs=1, negative=0, sg=sg,
        sample=0, alpha=0.1, epochs=30, workers=1,
    )  # fmt: skip
    likely, unlikely = model.score([["a", "b", "c"], ["a", "y", "c"]])
    assert 0 > likely > unlikely


def test_files_of_fasttext_train_on() -> None:
    model = load_facebook_model(datapath("crime-and-punishment.bin"))
    before = model.wv.vectors.copy()
    model.train([["landlady"] * 3] * 5, total_examples=5, epochs=1)
    assert not np.array_equal(before, model.wv.vectors)


def test_kept_in_step_with_malmois_own_functions() -> None:
    wv = MAKERS["word2vec"]().wv
    near = [one.key for one in mm.neighbours(wv.as_vectors(), "graph", 3)]
    assert near == [word for word, _ in wv.most_similar("graph", topn=3)]
    wv["graph"] = np.ones(10)
    np.testing.assert_array_equal(wv.as_vectors()["graph"], np.ones(10))
    wv.vectors[0] = 2
    wv.fill_norms(force=True)
    assert wv.norms[0] == pytest.approx(np.sqrt(40))


def test_attributes_grow_with_the_words() -> None:
    wv = KeyedVectors(2)
    wv.add_vectors(["a", "b"], np.eye(2), extras={"count": np.array([3, 5])})
    wv.add_vector("c", np.ones(2))
    assert [wv.get_vecattr(word, "count") for word in "abc"] == [3, 5, 0]
    wv.sort_by_descending_frequency()
    assert wv.index_to_key == ["b", "a", "c"]
    np.testing.assert_array_equal(wv["a"], [1, 0])
