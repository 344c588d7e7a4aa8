"""Folders: an index of texts, and a model of the BERT family."""

import json
from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from bench.fuzzing.subjects import Subject, digest, signed, stripped
from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.weights import open_weights
from malmoi.encode.loading import load_encoder
from malmoi.models.pickled import read_pickled
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.search.build import build_index, open_index
from malmoi.search.storage import manifest
from malmoi.vectors import Vectors

TEXTS = ["The bank raised its rate in 2019.", "A man plays by the river bank.",
         "서울은 한국의 수도이다.", "Rivers flow to the sea.", "Prices fell in May."]  # fmt: skip
PIECES = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]", "the", "bank", "rob", "##ber", "한국",
          "##어", "a", "fish", "##ing", ",", "."]  # fmt: skip
MODULES = "sentence_transformers.models"
FIELDS = [{"lang": "en", "year": 2019}, {"lang": "en"}, {"lang": "ko"}, {"year": 2020.5}, {}]


class Hashed:
    """An encoder that needs no model: the sum of made-up vectors of a text's words."""

    name, dim = "hashed", 8

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        """A row per text."""
        rows = [sum(map(self._word, text.lower().split()), np.zeros(self.dim)) for text in texts]
        return np.array(rows, np.float32).reshape(-1, self.dim)

    def stream(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterable[Float32Array]:
        """The same one by one."""
        return (self.encode([text]) for text in texts)

    def _word(self, word: str) -> Float32Array:
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
        return np.random.default_rng(seed).normal(size=self.dim).astype(np.float32)


def write_index(folder: Path) -> None:
    """Texts with fields, in two segments of which one has a dead row."""
    index = build_index(Hashed(), TEXTS, ids=list("abcde"), fields=FIELDS, path=folder)  # type: ignore[arg-type]
    index.add(["a new text about a bank"], ids=["f"], fields=[{"lang": "en"}])
    index.delete(["b"])


def write_clusters(folder: Path) -> None:
    """Vectors in clusters, without texts to encode."""
    matrix = np.random.default_rng(1).normal(size=(700, 8)).astype(np.float32)
    build_index(Vectors([str(row) for row in range(700)], matrix), approximate=True, path=folder)


def use_index(folder: Path) -> str:
    """Search it in every way, and look at what it holds."""
    index = open_index(folder, encoder=Hashed())  # type: ignore[arg-type]
    answers: list[object] = [len(index), *map(index.state.entry, range(len(index.state.living)))]
    for how in ({}, {"lexical": True}, {"hybrid": True}, {"where": {"lang": "en"}}):
        answers.append(index.search("river bank", 3, **how))
    answers += [index.search("bank", 2, where="year>=2000"), "a" in index, "b" in index]
    answers += [index.vectors.matrix, list(index.vectors.keys), sorted(index.describe())]
    index.add(["one text more"], ids=["z"])  # which joins it with others
    return digest(*answers, index.search("one bank", 3, hybrid=True))


def use_clusters(folder: Path) -> str:
    """Search by vector, exactly and not."""
    index = open_index(folder)
    direction = np.ones(index.state.dim, np.float32)
    found = [index.search(direction, 5, exact=exact) for exact in (True, False)]
    return digest(*found, [hit.id for hit in index.search("7", 5)])


def write_model(folder: Path) -> None:
    """A small BERT with random weights, as transformers and sentence-transformers save it."""
    import torch
    import transformers

    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=len(PIECES), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=24, max_position_embeddings=20,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    transformers.BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    kinds = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")
    modules = [
        {
            "idx": place,
            "name": str(place),
            "path": path,
            "type": f"sentence_transformers.models.{kind}",
        }
        for place, (kind, path) in enumerate(kinds)
    ]
    for name, said in {
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": 12, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True},
    }.items():
        (folder / name).write_text(json.dumps(said))


def write_pickle(folder: Path) -> None:
    """Weights as PyTorch pickles them."""
    import torch

    torch.manual_seed(5)
    weights = {"a.weight": torch.randn(6, 5), "a.bias": torch.zeros(5), "n": torch.arange(4)}
    torch.save(weights, folder / "pytorch_model.bin")


def use_pickle(folder: Path) -> str:
    """The weights by name."""
    weights = read_pickled(folder / "pytorch_model.bin")
    return digest(*(item for pair in sorted(weights.items()) for item in pair))


def use_weights(folder: Path) -> str:
    """The weights alone, as they are read."""
    weights = open_weights(folder / "model.safetensors")
    return digest(*(item for pair in sorted(weights.items()) for item in pair))


def use_model(folder: Path) -> str:
    """Vectors of two texts."""
    encoder = load_encoder(str(folder))
    return digest(encoder.encode(["the bank", "한국어 fishing, a robber."]))


def unsigned(content: bytes) -> bytes:
    """A file of an index as earlier releases wrote it."""
    if content[8:9] == b"{" and content[:1] != b"{":
        return stripped(content)
    if content[:1] != b"{":
        return content
    said = json.loads(content)
    for entry in said["segments"]:
        entry.pop(manifest.CHECKSUM_KEY, None)
    return json.dumps(
        {name: it for name, it in said.items() if name != manifest.CHECKSUM_KEY}
    ).encode()


def signed_index(content: bytes) -> bytes:
    """A file of an index with the checksum of what it holds now."""
    if content[:1] != b"{":
        return signed(content)
    try:
        said = json.loads(content)
        return json.dumps(manifest.with_checksum(said)).encode()
    except (ValueError, TypeError, RecursionError):
        return content


def subjects() -> list[Subject]:
    """All of them."""
    index = Subject("index", write_index, use_index, checked=True, weight=4)
    found = [
        index,
        replace(index, name="index, large", is_large=True),
        replace(index, name="index, no checksums", before=unsigned, checked=False),
        replace(index, name="index, signed again", before=unsigned, after=signed_index,
                checked=False),
        Subject("clusters", write_clusters, use_clusters, checked=True, weight=2),
        Subject("model's weights", write_model, use_weights, weight=3),
        Subject("model's pickle", write_pickle, use_pickle, weight=3),
        Subject("model", write_model, use_model, weight=1),
    ]  # fmt: skip
    return found
