"""ARPA files: round trips, KenLM's reading of ours, other programs' habits, bad lines."""

import io
import math
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.models.arpa import read_arpa
from malmoi.models.arpa_output import write_arpa
from malmoi.models.ngram_model import NgramModel
from malmoi.train.language.ngram import NGram, Smoothing, train_ngram

SMOOTHINGS: list[Smoothing] = ["none", "add-k", "interpolated", "kneser-ney"]
Sentences = list[list[str]]
SAM = [line.split() for line in ("I am Sam", "Sam I am", "I do not like green eggs and ham")]
sentences = st.lists(
    st.lists(st.sampled_from(["a", "b", "한국", "\udcff"]), max_size=5), min_size=1
)

# As SRILM writes: a line before, no <unk>, back-off weights left out, -99 for <s>.
SRILM = """made by hand
\\data\\
ngram 1=4
ngram 2=3

\\1-grams:
-0.5 a -0.25
-99\t<s>\t-0.5
-0.75\tb
-0.5\t</s>

\\2-grams:
-0.125 <s> a
-0.25\ta b\r
-0.5 b </s>

\\end\\
"""


def trained(given_sentences: Sentences, settings: NGram) -> NgramModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MalmoiWarning)
        return train_ngram(given_sentences, settings)


def written(model: NgramModel) -> bytes:
    stream = io.BytesIO()
    write_arpa(model, stream)
    return stream.getvalue()


def read(text: str | bytes) -> NgramModel:
    return read_arpa(io.BytesIO(text.encode() if isinstance(text, str) else text), "x.arpa")


@given(
    sentences.filter(any),
    st.integers(1, 4),
    st.sampled_from(SMOOTHINGS),
    st.lists(
        st.lists(st.sampled_from(["a", "b", "한국", "x"]), max_size=5), min_size=1, max_size=4
    ),
)
def test_a_model_comes_back_as_it_was(
    given_sentences: Sentences, order: int, smoothing: Smoothing, asked: Sentences
) -> None:
    model = trained(given_sentences, NGram(order=order, smoothing=smoothing))
    text = written(model)
    again = read(text)
    assert again.trie.words == model.trie.words
    assert again.trie.sizes == model.trie.sizes
    assert again.score(asked).log_probability == pytest.approx(model.score(asked).log_probability)
    assert written(again) == text
    if smoothing in ("interpolated", "kneser-ney"):
        for ours, theirs in zip(model.probabilities, again.probabilities, strict=True):
            assert theirs == pytest.approx(ours, rel=1e-7)
        for ours, theirs in zip(model.backoffs, again.backoffs, strict=True):
            assert theirs == pytest.approx(ours, rel=1e-7)


@pytest.mark.parametrize("smoothing", ["add-k", "interpolated", "kneser-ney"])
def test_kenlm_scores_our_files_as_we_do(
    smoothing: Smoothing, tmp_path: Path, gensim_data: Callable[[str], Path]
) -> None:
    kenlm = pytest.importorskip("kenlm")
    lines = gensim_data("lee_background.cor").read_text().split("\n")
    texts = [line.split() for line in lines[:60]]
    model = trained(texts[:50], NGram(smoothing=smoothing, min_count=2))
    path = tmp_path / "lee.arpa"
    path.write_bytes(written(model))
    theirs = kenlm.Model(str(path))
    for words in (*texts[45:], []):
        log10 = theirs.score(" ".join(words), bos=True, eos=True)
        ours = model.sentence_log_probability(words) / math.log(10)
        assert ours == pytest.approx(log10, rel=1e-5, abs=1e-4)


def test_files_of_other_programs_are_read() -> None:
    model = read(SRILM)
    assert list(model.trie.words) == ["a", "<s>", "b", "</s>", "<unk>"]
    assert model.probability("a", ["<s>"]) == pytest.approx(10**-0.125)
    assert model.probability("</s>", ["a"]) == pytest.approx(10 ** (-0.25 - 0.5))
    assert model.probability("a", ["b"]) == pytest.approx(10**-0.5)
    assert model.probability("<s>", ["a"]) == model.probability("x", ["a"]) == 0


