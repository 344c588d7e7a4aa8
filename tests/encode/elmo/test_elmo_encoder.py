"""An ELMo folder as an encoder: layers, recipes, words, boundaries, long and odd texts."""

import pickle
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.arrays import Float32Array
from malmoi.encode.elmo import engine as engines
from malmoi.encode.elmo.encoder import ElmoEncoder, load_elmo
from malmoi.encode.elmo.numpy_network import NumpyNetwork
from malmoi.encode.elmo.word_vectors import WordVectors
from malmoi.encode.loading import load_contextual, load_encoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.runtime.engine import can_compile
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.text.character_ids import character_ids
from tests import naive_elmo
from tests.encode.elmo.folders import save_elmo

TEXTS = ["The bank of the river isn't far.", "He robbed the bank!", "한국어를 읽는다"]
WORDS = ["The", "bank", "of", "the", "river", "is", "n't", "far", "."]


def naive(folder: Path, words: Sequence[str]) -> Float32Array:
    """All layers of the words of a text, [layers, words, dim], by the twin."""
    options, tensors = save_elmo(folder.with_name(f"{folder.name}-again"))
    return naive_elmo.layers(tensors, options, words)[:, 1:-1].astype(np.float32)


def test_every_loader_opens_the_folder(folder: Path) -> None:
    for load in (load_encoder, load_contextual, load_elmo):
        encoder = load(str(folder))
        assert isinstance(encoder, mm.ElmoEncoder)
        assert isinstance(encoder, mm.ContextualEncoder)
        assert encoder.dim == 12
        assert repr(encoder).endswith("2 layers × 12, 11 cells)")
    with pytest.raises(InvalidArgumentError, match="is an ELMo model, not a transformer"):
        mm.load_transformer(str(folder))
    with pytest.raises(InvalidArgumentError, match="runs in float32 only"):
        load_encoder(f"{folder}:quantized")


def test_layers_words_and_offsets(elmo: ElmoEncoder, folder: Path) -> None:
    states = elmo.activations(TEXTS[:1])
    (text,) = states.texts
    assert text.tokens == ("<S>", *WORDS, "</S>")
    assert text.word_texts() == tuple(WORDS)
    assert text.ids.shape == (11, 20)
    expected = naive(folder, WORDS)
    np.testing.assert_allclose(states.states[0][:, 1:-1], expected, atol=5e-6)
    for layer in range(3):
        (words,) = states.words(layers=layer)
        assert words.keys == tuple(WORDS)
        assert [TEXTS[0][a:b] for a, b in words.offsets.tolist()] == WORDS
        np.testing.assert_allclose(words.matrix, expected[layer], atol=5e-6)
        (tokens,) = states.tokens(layers=layer)
        np.testing.assert_array_equal(tokens.matrix, words.matrix)


def test_a_text_is_the_mean_of_all_layers_and_words(elmo: ElmoEncoder, folder: Path) -> None:
    vector = elmo.encode(TEXTS[0])
    np.testing.assert_allclose(vector, naive(folder, WORDS).mean(axis=(0, 1)), atol=5e-6)


@pytest.mark.parametrize("pool", ["mean", "max", "first", "last", "cls", "mean_sqrt"])
def test_recipes_leave_the_boundaries_out_unless_they_are_asked_for(
    elmo: ElmoEncoder, pool: str
) -> None:
    (all_states,) = elmo.activations(TEXTS[:1]).states
    weights = np.array([0.2, -1.0, 0.7])
    shares = np.exp(weights) / np.exp(weights).sum()
    mixed = 1.5 * np.tensordot(shares, all_states, 1)
    for special in (None, True, False):
        if pool == "cls" and special is False:
            continue
        recipe = Recipe(
            layers="all", layer_pooling="weighted", weights=tuple(weights), scale=1.5,
            pool=pool, include_special_tokens=special,  # type: ignore[arg-type]
        )  # fmt: skip
        rows = mixed if special or pool == "cls" else mixed[1:-1]
        expected = {
            "mean": rows.mean(axis=0), "max": rows.max(axis=0), "first": rows[0],
            "cls": rows[0], "last": rows[-1], "mean_sqrt": rows.sum(axis=0) / len(rows) ** 0.5,
        }[pool]  # fmt: skip
        np.testing.assert_allclose(elmo.encode(TEXTS[0], recipe=recipe), expected, atol=5e-6)
        pooled = elmo.activations(TEXTS[:1]).pooled(recipe)[0]
        np.testing.assert_allclose(pooled, expected, atol=5e-6)


def test_a_vector_does_not_depend_on_other_texts(elmo: ElmoEncoder) -> None:
    many = [*TEXTS, "", "a " * 30, *[f"word{i} and {i} more" for i in range(90)]]
    with pytest.warns(MalmoiWarning, match="empty"):
        together = elmo.encode(many)
    with pytest.warns(MalmoiWarning, match="empty"):
        backward = elmo.encode(many[::-1])[::-1]
    np.testing.assert_allclose(together, backward, atol=2e-6)
    for text, vector in zip(many[:3], together, strict=False):
        np.testing.assert_allclose(elmo.encode(text), vector, atol=2e-6)
    assert not together[3].any()


@pytest.mark.skipif(not can_compile(), reason="this processor has no AVX2 with FMA")
def test_kernels_take_over_once_there_is_enough_work(
    elmo: ElmoEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "COMPILE_AFTER_TOKENS", 300)
    before = elmo.encode(TEXTS)
    assert isinstance(elmo.engine._network, NumpyNetwork)
    after = elmo.encode(TEXTS)
    assert not isinstance(elmo.engine._network, NumpyNetwork)
    np.testing.assert_allclose(before, after, atol=2e-6)
    elmo.compile()


