"""Texts longer than a model takes, beside a slow twin made with transformers."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.tokens import tokenizer as tokenizers
from malmoi.encode.tokens import windows
from malmoi.encode.tokens.windows import window_starts
from malmoi.errors import InvalidArgumentError
from tests.encode.checkpoints import save_model
from tests.encode.worlds import naive_pool

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

WORDS = ["the", "bank", "robbers", "fishing", ",", "한국어", "river.", "a"]
SHORT = "the bank, the river."


def words(count: int) -> str:
    return " ".join(WORDS[(i + i // 5) % len(WORDS)] for i in range(count))


LONG = words(90)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TransformerEncoder, Any]]:
    """An encoder that takes 40 tokens, and the same model as transformers has it."""
    folder = tmp_path_factory.mktemp("bert")
    peer = save_model(folder, "bert")
    with warnings.catch_warnings():
        yield load_transformer(str(folder)), peer


def states_one_window_at_a_time(
    encoder: TransformerEncoder, peer: Any, overlap: int
) -> Float32Array:
    """Each token of LONG from the window where the smaller of before and after is largest."""
    tokenizer = type(encoder.tokenizer.backend).from_str(encoder.tokenizer.backend.to_str())
    tokenizer.no_truncation()
    cls, *ids, sep = tokenizer.encode(LONG).ids
    size = encoder.tokenizer.max_length - 2
    starts = []
    start = 0
    while start + size < len(ids):
        starts.append(start)
        start += size - overlap
    starts.append(len(ids) - size)
    with torch.no_grad():
        found = [
            torch.stack(
                peer(
                    torch.tensor([[cls, *ids[start : start + size], sep]]),
                    output_hidden_states=True,
                ).hidden_states
            )[:, 0].numpy()
            for start in starts
        ]
    rows = [found[0][:, 0]]
    for token in range(len(ids)):
        context = [
            min(token - start, start + size - 1 - token) if start <= token < start + size else -1
            for start in starts
        ]
        best = context.index(max(context))
        rows.append(found[best][:, 1 + token - starts[best]])
    rows.append(found[-1][:, -1])
    return np.stack(rows, axis=1)


@pytest.mark.parametrize("overlap", [None, 0, 7, 19, 37])
def test_each_piece_has_the_state_of_the_window_with_most_context(
    both: tuple[TransformerEncoder, Any], overlap: int | None
) -> None:
    encoder, peer = both
    expected = states_one_window_at_a_time(encoder, peer, 19 if overlap is None else overlap)
    found = encoder.activations([SHORT, LONG], overflow="windows", overlap=overlap)
    np.testing.assert_allclose(found.states[1], expected, atol=1e-4)
    (text,) = found.texts[1:]
    assert len(text) == expected.shape[1] > 100
    assert not text.truncated
    assert text.word_texts() == tuple(LONG.replace(".", " .").split())
    for pool in ("cls", "mean", "max", "mean_sqrt", "first", "last"):
        for special in (True, False):
            if pool == "cls" and not special:
                continue
            recipe = Recipe(
                layers=[1, -1], layer_pooling="sum", pool=pool, include_special_tokens=special
            )
            vector = encoder.encode([LONG], recipe=recipe, overflow="windows", overlap=overlap)[0]
            rows = expected[1] + expected[-1]
            naive = naive_pool(rows if special else rows[1:-1], pool)
            np.testing.assert_allclose(vector, naive, atol=2e-4)


def test_what_needs_no_windows_is_exactly_as_it_was(minilm: TransformerEncoder) -> None:
    texts = ["the river bank", "", "hello " * 254, *(f"number {i} " * i for i in range(40))]
    with pytest.warns(match="empty"):
        plain = minilm.encode(texts)
    with pytest.warns(match="empty"):
        np.testing.assert_array_equal(minilm.encode(texts, overflow="windows"), plain)
    recipe = Recipe(layers=3, pool="max", include_special_tokens=False, normalize=True)
    with pytest.warns(match="empty"):
        plain = minilm.encode(texts, recipe=recipe)
    with pytest.warns(match="empty"):
        np.testing.assert_array_equal(
            minilm.encode(texts, recipe=recipe, overflow="windows"), plain
        )


def test_a_text_in_many_blocks_has_the_same_tokens(
    both: tuple[TransformerEncoder, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, _ = both
    whole = encoder.activations([LONG], overflow="windows")
    monkeypatch.setattr(tokenizers.split_blocks, "__defaults__", (50,))
    parts = encoder.activations([LONG], overflow="windows")
    for name in ("ids", "word_ids", "offsets", "sequence_ids", "token_type_ids"):
        np.testing.assert_array_equal(getattr(parts.texts[0], name), getattr(whole.texts[0], name))
    assert parts.texts[0].tokens == whole.texts[0].tokens
    np.testing.assert_array_equal(parts.states[0], whole.states[0])


@given(size=st.integers(2, 30), more=st.integers(1, 100), share=st.floats(0, 1, exclude_max=True))
def test_windows_cover_a_text_from_end_to_end(size: int, more: int, share: float) -> None:
    overlap = int(share * size)
    starts = window_starts(size + more, size, overlap)
    assert starts[0] == 0
    assert starts[-1] == more
    assert all(0 < step <= size - overlap for step in np.diff(starts))


def test_what_windows_cannot_do(
    both: tuple[TransformerEncoder, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, _ = both
    with pytest.raises(InvalidArgumentError, match="overflow='windows' does not take pairs"):
        encoder.encode([("the bank", "a river")], overflow="windows")
    with pytest.raises(InvalidArgumentError, match="overflow='windows' does not take pairs"):
        encoder.activations([("the bank", "a river")], overflow="windows")
    with pytest.raises(
        InvalidArgumentError, match="overlap must be from 0 to 37 for windows of 38 tokens; got 38"
    ):
        encoder.encode([LONG], overflow="windows", overlap=38)
    with pytest.raises(InvalidArgumentError, match="overlap=3 needs overflow='windows'"):
        encoder.encode([LONG], overlap=3)
    with pytest.raises(InvalidArgumentError, match="overflow must be one of truncate, windows"):
        encoder.encode([LONG], overflow="forget")  # type: ignore[arg-type]
    monkeypatch.setattr(windows, "MAX_STATE_BYTES", 1000)
    with pytest.raises(InvalidArgumentError, match=r"need .* GB: choose fewer layers"):
        encoder.activations([LONG], overflow="windows")
