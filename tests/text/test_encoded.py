import errno
import os
import unicodedata
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.files.source import InputFile
from malmoi.files.tensors import read_safetensors, write_safetensors
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.text import encoded, readers
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import EncodedCorpus, VocabularySettings, encode_corpus, open_encoded
from malmoi.text.tokenizers import English, tokenizer_from
from malmoi.text.word_table import WordTable, read_blocks
from malmoi.vocabulary import Vocabulary

LINES = ["a b a c", "b a", "", "d a"]
WORDS = st.lists(st.lists(st.text("ab한\u00e9", min_size=1, max_size=3), max_size=6), max_size=20)


def decoded(corpus: EncodedCorpus) -> list[list[str]]:
    """The lines again, `?` for unknown words."""
    lines: list[list[str]] = [[]]
    for number in corpus.ids.tolist():
        if number == LINE_END:
            lines.append([])
        else:
            lines[-1].append("?" if number == UNKNOWN else corpus.vocabulary.words[number])
    assert lines[-1] == []
    return lines[:-1]


def test_ids_are_by_frequency_and_lines_are_marked(tmp_path: Path) -> None:
    corpus = encode_corpus(Corpus.of(LINES), folder=tmp_path)
    assert list(corpus.vocabulary) == ["a", "b", "c", "d"]
    assert corpus.vocabulary.counts.tolist() == [4, 2, 1, 1]
    assert corpus.ids.tolist() == [0, 1, 0, 2, LINE_END, 1, 0, LINE_END, LINE_END, 3, 0, LINE_END]


def test_rare_words_are_unknown_and_special_ones_come_first(tmp_path: Path) -> None:
    choice = VocabularySettings(min_count=2, special=("<pad>", "a"))
    corpus = encode_corpus(Corpus.of(LINES), settings=choice, folder=tmp_path)
    assert list(corpus.vocabulary) == ["<pad>", "a", "b"]
    assert corpus.vocabulary.counts.tolist() == [0, 4, 2]
    assert decoded(corpus) == [["a", "b", "a", "?"], ["b", "a"], [], ["?", "a"]]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(lines=WORDS)
def test_decoding_gives_the_text_back(tmp_path: Path, lines: list[list[str]]) -> None:
    if not any(lines):
        return
    corpus = encode_corpus(Corpus.of([" ".join(line) for line in lines]), folder=tmp_path)
    assert decoded(corpus) == lines
    counted = Counter(word for line in lines for word in line)
    assert {word: corpus.vocabulary.count(word) for word in counted} == counted


def test_many_blocks_are_counted_as_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(readers, "BLOCK_BYTES", 64)
    lines = [f"w{i % 7} x{i % 11} {'y' * (i % 5 + 1)}" for i in range(3000)]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + "\n")
    corpus = encode_corpus(Corpus.of(path), folder=tmp_path)
    assert decoded(corpus) == [line.split() for line in lines]


def test_the_second_time_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES))
    first = encode_corpus(Corpus.of(path), folder=tmp_path / "cache")
    monkeypatch.setattr(Corpus, "blocks", lambda *_: pytest.fail("it was read again"))
    again = encode_corpus(Corpus.of(path), folder=tmp_path / "cache")
    np.testing.assert_array_equal(again.ids, first.ids)
    assert again.vocabulary.words == first.vocabulary.words


def test_the_second_time_what_is_odd_is_told_again(tmp_path: Path) -> None:
    text = unicodedata.normalize("NFD", "강아지가 논다")
    for _ in range(2):
        with pytest.warns(MalmoiWarning, match="into jamo .NFD.: 6"):
            encode_corpus(Corpus.of([text]), folder=tmp_path)
    held = VocabularySettings(held=10)
    with pytest.warns(MalmoiWarning) as told:  # although it is read twice
        encode_corpus(Corpus.of([text]), None, held, folder=tmp_path)
    assert len(told) == 1


def test_what_nobody_has_opened_for_a_month_goes_when_something_new_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALMOI_CACHE", str(tmp_path))
    encode_corpus(Corpus.of(["a b"]))
    encode_corpus(Corpus.of(["c d"]))
    two = set(tmp_path.rglob("*.corpus"))
    for path in two:
        os.utime(path, (0, 0))
    encode_corpus(Corpus.of(["a b"]))  # is opened: stays
    assert set(tmp_path.rglob("*.corpus")) == two
    encode_corpus(Corpus.of(["e f"]))
    left = set(tmp_path.rglob("*.corpus"))
    assert len(left) == 2
    assert len(left & two) == 1
    encode_corpus(Corpus.of(["g h"]), folder=tmp_path / "own")
    assert left < set(tmp_path.rglob("*.corpus"))


