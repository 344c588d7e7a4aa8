"""Hard negatives: equal to sentence-transformers where settings coincide, and never positives."""

import csv
import json
import random
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from sentence_transformers.util import hard_negatives

import malmoi as mm
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.examples import read_examples
from malmoi.tune.mining.guards import overlap, trigrams
from malmoi.tune.mining.mine import MinedNegatives, MinedTriplet
from malmoi.tune.mining.output import write_triplets
from tests.search.worlds import BagOfWords
from tests.tune.worlds import random_texts, tiny_model

QUIET = SilentReporter()
BAG = BagOfWords()
TEXTS = random_texts(60, seed=3)
PAIRS = [(TEXTS[i], TEXTS[20 + i]) for i in range(20)] + [(TEXTS[0], TEXTS[45])]
CORPUS = TEXTS[40:]


class Dataset:
    """As much of `datasets.Dataset`, which is not installed, as the peer's function uses."""

    def __init__(self, columns: Mapping[str, list[Any]]) -> None:
        self.columns = dict(columns)
        self.column_names = list(columns)

    from_dict = classmethod(lambda cls, columns: cls(columns))

    def __len__(self) -> int:
        return len(self.columns[self.column_names[0]])

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def to_pandas(self) -> Any:
        return pd.DataFrame(self.columns)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mining")
    tiny_model(folder / "bert")
    parts = [modules.Transformer(str(folder / "bert")), modules.Pooling(32)]
    SentenceTransformer(modules=parts, device="cpu").save(str(folder / "whole"))
    return folder / "whole"


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = types.ModuleType("datasets")
    stub.Dataset, stub.__version__ = Dataset, "0"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", stub)
    monkeypatch.setattr(hard_negatives, "is_datasets_available", lambda: True)


SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {"relative_margin": 0.05},
    "no margin": {"relative_margin": None},
    "absolute": {"relative_margin": None, "absolute_margin": 0.01},
    "both": {"relative_margin": 0.02, "absolute_margin": 0.01, "range_min": 2},
    "range": {"relative_margin": None, "range_min": 3, "range_max": 12},
    "scores": {"relative_margin": None, "max_score": 0.97, "min_score": 0.5, "range_max": 30},
}


@pytest.mark.usefixtures("peer")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SETTINGS)
def test_negatives_are_those_of_sentence_transformers(name: str, model: Path) -> None:
    settings = SETTINGS[name]
    queries, answers = zip(*PAIRS, strict=True)
    data: Any = Dataset({"query": list(queries), "answer": list(answers)})
    expected = hard_negatives.mine_hard_negatives(
        data,
        SentenceTransformer(str(model), device="cpu"),
        corpus=CORPUS,
        num_negatives=2,
        output_scores=True,
        verbose=False,
        **settings,
    )
    mined = mm.mine_negatives(
        PAIRS,
        CORPUS,
        str(model),
        mm.MiningSettings(negatives=2, near_duplicates=None, **settings),
        reporter=QUIET,
    )
    columns = [expected[name] for name in ("query", "answer", "negative")]
    assert {one[:3] for one in mined.triplets} == {*zip(*columns, strict=True)}
    ours = sorted((one.positive_score, one.negative_score) for one in mined.triplets)
    theirs = sorted(tuple(map(float, each)) for each in expected["scores"])
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def naive(settings: mm.MiningSettings) -> list[tuple[str, str, str]]:
    """Negatives of `PAIRS` written out, by the cosines of the bag of words."""
    texts = list(dict.fromkeys([*CORPUS, *(answer for _, answer in PAIRS)]))
    positives: dict[str, list[str]] = {}
    for query, answer in PAIRS:
        positives.setdefault(query, []).append(answer)

    def cosine(one: str, other: str) -> float:
        a, b = BAG.encode([one, other]).astype(float)
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    made = []
    for query, own in positives.items():
        lowest = min(cosine(query, text) for text in own)
        limit = lowest - abs(lowest) * (settings.relative_margin or 0)
        ranked = sorted(texts, key=lambda text: (-round(cosine(query, text), 6), texts.index(text)))
        searched = ranked[: settings.candidates(2) + 2]
        good = [text for text in searched if text not in own and cosine(query, text) <= limit]
        for text in own:
            chosen = good[settings.range_min : settings.range_min + settings.negatives]
            made += [(query, text, each) for each in chosen]
    return made


