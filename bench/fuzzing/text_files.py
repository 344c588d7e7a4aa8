"""Texts and tests: what corpora, records and test sets are read from."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

from bench.fuzzing.subjects import Subject, digest
from malmoi.evaluate.retrieval import load_beir
from malmoi.evaluate.senses import read_senses
from malmoi.evaluate.sets.sentence_sets import read_sentences
from malmoi.evaluate.sets.word_sets import read_set
from malmoi.text import wordpiece
from malmoi.text.corpus import Corpus
from malmoi.text.encoded import VocabularySettings, count_corpus
from malmoi.text.records import read_records
from malmoi.text.tokenizers import Whitespace
from malmoi.text.word_list import load_words

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "bank", "##er", "a"]
ROWS = [("The bank raised its rate.", 2019), ("서울은 한국의 수도이다.", 2020), ('a "b", c\td', 0)]
TABLE = "text,year\n" + "".join(f'"{text.replace(chr(34), "")}",{year}\n' for text, year in ROWS)
LINES = "".join(json.dumps({"text": text, "year": year}) + "\n" for text, year in ROWS)
PAIRS = "word1\tword2\tscore\n" + "".join(f"king\tword{i}\t{i}.5\n" for i in range(9))
ANALOGIES = ": capitals\n" + "Athens Greece Seoul Korea\n" * 6
SENTENCES = "sentence1\tsentence2\tscore\n" + "A man sat.\tA woman sat.\t3.2\n" * 5
CORPUS = "".join(json.dumps({"_id": f"d{i}", "title": "t", "text": "x y"}) + "\n" for i in range(4))
QUERIES = "".join(json.dumps({"_id": f"q{i}", "text": "x"}) + "\n" for i in range(2))
JUDGED = "query-id\tcorpus-id\tscore\nq0\td1\t1\nq1\td2\t2\n"


def written(**texts: str | bytes) -> Callable[[Path], None]:
    """Files of these names (a dot for each underscore) with these texts."""

    def write(folder: Path) -> None:
        for name, text in texts.items():
            path = folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return write


def write_parquet(folder: Path) -> None:
    """A table of texts."""
    import pyarrow as arrow
    from pyarrow import parquet

    texts, years = zip(*ROWS, strict=True)
    parquet.write_table(arrow.table({"text": texts, "year": years}), folder / "x.parquet")


def use_text(path: Path) -> str:
    """As records, and as words that are counted."""
    field = None if path.suffix in (".txt", ".gz") else "text"
    records = list(read_records(path, fields=[field] if field else []))
    counted = count_corpus(Corpus.of(path, field=field), Whitespace(), VocabularySettings())
    return digest(records, list(counted), counted.counts)


def use_set(path: Path) -> str:
    """A test of words."""
    return digest(read_set(path))


def use_words(folder: Path) -> str:
    """Words and their counts."""
    words = load_words(folder / "x.txt")
    return digest(list(words), words.counts, words.count("the"))


def use_pieces(folder: Path) -> str:
    """A vocabulary of pieces."""
    wordpiece.load_wordpiece.cache_clear()
    tokenizer = wordpiece.WordPiece(str(folder / "x.txt"))
    return digest(tokenizer("the banker"), tokenizer.ids("the bank", "a"))


def subjects() -> list[Subject]:
    """All of them."""
    plain = "\n".join(text for text, _ in ROWS) * 3
    texts = {"x.txt": written(x_txt=plain), "x.csv": written(x_csv=TABLE),
             "x.jsonl": written(x_jsonl=LINES), "x.parquet": write_parquet,
             "x.tsv": written(x_tsv=TABLE.replace(",", "\t")),
             "x.txt.gz": written(x_txt_gz=gzip.compress(plain.encode()))}  # fmt: skip
    found = [
        Subject(f"text {name}", make, lambda folder, name=name: use_text(folder / name), weight=4)  # type: ignore[misc]
        for name, make in texts.items()
    ]
    sets = {"pairs": PAIRS, "analogies": ANALOGIES}
    found += [
        Subject(f"test of {name}", written(x_txt=text), lambda folder: use_set(folder / "x.txt"),
                weight=4)
        for name, text in sets.items()
    ]  # fmt: skip
    return [
        *found,
        Subject("list of words", written(x_txt="the 90\nking 7\n한국 3\n"), use_words, weight=4),
        Subject("list of pieces", written(x_txt="\n".join(PIECES)), use_pieces, weight=4),
        Subject(
            "senses",
            written(x_txt="the bank of a river\tshore\na bank\tmoney, firm\n"),
            lambda folder: digest(read_senses(folder / "x.txt")),
            weight=4,
        ),
        Subject(
            "test of sentences",
            written(x_tsv=SENTENCES),
            lambda folder: digest(read_sentences(folder / "x.tsv")),
            weight=4,
        ),
        Subject(
            "test of searches",
            written(corpus_jsonl=CORPUS, queries_jsonl=QUERIES, qrels__test_tsv=JUDGED),
            lambda folder: digest(load_beir(folder)),
            weight=4,
        ),
    ]
