"""Words that a model knows only as letters, bytes or unknown tokens are counted and reported."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from malmoi.encode.bulk.recipe_sweep import stream_recipes
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.loading import default_model
from malmoi.encode.pooling.recipes import Recipe
from malmoi.encode.static.average import average_encoder
from malmoi.encode.tokens.fragments import FragmentCounter, fragment_counter, is_fragmented
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError, MalmoiWarning
from malmoi.reporting.reporter import InputTotals, SilentReporter
from malmoi.vectors import Vectors
from tests.encode.checkpoints import TOKENS, change, save_model

KOREAN = ["환불을 받고 싶어요", "나는 어제 학교에 갔다", "배송이 너무 늦어요"]
ENGLISH = [
    "A man is playing the guitar on the street.",
    "Dr. Szczepański met Ms. Nguyễn at 12:30, room B2.",
    "def f(x, i): return x[i] + 3  # ok",
    "thx gr8 recieve teh pkg 😀😀😀",
    "「quoted」 text、with CJK marks。",
    "$ 1,234.56 – 78 % …",
    "x y z a b c",
    "",
]


def counts(tokenizer: Any, texts: list[str], unknown: str) -> tuple[list[int], list[int]]:
    fragments = fragment_counter(tokenizer, tokenizer.token_to_id(unknown))
    words, found = fragments.count(tokenizer.encode_batch_fast(texts), texts)
    return words.tolist(), found.tolist()


def trained(tokenizer: Any, trainer: Any, texts: list[str]) -> Any:
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def byte_level(texts: list[str]) -> Any:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    return trained(tokenizer, trainer, texts)


def sentence_pieces(texts: list[str]) -> Any:
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    return trained(tokenizer, trainer, texts)


def word_pieces(texts: list[str], size: int = 400) -> Any:
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[UNK]"], show_progress=False
    )
    return trained(tokenizer, trainer, texts)


def test_korean_is_letters_to_an_english_model(minilm: TransformerEncoder) -> None:
    assert counts(minilm.tokenizer.backend, KOREAN, "[UNK]") == ([3, 4, 3], [3, 4, 3])


def test_english_is_not(minilm: TransformerEncoder) -> None:
    words, found = minilm.tokenizer.fragments.count(minilm.tokenizer.encode_batch(ENGLISH), ENGLISH)
    assert not is_fragmented(words, found).any()
    assert words[0] == 9
    with warnings.catch_warnings():
        warnings.simplefilter("error", MalmoiWarning)
        minilm.encode(ENGLISH[:-1])


@pytest.mark.parametrize("make", [byte_level, sentence_pieces, word_pieces])
def test_a_vocabulary_that_was_trained_on_korean_knows_it(make: Any) -> None:
    unknown = "[UNK]" if make is word_pieces else "<unk>"
    english = make([text for text in ENGLISH if text.isascii()] * 30)
    both = make((ENGLISH + KOREAN) * 30)
    texts = [*KOREAN, ENGLISH[0]]
    words, found = counts(english, texts, unknown)
    assert is_fragmented(np.array(words), np.array(found)).tolist() == [True] * 3 + [False]
    words, found = counts(both, texts, unknown)
    assert not is_fragmented(np.array(words), np.array(found)).any()
    assert words == [3, 4, 3, 9]


def test_syllables_and_ideographs_are_no_single_letters() -> None:
    tokens = ["[UNK]", "환", "##불", "##을", "東", "##京", "ㅎ", "##ㅗ", "a", "##b", "##5"]
    tokens += ["longer"] * 20  # the vocabulary is not one of characters
    fragments = FragmentCounter(tokens.__getitem__, len(tokens), 0, continuing="##")
    texts = ["환불을", "東京", "호", "ab", "a5", "불", "a"]
    ids = [[1, 2, 3], [4, 5], [6, 7], [8, 9], [8, 10], [0], [8]]
    words, found = fragments.count_ids(ids, texts)
    assert words.tolist() == [1] * 7
    assert found.tolist() == [0, 0, 1, 1, 0, 1, 0]


def test_unknown_signs_are_no_words() -> None:
    fragments = FragmentCounter(["[UNK]", "fine"].__getitem__, 2, 0, continuing="##")
    texts = ["😀 😀 fine", "ⲁⲃ ⲅⲇ fine", "", "→ → →"]
    _, found = fragments.count_ids([[0, 0, 1], [0, 0, 1], [], [0, 0, 0]], texts)
    assert found.tolist() == [0, 2, 0, 0]


def test_a_vocabulary_of_characters_spells_everything() -> None:
    letters = FragmentCounter([*"すること"].__getitem__, 4, None)
    assert letters.count_ids([[0, 1, 2, 3]], ["すること"])[1].tolist() == [0]


def test_python_warns_once_a_call_with_the_share_and_a_model_that_fits(
    minilm: TransformerEncoder,
) -> None:
    with pytest.warns(MalmoiWarning) as caught:
        minilm.encode([*KOREAN, ENGLISH[0]])
    (sentence,) = {str(one.message) for one in caught}
    assert sentence == (
        "minilm: 3 of 4 texts are mostly words that the model knows only as single letters, bytes"
        " or unknown tokens (53% of all words): their vectors mean little; for Korean choose the"
        " model use (number 1, 2, 3)"
    )
    with pytest.warns(MalmoiWarning, match="choose the model use, which reads 16 languages"):
        minilm.encode(["Привет, как у вас дела?"])
    with pytest.warns(MalmoiWarning, match="that was trained on their language"):
        minilm.encode(["नमस्ते दुनिया"])


def test_states_and_sweeps_warn_too(minilm: TransformerEncoder) -> None:
    advice = "choose a transformer that was trained on their language"
    with pytest.warns(MalmoiWarning, match=advice):
        minilm.activations(KOREAN)
    with pytest.warns(MalmoiWarning, match=advice):
        list(stream_recipes(minilm, KOREAN, [Recipe()]))
    with pytest.warns(MalmoiWarning, match=advice):
        minilm.encode(KOREAN, layers=-2)


def test_a_few_foreign_texts_among_many_are_counted_but_not_reported() -> None:
    stats = TextStats()
    words = np.full(201, 4)
    stats.count_fragments(words, np.where(np.arange(201) < 2, 4, 0), ["한국"] * 201)
    stats.texts = 201
    assert stats.fragmented == [1, 2]
    assert stats.sentences() == []
    stats.texts = 200
    assert len(stats.sentences()) == 1


def test_counts_of_batches_are_added_up(minilm: TransformerEncoder) -> None:
    batches = KOREAN, ENGLISH[:1], [*KOREAN, "", "word " * 300]
    with pytest.warns(MalmoiWarning) as caught:
        encode_all(minilm, batches)
    assert [str(one.message).partition(":")[2].split(" texts are ")[0] for one in caught] == [
        " 1 of 9", " 1 of 9", " 6 of 9"
    ]  # fmt: skip
    assert not any("number" in str(one.message) for one in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MalmoiWarning)
        minilm.encode(KOREAN, reporter=SilentReporter())


def encode_all(encoder: TransformerEncoder, batches: tuple[list[str], ...]) -> None:
    with InputTotals() as totals:
        for batch in batches:
            encoder.encode(batch, reporter=totals)


def test_averages_of_english_words_say_what_fits_korean() -> None:
    words = Vectors(["the", "bank"], np.eye(2, dtype=np.float32), None, {})
    with pytest.warns(MalmoiWarning) as caught:
        average_encoder(words, name="glove").encode([KOREAN[0], "the bank"])
    assert [str(one.message) for one in caught] == [
        "glove: 3 of 5 words are unknown and were ignored, such as 환불을, 받고, 싶어요; for"
        " Korean choose the model use, or vectors of Korean words",
        "glove: 1 of 2 texts have no known word: their vectors are zeros",
    ]


def test_a_multilingual_model_reads_a_pair_without_a_note(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    change(tmp_path / "tokenizer_config.json", do_lower_case=False, model_max_length=None)
    encoder = load_transformer(str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error", MalmoiWarning)
        encoder.encode([("한국어", "the bank"), "한국어"])


def test_hangul_chooses_the_model() -> None:
    assert default_model(["hello", "world"]) == "minilm"
    assert default_model([]) == "minilm"
    assert default_model(KOREAN) == "use"
    assert default_model([*ENGLISH, KOREAN[0]]) == "use"
    assert default_model(["a long English text about " * 40 + "김"]) == "minilm"


def test_one_text_alone_is_refused_by_the_tokenizer(
    minilm: TransformerEncoder,
) -> None:
    with pytest.raises(InvalidArgumentError, match="texts is the single string 'a text'"):
        minilm.tokenizer("a text")
    with pytest.raises(InvalidArgumentError, match=r"text number 1 is 3 \(int\)"):
        minilm.tokenizer([3])  # type: ignore[list-item]
