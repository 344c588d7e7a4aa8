import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr  # type: ignore[import-untyped]

from malmoi.cli import run
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.errors import MalmoiError
from malmoi.evaluate.sets.sentence_sets import SentencePair, SentenceSet
from malmoi.evaluate.sweep import recipes_of, sweep_recipes

SENTENCES = [
    "A man is playing a guitar.",
    "Someone makes music on a large old instrument in the street.",
    "Prices fell sharply on Monday.",
    "The stock market had its worst day in years, analysts said, and more is to come.",
    "Two dogs run.",
    "Dogs are running on the beach beside the water.",
]
PAIRS = SentenceSet(
    "few",
    tuple(
        SentencePair(one, other, float((3 * i + 5 * j) % 7))
        for i, one in enumerate(SENTENCES)
        for j, other in enumerate(SENTENCES[:i])
    ),
)
CSV = "".join(f'"{one}","{other}",{score}\n' for one, other, score in PAIRS.pairs)


@pytest.fixture(scope="module")
def minilm() -> TransformerEncoder:
    return load_transformer("minilm")


def test_every_cell_is_what_the_recipe_alone_gives(minilm: TransformerEncoder) -> None:
    found = sweep_recipes(minilm, PAIRS)
    scores = [pair.score for pair in PAIRS.pairs]
    for recipes, values in zip(found.recipes, found.values, strict=True):
        for recipe, value in zip(recipes, values, strict=True):
            rows = minilm.encode(SENTENCES, recipe=recipe).astype(np.float64)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            of = dict(zip(SENTENCES, rows, strict=True))
            cosines = [float(of[pair.one] @ of[pair.other]) for pair in PAIRS.pairs]
            if value is None:
                assert np.ptp(cosines) < 1e-6, recipe
            else:
                assert value == pytest.approx(spearmanr(cosines, scores).statistic, abs=0.02)


def test_the_best_is_the_best_with_its_interval(minilm: TransformerEncoder) -> None:
    found = sweep_recipes(minilm, PAIRS)
    known = [value for row in found.values for value in row if value is not None]
    assert found.best_score.value == max(known)
    assert found.values[found.best[0]][found.best[1]] == max(known)
    assert found.values[0][0] is None, "[CLS] before the first layer is the same everywhere"


def test_of_equals_the_simplest_is_the_best(minilm: TransformerEncoder) -> None:
    found = sweep_recipes(minilm, SentenceSet("two", PAIRS.pairs[:2]))
    equal = [(i, j) for i, row in enumerate(found.values) for j, v in enumerate(row) if v == 1]
    assert len(equal) > 1
    assert found.best == equal[0]


@pytest.mark.parametrize(("states", "rows"), [(2, 4), (4, 7), (5, 9), (25, 29)])
def test_rows_are_all_layers_and_each_mixture_once(states: int, rows: int) -> None:
    assert len(recipes_of(states)) == rows


def test_scores_that_are_all_the_same_are_refused(minilm: TransformerEncoder) -> None:
    same = SentenceSet("same", tuple(pair._replace(score=4) for pair in PAIRS.pairs))
    with pytest.raises(MalmoiError, match="same has no correlation with anything"):
        sweep_recipes(minilm, same)


def test_the_command_prints_and_draws(
    minilm: TransformerEncoder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, plot = tmp_path / "few.csv", tmp_path / "heat.svg"
    path.write_text(CSV)
    assert run(["sweep", "minilm", "--file", str(path), "--plot", str(plot)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "minilm on few: Spearman, 15 pairs"
    assert lines[2].split() == [
        "layer",
        "cls",
        "mean",
        "max",
        "last",
        "mean",
        "max",
        "first",
        "last",
    ]
    assert [line.split("  ")[0] for line in lines[3:14]] == [
        *map(str, range(7)), "-4: sum", "-4: concat", "0,-1 sum", "all sum",
    ]  # fmt: skip
    assert sum(line.count("*") for line in lines) == 2
    assert max(map(len, lines)) <= 80
    assert plot.read_text().count("<rect") >= 88
    assert run(["sweep", "minilm", "--file", str(path), "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert (record["test"], record["pairs"], len(record["cells"])) == ("few", 15, 88)
    assert record["best"]["spearman"] == max(c["spearman"] or -1 for c in record["cells"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["minilm", "--file", "few.csv", "--plot", "heat.png"], "end its name in .svg"),
        (
            ["minilm", "--file", "few.csv", "--file", "few.csv", "--plot", "x.svg"],
            "shows one test set",
        ),
        (["minilm", "--file", "none.csv"], "none.csv does not exist"),
        (["minilm", "--file", "few.csv", "--plot", "no/x.svg"], "there is no folder no"),
        (["nobody", "--file", "few.csv"], "there is no model 'nobody'"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text(CSV)
    assert run(["sweep", *words]) == 1
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1
