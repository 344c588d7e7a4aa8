"""Static encoders: beside sentence-transformers, in all formats, with odd texts, and their use."""

import json
import pickle
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.cli import run
from malmoi.encode.static import static_encoder
from malmoi.encode.static.token_lookup import TokenLookup, splits_at_spaces
from malmoi.reporting.reporter import SilentReporter
from tests.encode.checkpoints import change
from tests.encode.static_worlds import (
    DIM,
    ODD_TEXTS,
    TEXTS,
    model2vec_folder,
    random_table,
    tiny_static,
    wordpiece,
)
from tests.recording_reporter import RecordingReporter

QUIET = SilentReporter()


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return tiny_static(tmp_path / "static")


def test_vectors_are_those_of_sentence_transformers(folder: str) -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(folder, device="cpu").encode(ODD_TEXTS)
    ours = mm.load_encoder(folder).encode(ODD_TEXTS, reporter=QUIET)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("normalize", [True, False])
def test_a_folder_of_sentence_transformers_is_read(tmp_path: Path, normalize: bool) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

    tokenizer = wordpiece(["the", "bank", "river", "rob", "##ber", "##s", "."])
    embedding = StaticEmbedding(tokenizer, embedding_weights=random_table(8))
    modules = [embedding, Normalize()] if normalize else [embedding]
    theirs = SentenceTransformer(modules=modules, device="cpu")
    theirs.save(str(tmp_path / "theirs"))
    encoder = mm.load_encoder(str(tmp_path / "theirs"))
    assert isinstance(encoder, mm.StaticEncoder)
    ours = encoder.encode(ODD_TEXTS, reporter=QUIET)
    np.testing.assert_allclose(ours, theirs.encode(ODD_TEXTS), atol=1e-6)
    assert run(["convert", str(tmp_path / "theirs"), str(tmp_path / "new")]) == 0
    known = ["the bank.", "robbers rob the river"]
    np.testing.assert_allclose(
        mm.load_encoder(str(tmp_path / "new")).encode(known), theirs.encode(known), atol=1e-6
    )


def test_a_folder_of_model2vec_has_weights_and_a_mapping(tmp_path: Path) -> None:
    tensors = model2vec_folder(tmp_path / "model")
    vectors = mm.load_encoder(str(tmp_path / "model")).encode(["the robbers xyz"], reporter=QUIET)
    ids = [1, 4, 5, 6]  # the, rob, ##ber, ##s; the unknown word is left out
    rows = tensors["embeddings"][tensors["mapping"][ids]] * tensors["weights"][ids, np.newaxis]
    np.testing.assert_allclose(vectors[0], rows.mean(axis=0), rtol=1e-5)


def test_a_folder_of_model2vec_reads_so_many_tokens(tmp_path: Path) -> None:
    model2vec_folder(tmp_path / "model", max_length=2)
    encoder, reporter = mm.load_encoder(str(tmp_path / "model")), RecordingReporter()
    long, short = encoder.encode(["rob..", "rob."], reporter=reporter)
    np.testing.assert_array_equal(long, short)
    assert reporter.warnings == [
        f"{tmp_path / 'model'}: 1 of 2 texts are longer than 2 tokens and were truncated (number 1)"
    ]


def test_converted_folders_are_equal_everywhere(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    model2vec_folder(tmp_path / "model", normalize=True)
    assert run(["convert", str(tmp_path / "model"), str(tmp_path / "new")]) == 0
    ours = [
        mm.load_encoder(str(tmp_path / name)).encode(ODD_TEXTS, reporter=QUIET)
        for name in ("model", "new")
    ]
    np.testing.assert_allclose(ours[0], ours[1], atol=1e-6)
    theirs = SentenceTransformer(str(tmp_path / "new"), device="cpu").encode(ODD_TEXTS[:-1])
    np.testing.assert_allclose(ours[1][:-1], theirs, atol=1e-6)


def test_decomposed_hangul_has_the_same_vectors(folder: str) -> None:
    encoder = mm.load_encoder(folder)
    decomposed = [unicodedata.normalize("NFD", text) for text in TEXTS]
    np.testing.assert_array_equal(encoder.encode(TEXTS), encoder.encode(decomposed))


def test_no_text_but_an_empty_one_has_a_zero_vector(folder: str) -> None:
    encoder, reporter = mm.load_encoder(folder), RecordingReporter()
    texts = ["뷁", "한글날", "unseen", "𝕏", "🙂", "", " "]
    lengths = np.linalg.norm(encoder.encode(texts, reporter=reporter), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 1, 1, 1, 0, 0], rtol=1e-5)
    assert len(reporter.warnings) == 2
    assert "2 of 7 texts are empty" in reporter.warnings[0]
    assert "texts are made of unknown tokens only" in reporter.warnings[1]


def test_words_are_remembered_without_a_difference(folder: str) -> None:
    tokenizer = mm.load_encoder(folder).parts.tokenizer  # type: ignore[attr-defined]
    lookup = TokenLookup(tokenizer)
    for _ in range(2):
        offsets, ids = lookup(ODD_TEXTS)
        for i, text in enumerate(ODD_TEXTS):
            expected = tokenizer.encode(text, add_special_tokens=False).ids
            assert ids[offsets[i] : offsets[i + 1]].tolist() == expected


