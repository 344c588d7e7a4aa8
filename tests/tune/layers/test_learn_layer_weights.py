import json
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.tune.data.labelled_set import read_labelled_set
from malmoi.tune.data.splits import split_folds, split_texts, stratified_sample
from malmoi.tune.layers.learning import read_classes
from tests.recording_reporter import RecordingReporter
from tests.tune.worlds import random_texts, tiny_model

SETTINGS = mm.LayerSettings(test_share=0.25)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_model(tmp_path_factory.mktemp("layers") / "model")


def rows(count: int = 120) -> list[tuple[str, str]]:
    """Texts whose class is whether they have the word river."""
    texts = random_texts(count)
    return [(text, "wet" if "river" in text else "dry") for text in texts]


def test_recipe_gives_the_vectors_that_were_classified(model: str) -> None:
    encoder = mm.load_transformer(model)
    result = mm.learn_layer_weights(encoder, rows(), SETTINGS, reporter=RecordingReporter())
    assert len(result.layers) == encoder.config.num_states == len(result.recipe.weights)
    assert sum(result.shares) == pytest.approx(1)
    assert (result.learned.value or 0) > 0.8
    texts = random_texts(3)
    vectors = encoder.encode(texts, recipe=result.recipe)
    states = encoder.activations(texts).states
    by_hand = [
        result.recipe.scale * np.tensordot(result.shares, each.mean(axis=1), 1) for each in states
    ]
    assert vectors == pytest.approx(np.array(by_hand), abs=1e-4)


def test_the_same_seed_gives_the_same_weights(model: str) -> None:
    encoder = mm.load_transformer(model)
    first, again, other = (
        mm.learn_layer_weights(
            encoder, rows(), mm.LayerSettings(seed=seed), reporter=RecordingReporter()
        ).recipe
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_saved_recipe_is_an_encoder(model: str, tmp_path: Path) -> None:
    out = tmp_path / "wet"
    encoder = mm.load_transformer(model)
    result = mm.learn_layer_weights(
        encoder, rows(), SETTINGS, out=out, reporter=RecordingReporter()
    )
    loaded = mm.load_encoder(str(out))
    texts = ["the bank", "a river, fishing"]
    assert loaded.dim == encoder.dim
    assert loaded.encode(texts) == pytest.approx(encoder.encode(texts, recipe=result.recipe))
    assert "learned" in (out / "README.md").read_text(encoding="utf-8")
    with pytest.raises(InvalidFileError, match="exists already"):
        mm.learn_layer_weights(encoder, rows(), SETTINGS, out=out)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "JSON"),
        ('{"model": "minilm"}', "does not name a model and a recipe"),
        ('{"model": "minilm", "recipe": {"layer": 1}}', "unknown fields of a recipe: layer"),
        ('{"model": "minilm", "recipe": {"pool": "median"}}', "pool must be one of"),
        ('{"model": "minilm", "recipe": {"weights": [[]]}}', "invalid recipe"),
        ('{"model": "nowhere", "recipe": {}}', "no model 'nowhere'"),
    ],
)
def test_damaged_recipe_is_one_sentence(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "recipe.json").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidFileError, match=message):
        mm.load_encoder(str(tmp_path))


def test_recipe_of_a_recipe_is_refused(tmp_path: Path) -> None:
    content = {"model": str(tmp_path), "recipe": {}}
    (tmp_path / "recipe.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InvalidFileError, match="which is a recipe itself"):
        mm.load_encoder(str(tmp_path))


def test_command_prints_each_layer_and_writes_the_recipe(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "texts.tsv"
    lines = [f"{label}\t{text}" for text, label in rows()]
    table.write_text("\n".join(["kind\tbody", *lines]), encoding="utf-8")
    words = ["tune", "layers", str(table), "--model", model, "--columns", "body,kind"]
    assert run([*words, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "mean of all" in printed
    assert "learned weights are" in printed
    assert all(len(line) <= 80 for line in printed.splitlines()), printed
    assert run([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [one["layer"] for one in record["layers"]] == [0, 1, 2, 3]
    assert record["classes"] == ["dry", "wet"]
    assert run(["embed", "the bank", "--model", str(tmp_path / "out")]) == 0


def test_folds_test_each_text_once() -> None:
    data = read_labelled_set([*rows(90), *rows(30)], reporter=RecordingReporter())
    splits = split_folds(data, 4, seed=2)
    tested = [data.texts[i] for split in splits for i in split.test]
    assert len(set(tested)) == len(tested)
    assert len(tested) + sum(split.repeats for split in splits) == len(data)
    for split in splits:
        assert not {data.texts[i] for i in split.train} & {data.texts[i] for i in split.test}
        assert set(data.first_labels[split.train].tolist()) == {0, 1}
    again = split_folds(data, 4, seed=2)
    assert all((a.test == b.test).all() for a, b in zip(splits, again, strict=True))


def test_max_pooling_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="pool is 'max'"):
        mm.LayerSettings(pool="max")


def test_pairs_are_refused(model: str) -> None:
    pairs = [("a bank", "the river", 0.5), ("fish", "fishing", 0.25)]
    with pytest.raises(InvalidArgumentError, match="ambiguous"):
        mm.learn_layer_weights(mm.load_transformer(model), pairs, reporter=RecordingReporter())


def test_classes_with_few_texts_are_left_out_and_counted() -> None:
    reporter = RecordingReporter()
    data = read_classes([*rows(40), ("a fish", "rare")], (), reporter)
    assert data.names == ("dry", "wet")
    assert any(
        "1 texts are left out" in sentence and "rare" in sentence for sentence in reporter.warnings
    )


def test_test_part_has_every_class_and_no_text_of_the_other_part() -> None:
    repeated = [*rows(60), *rows(60), ("only once", "wet")]
    data = read_labelled_set(repeated, reporter=RecordingReporter())
    split = split_texts(data, 0.3, seed=4)
    train, test = ([data.texts[i] for i in part] for part in (split.train, split.test))
    assert not set(train) & set(test)
    assert len(set(test)) == len(test)
    assert len(train) + len(test) + split.repeats == len(data)
    assert set(data.first_labels[split.test].tolist()) == {0, 1}


def test_stratified_sample_has_the_share_of_each_class() -> None:
    labels = np.repeat([0, 1, 2], [100, 50, 2])
    counts = np.bincount(labels[stratified_sample(labels, 0.2, seed=0)])
    assert counts.tolist() == [20, 10, 1]
