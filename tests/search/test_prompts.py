"""Texts and queries are read as sentence-transformers' encode_document and encode_query do."""

from pathlib import Path
from pickle import dumps, loads

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules

from malmoi.encode.encoder import load_transformer
from malmoi.encode.pipeline.prompts import Prompts, own_prompts, with_prompt
from malmoi.errors import InvalidArgumentError
from malmoi.search.build import build_index, open_index
from malmoi.search.storage.entry import Entry
from malmoi.search.update import update_index
from tests.encode.checkpoints import save_model
from tests.search.worlds import BagOfWords

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown")  # so few are known
TEXTS = ["A man is playing a guitar.", "the bank", "Robbers fish. " * 3, "the river"]
QUERY = "fish in the river"


def save_prompted(path: Path, prompts: dict[str, str], default: str | None = None) -> Path:
    """A folder of sentence-transformers that names these prompts."""
    save_model(path / "bert", "bert")
    parts = [modules.Transformer(str(path / "bert")), modules.Pooling(32, "mean")]
    made = SentenceTransformer(
        modules=parts, device="cpu", prompts=prompts, default_prompt_name=default
    )
    made.save(str(path / "whole"))
    return path / "whole"


@pytest.mark.parametrize(
    ("prompts", "default"),
    [
        ({"query": "the river, ", "document": "a bank. "}, None),
        ({"query": "the river, ", "document": "a bank. "}, "document"),
        ({"query": "the river, "}, "query"),
        ({"sts": "a bank. "}, "sts"),
        ({}, None),
    ],
)
def test_vectors_are_those_of_the_peer(
    prompts: dict[str, str], default: str | None, tmp_path: Path
) -> None:
    folder = save_prompted(tmp_path, prompts, default)
    peer = SentenceTransformer(str(folder), device="cpu")
    index = build_index(load_transformer(str(folder)), TEXTS, path=tmp_path / "i")
    documents = peer.encode_document(TEXTS)
    np.testing.assert_allclose(index.vectors.matrix, documents, atol=1e-5)
    expected = peer.similarity(peer.encode_query(QUERY), documents)[0].numpy()
    for seen in (index, open_index(tmp_path / "i")):
        scores = {hit.id: hit.score for hit in seen.search(QUERY, 4)}
        found = [scores[str(i)] for i in range(4)]
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_passage_is_another_name_for_document(tmp_path: Path) -> None:
    folder = save_prompted(tmp_path, {})
    said = folder / "config_sentence_transformers.json"
    said.write_text('{"prompts": {"query": "the river, ", "passage": "a bank. "}}')
    encoder = load_transformer(str(folder))
    assert own_prompts(encoder) == Prompts(document="a bank. ", query="the river, ")
    peer = SentenceTransformer(str(folder), device="cpu")
    matrix = build_index(encoder, TEXTS).vectors.matrix
    np.testing.assert_allclose(matrix, peer.encode(TEXTS, prompt_name="passage"), atol=1e-5)


def test_prompts_that_are_given_are_kept(tmp_path: Path) -> None:
    folder = save_prompted(tmp_path, {"query": "x", "document": "y"}, "query")
    given = Prompts(document="a bank. ", query="the river, ")
    index = build_index(load_transformer(str(folder)), TEXTS, prompts=given, path=tmp_path / "i")
    index.add(["a man"], ids=["more"])
    peer = SentenceTransformer(str(folder), device="cpu")
    expected = peer.encode([*TEXTS, "a man"], prompt="a bank. ")
    np.testing.assert_allclose(index.vectors.matrix, expected, atol=1e-5)
    opened = open_index(tmp_path / "i")
    assert opened.state.prompts == given
    query = peer.encode([QUERY], prompt="the river, ")[0]
    assert [hit.id for hit in opened.search(QUERY)] == [hit.id for hit in opened.search(query)]
    entries = [Entry(str(i), text) for i, text in enumerate(TEXTS)]
    done = update_index(tmp_path / "i", load_transformer(str(folder)), entries)
    assert (done.unchanged, done.removed, done.embedded) == (4, 1, 0)
    with pytest.raises(InvalidArgumentError, match="build a new index for other prompts"):
        update_index(tmp_path / "i", load_transformer(str(folder)), entries, prompts=Prompts())


def test_an_encoder_without_layers_takes_no_prompt(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="'bag' takes no prompt 'q: '"):
        build_index(BagOfWords(), TEXTS, prompts=Prompts(query="q: "), path=tmp_path / "i")
    assert not (tmp_path / "i").exists()
    with pytest.raises(InvalidArgumentError, match="a prompt must be a string, not 3"):
        Prompts(query=3)  # type: ignore[arg-type]


def test_a_prompt_leaves_less_room_for_a_passage(tmp_path: Path) -> None:
    folder = save_prompted(tmp_path, {"document": "the river " * 4, "query": ""})
    index = build_index(load_transformer(str(folder)), ["the bank " * 60])
    assert index.state.vector_count > 1


def test_a_prompt_that_is_put_there_anyway_needs_no_other_encoder() -> None:
    plain = load_transformer("minilm")
    prompted = with_prompt(plain, "query: ")
    assert with_prompt(plain, "") is plain
    assert with_prompt(prompted, "query: ") is prompted
    assert with_prompt(prompted, "") is not prompted


def test_a_prompt_goes_along_to_another_process() -> None:
    prompted = with_prompt(load_transformer("minilm"), "query: ")
    again = loads(dumps(prompted))
    np.testing.assert_allclose(again.encode(TEXTS[:2]), prompted.encode(TEXTS[:2]), atol=1e-5)