def test_memory_of_words_is_bounded(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from malmoi.encode.static import token_lookup

    monkeypatch.setattr(token_lookup, "MAX_WORDS", 3)
    lookup = TokenLookup(mm.load_encoder(folder).parts.tokenizer)  # type: ignore[attr-defined]
    first = [part.tolist() for part in lookup(TEXTS)]
    assert len(lookup._numbers) == 0
    assert [part.tolist() for part in lookup(TEXTS)] == first


def test_a_tokenizer_across_words_is_not_split(tmp_path: Path) -> None:
    import tokenizers

    assert splits_at_spaces(wordpiece(["a"]))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a b": 1, "[UNK]": 0}, "[UNK]"))
    assert not splits_at_spaces(tokenizer)
    assert TokenLookup(tokenizer)(["a b", "a"])[1].tolist() == [1, 0]
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    assert not splits_at_spaces(tokenizer)


def test_the_kernel_takes_over_without_a_difference(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, texts = mm.load_encoder(folder), TEXTS * 20
    before = encoder.encode(texts)
    monkeypatch.setattr(static_encoder, "CHUNK_TEXTS", 16)
    monkeypatch.setattr(static_encoder, "CHUNKS_WITHOUT_KERNEL", 2)
    np.testing.assert_array_equal(encoder.encode(texts), before)


def test_a_giant_line(folder: str) -> None:
    encoder = mm.load_encoder(folder)
    vectors = encoder.encode(["은행" * 100_000, "the bank " * 30_000], reporter=QUIET)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[1], encoder.encode("the bank"), atol=1e-3)


def test_a_process_of_its_own_gets_the_encoder(folder: str) -> None:
    encoder = pickle.loads(pickle.dumps(mm.load_encoder(folder)))
    assert encoder.encode("the bank").shape == (DIM,)


def test_layers_are_refused_in_a_sentence(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = "has no layers: it is a static encoder, whose token vectors do not depend on context"
    with pytest.raises(mm.InvalidArgumentError, match=sentence):
        mm.load_transformer(folder)
    with pytest.raises(mm.InvalidArgumentError, match="has no layers to quantize"):
        mm.load_encoder(f"{folder}:quantized")
    assert run(["context", "bank", "the bank", "--model", folder]) != 0
    assert run(["embed", "a text", "--model", folder, "--per", "word"]) != 0
    assert "has no layers" in capsys.readouterr().err


def test_commands_take_it(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, index = tmp_path / "texts.txt", tmp_path / "index"
    texts.write_text("\n".join(TEXTS), encoding="utf-8")
    assert run(["embed", "은행이", "--model", folder, "--json"]) == 0
    assert run(["index", str(texts), "--model", folder, "--out", str(index)]) == 0
    capsys.readouterr()
    assert run(["search", str(index), TEXTS[0], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["text"] == TEXTS[0]
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("\n".join(f"{a}\t{b}\t{i}" for i, (a, b) in enumerate(pairwise(TEXTS))))
    assert run(["evaluate", folder, "--file", str(pairs)]) == 0


def test_it_is_described_with_its_faults(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", folder]) == 0
    out = capsys.readouterr().out
    assert "family      static" in out
    assert f"none, vectors of {DIM} dimensions" in out
    assert "Unigram, lower case" in out
    assert "no problems" in out
    (Path(folder) / "tokenizer.json").write_text("{}")
    assert run(["inspect", folder]) == 0
    assert "is not a tokenizer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "entries", "sentence"),
    [
        ("config.json", {"max_length": -1}, "max_length -1 is not above 0"),
        ("modules.json", None, "is not a list of modules"),
        ("tokenizer.json", None, "there is no .*tokenizer.json"),
        ("model.safetensors", None, "has no model.safetensors"),
    ],
)
def test_damaged_folders(folder: str, name: str, entries: dict[str, int], sentence: str) -> None:
    path = Path(folder) / name
    if entries:
        change(path, **entries)
    elif name == "modules.json":
        path.write_text("[1]")
    else:
        path.unlink()
    with pytest.raises(mm.InvalidFileError, match=sentence):
        mm.load_encoder(folder)


def test_a_table_that_does_not_fit_its_tokenizer(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    tensors = model2vec_folder(tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    for changes, sentence in (
        ({"mapping": tensors["mapping"][:5], "weights": tensors["weights"][:5]}, "8 tokens"),
        ({"mapping": tensors["mapping"] + 9}, "rows that do not exist"),
        ({"weights": tensors["weights"][:2]}, r"weights \(2,\)"),
        ({"embeddings": tensors["embeddings"] * np.float32(np.inf)}, "NaN or infinity"),
    ):
        save_file(tensors | changes, path)
        with pytest.raises(mm.InvalidFileError, match=sentence):
            mm.load_encoder(str(tmp_path / "model"))
