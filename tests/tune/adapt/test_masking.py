"""Masks: whole words, Korean words without their particles, and the shares of the paper."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.encode.encoder import load_transformer
from malmoi.encode.tokens.tokenized import SPECIAL, Tokenized
from malmoi.tune.adapt.masking import Masking, Passage, delete_units, find_units
from malmoi.tune.adapt.passages import make_masking
from tests.tune.worlds import tiny_model

MASK = 4


def passage(sizes: list[int]) -> Passage:
    """Words of so many tokens between two special tokens; ids from 100 are the text's."""
    units = np.repeat(np.arange(len(sizes)), sizes)
    ids = 100 + np.arange(len(units))
    return Passage(
        np.r_[0, ids, 2].astype(np.int32), np.r_[SPECIAL, units, SPECIAL].astype(np.int32)
    )


def masking(share: float = 0.15) -> Masking:
    return Masking(mask_id=MASK, random_ids=np.arange(50, 60, dtype=np.int32), share=share)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=40), st.integers(0, 99))
def test_words_are_masked_as_a_whole_and_special_tokens_never(sizes: list[int], seed: int) -> None:
    text = passage(sizes)
    masked = masking()(text, np.random.default_rng(seed))
    chosen = set(text.units[masked.positions].tolist())
    assert SPECIAL not in chosen
    expected = np.flatnonzero(np.isin(text.units, list(chosen)))
    np.testing.assert_array_equal(masked.positions, expected)
    np.testing.assert_array_equal(masked.labels, text.ids[masked.positions])
    others = np.setdiff1d(np.arange(len(text)), masked.positions)
    np.testing.assert_array_equal(masked.ids[others], text.ids[others])
    wanted = max(1, round(0.15 * sum(sizes)))
    assert 1 <= len(masked.positions) <= max(wanted, max(sizes))


def test_of_the_masked_tokens_most_are_masks_some_random_and_some_stay() -> None:
    text, random = passage([1] * 1000), np.random.default_rng(1)
    kinds = {"mask": 0, "random": 0, "same": 0}
    for _ in range(20):
        masked = masking()(text, random)
        assert len(masked.positions) == 150
        new = masked.ids[masked.positions]
        kinds["mask"] += int((new == MASK).sum())
        kinds["random"] += int(((new >= 50) & (new < 60)).sum())
        kinds["same"] += int((new == masked.labels).sum())
    shares = np.array(list(kinds.values())) / 3000
    np.testing.assert_allclose(shares, [0.8, 0.1, 0.1], atol=0.03)


@given(st.lists(st.integers(1, 4), max_size=30), st.integers(0, 99))
def test_deleting_words_keeps_one_of_them_and_the_order(sizes: list[int], seed: int) -> None:
    text = passage(sizes)
    ids = delete_units(text, 0.9, np.random.default_rng(seed))
    rows = np.searchsorted(text.ids[1:-1], ids[1:-1]) + 1
    assert ids[0] == 0
    assert ids[-1] == 2
    assert (np.diff(rows) > 0).all()
    assert (len(rows) > 0) == (len(sizes) > 0)
    kept = set(text.units[rows].tolist())
    assert len(rows) == int(np.isin(text.units, list(kept)).sum())


def test_about_the_share_of_words_is_deleted() -> None:
    ids = delete_units(passage([1] * 2000), 0.6, np.random.default_rng(0))
    assert len(ids) - 2 == pytest.approx(800, abs=80)


def korean(text: str, words: list[tuple[int, int, int]]) -> Tokenized:
    """A text with tokens as (start, end, word)."""
    columns = np.array([(0, 0, SPECIAL), *words, (0, 0, SPECIAL)], np.int32)
    return Tokenized(
        text=text,
        tokens=("x",) * len(columns),
        ids=np.arange(len(columns), dtype=np.int32),
        token_type_ids=np.zeros(len(columns), np.int32),
        sequence_ids=np.where(columns[:, 2] == SPECIAL, SPECIAL, 0).astype(np.int32),
        word_ids=columns[:, 2],
        offsets=columns[:, :2],
    )


def test_korean_particles_are_units_of_their_own() -> None:
    pytest.importorskip("kiwipiepy")
    # 학교|에서|는 친구|를 만났다
    text = korean(
        "학교에서는 친구를 만났다",
        [(0, 2, 0), (2, 4, 0), (4, 5, 0), (6, 8, 1), (8, 9, 1), (10, 13, 2)],
    )
    (found,) = find_units([text], particles=True)
    assert found.units.tolist() == [-1, 0, 1, 1, 2, 3, 4, -1]
    (whole,) = find_units([text], particles=False)
    assert whole.units.tolist() == [-1, 0, 0, 0, 1, 1, 2, -1]


def test_a_token_across_a_border_belongs_to_the_word() -> None:
    pytest.importorskip("kiwipiepy")
    text = korean("학교에서 친구를", [(0, 1, 0), (1, 4, 0), (5, 7, 1), (7, 8, 1)])
    (found,) = find_units([text], particles=True)
    assert found.units.tolist() == [-1, 0, 0, 1, 2, -1]


def test_the_masks_of_a_model_are_its_own(tmp_path: Path) -> None:
    encoder = load_transformer(tiny_model(tmp_path / "model"))
    made = make_masking(encoder, 0.15)
    assert encoder.tokenizer.backend.id_to_token(made.mask_id) == "[MASK]"
    tokens = {encoder.tokenizer.backend.id_to_token(int(i)) for i in made.random_ids}
    assert "the" in tokens
    assert not {"[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"} & tokens
