"""Hidden states are those of transformers, on real weights and on made-up ones of each family."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from malmoi.arrays import Float32Array
from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.pipeline.activations import Activations
from malmoi.encode.tokens.inputs import Text
from tests.encode.checkpoints import FAMILIES, SIZES, TOKENS, save_model

DATA = Path(os.environ.get("MALMOI_DATA", Path(__file__).parents[3] / "shared" / "data"))
pytestmark = pytest.mark.filterwarnings("ignore:.*unknown")  # so few are known

BANK = (
    "After stealing money from the bank vault, the bank robber was seen fishing on the"
    " Mississippi river bank."
)
TEXTS: list[Text] = [
    BANK,
    "한국어 문장",
    "a",
    ("the bank", "a river, a bank."),
    "robbers " * 9,
    ("", "fish"),
]


def theirs(model: Any, states: Activations, text: int) -> Float32Array:
    """The hidden states of one text, alone: [states, tokens, dim]."""
    tokenized = states.texts[text]
    feed = {"input_ids": tokenized.ids, "attention_mask": tokenized.attention_mask}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        feed["token_type_ids"] = tokenized.token_type_ids
    tensors = {name: torch.tensor(values)[None].long() for name, values in feed.items()}
    with torch.inference_mode():
        found = model(**tensors, output_hidden_states=True).hidden_states
    return np.stack([state[0].numpy() for state in found])


def assert_equal(
    encoder: TransformerEncoder, model: Any, tolerance: float, texts: list[Text] = TEXTS
) -> None:
    """By both engines: the one that is there at once, and the one for much work."""
    for settled in (False, True):
        if settled:
            encoder.compile()
        states = encoder.activations(texts)
        for text, ours in enumerate(states.states):
            expected = theirs(model, states, text)
            assert ours.shape == expected.shape
            np.testing.assert_allclose(ours, expected, atol=tolerance, rtol=0)


def test_all_states_of_minilm(minilm: TransformerEncoder) -> None:
    model = transformers.AutoModel.from_pretrained(minilm.modules.transformer).eval()
    assert minilm.activations([BANK]).states[0].shape == (7, 22, 384)
    assert_equal(load_transformer("minilm"), model, 1e-5)


def test_ids_and_segments_of_minilm(minilm: TransformerEncoder) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm.modules.transformer)
    for text, tokenized in zip(TEXTS, minilm.tokenizer(TEXTS), strict=True):
        expected = tokenizer(*([text] if isinstance(text, str) else text))
        assert tokenized.ids.tolist() == expected["input_ids"]
        assert tokenized.token_type_ids.tolist() == expected["token_type_ids"]


@pytest.mark.parametrize("family", list(FAMILIES))
def test_all_states_of_every_family(family: str, tmp_path: Path) -> None:
    model = save_model(tmp_path, family)
    assert_equal(load_transformer(str(tmp_path)), model, 1e-5)


def test_distances_of_all_buckets(tmp_path: Path) -> None:
    model = save_model(tmp_path, "mpnet")
    encoder, texts = load_transformer(str(tmp_path)), ["the bank " * 140, "a"]
    assert [len(text) for text in encoder.tokenizer(texts)] == [282, 3]
    assert_equal(encoder, model, 1e-5, [*texts])


def test_a_model_saved_with_its_head(tmp_path: Path) -> None:
    config = transformers.BertConfig(**SIZES)
    save_model(tmp_path, "bert", hidden_act="gelu")
    model = transformers.BertForMaskedLM(config).eval()
    model.save_pretrained(tmp_path)
    assert_equal(load_transformer(str(tmp_path)), model.bert, 1e-5)


def test_a_vocabulary_alone_tokenizes_as_the_tokenizer_does(tmp_path: Path) -> None:
    save_model(tmp_path, "bert")
    whole = load_transformer(str(tmp_path)).tokenizer(TEXTS)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    for ours, expected in zip(load_transformer(str(tmp_path)).tokenizer(TEXTS), whole, strict=True):
        assert ours.tokens == expected.tokens
        assert ours.ids.tolist() == expected.ids.tolist()
        assert ours.token_type_ids.tolist() == expected.token_type_ids.tolist()
        assert ours.offsets.tolist() == expected.offsets.tolist()
        assert ours.word_ids.tolist() == expected.word_ids.tolist()


def test_bert_base_with_the_multilingual_vocabulary(tmp_path: Path) -> None:
    vocabulary = DATA / "vocab" / "bert-base-multilingual-cased.txt"
    if not vocabulary.exists():
        pytest.skip(f"{vocabulary} is not there")
    torch.manual_seed(5)
    model = transformers.BertModel(transformers.BertConfig(vocab_size=119_547)).eval()
    model.save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    (tmp_path / "vocab.txt").write_bytes(vocabulary.read_bytes())
    encoder = load_transformer(str(tmp_path))
    assert_equal(encoder, model, 1e-4, TEXTS[:4])
    states = encoder.activations([BANK, "한국어 문장을 읽는다"])
    tokens = len(states.texts[0])
    assert states.states[0].shape == (13, tokens, 768)  # embeddings and layers, tokens, dim
    assert states.tokens(layers="-4:", layer_pooling="concat")[0].matrix.shape == (tokens, 4 * 768)
    assert states.tokens("last-four-sum")[0].matrix.shape == (tokens, 768)
    assert states.pooled("bert-as-service").shape == (2, 768)
    assert "[UNK]" not in states.texts[1].tokens
