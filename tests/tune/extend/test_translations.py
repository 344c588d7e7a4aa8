"""Translations of tokens: IBM Model 1 beside a naive one, and the reading of parallel sentences."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.encode.checkpoint.weights import open_weights, weights_file
from malmoi.encode.encoder import load_transformer
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.tune.extend.tokenizer_files import extensible_tokenizer, with_tokens
from malmoi.tune.extend.translations import ITERATIONS, read_sentences_of, translate_tokens
from tests.encode.checkpoints import TOKENS
from tests.recording_reporter import RecordingReporter

WORDS = "embeddings.word_embeddings.weight"
NEW = ["은행", "강", "물고기", "##은", "##이"]
SENTENCES = [
    ("the bank", "은행은"),
    ("the river", "강은"),
    ("the fish", "물고기이"),
    ("fish, the river", "물고기 강"),
    ("the bank, the bank", "은행"),
]


@pytest.fixture
def tokenizer(model: str) -> Any:
    return with_tokens(extensible_tokenizer(load_transformer(model)), NEW)


def naive(pairs: list[tuple[list[int], list[int]]]) -> dict[int, dict[int, float]]:
    """t(e|f) of IBM Model 1, by dictionaries; -1 is the empty word."""
    t: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(lambda: 1.0))
    for _ in range(ITERATIONS):
        counts: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for known, new in pairs:
            for e in known:
                total = sum(t[f][e] for f in [-1, *new])
                for f in [-1, *new]:
                    counts[f][e] += t[f][e] / total
        t = {f: {e: c / sum(row.values()) for e, c in row.items()} for f, row in counts.items()}
    return t


def test_probabilities_equal_those_of_a_naive_model(tokenizer: Any) -> None:
    translations = translate_tokens(SENTENCES, tokenizer, len(TOKENS), 3, RecordingReporter())
    ids = [[tokenizer.encode(text, add_special_tokens=False).ids for text in pair]
           for pair in SENTENCES]  # fmt: skip
    t = naive([(known, new) for known, new in ids])
    for row in range(len(NEW)):
        of_token = t[len(TOKENS) + row]
        best = sorted(of_token.values(), reverse=True)[:3]
        expected = np.array(best + [0.0] * (3 - len(best))) / sum(best)
        np.testing.assert_allclose(translations.probabilities[row], expected, rtol=1e-5)
        for token_id, p in zip(translations.ids[row], translations.probabilities[row], strict=True):
            if p:
                assert of_token[int(token_id)] / sum(best) == pytest.approx(p, rel=1e-5)
    assert translations.counts.tolist() == [2, 2, 2, 2, 1]


def test_a_token_gets_its_translation_and_not_the_article(tokenizer: Any) -> None:
    translations = translate_tokens(SENTENCES, tokenizer, len(TOKENS), 1, RecordingReporter())
    nearest = [TOKENS[i] for i in translations.ids[:3, 0]]
    assert nearest == ["bank", "river", "fish"]


def test_translations_change_only_rows_of_tokens_that_occur(model: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(["은행", "나무"]))
    (tmp_path / "pairs.tsv").write_text("은행\tthe fish\nfish fish\t은행\n")  # a wrong one
    plain, mixed = tmp_path / "plain", tmp_path / "mixed"
    vocabulary = tmp_path / "vocab.txt"
    one = mm.ExtendSettings(neighbours=1)
    both = mm.ExtendSettings(neighbours=1, parallel=(str(tmp_path / "pairs.tsv"),))
    mm.extend_vocabulary(model, plain, one, vocabulary=vocabulary)
    result = mm.extend_vocabulary(model, mixed, both, vocabulary=vocabulary)
    share = 0.5 * 2 / 3  # it occurs twice
    weights = dict(result.examples["은행"])
    assert list(weights) == ["bank", "fish"]
    assert weights["fish"] == pytest.approx(share, abs=1e-3)
    before, after = (open_weights(weights_file(each))[WORDS] for each in (plain, mixed))
    changed = np.flatnonzero((before != after).any(axis=1))
    tokenizer = mm.load_transformer(str(mixed)).tokenizer.backend
    assert changed.tolist() == [tokenizer.token_to_id("은행")]
    known = before[[TOKENS.index("bank"), TOKENS.index("fish")]]
    expected = np.array([1 - share, share]) @ known
    np.testing.assert_allclose(after[changed[0]], expected, rtol=1e-5)
    assert f"--parallel {tmp_path / 'pairs.tsv'}" in (mixed / "README.md").read_text()


def test_sentences_are_found_in_any_columns(tmp_path: Path) -> None:
    path, reporter = tmp_path / "pairs.tsv", RecordingReporter()
    path.write_text("A dog.\t개.\tCC-BY\n고양이\tcat\tCC-BY\nonly English\t\tCC-BY\n")
    assert read_sentences_of([path], reporter) == [("A dog.", "개."), ("cat", "고양이")]
    assert "no text and translation (line 3)" in reporter.warnings[0]


def test_files_without_translations_are_refused(tmp_path: Path) -> None:
    (tmp_path / "english.tsv").write_text("a\tb\nc\td\n")
    with pytest.raises(InvalidArgumentError, match="no rows with a text of Latin letters"):
        read_sentences_of([tmp_path / "english.tsv"], RecordingReporter())
    with pytest.raises(InvalidFileError):
        read_sentences_of([tmp_path / "nothing.tsv"], RecordingReporter())


def test_very_long_sentences_are_left_out(tokenizer: Any) -> None:
    long = ("bank " * 100, "강 " * 100)
    translations = translate_tokens(
        [*SENTENCES, long], tokenizer, len(TOKENS), 1, RecordingReporter()
    )
    assert TOKENS[translations.ids[1, 0]] == "river"
    with pytest.raises(InvalidArgumentError, match="at most 64 tokens"):
        translate_tokens([long], tokenizer, len(TOKENS), 1, RecordingReporter())