@pytest.mark.parametrize("range_min", [0, 4])
def test_negatives_are_those_written_out(range_min: int) -> None:
    settings = mm.MiningSettings(range_min=range_min, near_duplicates=None)
    mined = mm.mine_negatives(PAIRS, CORPUS, BAG, settings, reporter=QUIET)
    expected = naive(settings)
    assert len(mined) == len(expected)
    agreed = {one[:3] for one in mined.triplets} & {*expected}
    assert len(agreed) >= 0.97 * len(expected)  # ties may be in another order


def test_an_index_gives_the_negatives_of_its_texts() -> None:
    texts = list(dict.fromkeys([*CORPUS, *(answer for _, answer in PAIRS)]))
    index = mm.build_index(BAG, texts)
    by_index = mm.mine_negatives(PAIRS, index, reporter=QUIET)
    by_texts = mm.mine_negatives(PAIRS, CORPUS, BAG, reporter=QUIET)
    assert len(by_index) == len(by_texts)
    same = {one[:3] for one in by_index.triplets} & {one[:3] for one in by_texts.triplets}
    assert len(same) >= 0.97 * len(by_texts)


def test_other_positives_and_near_duplicates_are_never_negatives() -> None:
    long = "the river bank is a place to fish in the morning"
    pairs = [("the river", long), ("the river", "a river"), ("robbers", "rob the bank")]
    corpus = [long.upper(), long.replace(" ", "  "), f"{long}s", "fish in the river", "a bank"]
    settings = mm.MiningSettings(relative_margin=None, negatives=9)
    mined = mm.mine_negatives(pairs, corpus, BAG, settings, reporter=QUIET)
    negatives = {one.negative for one in mined.triplets if one.anchor == "the river"}
    assert negatives == {"fish in the river", "a bank", "rob the bank"}
    assert mined.skipped["a positive of the query"] == 3
    assert mined.skipped["equal to a positive but for case and spaces"] == 2
    assert mined.skipped["a near-duplicate of a positive"] == 1
    assert mined.examples["a near-duplicate of a positive"] == ("the river", f"{long}s")


def test_korean_in_its_letters_is_the_same_text() -> None:
    pairs = [("한국의 수도", "서울은 한국의 수도이다."), ("강", "강은 바다로 흐른다.")]
    decomposed = "서울은 한국의 수도이다."  # NFD
    mined = mm.mine_negatives(pairs, [decomposed], BAG, reporter=QUIET)
    assert all(one.negative != decomposed for one in mined.triplets if "한국" in one.anchor)


def test_random_negatives_repeat_with_their_seed() -> None:
    def drawn(seed: int) -> list[str]:
        settings = mm.MiningSettings(sampling="random", relative_margin=None, range_max=20,
                                     seed=seed)  # fmt: skip
        mined = mm.mine_negatives(PAIRS, CORPUS, BAG, settings, reporter=QUIET)
        return [one.negative for one in mined.triplets]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_judge_may_only_exclude_and_gives_the_margins() -> None:
    wide = mm.MiningSettings(negatives=60, range_max=70)
    alone = mm.mine_negatives(PAIRS, CORPUS, BAG, wide, reporter=QUIET)
    judge = BagOfWords("another", dim=8)
    judged = mm.mine_negatives(PAIRS, CORPUS, BAG, wide, judge=judge, reporter=QUIET)
    assert {one[:3] for one in judged.triplets} < {one[:3] for one in alone.triplets}
    assert judged.skipped["within the margin by the judge"] > 0
    one = judged.triplets[0]
    units = [each / np.linalg.norm(each) for each in judge.encode(list(one[:3])).astype(float)]
    assert one.margin == pytest.approx(units[0] @ units[1] - units[0] @ units[2], abs=1e-5)
    assert one.margin > 0
    own = alone.triplets[0]
    assert own.margin == pytest.approx(own.positive_score - own.negative_score)


