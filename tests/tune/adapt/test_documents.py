"""Documents of a domain, and the pairs and batches that are made of them."""

import gzip
import json
from pathlib import Path
from random import Random
from unicodedata import normalize

import numpy as np
import pytest

from malmoi.errors import InvalidFileError
from malmoi.reporting.reporter import SilentReporter
from malmoi.search.build import build_index
from malmoi.tune.adapt.documents import Document, read_documents
from malmoi.tune.adapt.objectives.lexical_teacher import LexicalTeacher
from malmoi.tune.adapt.objectives.pairs import make_pair, similar_batches
from malmoi.vectors import l2_normalize
from tests.recording_reporter import RecordingReporter
from tests.search.worlds import BagOfWords

RECORDS = [
    {"_id": "1", "title": "Rivers", "text": "A river flows. It has banks."},
    {"_id": "2", "title": None, "text": "A bank lends money."},
    {"_id": "3", "title": "Rivers", "text": "A river flows. It has banks."},
    {"_id": "4", "title": "Nothing", "text": " "},
]


def test_a_beir_folder_has_titles_and_its_duplicates_are_counted(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, RECORDS)))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "never read"}')
    reporter = RecordingReporter()
    corpus = read_documents(tmp_path, "text", "title", reporter)
    assert corpus.documents == (
        Document("Rivers", "A river flows. It has banks."),
        Document("", "A bank lends money."),
    )
    assert corpus.documents[0].whole == "Rivers A river flows. It has banks."
    assert reporter.warnings == [
        f"{tmp_path}: 1 empty documents were skipped",
        f"{tmp_path}: 1 duplicates were skipped",
    ]


def test_decomposed_korean_is_composed(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(normalize("NFD", text) for text in ("한국어", "한국어", "강아지")))
    corpus = read_documents(path, "text", "title", SilentReporter())
    assert [document.text for document in corpus.documents] == ["한국어", "강아지"]


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(map(json.dumps, RECORDS)))
    with pytest.raises(InvalidFileError, match="there is no field 'body'"):
        read_documents(path, "body", "title", SilentReporter())


def test_the_digest_depends_on_titles_and_texts() -> None:
    texts = [["a", "b"], ["a", "c"], ["a", "b"]]
    one, other, same = (read_documents(each, "", "", SilentReporter()).digest for each in texts)
    assert one == same != other


def test_a_query_is_the_title_or_a_sentence_that_the_text_lacks() -> None:
    document, random = (
        Document("Rivers of Korea", "The Han is long. The Nakdong is longer."),
        Random(1),
    )
    made = {make_pair(document, random) for _ in range(50)}
    assert made == {
        ("Rivers of Korea", document.text),
        ("The Han is long.", "Rivers of Korea The Nakdong is longer."),
        ("The Nakdong is longer.", "Rivers of Korea The Han is long."),
    }


def test_a_document_of_one_sentence_gives_some_of_its_words() -> None:
    document = Document("", "The Han flows through Seoul to the Yellow Sea")
    pair = make_pair(document, Random(3))
    assert pair.text == document.text
    assert set(pair.query.split()) < set(document.text.split())


def test_a_long_text_begins_anywhere() -> None:
    document = Document("", ". ".join(f"Sentence {i} is here" for i in range(60)) + ".")
    starts = {make_pair(document, Random(seed)).text.split(".")[0] for seed in range(20)}
    assert len(starts) > 5


def test_batches_hold_similar_documents_and_every_document_once() -> None:
    random = np.random.default_rng(0)
    centres = l2_normalize(random.normal(size=(10, 16)).astype(np.float32))
    topics = random.permutation(np.repeat(np.arange(10), 8))
    noise = 0.05 * random.normal(size=(80, 16)).astype(np.float32)
    vectors = l2_normalize(centres[topics] + noise)
    batches = similar_batches(vectors, 16, 8, (1, 0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(80))
    assert all(len(set(topics[batch].tolist())) == 2 for batch in batches)
    others = similar_batches(vectors, 16, 8, (1, 1))
    assert [b.tolist() for b in batches] != [b.tolist() for b in others]


def test_no_batch_has_a_single_document() -> None:
    vectors = np.eye(5, dtype=np.float32)
    assert [len(batch) for batch in similar_batches(vectors, 2, 2, (1, 0))] == [2, 2]


def test_the_lexical_scores_are_those_of_an_index() -> None:
    texts = [
        "The river bank was flooded in 2019.",
        "A bank lends money to people.",
        "강아지가 공원에서 논다.",
        "Fishing in the river, the long river.",
    ]
    queries = ["river bank", "money bank 2019", "공원의 강아지"]
    scores = LexicalTeacher(texts).scores(queries, texts)
    index = build_index(BagOfWords(), texts)
    for query, row in zip(queries, scores, strict=True):
        found = {hit.id: hit.score for hit in index.search(query, 4, lexical=True)}
        highest = max(found.values())
        expected = [found.get(str(i), 0.0) / highest for i in range(len(texts))]
        np.testing.assert_allclose(row, expected, atol=1e-5)


def test_a_query_of_unknown_words_has_no_lexical_scores() -> None:
    scores = LexicalTeacher(["a river", "a bank"]).scores(["zebra"], ["a river", "a bank"])
    assert not scores.any()
