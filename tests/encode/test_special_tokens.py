"""Texts that hold what looks like special tokens: seen as transformers sees them."""

from pathlib import Path

import numpy as np
import pytest
import tokenizers
import transformers

from malmoi.encode.encoder import TransformerEncoder, load_transformer
from tests.encode.checkpoints import save_model
from tests.encode.test_equal_to_transformers import theirs

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown")  # so few are known

BERT = ["a [SEP] b [PAD] c", "[CLS] [MASK] [UNK]", "[PAD]", "the [PAD] [PAD] bank"]
ROBERTA = ["a <pad> bank", "<s> a </s> the <mask>", "<pad>", "the<pad><pad> bank fish", "a bank"]
WORDS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a", "the", "bank", "fish"]


def save_roberta_tokenizer(folder: Path) -> None:
    """Words between spaces, with RoBERTa's special tokens."""
    numbers = {word: i for i, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer.add_special_tokens(WORDS[:5])
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("family", ["roberta", "xlm-roberta", "mpnet"])
def test_padding_in_a_text_is_not_counted(family: str, tmp_path: Path) -> None:
    model = save_model(tmp_path, family)
    save_roberta_tokenizer(tmp_path)
    states = load_transformer(str(tmp_path)).activations(ROBERTA)
    assert {text for text, tokenized in enumerate(states.texts) if 1 in tokenized.ids} == {0, 2, 3}
    peer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    for text, ours in enumerate(states.states):
        assert states.texts[text].ids.tolist() == peer(ROBERTA[text])["input_ids"]
        np.testing.assert_allclose(ours, theirs(model, states, text), atol=1e-5, rtol=0)


def test_special_pieces_in_a_text_for_bert(minilm: TransformerEncoder) -> None:
    folder = minilm.modules.transformer
    peer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    states = minilm.activations(BERT)
    for text, ours in enumerate(states.states):
        assert states.texts[text].ids.tolist() == peer(BERT[text])["input_ids"]
        np.testing.assert_allclose(ours, theirs(model, states, text), atol=1e-5, rtol=0)