def test_tokens_are_taken_as_they_are(elmo: ElmoEncoder, folder: Path) -> None:
    tokens = ["The", "bank", "isn't", "far-off", "New York"]
    states = elmo.activations([tokens])
    assert states.texts[0].tokens[1:-1] == tuple(tokens)
    assert states.texts[0].word_texts() == tuple(tokens)
    np.testing.assert_allclose(states.states[0][:, 1:-1], naive(folder, tokens), atol=5e-6)
    joined = elmo.encode(" ".join(tokens))
    assert np.abs(elmo.encode([tokens])[0] - joined).max() > 1e-3


def test_decomposed_korean_is_composed(elmo: ElmoEncoder) -> None:
    decomposed = unicodedata.normalize("NFD", TEXTS[2])
    assert decomposed != TEXTS[2]
    np.testing.assert_array_equal(elmo.encode(decomposed), elmo.encode(TEXTS[2]))
    np.testing.assert_array_equal(
        elmo.encode([decomposed.split()]), elmo.encode([TEXTS[2].split()])
    )


def test_long_texts_are_truncated_or_read_in_windows(elmo: ElmoEncoder) -> None:
    text = " ".join(f"{'abcdefghij'[i % 10]}{'klmno'[i % 5]}" for i in range(3000))
    with pytest.warns(MalmoiWarning, match="longer than 2,048 tokens"):
        (truncated,) = elmo.activations([text]).texts
    assert truncated.truncated
    assert len(truncated) == 2048
    (whole,) = elmo.activations([text], overflow="windows").texts
    assert len(whole) == 3002
    assert whole.word_texts() == tuple(text.split())
    windows = elmo.activations([text], overflow="windows").pooled(layers=2)
    np.testing.assert_allclose(
        elmo.encode([text], layers=2, overflow="windows"), windows, atol=2e-6
    )
    tokens = elmo.activations([text.split()], overflow="windows")
    np.testing.assert_array_equal(tokens.pooled(layers=2), windows)
    spans = elmo.passages([text])
    assert spans[0][0][0] == 0
    assert spans[0][-1][1] == len(text)
    assert len(spans[0]) == 2


def test_odd_texts(elmo: ElmoEncoder) -> None:
    odd = ["\ud800", "👩‍👩‍👧", "x" * 100_000, "\n", "İstanbul ŉ", "a\0b"]
    with pytest.warns(MalmoiWarning, match="empty"):
        assert np.isfinite(elmo.encode(odd)).all()
    with pytest.raises(InvalidArgumentError, match="pair of texts"):
        elmo.encode([("a", "b")])


def test_an_encoder_is_sent_to_another_process_by_its_name(elmo: ElmoEncoder) -> None:
    again = pickle.loads(pickle.dumps(elmo))
    np.testing.assert_array_equal(again.encode(TEXTS), elmo.encode(TEXTS))


def test_prompts_are_refused(elmo: ElmoEncoder) -> None:
    with pytest.raises(InvalidArgumentError, match="has no prompt 'query': it has none"):
        elmo.encode(TEXTS, prompt="query")
    with pytest.raises(InvalidArgumentError, match="takes no prompt 'query: '"):
        elmo.with_prompts({"own": "query: "}, "own")
    assert elmo.with_prompts({"own": ""}, "own") is elmo


def test_words_are_computed_once_and_the_memory_is_bounded() -> None:
    computed: list[int] = []

    def compute(ids: np.ndarray) -> Float32Array:
        computed.append(len(ids))
        return ids[:, 1:3].astype(np.float32)

    words = WordVectors(compute, 2, max_bytes=3 * 2 * 4)
    assert words.of(np.zeros((0, 8), np.int16)).shape == (0, 2)
    some = character_ids(["a", "bb", "a", "a"], 8)
    np.testing.assert_array_equal(words.of(some), some[:, 1:3])
    assert computed == [2]
    assert len(words) == 2
    words.of(some[::-1])
    words.of(some[:1])  # used later than bb
    assert computed == [2]
    words.of(character_ids(["c", "d"], 8))
    assert computed == [2, 2]
    assert len(words) == 3
    words.of(some[:1])
    assert computed == [2, 2]
    np.testing.assert_array_equal(words.of(some), some[:, 1:3])
    assert computed == [2, 2, 1]
    assert len(words) == 3
    words.add([character_ids([str(i) for i in range(700)], 8)])
    assert sum(computed) == 5 + 700
    assert len(words) == 3


def test_the_tokenizer_and_the_characters_of_a_folder_are_its_own(tmp_path: Path) -> None:
    own = {"characters": "jamo", "tokenizer": {"name": "english", "lower": True}}
    save_elmo(tmp_path, {"malmoi": own, "char_cnn": {"n_characters": 379}})
    encoder = load_elmo(str(tmp_path))
    (text,) = encoder.tokenizer(["Hello 한국!"])
    assert text.tokens == ("<S>", "hello", "한국", "</S>")
    assert text.word_texts() == ("Hello", "한국")
    assert text.ids[2, :8].tolist() == [258, 279, 280, 304, 261, 293, 301, 259]
    assert encoder.tokenizer.token_strings(text.ids) == ["<S>", "hello", "한국", "</S>"]
    np.testing.assert_array_equal(encoder.encode("HELLO 한국"), encoder.encode("hello 한국"))
    assert encoder.tokenizer.fold("HELLO") == "hello"
