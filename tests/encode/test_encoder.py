"""What an encoder answers, on a real model."""

from pathlib import Path
from pickle import dumps, loads

import numpy as np
import pytest

from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.static.average import average_encoder
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.vectors import Vectors
from tests.encode.test_equal_to_transformers import BANK
from tests.encode.worlds import naive_pool

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

TEXTS = ["the river bank", "one two three four five six", "hello", "a longer text, with commas"]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_the_same_word_differs_by_its_context(minilm: TransformerEncoder) -> None:
    (words,) = minilm.activations([BANK]).words(layers="-4:", layer_pooling="sum")
    vault, robber, river = (i for i, word in enumerate(words.keys) if word == "bank")
    rows = words.matrix
    near, far = cosine(rows[vault], rows[robber]), cosine(rows[robber], rows[river])
    assert far + 0.03 < near < 0.999
    begin, end = words.offsets[river]
    assert BANK[begin:end] == "bank"


def test_the_table_of_the_bank_sentence(minilm: TransformerEncoder) -> None:
    (tokenized,) = minilm.tokenizer([BANK])
    assert len(tokenized) == 22
    assert tokenized.tokens[:7] == ("[CLS]", "after", "stealing", "money", "from", "the", "bank")
    assert tokenized.ids[:7].tolist() == [101, 2044, 11065, 2769, 2013, 1996, 2924]
    assert tokenized.attention_mask.tolist() == [1] * 22
    assert tokenized.token_type_ids.tolist() == [0] * 22


@pytest.mark.parametrize("pool", ["cls", "mean", "max", "mean_sqrt", "first", "last"])
@pytest.mark.parametrize("special", [True, False])
def test_vectors_are_those_of_the_activations(
    minilm: TransformerEncoder, pool: str, special: bool
) -> None:
    if pool == "cls" and not special:
        return
    recipe = Recipe(layers=[2, -1], layer_pooling="mean", pool=pool, include_special_tokens=special)  # type: ignore[arg-type]
    found = minilm.encode(TEXTS, recipe=recipe)
    states = minilm.activations(TEXTS, layers=[2, 6])
    np.testing.assert_allclose(found, states.pooled(recipe), atol=1e-5)
    rows = [state.mean(axis=0)[0 if special else 1 :][: None if special else -1]
            for state in states.states]  # fmt: skip
    np.testing.assert_allclose(found, [naive_pool(row, pool) for row in rows], atol=1e-5)


def test_vectors_do_not_depend_on_what_shares_the_batch(minilm: TransformerEncoder) -> None:
    many = [*TEXTS, *(f"number {i} " * (i % 30 + 1) for i in range(60))]
    together = minilm.encode(many)
    alone = np.concatenate([minilm.encode([text]) for text in many])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(minilm.encode(many[::-1])[::-1], together, atol=1e-5)


def test_odd_characters_are_read(minilm: TransformerEncoder) -> None:
    nfc, nfd = minilm.encode(["한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"])
    np.testing.assert_allclose(nfc, nfd, atol=1e-6)
    odd = minilm.encode(["lone \ud800 surrogate", "nul \0 byte", "\u200b zero width"])
    assert np.isfinite(odd).all()


def test_empty_and_truncated_texts_are_reported(minilm: TransformerEncoder) -> None:
    with pytest.warns(MalmoiWarning, match="2 of 3 texts are empty"):
        vectors = minilm.encode(["", "\n", "x"], recipe=Recipe(include_special_tokens=False))
    assert (vectors[:2] == 0).all()
    with pytest.warns(MalmoiWarning, match="1 of 1 texts are longer than 256 tokens"):
        states = minilm.activations(["long " * 300], layers=0)
    assert states.texts[0].truncated
    assert states.states[0].shape == (1, 256, 384)


def test_no_texts(minilm: TransformerEncoder) -> None:
    assert minilm.encode([]).shape == (0, 384)
    assert minilm.encode([], layers="-4:", layer_pooling="concat").shape == (0, 4 * 384)
    assert len(minilm.activations([])) == 0


def test_invalid_arguments(minilm: TransformerEncoder) -> None:
    with pytest.raises(InvalidArgumentError, match="there is no layer 12: there are 7"):
        minilm.encode(TEXTS, layers=12)
    with pytest.raises(InvalidArgumentError, match=r"text number 2 is 7 \(int\): pass a string"):
        minilm.encode(["one", 7])  # type: ignore[list-item]
    with pytest.raises(InvalidArgumentError, match="or two strings as a pair"):
        minilm.encode([("one", "two", "three")])
    with pytest.raises(InvalidArgumentError, match="texts is the single string b'hello'"):
        minilm.encode(b"hello")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="use per='token'"):
        minilm.encode(TEXTS, pool="none")
    with pytest.raises(InvalidArgumentError, match="has no prompt 'query': it has none"):
        minilm.encode(TEXTS, prompt="query")


def test_a_recipe_goes_by_its_name_in_streams_too(minilm: TransformerEncoder) -> None:
    (rows,) = minilm.stream(TEXTS, "bert-as-service")
    np.testing.assert_array_equal(rows, minilm.encode(TEXTS, recipe="bert-as-service"))


def test_an_encoder_is_sent_to_another_process_by_its_name(minilm: TransformerEncoder) -> None:
    again = loads(dumps(minilm))
    assert again.name == minilm.name
    np.testing.assert_allclose(again.encode(TEXTS[:2]), minilm.encode(TEXTS[:2]), atol=1e-5)


def test_warnings_point_to_the_line_that_asked(minilm: TransformerEncoder) -> None:
    glove = average_encoder(Vectors(["a"], [[1.0]]))
    for ask in (minilm.encode, minilm.activations, lambda t: list(minilm.stream(t)), glove.encode):
        with pytest.warns(MalmoiWarning) as caught:
            ask([""])
        assert {warning.filename for warning in caught} == {__file__}


def test_onnxruntime_is_met_in_one_file_and_onnx_in_none() -> None:
    source = Path(__file__).parents[2] / "src" / "malmoi"
    named = {"onnxruntime": ["onnx_session.py"], "onnx": []}
    for package, homes in named.items():
        holding = {p.name for p in source.rglob("*.py") if f'require("{package}"' in p.read_text()}
        assert sorted(holding) == homes
