"""Models of sizes that nobody expects: equal to transformers by both engines, or refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.inspection import inspect_model
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens.inputs import Text
from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from tests.encode.checkpoints import save_model
from tests.encode.test_equal_to_transformers import assert_equal

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown")  # so few tokens are known
TEXTS: list[Text] = ["the bank", "a", "robbers, fishing a river. " * 3, "the river bank"]


def with_nothing_added(folder: Path) -> None:
    """A tokenizer that adds no special tokens."""
    path = folder / "tokenizer.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["post_processor"] = None
    path.write_text(json.dumps(said), encoding="utf-8")


def with_number(folder: Path, name: str, number: float) -> None:
    """A model one of whose weights has this number in it."""
    path = folder / "model.safetensors"
    tensors = {key: array.copy() for key, array in load_file(path).items()}
    tensors[name].reshape(-1)[-1] = number
    save_file(tensors, path, metadata={"format": "pt"})


@pytest.mark.parametrize(
    "sizes",
    [
        {"hidden_size": 30, "num_attention_heads": 5},
        {"hidden_size": 33, "num_attention_heads": 3},
        {"hidden_size": 33, "num_attention_heads": 33},
        {"hidden_size": 17, "num_attention_heads": 1, "intermediate_size": 7},
        {"intermediate_size": 47},
        {"intermediate_size": 1},
        {"type_vocab_size": 1},
        {"type_vocab_size": 5},
        {"num_hidden_layers": 1},
        {"vocab_size": 1001},
        {"max_position_embeddings": 7},
    ],
    ids=str,
)
def test_odd_sizes_give_the_states_of_transformers(sizes: dict[str, int], tmp_path: Path) -> None:
    model = save_model(tmp_path, "bert", **sizes)
    encoder = load_transformer(str(tmp_path))
    assert encoder.tokenizer.max_length == min(40, sizes.get("max_position_embeddings", 40))
    if encoder.tokenizer.max_length < 40:  # texts are truncated to fit the positions
        with pytest.warns(MalmoiWarning, match="longer than 7 tokens"):
            assert_equal(encoder, model, 1e-5, TEXTS)
    else:
        assert_equal(encoder, model, 1e-5, TEXTS)


def test_narrow_tables_of_odd_size(tmp_path: Path) -> None:
    sizes = {"embedding_size": 13, "hidden_size": 33, "num_attention_heads": 3}
    model = save_model(tmp_path, "electra", **sizes)
    assert_equal(load_transformer(str(tmp_path)), model, 1e-5, TEXTS)


def test_a_pair_for_a_model_with_one_segment(tmp_path: Path) -> None:
    save_model(tmp_path, "bert", type_vocab_size=1)
    encoder = load_transformer(str(tmp_path))
    before = encoder.encode([("the bank", "a river")])
    encoder.compile()
    np.testing.assert_allclose(encoder.encode([("the bank", "a river")]), before, atol=1e-5)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"hidden_size": 33}, "hidden_size 33 is not a multiple of 4 heads"),
        ({"num_attention_heads": 0}, "must be at least 1"),
        ({"num_hidden_layers": 0}, "must be at least 1"),
        ({"intermediate_size": -3}, "must be at least 1"),
        ({"vocab_size": 17}, "'embeddings.word_embeddings.weight' is float32 of shape"),
        ({"max_position_embeddings": 4000}, "'embeddings.position_embeddings.weight' is float32"),
        ({"hidden_size": "many"}, "is not a valid config of a bert model"),
    ],
    ids=str,
)
def test_sizes_that_cannot_be_are_refused(sizes: dict[str, Any], said: str, tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | sizes))
    with pytest.raises(InvalidFileError, match=said):
        load_transformer(str(tmp_path))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "name",
    ["encoder.layer.0.attention.self.query.weight", "encoder.layer.2.output.LayerNorm.bias"],
)
def test_weights_that_are_no_numbers_are_refused(name: str, number: float, tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    with_number(tmp_path, name, number)
    with pytest.raises(InvalidFileError, match=f"'{name}' contains NaN or infinity"):
        load_transformer(str(tmp_path))
    assert any("NaN or infinity" in one.problem for one in inspect_model(str(tmp_path)).findings)


@pytest.mark.parametrize("settled", [False, True])
def test_a_row_of_a_table_that_is_no_number_is_refused_when_it_is_used(
    settled: bool, tmp_path: Path
) -> None:
    save_model(tmp_path, "bert")
    with_number(tmp_path, "embeddings.word_embeddings.weight", np.nan)  # of ##ing
    encoder = load_transformer(str(tmp_path))
    if settled:
        encoder.compile()
    assert np.isfinite(encoder.encode(["the bank"])).all()
    with pytest.raises(InvalidFileError, match="hidden states contain NaN or infinity"):
        encoder.encode(["the bank", "fishing"])


def test_a_dense_module_that_is_no_number_is_refused(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    for name, said in {
        "1_Pooling": {"pooling_mode": "mean"},
        "2_Dense": {"in_features": 32, "out_features": 2, "bias": False},
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(said))
    weight = np.full((2, 32), np.inf, np.float32)
    save_file({"linear.weight": weight}, tmp_path / "2_Dense" / "model.safetensors")
    kinds = {"Transformer": "", "Pooling": "1_Pooling", "Dense": "2_Dense"}
    listed = [{"type": f"m.{kind}", "path": path} for kind, path in kinds.items()]
    (tmp_path / "modules.json").write_text(json.dumps(listed))
    with pytest.raises(InvalidFileError, match=r"2_Dense: its weights contain NaN or infinity"):
        load_transformer(str(tmp_path))


Ask = Callable[[TransformerEncoder], Any]


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize(
    "texts", [[""], ["", "the bank", ""], ["the bank", ""], ["", "a " * 600], [("", "")]], ids=str
)
def test_an_empty_text_without_special_tokens_is_zeros_and_reported(
    texts: list[Text], settled: bool, tmp_path: Path
) -> None:
    save_model(tmp_path, "bert", max_position_embeddings=700)
    with_nothing_added(tmp_path)
    encoder = load_transformer(str(tmp_path))
    if settled:
        encoder.compile()
    empty = [i for i, text in enumerate(texts) if text in ("", ("", ""))]
    asks: list[Ask] = [
        lambda it: it.encode(texts),
        lambda it: it.encode(texts, pool="cls"),
        lambda it: it.encode(texts, pool="max", layers="-2:", layer_pooling="concat"),
        lambda it: it.activations(texts).pooled(),
    ]
    if all(isinstance(text, str) for text in texts):
        asks.append(lambda it: it.encode(texts, overflow="windows"))
    for ask in asks:
        with pytest.warns(MalmoiWarning, match=f"{len(empty)} of {len(texts)} texts are empty"):
            found = ask(encoder)
        assert len(found) == len(texts)
        for i in range(len(texts)):
            assert found[i].any() == (i not in empty)
    with pytest.warns(MalmoiWarning, match="empty"):
        states = encoder.activations(texts)
    assert [len(words.keys) for words in states.words()][empty[0]] == 0
    assert [len(tokens.keys) for tokens in states.tokens()][empty[0]] == 0


@pytest.mark.parametrize("weights", [(1e308, -1e308), (10**308, 0), (-1e308, -1e308)])
def test_huge_weights_of_a_mix_are_shares_all_the_same(weights: tuple[float, float]) -> None:
    ones = [np.ones((1, 2), np.float32), np.full((1, 2), 3, np.float32)]
    mixed = Recipe(layers=(0, 1), layer_pooling="weighted", weights=weights).pool_layers(ones)
    expected = 2.0 if weights[0] == weights[1] else 1.0
    np.testing.assert_array_equal(mixed, np.full((1, 2), expected, np.float32))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scale": 1e308}, r"scale 1e\+308 is beyond"),
        ({"scale": -1e31}, r"scale -1e\+31 is beyond"),
        ({"scale": np.inf}, "not finite"),
        ({"scale": 10**400}, "too many digits"),
        ({"weights": (10**400,)}, "too many digits"),
        ({"weights": (np.nan,)}, "not finite"),
    ],
    ids=str,
)
def test_a_scale_beyond_floats_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        Recipe(**{"layer_pooling": "weighted", "weights": (1.0,), **changes})
