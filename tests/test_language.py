"""The language of the field: terms that find their code, and words that may not return."""

import io
import re
import tokenize
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from malmoi.cli import COMMANDS, run
from malmoi.cli.train.app import KINDS
from malmoi.cli.tune.app import KINDS as TUNED
from tests.pages import DOCS
from tests.source_tree import ROOT, SOURCE

FIELD_TERMS = {  # each finds its code in these folders
    "tokenizer": "encode/tokens",
    "token_type_ids": "encode",
    "attention": "kernels/transformer",
    "positions": "kernels/transformer",
    "qkv": "kernels/transformer",
    "layer_norm": "kernels/transformer",
    "gelu": "kernels/transformer",
    "gemm": "kernels/transformer",
    "quantize": "kernels/transformer",
    "workspace": "kernels/word2vec",
    "barrier": "kernels/core",
    "negative_samples": "train/word2vec",
    "hierarchical-softmax": "train/word2vec",
    "ns_exponent": "train/word2vec",
    "min_n": "train/word2vec",
    "max_n": "subwords.py",
    "subsample": "train/word2vec",
    "learning_rate": "train",
    "checkpoint": "train",
    "metadata": "files",
    "huffman": "train/word2vec",
    "adagrad": "kernels/glove",
    "perplexity": "models",
    "kneser_ney": "train/language",
    "l2_normalize": "nearest",
    "top_k": "nearest",
    "bm25": "search/querying",
    "inverted index": "search/storage",
    "noisy channel": "typos",
    "reporter": "train",
    "mean pooling": "encode",
    "wordpiece": "text",
    "in-batch negatives": "tune",
    "gradient caching": "tune",
    "matryoshka": "tune",
    "hard negatives": "tune/mining",
    "paired bootstrap": "evaluate/suites",
    "linear probe": "evaluate/suites",
    "vocabulary extension": "tune",
    "ibm model 1": "tune/extend",
    "whole-word masking": "tune/adapt",
    "masked-language modelling": "tune/adapt",
    "tsdae": "tune/adapt",
    "cross-attention": "tune/adapt",
    "inverse cloze task": "tune/adapt",
    "sampled softmax": "tune/elmo",
    "highway": "tune/elmo",
    "distillation": "tune/distill",
    "ridge regression": "tune/distill",
    "effective rank": "tune/distill",
    "lstm": "kernels/elmo",
    "character cnn": "encode/elmo",
    "bidirectional language model": "encode/elmo",
    "b-tree": "files/hdf5",
    "temperature scaling": "classify",
    "naive bayes": "kernels/classify",
}
BANNED_NAMES = re.compile(
    r"cutters?|pieces?|Wish|wish|Room|Desk|Crew|crew|Told|told|Telling|tell_\w+|unheard|unwatched"
    r"|meant|rouse\w*|\w*immeasurable|bend\w*|bent|Visit|Keeper|found|asked|said|places?|taken"
    r"|say_\w+|foret\w+|MUCH|FEW|LEAST|MOST|HARDLY|SHOWN|AT_ONCE|PATIENCE|FARTHEST|WANTED|NOTHING"
)
BANNED_PROSE = re.compile(
    r"\bforet(?:ell|old)\w*|\bcutters?\b|\bword(?:s)? foretold|\bis (?:told|said|asked for)\b"
    r"|\ba (?:row|vector|line|column|word) a (?:text|word|line|field|request)\b"
    r"|\bwhoever\b|\bnobody\b|\bis no (?:word|text|number|file|list|JSON|vector|choice)\b"
    r"|\bpieces\b",
    re.IGNORECASE,
)


def sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def strings_and_names(path: Path) -> Iterator[tuple[int, str, str]]:
    """(line, kind, text) of each name, comment and string of a file."""
    kinds = {tokenize.NAME: "name", tokenize.COMMENT: "prose", tokenize.STRING: "prose"}
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in kinds:
                yield token.start[0], kinds[token.type], token.string


@pytest.mark.parametrize("term", FIELD_TERMS)
def test_a_term_of_the_field_finds_its_code(term: str) -> None:
    home = SOURCE / FIELD_TERMS[term]
    files = [home] if home.is_file() else list(home.rglob("*.py"))
    assert any(term in path.read_text(encoding="utf-8").lower() for path in files)


def test_no_name_is_of_the_dialect() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}:{line} {text}"
        for path in sources()
        for line, kind, text in strings_and_names(path)
        if kind == "name" and BANNED_NAMES.fullmatch(text)
    ]
    assert wrong == []


def test_no_docstring_comment_or_message_is_of_the_dialect() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}:{line} {match[0]}"
        for path in sources()
        for line, kind, text in strings_and_names(path)
        if kind == "prose"
        for match in BANNED_PROSE.finditer(text)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))],
    ids=lambda path: path.stem,
)
def test_no_page_is_of_the_dialect(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [match[0] for match in BANNED_PROSE.finditer(text)] == []


def test_no_help_text_is_of_the_dialect() -> None:
    commands = [[name] for name, _, _ in COMMANDS] + [["train", name] for name, _, _ in KINDS]
    commands += [["tune", name] for name, _, _ in TUNED]
    for command in [[], *commands]:
        shown = io.StringIO()
        with redirect_stdout(shown):
            assert run([*command, "--help"]) == 0
        assert BANNED_PROSE.findall(shown.getvalue()) == [], command
