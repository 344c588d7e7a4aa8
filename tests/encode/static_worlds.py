"""Small static encoders in each of the formats."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from malmoi.arrays import Float32Array
from malmoi.encode.static.saving import save_static
from malmoi.tune.static.vocabulary import learn_tokenizer

TEXTS = [
    "the bank of the river",
    "robbers rob the bank, the river fish",
    "비행기가 이륙하고 있다.",
    "한 남자가 비행기를 타고 있다",
    "fishing in the river is fun",
    "은행이 강가에 있다",
]
ODD_TEXTS = [
    *TEXTS,
    "  two  blanks\tand a tab\nand a line ",
    "BANK Bank bank",
    "뷁쉟 unseen 𝕏 🙂!!",
    "은행이",
    "",
    "   ",
    "word" * 500,
]
DIM = 12


def random_table(rows: int, dim: int = DIM) -> Float32Array:
    return np.random.default_rng(3).normal(size=(rows, dim)).astype(np.float32)


def tiny_static(folder: Path, **options: Any) -> str:
    """An encoder with random vectors, of the tokens of `TEXTS`, as we write it."""
    tokenizer = learn_tokenizer(TEXTS, 200)
    save_static(folder, random_table(tokenizer.get_vocab_size()), tokenizer, **options)
    return str(folder)


def wordpiece(tokens: list[str]) -> Any:
    """BERT's tokenizer with these tokens, which knows the unknown token."""
    import tokenizers

    ids = {token: i for i, token in enumerate(["[UNK]", *tokens])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def model2vec_folder(folder: Path, **config: Any) -> dict[str, Float32Array]:
    """A folder as model2vec writes it, with weights and a mapping; gives its tensors."""
    tokenizer = wordpiece(["the", "bank", "river", "rob", "##ber", "##s", "."])
    tensors = {
        "embeddings": random_table(4),
        "weights": np.linspace(0.5, 2, 8, dtype=np.float32),
        "mapping": np.array([0, 1, 2, 3, 1, 2, 0, 3]),
    }
    folder.mkdir()
    save_file(tensors, folder / "model.safetensors")
    tokenizer.save(str(folder / "tokenizer.json"))
    values = {"model_type": "model2vec", "normalize": False, **config}
    (folder / "config.json").write_text(json.dumps(values))
    return tensors
