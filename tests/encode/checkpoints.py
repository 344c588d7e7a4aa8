"""Small models of every family, made up by transformers and saved as it saves them."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers

TOKENS = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]", "the", "bank", "river", "rob", "##ber",
          "##s", ",", ".", "한국", "##어", "a", "fish", "##ing"]  # fmt: skip
SIZES = {
    "vocab_size": len(TOKENS),
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
}
DISTILBERT = {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48}
FAMILIES: dict[str, dict[str, Any]] = {
    "bert": SIZES | {"hidden_act": "gelu_new"},
    "distilbert": {"vocab_size": len(TOKENS), "max_position_embeddings": 40} | DISTILBERT,
    "electra": SIZES | {"embedding_size": 16},
    "mpnet": SIZES | {"max_position_embeddings": 300},
    "roberta": SIZES | {"pad_token_id": 1, "type_vocab_size": 1, "layer_norm_eps": 1e-5},
    "xlm-roberta": SIZES | {"pad_token_id": 1, "type_vocab_size": 1},
}


def save_model(folder: Path, family: str, **changes: Any) -> Any:
    """A model with random weights in a folder of its own; gives it as transformers has it."""
    torch.manual_seed(5)
    config = transformers.AutoConfig.for_model(family, **FAMILIES[family] | changes)
    model = transformers.AutoModel.from_config(config).eval()
    with torch.no_grad():  # biases and norms are not what they begin as
        for weight in model.parameters():
            weight += 0.1 * torch.randn_like(weight)
    model.save_pretrained(folder)
    save_tokenizer(folder)
    return model


def save_tokenizer(folder: Path) -> None:
    """A tokenizer.json of BERT's kind; made by hand, so that every family can have it."""
    (folder / "vocab.txt").write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    tokenizer = transformers.BertTokenizer(vocab=str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    (folder / "vocab.txt").unlink(missing_ok=True)


def change(path: Path, **entries: Any) -> None:
    """A JSON file with some entries changed; None removes one."""
    said = json.loads(path.read_text()) | entries
    path.write_text(json.dumps({k: v for k, v in said.items() if v is not None}))
