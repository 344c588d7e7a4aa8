"""Vectors are those of sentence-transformers, whatever modules follow the last layer."""

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules

from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.encode.inspection import inspect_model
from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from tests.encode.checkpoints import change, save_model

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown")  # so few are known

TEXTS = ["A man is playing a guitar.", "the bank", "한국어 문장", "Robbers fish. " * 3, "x"]


def test_vectors_of_minilm(minilm: TransformerEncoder) -> None:
    peer = SentenceTransformer(str(minilm.modules.transformer), device="cpu")
    assert minilm.tokenizer.max_length == peer.max_seq_length == 256
    texts = [*TEXTS, "the river bank " * 200]
    with pytest.warns(MalmoiWarning, match="1 of 6 texts are longer than 256 tokens"):
        found = minilm.encode(texts)
    np.testing.assert_allclose(found, peer.encode(texts), atol=1e-5)


@pytest.mark.parametrize(
    "pooling", ["cls", "max", "mean", "mean_sqrt_len_tokens", "lasttoken", ("max", "mean")]
)
def test_pooling_dense_and_normalize(pooling: str | tuple[str, ...], tmp_path: Path) -> None:
    save_model(tmp_path / "bert", "bert")
    transformer = modules.Transformer(str(tmp_path / "bert"))
    pool = modules.Pooling(32, pooling_mode=pooling)
    dense = modules.Dense(pool.pooling_output_dimension, 8)
    parts = [transformer, pool, dense, modules.Normalize()]
    peer = SentenceTransformer(modules=parts, device="cpu")
    peer.save(str(tmp_path / "whole"))
    encoder = load_transformer(str(tmp_path / "whole"))
    assert encoder.dim == 8
    np.testing.assert_allclose(encoder.encode(TEXTS), peer.encode(TEXTS), atol=1e-5)


def test_the_older_dialect_of_pooling(tmp_path: Path) -> None:
    save_model(tmp_path / "bert", "bert")
    transformer = modules.Transformer(str(tmp_path / "bert"))
    peer = SentenceTransformer(modules=[transformer, modules.Pooling(32, "mean")], device="cpu")
    peer.save(str(tmp_path / "whole"))
    config = tmp_path / "whole" / "1_Pooling" / "config.json"
    old = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    change(config, pooling_mode=None, **old)
    again = SentenceTransformer(str(tmp_path / "whole"), device="cpu")
    found = load_transformer(str(tmp_path / "whole")).encode(TEXTS)
    assert found.shape == (5, 64)
    np.testing.assert_allclose(found, again.encode(TEXTS), atol=1e-5)


def test_vectors_that_are_truncated_to_their_first_dimensions(tmp_path: Path) -> None:
    save_model(tmp_path / "bert", "bert")
    parts = [modules.Transformer(str(tmp_path / "bert")), modules.Pooling(32)]
    parts += [modules.Dropout(0.1), modules.Normalize()]
    SentenceTransformer(modules=parts, device="cpu", truncate_dim=10).save(str(tmp_path / "whole"))
    peer = SentenceTransformer(str(tmp_path / "whole"), device="cpu")
    encoder = load_transformer(str(tmp_path / "whole"))
    assert encoder.dim == 10
    np.testing.assert_allclose(encoder.encode(TEXTS), peer.encode(TEXTS), atol=1e-5)
    assert (
        inspect_model(str(tmp_path / "whole")).pooling == "mean, Normalize, the first 10 dimensions"
    )
    change(tmp_path / "whole" / "config_sentence_transformers.json", truncate_dim=0)
    with pytest.raises(InvalidFileError, match="truncate_dim 0 is not a positive integer"):
        load_transformer(str(tmp_path / "whole"))


def test_prompts(tmp_path: Path) -> None:
    save_model(tmp_path / "bert", "bert")
    transformer = modules.Transformer(str(tmp_path / "bert"))
    prompts = {"query": "the river, ", "document": "a bank. "}
    parts = [transformer, modules.Pooling(32, "mean")]
    peer = SentenceTransformer(
        modules=parts, device="cpu", prompts=prompts, default_prompt_name="document"
    )
    peer.save(str(tmp_path / "whole"))
    encoder = load_transformer(str(tmp_path / "whole"))
    asked = encoder.encode(TEXTS, prompt="query")
    np.testing.assert_allclose(asked, peer.encode(TEXTS, prompt_name="query"), atol=1e-5)
    np.testing.assert_allclose(encoder.encode(TEXTS), peer.encode(TEXTS), atol=1e-5)
    with pytest.raises(InvalidArgumentError, match="no prompt 'title': it has document, query"):
        encoder.encode(TEXTS, prompt="title")