@pytest.mark.parametrize("left", [0, 100, 500])
def test_what_is_kept_and_damaged_is_made_anew(left: int, tmp_path: Path) -> None:
    whole = decoded(encode_corpus(Corpus.of(["a b", "b c"]), folder=tmp_path))
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:left])
    assert decoded(encode_corpus(Corpus.of(["a b", "b c"]), folder=tmp_path)) == whole


def test_a_folder_that_cannot_keep_it_is_told_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(
        InvalidFileError, match=r"encoded-corpus cache to .*file .*name another folder in MALMOI"
    ):
        encode_corpus(Corpus.of(["a b"]), folder=tmp_path / "file")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(encoded, "read_blocks", full)
    with pytest.raises(InvalidFileError, match=r"No space left on device.*MALMOI_CACHE"):
        encode_corpus(Corpus.of(["a b"]), folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_tokenizer_is_kept_with_the_corpus(tmp_path: Path) -> None:
    corpus = encode_corpus(Corpus.of(["Don't STOP, 3.5!"]), English(), folder=tmp_path)
    assert decoded(corpus) == [["don't", "stop", "3.5"]]
    assert tokenizer_from(corpus.tokenizer) == English()


def test_an_interrupt_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(WordTable, "encode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            encode_corpus(Corpus.of(LINES), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert len(encode_corpus(Corpus.of(LINES), folder=tmp_path).vocabulary) == 4


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="does not contain a single word"):
        encode_corpus(Corpus.of(["", "  "]), folder=tmp_path)
    with pytest.raises(InvalidArgumentError, match="occurs 4 times"):
        encode_corpus(Corpus.of(LINES), settings=VocabularySettings(min_count=5), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_while_counting_the_rarest_may_be_forgotten() -> None:
    text = np.frombuffer(b" ".join([b"often"] * 50 + [b"w%d" % i for i in range(99)]), np.uint8)
    table = read_blocks([text, text], max_words=10).total
    assert "often" in table.keys
    assert len(table) <= 20


def test_with_words_forgotten_on_the_way_the_ids_are_those_of_the_words_kept(
    tmp_path: Path,
) -> None:
    lines = [f"often {i} now" for i in range(50)]
    corpus = encode_corpus(
        Corpus.of(lines), settings=VocabularySettings(min_count=9, held=8), folder=tmp_path
    )
    assert decoded(corpus) == [["often", "?", "now"]] * 50


def test_ids_that_no_word_has_are_refused() -> None:
    words = Vocabulary.of({"a": 2, "b": 1})
    ids = np.array([0, 1, UNKNOWN, LINE_END], np.uint32)
    assert len(EncodedCorpus(ids, words).ids) == 4
    for wrong, why in (
        (np.array([0, 2], np.uint32), "id 2 is in the text, but there are 2 words"),
        (np.array([0, UNKNOWN - 1], np.uint32), "but there are 2 words"),
        (ids.astype(np.int64), "the ids are int64"),
        (ids.reshape(2, 2), r"uint32 \[2, 2\]: give an array"),
        ([0, 1], "give an array of uint32"),
    ):
        with pytest.raises(InvalidArgumentError, match=why):
            EncodedCorpus(wrong, words)  # type: ignore[arg-type]


def test_no_flipped_bit_of_a_kept_corpus_trains_on_other_words(tmp_path: Path) -> None:
    whole = decoded(encode_corpus(Corpus.of(["a b", "b c"]), folder=tmp_path))
    (kept,) = tmp_path.iterdir()
    content = kept.read_bytes()
    for at in range(8, len(content), 3):
        kept.write_bytes(content[:at] + bytes([content[at] ^ 64]) + content[at + 1 :])
        with suppress(InvalidFileError):
            assert decoded(open_encoded(kept)) == whole


@pytest.mark.parametrize(
    ("tensor", "array"),
    [
        ("ids", np.array([0, 9], np.uint32)),
        ("ids", np.array([0, 1], np.uint64)),
        ("counts", np.array([2.0, 1.0, 1.0])),
        ("counts", np.array([2, -1, 1])),
        ("key_rows", np.array([0, 1, 9], np.uint32)),
    ],
)
def test_a_kept_corpus_that_makes_no_sense_is_refused(
    tensor: str, array: Any, tmp_path: Path
) -> None:
    encode_corpus(Corpus.of(["a b", "b c"]), folder=tmp_path)
    (kept,) = tmp_path.iterdir()
    arrays, metadata = read_safetensors(InputFile(kept))
    write_safetensors(kept, arrays | {tensor: array}, metadata)
    with pytest.raises(InvalidFileError, match="is damaged"):
        open_encoded(kept)
