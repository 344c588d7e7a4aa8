"""A small folder laid out as $MALMOI_DATA, and a tiny sentence-transformers model."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

WORDS = ["the", "bank", "river", "rob", "fish", "fishing", "robbers", "a", "한국", "한국어"]


def texts(count: int, seed: int = 0) -> list[str]:
    """Different texts of some words."""
    random, made = np.random.default_rng(seed), dict[str, None]()
    while len(made) < count:
        made[" ".join(random.choice(WORDS, random.integers(2, 8)))] = None
    return list(made)


def write(path: Path, content: str) -> None:
    """A file, compressed if its name says so, in a folder that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def beir(folder: Path, split: str = "test") -> None:
    """Eight texts; each of four queries has two relevant ones."""
    made = texts(12, seed=4)
    lines = [{"_id": f"d{i}", "title": "", "text": text} for i, text in enumerate(made[:8])]
    write(folder / "corpus.jsonl", "\n".join(map(json.dumps, lines)))
    asked = [{"_id": f"q{i}", "text": text} for i, text in enumerate(made[8:])]
    write(folder / "queries.jsonl", "\n".join(map(json.dumps, asked)))
    judged = [f"q{i}\td{i}\t2\nq{i}\td{i + 4}\t1" for i in range(4)]
    write(folder / "qrels" / f"{split}.tsv", "query-id\tcorpus-id\tscore\n" + "\n".join(judged))


def squad(path: Path) -> None:
    """Two paragraphs with a question each, and a paragraph twice."""
    paragraphs = [
        {"context": "한국어 the bank", "qas": [{"id": "1", "question": "한국어"}]},
        {"context": "a river", "qas": [{"id": "2", "question": "the river"}]},
        {"context": "a river", "qas": [{"id": "3", "question": "river"}]},
    ]
    write(path, json.dumps({"data": [{"paragraphs": paragraphs}]}, ensure_ascii=False))


def make_data(root: Path) -> Path:
    """The data of every installed task but KorQuAD, a few texts each."""
    made = texts(200)
    random = np.random.default_rng(1)
    pairs = list(zip(made[::2], made[1::2], strict=True))
    scored = [(a, b, float(len({*a.split()} & {*b.split()}))) for a, b in pairs[:30]]
    write(root / "sts/stsb_en/stsb-en-dev.csv", "\n".join(f"{a},{b},{c}" for a, b, c in scored))
    head = "genre\tscore\tsentence1\tsentence2\n"
    rows = "\n".join(f"g\t{c}\t{a}\t{b}" for a, b, c in scored)
    write(root / "sts/korsts/sts-dev.tsv", head + rows)
    write(root / "sts/korsts/sts-train.tsv", head + rows)
    labels = ["entailment", "neutral", "contradiction"]
    sick = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    sick += "\n".join(f"{i}\t{a}\t{b}\t{c}\t{labels[i % 3].upper()}"
                      for i, (a, b, c) in enumerate(scored))  # fmt: skip
    write(root / "sts/sick/SICK_trial.txt", sick)
    nli = "\n".join(f"{a}\t{b}\t{labels[i % 3]}" for i, (a, b) in enumerate(pairs))
    write(root / "nli/xnli.dev.ko.tsv", f"sentence1\tsentence2\tgold_label\n{nli}")
    write(root / "parakqc/p.txt", "\n".join(f"0\t0\t{text}" for text in made[:40]))
    write(root / "parallel/manythings.txt", "\n".join(f"{a}\t{b}\tCC" for a, b in pairs[:20]))
    classes = random.integers(2, size=len(made))
    rows = "\n".join(f"{i}\t{a}\t{c}" for i, (a, c) in enumerate(zip(made, classes, strict=True)))
    write(root / "nsmc/ratings_train.txt.gz", f"id\tdocument\tlabel\n{rows}")
    spam = "\n".join(
        f"{'ham' if c else 'spam'},{a} £,," for a, c in zip(made, classes, strict=True)
    )
    (root / "spam").mkdir()
    (root / "spam/spam.csv").write_bytes(f"v1,v2,,\n{spam}".encode("latin-1", "replace"))
    posts: list[dict[str, Any]] = [
        {"group": f"g{i % 3}", "text": f"From: x\nSubject: Re: {text}\n\nhello"}
        for i, text in enumerate(made[:60])
    ]
    write(root / "newsgroups/train.jsonl.gz", "\n".join(map(json.dumps, posts)))
    beir(root / "scifact", "train")
    return root