def test_pairs_without_enough_negatives_are_counted() -> None:
    mined = mm.mine_negatives([("the bank", "a bank"), ("a fish", "fishing")], None, BAG,
                              reporter=QUIET)  # fmt: skip
    assert (mined.pairs, mined.incomplete) == (2, 2)
    assert len(mined) <= 2


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv"])
def test_files_are_read_as_triplets(suffix: str, tmp_path: Path) -> None:
    odd = MinedTriplet('say "hi",\tnow\nthen', "안녕", "the, bank", 0.9, 0.25, 0.65)
    mined = MinedNegatives((odd, odd._replace(anchor="b")), 2, 0)
    path = tmp_path / f"t{suffix}"
    write_triplets(mined, path, scores=True)
    examples = read_examples(path, reporter=QUIET)
    assert (examples.kind, len(examples)) == ("triplets", 2)
    assert examples.texts[0][1:] == ("안녕", "the, bank")
    assert examples.texts[0][0].split() == odd.anchor.split()
    write_triplets(mined, path, margins=True)
    examples = read_examples(path, reporter=QUIET)
    assert (examples.kind, examples.objective) == ("scored triplets", "margin_mse")
    assert examples.labels.tolist() == [0.65, 0.65]


def test_pairs_from_files_and_what_is_not_a_pair(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("a", "b", "score"), *((*pair, 0.5) for pair in PAIRS)])
    with pytest.raises(
        InvalidArgumentError, match=r"has no pairs \(columns a, b, score\): pass a query"
    ):
        mm.mine_negatives(path, CORPUS, BAG, reporter=QUIET)
    settings = mm.MiningSettings(columns=("a", "b"))
    assert mm.mine_negatives(path, CORPUS, BAG, settings, reporter=QUIET).pairs == len(PAIRS)
    with pytest.raises(InvalidFileError, match="gone"):
        mm.mine_negatives(tmp_path / "gone.csv", CORPUS, BAG)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InvalidFileError, match="is empty"):
        mm.mine_negatives(tmp_path / "empty.jsonl", CORPUS, BAG)
    lines = [json.dumps({"query": a, "positive": b}) for a, b in PAIRS]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    assert mm.mine_negatives(tmp_path / "pairs.jsonl", None, BAG, reporter=QUIET).pairs == 21


def test_rows_without_a_text_are_counted_and_few_answers_are_no_labels() -> None:
    rows = [("the bank", "yes"), ("a river", "no"), ("a fish", "yes"), ("fishing", "no"), ("", "x")]
    settings = mm.MiningSettings(columns=("1", "2"), relative_margin=None)
    with pytest.warns(mm.MalmoiWarning, match="1 row skipped: no text"):
        mined = mm.mine_negatives(rows, None, BAG, settings)
    assert mined.pairs == 4
    assert {(one.positive, one.negative) for one in mined.triplets} == {
        ("yes", "no"),
        ("no", "yes"),
    }


def test_arguments_that_exclude_each_other() -> None:
    with pytest.raises(InvalidArgumentError, match="encoder is missing"):
        mm.mine_negatives(PAIRS, CORPUS, reporter=QUIET)
    with pytest.raises(InvalidArgumentError, match="an index has its own encoder"):
        mm.mine_negatives(PAIRS, mm.build_index(BAG, CORPUS), BAG, reporter=QUIET)
    with pytest.raises(InvalidArgumentError, match="encoder must be an encoder, not 3"):
        mm.mine_negatives(PAIRS, CORPUS, 3, reporter=QUIET)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"negatives": 0}, "negatives is 0: it must be at least 1"),
        ({"range_min": -1}, "range_min is -1"),
        ({"range_min": 5, "range_max": 6}, "at least 3 apart"),
        ({"sampling": "best"}, "sampling is 'best': choose top or random"),
        ({"near_duplicates": 0.0}, "near_duplicates is 0.0"),
        ({"max_score": float("nan")}, "max_score is nan"),
        ({"relative_margin": "much"}, "relative_margin must be a number"),
    ],
)
def test_settings_out_of_range(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        mm.MiningSettings(**changes)


@given(st.text(max_size=30), st.text(max_size=30))
def test_overlap_is_symmetric_and_whole_for_the_same_text(one: str, other: str) -> None:
    assert overlap(one, other) == overlap(other, one)
    assert 0 <= overlap(one, other) <= 1
    assert overlap(one, one) == 1
    assert len(trigrams(one)) <= max(1, len(one) * 18)  # NFKC may expand a letter


def test_the_peers_random_state_is_not_ours() -> None:
    random.seed(5)
    before = random.random()
    random.seed(5)
    mm.mine_negatives(PAIRS, CORPUS, BAG, mm.MiningSettings(sampling="random"), reporter=QUIET)
    assert random.random() == before
