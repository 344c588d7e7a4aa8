"""Programs for sentence-transformers with only the import changed, beside the package itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentence_transformers as peer
import torch
from sentence_transformers import util as peer_util

from malmoi.compat.sentence_transformers import SentenceTransformer, util
from malmoi.encode.checkpoint.locate import find_model
from malmoi.errors import InvalidArgumentError, InvalidFileError

QUICKSTART = """
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("sentence-transformers/all-MiniLM-L6-v2")
sentences = [
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
]
embeddings = model.encode(sentences)
assert embeddings.shape == (3, 384)
similarities = model.similarity(embeddings, embeddings)
"""
CORPUS = """
import torch
from sentence_transformers import SentenceTransformer

embedder = SentenceTransformer("all-MiniLM-L6-v2")
corpus = [
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "The girl is carrying a baby.",
    "A man is riding a horse.",
    "A woman is playing violin.",
    "Two men pushed carts through the woods.",
    "A man is riding a white horse on an enclosed ground.",
    "A monkey is playing drums.",
    "A cheetah is running behind its prey.",
]
queries = [
    "A man is eating pasta.",
    "Someone in a gorilla costume is playing a set of drums.",
    "A cheetah chases prey on across a field.",
]
"""
SEARCH_BY_TOPK = (
    CORPUS
    + """
corpus_embeddings = embedder.encode_document(corpus, convert_to_tensor=True)
top_k = min(5, len(corpus))
found = []
for query in queries:
    query_embedding = embedder.encode_query(query, convert_to_tensor=True)
    similarity_scores = embedder.similarity(query_embedding, corpus_embeddings)[0]
    scores, indices = torch.topk(similarity_scores, k=top_k)
    found.append(indices.tolist())
"""
)
SEARCH_BY_UTIL = (
    CORPUS
    + """
from sentence_transformers import util

corpus_embeddings = embedder.encode(corpus, convert_to_tensor=True)
corpus_embeddings = util.normalize_embeddings(corpus_embeddings)
query_embeddings = embedder.encode(queries, convert_to_tensor=True)
query_embeddings = util.normalize_embeddings(query_embeddings)
hits = util.semantic_search(query_embeddings, corpus_embeddings, score_function=util.dot_score)
found = [[hit["corpus_id"] for hit in each[:5]] for each in hits]
paraphrases = util.paraphrase_mining(embedder, corpus)
assert {1, 0} == set(paraphrases[0][1:]) or {3, 6} == set(paraphrases[0][1:])
"""
)


@pytest.fixture(scope="module")
def folder() -> Path:
    return find_model("minilm")


def run(program: str) -> dict[str, Any]:
    """The names of a program after its import was changed."""
    names: dict[str, Any] = {}
    exec(program.replace("from sentence_transformers", f"from {COMPAT}"), names)
    return names


COMPAT = "malmoi.compat.sentence_transformers"


def test_the_quickstart_runs_and_prints_its_numbers() -> None:
    printed = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    np.testing.assert_allclose(run(QUICKSTART)["similarities"], printed, atol=2e-4)


@pytest.mark.parametrize("program", [SEARCH_BY_TOPK, SEARCH_BY_UTIL])
def test_semantic_search_runs_and_finds_the_same(program: str, folder: Path) -> None:
    names: dict[str, Any] = {}
    exec(program.replace('"all-MiniLM-L6-v2"', repr(str(folder))), names)
    assert run(program)["found"] == names["found"]
    assert [each[0] for each in names["found"]] == [0, 7, 8]


def test_arguments_of_encode_do_what_they_do_there(folder: Path) -> None:
    texts = ["A man is eating food.", "강아지", "The girl is carrying a baby."]
    ours, theirs = SentenceTransformer(folder), peer.SentenceTransformer(str(folder))
    cases: list[dict[str, Any]] = [
        {},
        {"batch_size": 2, "show_progress_bar": False},
        {"normalize_embeddings": True},
        {"convert_to_tensor": True},
        {"truncate_dim": 100, "normalize_embeddings": True},
        {"prompt": "query: "},
    ]
    texts = texts[::2]
    for arguments in cases:
        mine, other = ours.encode(texts, **arguments), theirs.encode(texts, **arguments)
        assert type(mine) is type(other)
        np.testing.assert_allclose(mine, other, atol=1e-5)
        single = ours.encode(texts[0], **arguments)
        np.testing.assert_allclose(single, mine[0], atol=1e-5)
    mine, other = (each.encode(texts, convert_to_numpy=False) for each in (ours, theirs))
    assert [type(row) for row in mine] == [type(row) for row in other]
    tokens = ours.encode(texts, output_value="token_embeddings")
    for mine, other in zip(tokens, theirs.encode(texts, output_value="token_embeddings"),
                           strict=True):  # fmt: skip
        np.testing.assert_allclose(mine, other.numpy(), atol=1e-4)
    assert ours.get_embedding_dimension() == theirs.get_embedding_dimension() == 384
    assert ours.max_seq_length == theirs.max_seq_length


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy, lambda rows: rows.tolist()])
def test_functions_of_util_are_those_of_the_package(make: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = (make(rng.standard_normal((n, 8)).astype(np.float32)) for n in (7, 7))
    for name in (
        "cos_sim",
        "dot_score",
        "euclidean_sim",
        "manhattan_sim",
        "pairwise_cos_sim",
        "pairwise_dot_score",
    ):
        mine = getattr(util, name)(a, b)
        np.testing.assert_allclose(mine, getattr(peer_util, name)(a, b), atol=1e-5)
        assert isinstance(mine, torch.Tensor) == isinstance(a, torch.Tensor)
    for sizes in ({}, {"query_chunk_size": 2, "corpus_chunk_size": 3, "top_k": 4}):
        mine, other = (each.semantic_search(a, b, **sizes) for each in (util, peer_util))
        assert [[h["corpus_id"] for h in q] for q in mine] == [
            [h["corpus_id"] for h in q] for q in other
        ]


def test_prompts_are_those_of_the_constructor(folder: Path) -> None:
    prompts = {"query": "query: ", "document": "passage: "}
    ours = SentenceTransformer(folder, prompts=prompts)
    theirs = peer.SentenceTransformer(str(folder), prompts=prompts)
    for method in ("encode_query", "encode_document", "encode"):
        mine, other = (getattr(each, method)(["a text"]) for each in (ours, theirs))
        np.testing.assert_allclose(mine, other, atol=1e-5)
    by_name = ours.encode(["a text"], prompt_name="query")
    np.testing.assert_array_equal(by_name, ours.encode_query(["a text"]))


def test_what_cannot_be_done_is_said(folder: Path) -> None:
    model = SentenceTransformer(folder)
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: SentenceTransformer(folder, device="cuda"), "encoders run on the CPU"),
        (lambda: SentenceTransformer(folder, similarity_fn_name="x"), "cosine, dot, euclidean"),
        (lambda: SentenceTransformer("use", prompts={"a": "b"}), "takes no prompts"),
        (lambda: model.encode(["a"], precision="int8"), "embeddings are float32"),
        (lambda: model.encode(["a"], prompt_name="query"), "has no prompt 'query'"),
        (lambda: model.encode({"a": "b"}), "is a dict: pass a list"),
        (lambda: util.semantic_search([[1.0]], [[1.0]], top_k=0), "top_k must be"),
    ]
    for call, sentence in calls:
        with pytest.raises(InvalidArgumentError, match=sentence):
            call()
    with pytest.raises((InvalidFileError, InvalidArgumentError)):
        SentenceTransformer("no/such/folder")
