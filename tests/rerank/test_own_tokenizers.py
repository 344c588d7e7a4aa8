"""RoBERTa with byte-level BPE and XLM-RoBERTa with Unigram score as their peer does."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers as hf
import transformers
from sentence_transformers import CrossEncoder

import malmoi as mm
from malmoi.reporting.reporter import SilentReporter
from tests.encode.checkpoints import change
from tests.rerank.worlds import save_weights

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
QUERY = "강물은 어디로 흐르나요? Where do rivers flow?"
DOCUMENTS = [
    "Rivers flow to the sea.",
    "한강은 서해로 흐릅니다.",
    "  two  spaces\tand a tab\n",
    "",
    "ﬁne ligatures, naïve cafés, 漢字 and 🙂",
    "Prices fell by 3.5 % in May, the bank said. " * 30,  # truncated
]


def byte_level() -> Any:
    """The tokenizer of RoBERTa: byte-level BPE; a pair is <s> a </s></s> b </s>."""
    tokenizer = hf.Tokenizer(hf.models.BPE())
    tokenizer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = hf.decoders.ByteLevel()
    alphabet = hf.pre_tokenizers.ByteLevel.alphabet()
    trainer = hf.trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=SPECIAL, show_progress=False
    )
    tokenizer.train_from_iterator([QUERY, *DOCUMENTS], trainer)
    tokenizer.post_processor = hf.processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), add_prefix_space=False
    )
    return tokenizer


def unigram() -> Any:
    """The tokenizer of XLM-RoBERTa: Unigram with Metaspace after NFKC."""
    tokenizer = hf.Tokenizer(hf.models.Unigram())
    tokenizer.normalizer = hf.normalizers.Sequence(
        [hf.normalizers.NFKC(), hf.normalizers.Replace(hf.Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = hf.pre_tokenizers.Metaspace()
    tokenizer.decoder = hf.decoders.Metaspace()
    trainer = hf.trainers.UnigramTrainer(
        vocab_size=150, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator([QUERY, *DOCUMENTS], trainer)
    tokenizer.post_processor = hf.processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return tokenizer


def save_with_tokenizer(folder: Path, family: str, tokenizer: Any) -> None:
    """A cross-encoder of the family's own layout, with the vocabulary of the tokenizer."""
    size = tokenizer.get_vocab_size()
    save_weights(folder, family, vocab_size=size, max_position_embeddings=66)
    saved = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=64,
        bos_token="<s>",
        cls_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_input_names=["input_ids", "attention_mask"],
    )
    saved.save_pretrained(folder)
    change(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")


@pytest.mark.parametrize(("family", "make"), [("roberta", byte_level), ("xlm-roberta", unigram)])
def test_scores_with_the_tokenizer_of_the_family(
    family: str, make: Callable[[], Any], tmp_path: Path
) -> None:
    tokenizer = make()
    save_with_tokenizer(tmp_path, family, tokenizer)
    draw = random.Random(5)
    queries = [QUERY, "a", "흐" * 90, " ".join(draw.sample(QUERY.split(), k=4))]
    reranker = mm.load_reranker(str(tmp_path))
    peer = CrossEncoder(str(tmp_path), device="cpu")
    scores = []
    for query in queries:
        found = reranker.score(query, DOCUMENTS, reporter=SilentReporter())
        expected = peer.predict([(query, document) for document in DOCUMENTS])
        np.testing.assert_allclose(found, expected, atol=1e-5)
        scores.append(found)
    assert np.std(scores) > 1e-3  # pairs differ
