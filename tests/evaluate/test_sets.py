import gzip
import unicodedata
from pathlib import Path

import pytest

from malmoi.errors import InvalidFileError, MalmoiWarning
from malmoi.evaluate.sets.word_sets import (
    AnalogySet,
    SimilaritySet,
    WordPair,
    read_analogies,
    read_pairs,
    read_set,
)
from tests.evaluate.sets import ANALOGIES, real

THREE = (WordPair("고양이", "개", 8.0), WordPair("New York", "Seoul", 6.5), WordPair("a", "b", 0.0))


def written(folder: Path, content: str | bytes, name: str = "some.set.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "고양이\t개\t8\nNew York\tSeoul\t6.5\na\tb\t0\n",
        "고양이,개,8\r\nNew York,Seoul,6.5\r\na,b,0",
        '"word 1","word 2",score\n"고양이","개",8\n"New York",Seoul,6.5\na,b,0\n',
        "\ufeffword 1,word 2,kor_score\n고양이,개,8\nNew York,Seoul,6.5\na,b,0\n",
        "# made by hand\n# word1\tword2\n\n고양이\t개\t8\nNew York\tSeoul\t6.5\na\tb\t0\n",
        "word1\tword2\tPOS\tSimLex\tSD\n고양이\t개\tN\t8\t1\n"
        "New York\tSeoul\tN\t6.5\t1\na\tb\tN\t0\t1\n",
    ],
)
def test_pairs_in_many_dresses(tmp_path: Path, content: str) -> None:
    assert read_set(written(tmp_path, content)) == SimilaritySet("some.set", THREE)


def test_a_stray_quotation_mark_is_a_letter_of_its_line(tmp_path: Path) -> None:
    tabs = read_pairs(written(tmp_path, '"a\tb\t1\nc\td\t2\n'))
    assert tabs.pairs == (WordPair('"a', "b", 1), WordPair("c", "d", 2))
    with pytest.raises(InvalidFileError, match="txt:2: "):
        read_pairs(written(tmp_path, 'a,b,1\n"c,d,2\ne,f,3\n'))


def test_pairs_apart_by_spaces_with_a_header_of_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "word 1 word 2 score\ncat  dog 8\ncat car 1e-1\n")
    assert read_pairs(path).pairs == (WordPair("cat", "dog", 8), WordPair("cat", "car", 0.1))


def test_one_pair_under_a_header_is_enough(tmp_path: Path) -> None:
    assert read_pairs(written(tmp_path, "one,other,score\na,b,1\n")).pairs == (
        WordPair("a", "b", 1),
    )


def test_analogies_are_told_by_their_sections(tmp_path: Path) -> None:
    found = read_analogies(written(tmp_path, gzip.compress(ANALOGIES.encode()), "q.txt.gz"))
    assert found.name == "q"
    assert [(one.name, one.is_syntactic) for one in found.sections] == [
        ("capitals", False),
        ("gram1-plural", True),
    ]
    assert found.sections[0].questions[1] == ("일본", "도쿄", "한국", "서울")


def test_four_words_a_line_are_analogies_too(tmp_path: Path) -> None:
    found = read_set(written(tmp_path, "a b c d\ne f g h\n"))
    assert isinstance(found, AnalogySet)
    assert len(found.sections[0].questions) == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"# nothing\n\n", "is empty: expected"),
        (b"once upon a time there was\na file\n", "is not a test set"),
        (b"2 3\nthe 0.1 0.2 0.3\nof 0.2 0.3 0.4\n", "is not a test set"),
        (b"cat dog\ncat car\n", "is not a test set"),
        (b"a\tb\t1\nc\td\tmany\ne\tf\t2\n", "txt:2: expected two words and a number"),
        (b"a\tb\t1\nc\td\tnan\ne\tf\t2\n", "txt:2: expected two words and a number"),
        (b"a\tb\tnan\nc\td\t1\ne\tf\t2\n", "txt:1: expected two words and a number"),
        (b"a\tb\t1\nc\td\ne\tf\t2\n", "txt:2: "),
        (b"a,b,1\nc,,3\n", "txt:2: "),
        (b": s\na b c d\na b c\n", "txt:3: expected four words; got 'a b c'"),
        (b"a b c d\0\n", "not text"),
        (b"caf\xe9 \xff 1\n", "neither UTF-8 nor CP949"),
    ],
)
def test_what_is_no_test_set_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidFileError, match=sentence):
        read_set(written(tmp_path, content))


def test_the_wrong_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="holds analogies"):
        read_pairs(written(tmp_path, ANALOGIES))
    with pytest.raises(InvalidFileError, match="not analogies"):
        read_analogies(written(tmp_path, "a b 1\n"))
    with pytest.raises(InvalidFileError, match="does not exist"):
        read_set(tmp_path / "none.txt")


def test_hangul_in_its_letters_is_put_together_and_told(tmp_path: Path) -> None:
    path = written(tmp_path, unicodedata.normalize("NFD", "고양이\t개\t8\n"))
    with pytest.warns(MalmoiWarning, match="NFC"):
        assert read_pairs(path).pairs == (WordPair("고양이", "개", 8),)


def test_cp949_is_read_and_told(tmp_path: Path) -> None:
    with pytest.warns(MalmoiWarning, match="CP949"):
        found = read_pairs(written(tmp_path, "고양이,개,8\n".encode("cp949")))
    assert found.pairs == (WordPair("고양이", "개", 8),)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("EN-WS-353-ALL.txt", 353),
        ("EN-MEN-TR-3k.txt", 3000),
        ("EN-RW-STANFORD.txt", 2034),
        ("WS353_korean.csv", 353),
    ],
)
def test_real_pairs(name: str, count: int) -> None:
    assert len(read_pairs(real(name)).pairs) == count


def test_the_korean_analogies_say_which_ask_for_forms() -> None:
    found = read_analogies(real("word_analogy_korean.txt"))
    assert sum(len(one.questions) for one in found.sections) == 10_000
    assert sum(one.is_syntactic for one in found.sections) == 5
