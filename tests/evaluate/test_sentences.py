from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr  # type: ignore[import-untyped]

from malmoi.encode.checkpoint.locate import find_model
from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.evaluate.sentences import evaluate_sentences, sentence_similarity
from malmoi.evaluate.sets.locate_sets import find_sentence_sets
from malmoi.evaluate.sets.sentence_sets import SentencePair, SentenceSet, read_sentences
from tests.evaluate.sentence_files import CSV, TableEncoder, real
from tests.recording_reporter import RecordingReporter


def made_up(count: int = 60) -> tuple[TableEncoder, SentenceSet]:
    """Texts with random vectors, some of them in several pairs; scores in a few steps."""
    random = np.random.default_rng(8)
    vectors = {f"text {i}": random.normal(size=4).tolist() for i in range(count // 2)}
    names = list(vectors)
    drawn = random.integers(len(names), size=(count, 2)).tolist()
    pairs = [
        SentencePair(names[one], names[other], float(random.integers(6))) for one, other in drawn
    ]
    return TableEncoder(vectors), SentenceSet("made up", tuple(pairs))


def test_correlations_are_scipys() -> None:
    encoder, asked = made_up()
    found = sentence_similarity(encoder, asked)
    one = np.array([encoder.vectors[pair.one] for pair in asked.pairs])
    other = np.array([encoder.vectors[pair.other] for pair in asked.pairs])
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    cosines = np.round((one * other).sum(axis=1) / lengths, 6)
    scores = [pair.score for pair in asked.pairs]
    assert found.spearman.value == pytest.approx(spearmanr(cosines, scores).statistic, abs=1e-9)
    assert found.pearson.value == pytest.approx(pearsonr(cosines, scores).statistic, abs=1e-6)
    for score in (found.spearman, found.pearson):
        assert (score.answered, score.total) == (60, 60)
        assert score.low is not None
        assert score.high is not None
        assert score.value is not None
        assert score.low < score.value < score.high


def test_each_text_is_encoded_once_for_all_sets() -> None:
    encoder, asked = made_up()
    reporter = RecordingReporter()
    found = evaluate_sentences(encoder, [asked, asked], reporter=reporter)
    assert found[0] == found[1]
    assert len(encoder.asked) == len(set(encoder.asked))
    assert reporter.stages["encoding"][-1] == (len(encoder.asked), len(encoder.asked))


def test_a_text_without_direction_is_similar_to_none() -> None:
    vectors = {"a": [1.0, 0], "b": [1.0, 0.1], "c": [0.5, 1], "unknown": [0.0, 0]}
    pairs = [("a", "b", 5), ("a", "c", 3), ("a", "unknown", 1)]
    asked = SentenceSet("few", tuple(SentencePair(*pair) for pair in pairs))
    found = sentence_similarity(TableEncoder(vectors), asked)
    assert (found.spearman.answered, found.spearman.total) == (2, 3)
    assert found.spearman.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("scores", "vectors", "said"),
    [
        (
            [4, 4, 4],
            [[1, 0], [0, 1], [1, 1]],
            "all human scores are 4: the correlation is undefined",
        ),
        ([1, 2, 3], [[1, 2]] * 3, "all cosines are equal"),
        ([1], [[1, 0], [0, 1], [1, 1]], "correlation of a single pair"),
    ],
)
def test_where_there_is_no_correlation_it_is_said(
    scores: list[float], vectors: list[list[float]], said: str
) -> None:
    encoder = TableEncoder(dict(zip("abc", vectors, strict=True)))
    pairs = zip([("a", "b"), ("b", "c"), ("a", "c")], scores, strict=False)
    asked = SentenceSet("few", tuple(SentencePair(*both, score) for both, score in pairs))
    with pytest.warns(MalmoiWarning, match=said):
        found = sentence_similarity(encoder, asked)
    assert (found.spearman.value, found.pearson.value) == (None, None)
    assert (found.spearman.low, found.pearson.high) == (None, None)


def test_sets_are_found_but_for_those_to_train_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sts" / "own"
    folder.mkdir(parents=True)
    for name in ("dev.csv", "own-train.csv", "README.md"):
        (folder / name).write_text(CSV)
    (folder / "other.tsv").write_text("a\tb\tc\td\n")
    monkeypatch.setenv("MALMOI_DATA", str(tmp_path))
    with pytest.warns(MalmoiWarning, match="skipped: the columns of .*other.tsv"):
        (found,) = find_sentence_sets()
    assert (found.name, len(found.pairs)) == ("own/dev", 3)
    monkeypatch.delenv("MALMOI_DATA")
    with pytest.raises(InvalidArgumentError, match=r"there are no test sets: give files"):
        find_sentence_sets()


@pytest.mark.filterwarnings("ignore:.*NFC")
def test_stsb_with_minilm_is_sentence_transformers_own_figure() -> None:
    asked = read_sentences(real("stsb_en/stsb-en-dev.csv"))
    theirs = evaluator_figures(asked)
    ours = sentence_similarity(load_encoder("minilm"), asked)
    for score, figure in zip((ours.spearman, ours.pearson), theirs, strict=True):
        assert score.value is not None
        assert 100 * abs(score.value - figure) < 0.01


def evaluator_figures(asked: SentenceSet) -> tuple[float, float]:
    """Spearman and Pearson as sentence-transformers has them."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator

    ones, others, scores = zip(*asked.pairs, strict=True)
    evaluate: Any = EmbeddingSimilarityEvaluator(ones, others, scores, write_csv=False)
    found = evaluate(SentenceTransformer(str(find_model("minilm")), device="cpu"))
    return found["spearman_cosine"], found["pearson_cosine"]
