"""Questions to neural language models; windows; files."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.tampering import signed_again
from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.source import InputFile
from malmoi.files.tensors import read_safetensors, write_safetensors
from malmoi.keys import Keys
from malmoi.models.nnlm_model import NeuralModel, NnlmLayers, load_nnlm, save_nnlm, windows
from malmoi.models.trie import Trie
from malmoi.train.language.ngram import NGram, train_ngram

WORDS = ["the", "cat", "sat", "<unk>", "</s>", "<s>"]


def made(context: int = 3, *, tied: bool = True, direct: bool = True) -> NeuralModel:
    """A model of random numbers."""
    random = np.random.default_rng(3)

    def numbers(*shape: int) -> Float32Array:
        return random.normal(size=shape).astype(np.float32)

    words, dim, hidden = len(WORDS), 4, 5
    features = hidden + direct * context * dim
    layers = NnlmLayers(
        lookup=numbers(words, dim),
        hidden=numbers(hidden, context * dim),
        hidden_bias=numbers(hidden),
        output=numbers(dim if tied else words - 1, features),
        output_bias=numbers(words - 1),
        tied=tied,
    )
    return NeuralModel(Trie(Keys.of(WORDS), ()), np.arange(9, 3, -1), layers)


def undecided() -> NeuralModel:
    """One that would say anything."""
    model = made()
    output, bias = 0.05 * model.layers.output, 0.5 * model.layers.output_bias
    return replace(model, layers=replace(model.layers, output=output, output_bias=bias))


def pairs(text: str, context: int) -> list[tuple[str, str]]:
    """Contexts and what follows them, in words."""
    words = [*dict.fromkeys(text.split()), "<unk>", "</s>", "<s>"]
    trie = Trie(Keys.of(words), ())
    tokens = trie.marked(trie.encode(line.split() for line in text.split("\n")))
    every, foretelling = windows(tokens, trie.begin, context)
    rows = [[words[i] for i in row] for row in every[foretelling].tolist()]
    return [(" ".join(row[:-1]), row[-1]) for row in rows]


def test_the_window_of_the_fat_cat() -> None:
    found = pairs("what will the fat cat sit on", 4)
    assert ("will the fat cat", "sit") in found
    assert found[0] == ("<s> <s> <s> <s>", "what")
    assert found[2] == ("<s> <s> what will", "the")
    assert found[-1] == ("fat cat sit on", "</s>")
    assert len(found) == 8


def test_no_window_reaches_over_a_line() -> None:
    assert pairs("a b\n\nc", 2) == [
        ("<s> <s>", "a"), ("<s> a", "b"), ("a b", "</s>"),
        ("<s> <s>", "</s>"),
        ("<s> <s>", "c"), ("<s> c", "</s>"),
    ]  # fmt: skip


@given(
    st.lists(st.sampled_from([*WORDS, "never seen"]), max_size=6),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
)
def test_what_may_follow_sums_to_one(
    context: list[str], length: int, tied: bool, direct: bool
) -> None:
    model = made(length, tied=tied, direct=direct)
    distribution = model.distribution(context)
    assert distribution.sum() == pytest.approx(1)
    assert distribution[model.trie.begin] == 0
    assert model.probability("cat", context) == distribution[1]
    best = model.next_words(context, 2)
    assert [word.probability for word in best] == sorted(distribution, reverse=True)[:2]


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("tied", [True, False])
def test_a_text_is_as_probable_as_its_words_one_by_one(tied: bool, direct: bool) -> None:
    model = made(tied=tied, direct=direct)
    line = ["the", "cat", "purred", "the", "sat", "cat"]
    alone = [model.probability(word, ["<s>", *line[:i]]) for i, word in enumerate(line)]
    alone.append(model.probability("</s>", line))
    score = model.score([line])
    assert score.log_probability == pytest.approx(np.log(alone).sum(), rel=1e-6)
    assert model.perplexity([line, line]) == pytest.approx(score.perplexity, rel=1e-6)


def test_the_probability_is_the_one_of_the_paper() -> None:
    model = made(context=2, tied=False)
    layers = model.layers
    inputs = np.concatenate([layers.lookup[5], layers.lookup[0]])  # <s> the
    hidden = np.tanh(layers.hidden @ inputs + layers.hidden_bias)
    scores = layers.output @ np.concatenate([hidden, inputs]) + layers.output_bias
    expected = np.exp(scores[1]) / np.exp(scores).sum()
    assert model.probability("cat", ["the"]) == pytest.approx(expected, rel=1e-5)


def test_nothing_counts_from_before_the_start_of_a_sentence() -> None:
    model = made()
    expected = model.distribution(["cat"])
    assert np.array_equal(model.distribution(["sat", "the", "<s>", "cat"]), expected)
    assert not np.array_equal(model.distribution(["the", "cat"]), expected)


def test_tokens_are_counted_as_an_ngram_model_counts_them() -> None:
    texts = [["the", "cat", "sat"], ["the", "dog"], []]
    ngram = train_ngram([["the", "cat", "sat"]], NGram(smoothing="add-k"))
    ours, theirs = made().score(texts), ngram.score(texts)
    assert (ours.tokens, ours.unknown) == (theirs.tokens, theirs.unknown) == (8, 1)


def test_the_probability_of_a_sentence_is_the_product_of_its_words() -> None:
    model = made()
    line = ["the", "dog", "sat", "the", "cat"]
    chances = [
        model.probability(word, ["<s>", *line[:i]]) for i, word in enumerate([*line, "</s>"])
    ]
    assert model.sentence_log_probability(line) == pytest.approx(np.log(chances).sum(), rel=1e-6)
    with pytest.raises(InvalidArgumentError, match="is one string"):
        model.sentence_log_probability("the cat")


def test_the_same_seed_draws_the_same_sentence() -> None:
    model = undecided()
    drawn = [model.sample(seed) for seed in range(20)]
    assert drawn == [model.sample(seed) for seed in range(20)]
    assert len({tuple(sentence) for sentence in drawn}) > 3
    assert {word for sentence in drawn for word in sentence} == {"the", "cat", "sat"}
    assert model.sample(1, start=["the", "cat"])[:2] == ["the", "cat"]
    assert all(len(model.sample(seed, max_words=3)) <= 3 for seed in range(20))


def test_words_are_drawn_as_often_as_they_are_probable() -> None:
    model = undecided()
    known = {word: chance for word, chance in model.next_words() if word != "<unk>"}
    firsts = Counter((model.sample(seed, max_words=1) or ["</s>"])[0] for seed in range(900))
    for word, chance in known.items():
        assert firsts[word] / 900 == pytest.approx(chance / sum(known.values()), abs=0.05)


def test_the_lookup_table_comes_out_as_vectors() -> None:
    model = made()
    vectors = model.vectors()
    assert list(vectors) == ["the", "cat", "sat"]
    assert np.array_equal(vectors["cat"], model.layers.lookup[1])
    assert vectors.counts is not None
    assert vectors.counts.tolist() == [9, 8, 7]
    assert vectors.meta["method"] == "nnlm"


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_comes_back_from_its_file(tied: bool, tmp_path: Path) -> None:
    model = made(tied=tied)
    save_nnlm(model, tmp_path / "cat.nnlm")
    again = load_nnlm(str(tmp_path / "cat.nnlm"))
    assert again.trie.words == model.trie.words
    assert again.counts.tolist() == model.counts.tolist()
    assert np.array_equal(again.distribution(["the"]), model.distribution(["the"]))
    assert repr(again) == repr(model) == "NeuralModel(3 previous words of 6 × 4)"


def test_files_that_hold_no_model_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cat.nnlm"
    path.write_bytes(b"no model at all")
    with pytest.raises(InvalidFileError, match="is damaged"):
        load_nnlm(path)
    save_nnlm(made(), path)
    whole = path.read_bytes()
    path.write_bytes(signed_again(whole.replace(b'"nnlm"', b'"lamp"')))
    with pytest.raises(
        InvalidFileError, match="is not a neural language model but of the kind 'lamp'"
    ):
        load_nnlm(path)
    path.write_bytes(whole.replace(b'"hidden"', b'"hudden"'))
    with pytest.raises(InvalidFileError, match="is damaged"):
        load_nnlm(path)
    path.write_bytes(whole[:-4])
    with pytest.raises(InvalidFileError, match="is damaged"):
        load_nnlm(path)


def test_layers_that_do_not_fit_are_refused() -> None:
    model = made()
    layers = model.layers
    with pytest.raises(InvalidArgumentError, match="do not fit each other"):
        replace(layers, tied=False)
    with pytest.raises(InvalidArgumentError, match="do not fit each other"):
        replace(layers, lookup=layers.lookup[:, :0])
    with pytest.raises(InvalidArgumentError, match="5 counts and 6 rows"):
        NeuralModel(model.trie, model.counts[:-1], layers)
    shuffled = Trie(Keys.of(WORDS[::-1]), ())
    with pytest.raises(InvalidArgumentError, match="<s> is word 0"):
        NeuralModel(shuffled, model.counts, layers)


def test_questions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="k is 0"):
        made().next_words(["the"], 0)
    with pytest.raises(InvalidArgumentError, match="nothing to score"):
        made().score([])
    with pytest.raises(InvalidArgumentError, match="is one string"):
        made().probability("cat", "the fat")


@pytest.mark.parametrize("weight", ["lookup", "hidden_bias", "output"])
def test_weights_that_are_no_numbers_are_refused(weight: str, tmp_path: Path) -> None:
    path = tmp_path / "x.nnlm"
    save_nnlm(made(), path)
    arrays, metadata = read_safetensors(InputFile(path))
    for wrong in (arrays[weight] * np.float32(np.nan), arrays[weight].astype(np.float64)):
        write_safetensors(path, arrays | {weight: wrong}, metadata)
        with pytest.raises(InvalidFileError, match=r"x\.nnlm is damaged"):
            load_nnlm(path)


def test_a_model_whose_numbers_overflow_draws_no_words() -> None:
    model = made()
    large = replace(model.layers, output_bias=np.full_like(model.layers.output_bias, 3e38))
    large = replace(large, lookup=large.lookup * np.float32(1e38))
    with np.errstate(all="ignore"), pytest.raises(InvalidArgumentError, match="are not finite"):
        replace(model, layers=large).sample(1)
