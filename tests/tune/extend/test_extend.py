"""Vocabulary extension: new tokens, rows mixed from known ones, and a folder that others load."""

from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import malmoi as mm
from malmoi.encode.checkpoint.weights import open_weights, weights_file
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.tune.extend.mixture import mix_tokens
from malmoi.tune.extend.tokenizer_files import extensible_tokenizer
from tests.encode.checkpoints import TOKENS
from tests.recording_reporter import RecordingReporter
from tests.tune.extend.worlds import MEANINGS, Bilingual
from tests.tune.worlds import tiny_model

KOREAN = ["은행 강도", "강 물고기는", "The bank, 은행이 뚫린", "한국어"]
ENGLISH = ["The bank robbers, fishing.", "Café BANK river", "a the a", "the unknown wörds"]
WORDS = "embeddings.word_embeddings.weight"
ONE = mm.ExtendSettings(neighbours=1)


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    tokens = ["[UNK]", "[unused1]", *MEANINGS, "##는", "bank", "The", "fis"]
    path.write_text("\n".join(tokens))
    return path


def table(folder: Path | str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return open_weights(weights_file(Path(folder)))[WORDS]


def test_a_new_token_gets_the_row_of_its_translation(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    mm.extend_vocabulary(model, tmp_path / "out", ONE, vocabulary=vocabulary)
    before, after = table(model), table(tmp_path / "out")
    tokenizer = mm.load_transformer(str(tmp_path / "out")).tokenizer.backend
    for korean, english in MEANINGS.items():
        row = after[tokenizer.token_to_id(korean)]
        np.testing.assert_array_equal(row, before[TOKENS.index(english)])


def test_known_tokens_keep_their_ids_rows_and_texts(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    mm.extend_vocabulary(model, tmp_path / "out", vocabulary=vocabulary)
    np.testing.assert_array_equal(table(tmp_path / "out")[: len(TOKENS)], table(model))
    old, new = mm.load_transformer(model), mm.load_transformer(str(tmp_path / "out"))
    for one, other in zip(old.tokenizer(ENGLISH), new.tokenizer(ENGLISH), strict=True):
        assert one.tokens == other.tokens
    np.testing.assert_array_equal(old.encode(ENGLISH), new.encode(ENGLISH))


def test_sentence_transformers_computes_the_same_vectors(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    mm.extend_vocabulary(model, tmp_path / "out", vocabulary=vocabulary)
    texts = [*KOREAN, *ENGLISH, normalize("NFD", KOREAN[0])]
    theirs = SentenceTransformer(str(tmp_path / "out"), device="cpu")
    ours = mm.load_transformer(str(tmp_path / "out"))
    np.testing.assert_allclose(ours.encode(texts), theirs.encode(texts), atol=1e-6)
    for text in texts:
        assert list(ours.tokenizer([text])[0].ids) == theirs.tokenizer(text)["input_ids"]


def test_no_korean_word_is_unknown_and_none_is_split_into_jamo(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    mm.extend_vocabulary(model, tmp_path / "out", vocabulary=vocabulary)
    tokenizer = mm.load_transformer(str(tmp_path / "out")).tokenizer
    (tokenized,) = tokenizer(["물고기는 강도다 ㅋㅋ " + normalize("NFD", "은행")])
    assert tokenized.tokens[1:-1] == ("물고기", "##는", "강도", "##다", "ㅋ", "##ㅋ", "은행")
    rare = "뷁"
    assert rare not in tokenizer.backend.get_vocab()
    settings = mm.ExtendSettings(syllables="all")
    mm.extend_vocabulary(model, tmp_path / "all", settings, vocabulary=vocabulary)
    assert rare in mm.load_transformer(str(tmp_path / "all")).tokenizer.backend.get_vocab()


def test_tokens_are_counted_by_origin_and_reason(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    result = mm.extend_vocabulary(model, tmp_path / "out", ONE, vocabulary=vocabulary)
    assert result.added["vocab.txt"] == len(MEANINGS) + 1
    assert result.count + len(TOKENS) == result.vocab_size
    assert dict(result.skipped) == {
        "known already": 2,  # [UNK] and bank
        "special": 1,
        "Latin letters, digits or signs": 2,
    }
    assert result.examples["은행"] == [("bank", 1.0)]


def test_ideographs_are_words_of_their_own(model: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(["은행", "學", "##學", "學生"]))
    result = mm.extend_vocabulary(model, tmp_path / "out", ONE, vocabulary=tmp_path / "vocab.txt")
    assert result.added["vocab.txt"] == 2
    assert result.skipped == {"never produced by the tokenizer": 2}
    tokenizer = mm.load_transformer(str(tmp_path / "out")).tokenizer
    assert tokenizer(["은행學"])[0].tokens[1:-1] == ("은행", "學")


def test_tokens_are_learned_from_texts(model: str, tmp_path: Path) -> None:
    texts = ["물고기는 은행 강도", "물고기는 은행이다 and fish", "쀍"] * 20
    settings = mm.ExtendSettings(size=40)
    result = mm.extend_vocabulary(model, tmp_path / "out", settings, texts=texts)
    tokens = mm.load_transformer(str(tmp_path / "out")).tokenizer(["물고기는 은행", "쀍 and"])
    assert tokens[0].tokens[1:-1] == ("물고기는", "은행")
    assert tokens[1].tokens[1] == "쀍"  # a syllable that was seen
    assert result.coverage is not None
    before, after = result.coverage
    assert before.unknown_texts == 1.0
    assert after.unknown_texts == 1 / 3  # "and" has always been unknown
    assert before.texts == len(texts)


def test_texts_are_a_column_of_a_table(model: str, tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text("id\tbody\n" + "1\t물고기는 은행\n" * 20, encoding="utf-8")
    settings = mm.ExtendSettings(size=40, field="body")
    mm.extend_vocabulary(model, tmp_path / "out", settings, texts=path)
    tokens = mm.load_transformer(str(tmp_path / "out")).tokenizer(["물고기는"])
    assert tokens[0].tokens[1:-1] == ("물고기는",)


def test_dev_sets_are_compared(model: str, vocabulary: Path, tmp_path: Path) -> None:
    korean, english = list(MEANINGS), list(MEANINGS.values())
    scores = np.linspace(0, 1, len(korean))
    dev = [mm.SentenceSet.of(korean, english, scores, name="words")]
    result = mm.extend_vocabulary(model, tmp_path / "out", vocabulary=vocabulary, dev=dev)
    (one,) = result.dev
    assert one.name == "words"
    assert "words: Spearman" in result.sentences[-1]
    assert "| words, before | 4 |" in (tmp_path / "out" / "README.md").read_text()


def test_syllables_that_the_encoder_cannot_tell_apart_get_the_mean_row(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    mm.extend_vocabulary(model, tmp_path / "out", vocabulary=vocabulary)
    tokenizer = mm.load_transformer(str(tmp_path / "out")).tokenizer.backend
    words = [i for i, token in enumerate(TOKENS) if token.isascii() and token.isalpha()]
    anchors = [i for i in words if len(TOKENS[i]) > 1]
    row = table(tmp_path / "out")[tokenizer.token_to_id("쌀")]
    np.testing.assert_allclose(row, table(model)[anchors].mean(axis=0), rtol=1e-5)


def test_mixture_is_the_softmax_mean_of_the_nearest(model: str) -> None:
    encoder, bilingual = mm.load_transformer(model), Bilingual()
    settings = mm.ExtendSettings(neighbours=3, temperature=0.2)
    tokens, quiet = ["은행", "##강", "나무"], RecordingReporter()
    tokenizer = extensible_tokenizer(encoder)
    mixture = mix_tokens(tokens, tokenizer, bilingual, settings, reporter=quiet)
    rows = mixture.rows(table(model))
    words = ["the", "bank", "river", "rob", "fish"]
    theirs = bilingual.encode(words) - bilingual.encode(words).mean(axis=0)
    mine = bilingual.encode(["은행", "강", "나무"])
    mine -= mine.mean(axis=0)
    for row, vector in zip(rows, mine, strict=True):
        norms = np.linalg.norm(theirs, axis=1) * np.linalg.norm(vector)
        cosines = theirs @ vector / norms
        best = np.argsort(-cosines)[:3]
        weights = np.exp(cosines[best] / 0.2)
        known = table(model)[[TOKENS.index(words[i]) for i in best]]
        np.testing.assert_allclose(row, weights @ known / weights.sum(), atol=1e-5)


def test_every_tensor_with_a_row_per_token_gets_new_rows(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    from malmoi.files.tensors import write_safetensors

    path = weights_file(Path(model))
    bias = np.arange(len(TOKENS), dtype=np.float32)
    tensors = {name: np.array(value) for name, value in open_weights(path).items()}
    write_safetensors(path, tensors | {"cls.predictions.bias": bias}, {"format": "pt"})
    result = mm.extend_vocabulary(model, tmp_path / "out", ONE, vocabulary=vocabulary)
    tokenizer = mm.load_transformer(str(tmp_path / "out")).tokenizer.backend
    new = open_weights(weights_file(tmp_path / "out"))["cls.predictions.bias"]
    assert new.shape == (result.vocab_size,)
    assert new[tokenizer.token_to_id("은행")] == TOKENS.index("bank")


@pytest.mark.parametrize("family", ["distilbert", "electra", "mpnet"])
def test_other_families_with_wordpiece_are_extended(
    family: str, model: str, vocabulary: Path, tmp_path: Path
) -> None:
    source = tiny_model(tmp_path / family, family)
    mm.extend_vocabulary(source, tmp_path / "out", vocabulary=vocabulary)
    theirs = SentenceTransformer(str(tmp_path / "out"), device="cpu")
    ours = mm.load_transformer(str(tmp_path / "out"))
    np.testing.assert_allclose(ours.encode(KOREAN), theirs.encode(KOREAN), atol=1e-5)


def test_an_extended_model_can_be_extended_again(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    first = mm.extend_vocabulary(model, tmp_path / "one", vocabulary=vocabulary)
    (tmp_path / "more.txt").write_text("강물\n은행\n")
    more = tmp_path / "more.txt"
    second = mm.extend_vocabulary(str(tmp_path / "one"), tmp_path / "two", vocabulary=more)
    assert second.added == {"more.txt": 1}
    assert second.vocab_size == first.vocab_size + 1


def test_vocabularies_that_are_not_wordpiece_are_refused(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    from tokenizers import Tokenizer, models

    letters = {letter: i for i, letter in enumerate("abcdefgh")}
    Tokenizer(models.BPE(letters, [])).save(str(Path(model) / "tokenizer.json"))
    with pytest.raises(InvalidArgumentError, match="is BPE: only WordPiece vocabularies"):
        mm.extend_vocabulary(model, tmp_path / "out", vocabulary=vocabulary)
    assert not (tmp_path / "out").exists()


def test_without_new_tokens_there_is_an_error(model: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InvalidArgumentError, match="no source of new tokens"):
        mm.extend_vocabulary(model, out)
    (tmp_path / "english.txt").write_text("bank\nThe\n")
    with pytest.raises(InvalidArgumentError, match="no token is new"):
        mm.extend_vocabulary(model, out, vocabulary=tmp_path / "english.txt")
    with pytest.raises(InvalidArgumentError, match="letters of another script"):
        mm.extend_vocabulary(model, out, texts=["only English", ""])
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InvalidFileError, match="is empty"):
        mm.extend_vocabulary(model, out, vocabulary=tmp_path / "empty.txt")
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(InvalidFileError, match="has no tokens"):
        mm.extend_vocabulary(model, out, vocabulary=tmp_path / "empty.txt")
    (tmp_path / "prose.txt").write_text("은행에 간다\n")
    with pytest.raises(InvalidFileError, match="is not one token"):
        mm.extend_vocabulary(model, out, vocabulary=tmp_path / "prose.txt")
    with pytest.raises(InvalidFileError, match="does not exist"):
        mm.extend_vocabulary(model, out, vocabulary=tmp_path / "nothing.txt")
    assert not out.exists()


def test_an_existing_target_is_refused_before_any_work(
    model: str, vocabulary: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidFileError, match="exists already"):
        mm.extend_vocabulary(model, tmp_path, vocabulary=vocabulary)


@pytest.mark.parametrize(
    "changes", [{"size": 0}, {"neighbours": 0}, {"temperature": 0.0}, {"syllables": "some"}]
)
def test_settings_out_of_range_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match=next(iter(changes))):
        mm.ExtendSettings(**changes)  # type: ignore[arg-type]
