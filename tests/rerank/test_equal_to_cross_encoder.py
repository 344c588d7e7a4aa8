"""Scores are those of sentence-transformers' CrossEncoder, whatever the family and the lengths."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder

import malmoi as mm
from malmoi.reporting.reporter import SilentReporter
from tests.encode.checkpoints import FAMILIES, TOKENS, change
from tests.rerank.worlds import DOCUMENTS, QUERY, save_cross_encoder

SILENT = SilentReporter()
MINILM: dict[str, Any] = {  # the sizes of ms-marco-MiniLM-L6, but for the vocabulary
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "max_position_embeddings": 512,
}


def peer_scores(folder: Path, query: str, documents: list[str], **options: Any) -> Any:
    peer = CrossEncoder(str(folder), device="cpu", **options)
    return peer.predict([(query, document) for document in documents], batch_size=4)


@pytest.mark.parametrize("family", FAMILIES)
def test_scores_of_every_family(family: str, tmp_path: Path) -> None:
    save_cross_encoder(tmp_path, family)
    found = mm.load_reranker(str(tmp_path)).score(QUERY, DOCUMENTS, reporter=SILENT)
    expected = peer_scores(tmp_path, QUERY, DOCUMENTS)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.std() > 1e-4  # documents differ


def test_scores_of_the_size_of_minilm_by_both_engines(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path, **MINILM, hidden_act="gelu")
    draw = random.Random(3)
    lengths = [1, 3, 17, 60, 200, 400, 900]  # the last is truncated
    documents = [" ".join(draw.choices(TOKENS[5:], k=length)) for length in lengths]
    reranker = mm.load_reranker(str(tmp_path))
    first = reranker.score("한국어 bank", documents, activation="identity", reporter=SILENT)
    reranker.compile()
    second = reranker.score("한국어 bank", documents, activation="identity", reporter=SILENT)
    peer = CrossEncoder(str(tmp_path), device="cpu", activation_fn=torch.nn.Identity())
    expected = peer.predict([("한국어 bank", document) for document in documents])
    np.testing.assert_allclose(first, expected, atol=1e-5)
    np.testing.assert_allclose(second, expected, atol=1e-5)


@pytest.mark.parametrize(("query", "document"), [(90, 3), (3, 90), (90, 91), (91, 90), (19, 20)])
def test_long_pairs_are_truncated_as_the_peer_does(
    query: int, document: int, tmp_path: Path
) -> None:
    """The longer text loses tokens first; the model reads 40."""
    save_cross_encoder(tmp_path)
    draw = random.Random(query)
    a, b = (" ".join(draw.choices(TOKENS[5:], k=size)) for size in (query, document))
    found = mm.load_reranker(str(tmp_path)).score(a, [b], reporter=SILENT)
    np.testing.assert_allclose(found, peer_scores(tmp_path, a, [b]), atol=1e-5)


def test_a_folder_that_cross_encoder_saved(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path / "plain")
    peer = CrossEncoder(
        str(tmp_path / "plain"),
        device="cpu",
        max_length=20,
        activation_fn=torch.nn.Identity(),
        prompts={"web": "a fish : "},
        default_prompt_name="web",
    )
    peer.save(str(tmp_path / "saved"))
    reranker = mm.load_reranker(str(tmp_path / "saved"))
    assert (reranker.activation, reranker.encoder.tokenizer.max_length) == ("identity", 20)
    expected = peer.predict([(QUERY, document) for document in DOCUMENTS])
    found = reranker.score(QUERY, DOCUMENTS, reporter=SILENT)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.min() < 0 or found.max() > 1  # logits


@pytest.mark.parametrize(
    "entry",
    [
        {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"},
        {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Tanh"}},
        {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}},
    ],
)
def test_the_activation_of_the_config(entry: dict[str, object], tmp_path: Path) -> None:
    save_cross_encoder(tmp_path)
    change(tmp_path / "config.json", **entry)
    found = mm.load_reranker(str(tmp_path)).score(QUERY, DOCUMENTS, reporter=SILENT)
    np.testing.assert_allclose(found, peer_scores(tmp_path, QUERY, DOCUMENTS), atol=1e-5)


def test_ranking_is_that_of_the_peer(tmp_path: Path) -> None:
    save_cross_encoder(tmp_path)
    found = mm.load_reranker(str(tmp_path)).rank(QUERY, iter(DOCUMENTS), 3, reporter=SILENT)
    expected = CrossEncoder(str(tmp_path), device="cpu").rank(QUERY, DOCUMENTS, top_k=3)
    assert [one.index for one in found] == [one["corpus_id"] for one in expected]
    assert [one.text for one in found] == [DOCUMENTS[one.index] for one in found]
    assert [one.score for one in found] == pytest.approx([one["score"] for one in expected])
