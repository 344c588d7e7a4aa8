import numpy as np
import pytest

from malmoi.encode.pipeline.activations import Activations
from malmoi.encode.pooling.groups import WORD_POOLINGS, WordPooling
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from tests.encode.worlds import made_up, naive_pool


def test_one_vector_per_text_with_and_without_special_tokens() -> None:
    states = made_up()
    last = [state[-1] for state in states.states]
    pooled = states.pooled()
    np.testing.assert_allclose(pooled, [naive_pool(rows, "mean") for rows in last], atol=1e-6)
    plain = states.pooled(Recipe(include_special_tokens=False))
    np.testing.assert_allclose(plain[0], last[0][1:4].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(plain[1], 0)  # nothing is left of an empty text
    np.testing.assert_allclose(plain[2], last[2][[1, 3]].mean(axis=0), atol=1e-6)


def test_recipes_by_name() -> None:
    states = made_up()
    service = [state[-2].mean(axis=0) for state in states.states]
    np.testing.assert_allclose(states.pooled("bert-as-service"), service, atol=1e-6)
    concat = [np.hstack(list(state[-4:].mean(axis=1))) for state in states.states]
    np.testing.assert_allclose(states.pooled("last-four-concat"), concat, atol=1e-6)
    assert states.pooled("last-four-concat").shape == (3, 4 * 3)


def test_vectors_of_length_one() -> None:
    lengths = np.linalg.norm(made_up().pooled(Recipe(normalize=True)), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)


@pytest.mark.parametrize("word_pooling", WORD_POOLINGS)
def test_words_are_pooled_from_their_tokens(word_pooling: WordPooling) -> None:
    states = made_up()
    no_playing, nothing, pair = states.words(
        layers=[-2, -1], layer_pooling="sum", word_pooling=word_pooling
    )
    assert no_playing.keys == ("no", "playing")
    assert no_playing.offsets.tolist() == [[0, 2], [3, 10]]
    rows = states.states[0][-2] + states.states[0][-1]
    np.testing.assert_allclose(no_playing.matrix[0], rows[1], atol=1e-6)
    np.testing.assert_allclose(no_playing.matrix[1], naive_pool(rows[2:4], word_pooling), atol=1e-6)
    assert nothing.keys == ()
    assert nothing.matrix.shape == (0, 3)
    assert pair.keys == ("no", "yes")


def test_tokens_as_they_are() -> None:
    states = made_up()
    with_special, without = (
        states.tokens()[0],
        states.tokens(Recipe(include_special_tokens=False))[0],
    )
    assert with_special.keys == ("[CLS]", "no", "play", "##ing", "[SEP]")
    np.testing.assert_array_equal(with_special.matrix, states.states[0][-1])
    assert without.keys == ("no", "play", "##ing")
    np.testing.assert_array_equal(without.matrix, states.states[0][-1][1:4])


def test_layers_that_are_not_there() -> None:
    whole = made_up()
    some = Activations(whole.texts, tuple(state[[2, 4]] for state in whole.states), (2, 4), 5)
    np.testing.assert_array_equal(some.pooled(), whole.pooled())
    np.testing.assert_array_equal(some.pooled(layers=-3), whole.pooled(layers=2))
    with pytest.raises(
        InvalidArgumentError, match="these activations do not contain layer 3, only 2, 4"
    ):
        some.pooled(layers=-2)


def test_invalid_arguments() -> None:
    with pytest.raises(
        InvalidArgumentError, match="word_pooling must be one of mean, sum, first, last; got 'glue'"
    ):
        made_up().words(word_pooling="glue")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="pool='none' gives one vector per token"):
        made_up().pooled(pool="none")


def test_no_texts_no_vectors() -> None:
    nothing = Activations((), (), (0,), 1)
    assert nothing.pooled().shape[0] == 0
    assert nothing.words() == nothing.tokens() == []