def test_lmplz_gives_the_beginning_a_probability_of_one() -> None:
    model = read(SRILM.replace("-99\t<s>", "0\t<s>"))
    assert model.probability("<s>") == 0
    assert model.probability("b", ["<s>"]) == pytest.approx(10 ** (-0.5 - 0.75))


def test_an_unknown_word_in_capitals_is_known() -> None:
    model = read(SRILM.replace("1=4", "1=5").replace("-0.75\tb", "-0.75\tb\n-1.5\t<UNK>"))
    assert model.probability("never seen", ["b"]) == pytest.approx(10**-1.5)


def test_sections_need_no_blank_lines_between_them() -> None:
    model, dense = read(SRILM), read(SRILM.replace("\n\n", "\n"))
    assert np.array_equal(model.probabilities[1], dense.probabilities[1])


def test_the_longest_ngrams_may_have_unused_backoff_weights() -> None:
    model, weighted = read(SRILM), read(SRILM.replace("<s> a", "<s> a -0.5"))
    assert np.array_equal(model.probabilities[1], weighted.probabilities[1])
    assert len(weighted.backoffs) == 1


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("\\data\\", "data", r"x\.arpa:1: this is not an ARPA file"),
        ("ngram 1=4\nngram 2=3\n", "", r"x\.arpa:4: expected 'ngram 1=…', got '\\1-grams:'"),
        ("ngram 2", "ngram 3", r"x\.arpa:4: expected the count of order 2, got 'ngram 3=3'"),
        ("1=4", "1=5", r"x\.arpa:11: 4 1-grams, but \\data\\ declares 5"),
        ("\\2-grams:", "\\3-grams:", r"x\.arpa:12: expected \\2-grams:, got '\\3-grams:'"),
        ("\\end\\", "", r"x\.arpa:17: the file is truncated"),
        ("\\end\\", "end", r"x\.arpa:17: expected \\end\\, got 'end'"),
        ("-0.75\tb", "minus\tb", r"x\.arpa:9: 'minus\tb' is not a 1-gram with its probability"),
        ("-0.75\tb", "nan\tb", r"x\.arpa:9: not base-10 logarithms"),
        ("-0.75\tb", "0.75\tb", r"x\.arpa:9: not base-10 logarithms"),
        ("a -0.25", "a 999", r"x\.arpa:7: not base-10 logarithms"),
        ("-0.75\tb", "-0.75", r"x\.arpa:9: '-0\.75' is not a 1-gram"),
        ("-0.75\tb", "-0.75\ta", r"x\.arpa:9: duplicate 1-gram 'a'"),
        ("-0.75\tb", "-0.75\t<s>", r"x\.arpa:9: duplicate 1-gram '<s>'"),
        ("a b\r", "a c", r"x\.arpa:14: 'c' is not among the 1-grams"),
        ("a b\r", "a", r"x\.arpa:14: '-0\.25\ta' is not a 2-gram: it has 2 fields"),
        ("a b\r", "a b a b", r"x\.arpa:14: '-0\.25\ta b a b' is not a 2-gram"),
        ("a b\r", "a b 0 b", r"x\.arpa:14: '-0\.25\ta b 0 b' is not a 2-gram: it has 5 fields"),
        ("a b\r", "<s> a", r"x\.arpa:14: duplicate n-gram"),
        (
            "\n\\end",
            "\n\\3-grams:\n-1 b a b\n\n\\end",
            r"x\.arpa:18: the prefix of this n-gram is not in the file",
        ),
    ],
)
def test_a_bad_line_is_named(right: str, wrong: str, message: str) -> None:
    text = SRILM.replace(right, wrong)
    if "3-grams" in wrong and "2-grams" in text:
        text = text.replace("ngram 2=3", "ngram 2=3\nngram 3=1").replace("made by hand\n", "")
    with pytest.raises(InvalidFileError, match=message):
        read(text)


@pytest.mark.parametrize("word", ["New York", "a\tb"])
def test_words_with_spaces_cannot_be_written(word: str) -> None:
    model = trained([["a", word]], NGram(order=2))
    with pytest.raises(InvalidArgumentError, match="cannot be in an ARPA file"):
        written(model)
