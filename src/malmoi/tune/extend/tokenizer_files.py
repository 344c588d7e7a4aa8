"""The tokenizer of an extended model: more WordPiece tokens, and Hangul that stays composed.

An uncased BERT decomposes text to remove accents (NFD), which splits Hangul into jamo; here it is
composed again afterwards (NFC). The ids of all tokens that were there stay as they are.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from malmoi.encode.checkpoint.config import read_json
from malmoi.encode.encoder import TransformerEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require

FILE, OPTIONS, VOCABULARY = "tokenizer.json", "tokenizer_config.json", "vocab.txt"
# transformers builds any other class anew from the tokens, without the normalizer of the file.
ANY_TOKENIZER = "PreTrainedTokenizerFast"
INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
NO_SEGMENTS = ("distilbert", "mpnet")
COMPOSED = "한글"


def extensible_tokenizer(encoder: TransformerEncoder) -> Any:
    """A copy of an encoder's tokenizer that keeps Hangul composed.

    Raises:
        InvalidArgumentError: It is not a WordPiece tokenizer.
    """
    tokenizers = require("tokenizers", extra="bert")
    copy = tokenizers.Tokenizer.from_str(encoder.tokenizer.backend.to_str())
    kind = type(copy.model).__name__
    if kind != "WordPiece":
        raise InvalidArgumentError(
            f"the tokenizer of {encoder.name} is {kind}: only WordPiece vocabularies can be"
            " extended, such as minilm's"
        )
    if copy.normalizer is not None and copy.normalizer.normalize_str(COMPOSED) != COMPOSED:
        normalizers = tokenizers.normalizers
        copy.normalizer = normalizers.Sequence([copy.normalizer, normalizers.NFC()])
    copy.no_padding()
    copy.no_truncation()
    return copy


def with_tokens(tokenizer: Any, tokens: Sequence[str]) -> Any:
    """The tokenizer with more tokens in its model; they follow those that are there."""
    tokenizers = require("tokenizers", extra="bert")
    values = json.loads(tokenizer.to_str())
    first = max(tokenizer.get_vocab().values()) + 1
    values["model"]["vocab"] |= {token: first + i for i, token in enumerate(tokens)}
    return tokenizers.Tokenizer.from_str(json.dumps(values))


def write_tokenizer(tokenizer: Any, folder: Path, family: str) -> None:
    """Replace the tokenizer of a copied model folder, and the sizes that depend on it."""
    tokenizer.save(str(folder / FILE))
    by_id = {token_id: token for token, token_id in tokenizer.get_vocab().items()}
    vocabulary = folder / VOCABULARY
    if vocabulary.is_file():
        lines = [by_id.get(i, f"[unused-{i}]") for i in range(max(by_id) + 1)]
        vocabulary.write_text("\n".join([*lines, ""]), encoding="utf-8")
    path = folder / OPTIONS
    options = read_json(path) if path.is_file() else {}
    inputs = [name for name in INPUTS if name != INPUTS[1] or family not in NO_SEGMENTS]
    options |= {"tokenizer_class": ANY_TOKENIZER, "model_input_names": inputs}
    _write_json(path, options)
    config = folder / "config.json"
    _write_json(config, read_json(config) | {"vocab_size": max(by_id) + 1})


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2, ensure_ascii=False), encoding="utf-8")
