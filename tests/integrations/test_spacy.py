"""Vectors as a folder of spaCy: `malmoi convert … --to spacy`, and `spacy.load`."""

import json
from pathlib import Path

import numpy as np
import pytest
import spacy

import malmoi as mm
from malmoi.cli import run
from malmoi.integrations.spacy import save_spacy, spacy_pipeline


def test_words_of_both_languages_have_the_same_vectors(tmp_path: Path, words: mm.Vectors) -> None:
    mm.save(words, tmp_path / "words.malmoi")
    source, target = str(tmp_path / "words.malmoi"), str(tmp_path / "folder")
    assert run(["convert", source, target, "--to", "spacy"]) == 0
    nlp = spacy.load(target)
    assert nlp.vocab.vectors.shape == (7, 5)
    for word in words:
        np.testing.assert_array_equal(nlp.vocab[word].vector, words[word])
        assert nlp.vocab.strings[nlp.vocab.strings[word]] == word
    king, seoul, unknown = nlp("king 서울 unheard-of")[:3]
    np.testing.assert_array_equal(king.vector, words["king"])
    np.testing.assert_array_equal(seoul.vector, words["서울"])
    assert not unknown.has_vector
    assert king.similarity(seoul) == pytest.approx(words.similarity("king", "서울"), abs=1e-6)


def test_options_of_convert_and_json(
    tmp_path: Path, words: mm.Vectors, capsys: pytest.CaptureFixture[str]
) -> None:
    mm.save(words, tmp_path / "words.malmoi")
    target = tmp_path / "folder"
    command = ["convert", str(tmp_path / "words.malmoi"), str(target), "--to", "spacy", "--json"]
    assert run([*command, "--limit", "3", "--normalize"]) == 0
    assert json.loads(capsys.readouterr().out) == {"written": str(target), "rows": 3, "dim": 5}
    vectors = spacy.load(target).vocab.vectors
    np.testing.assert_allclose(np.linalg.norm(vectors.data, axis=1), 1, atol=1e-6)
    assert run(command) == 1
    assert "exists already" in capsys.readouterr().err


def test_english_tokenizer(tmp_path: Path, words: mm.Vectors) -> None:
    save_spacy(words, tmp_path / "en", lang="en")
    nlp = spacy.load(tmp_path / "en")
    assert [token.text for token in nlp("the king's")] == ["the", "king", "'s"]


def test_ngrams_are_left_out_with_a_warning(subworded: mm.SubwordVectors) -> None:
    with pytest.warns(mm.MalmoiWarning, match="cannot hold n-grams"):
        nlp = spacy_pipeline(subworded)
    np.testing.assert_array_equal(nlp.vocab["한국어"].vector, subworded["한국어"])
    assert not nlp.vocab["한국말"].has_vector


def test_what_spacy_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(mm.InvalidArgumentError, match="not UTF-8"):
        save_spacy(mm.Vectors(["a\udcff"], [[1.0]]), tmp_path / "folder")
    with pytest.raises(mm.InvalidArgumentError, match="no language 'zz'"):
        save_spacy(mm.Vectors(["a"], [[1.0]]), tmp_path / "folder", lang="zz")
    assert list(tmp_path.iterdir()) == []
