"""Cross-encoders with random weights, saved as transformers saves them."""

from pathlib import Path
from typing import Any

import torch
import transformers

from tests.encode.checkpoints import FAMILIES, change, save_tokenizer

QUERY = "the bank of the river"
DOCUMENTS = [
    "robbers fishing , a bank .",
    "한국어 a river",
    "the",
    "",
    "the river bank , the robbers . " * 9,
    "한국어",
]


def save_cross_encoder(folder: Path, family: str = "bert", labels: int = 1, **changes: Any) -> None:
    """A model for sequence classification in a folder of its own, with a tokenizer."""
    sizes = FAMILIES[family] | {"num_labels": labels} | changes
    if "type_vocab_size" in sizes:
        sizes["type_vocab_size"] = 2  # the tokenizer is BERT's, whose second text has type 1
    save_weights(folder, family, **sizes)
    save_tokenizer(folder)
    # Two positions of RoBERTa are never used, which its peer does not know.
    change(folder / "tokenizer_config.json", model_max_length=sizes["max_position_embeddings"] - 2)


def save_weights(folder: Path, family: str, **changes: Any) -> None:
    """Random weights and the config of a model for sequence classification."""
    torch.manual_seed(7)
    sizes = FAMILIES[family] | {"num_labels": 1} | changes
    config = transformers.AutoConfig.for_model(family, **sizes)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():  # biases and norms are not what they begin as
        for weight in model.parameters():
            weight += 0.1 * torch.randn_like(weight)
    model.save_pretrained(folder)
