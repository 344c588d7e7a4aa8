"""The compiled tokenizer of static students: equal to the package tokenizers on every text."""

import gzip
import json
import os
import unicodedata
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import malmoi as mm
from malmoi.encode.static import static_encoder, token_lookup
from malmoi.encode.static.token_lookup import TEXTS_WITHOUT_KERNEL, TokenLookup
from malmoi.encode.static.unigram import character_table, unigram_tokenizer
from malmoi.encode.tokens.inputs import normalize_text
from malmoi.kernels.static.segment import KIND_BITS, UNUSUAL
from malmoi.kernels.static.token_trie import CHARACTERS
from malmoi.tune.static.vocabulary import learn_tokenizer
from tests.encode.static_worlds import ODD_TEXTS, TEXTS, tiny_static, wordpiece

CORPORA = Path(os.environ.get("MALMOI_DATA", "/work/shared/data")) / "corpora"
ODDER_TEXTS = [
    *ODD_TEXTS,
    unicodedata.normalize("NFD", "비행기를 타고 Éa"),
    "é e\u0301 a\u0301\u0316b x\u0301" + "\u0301" * 40,
    "ᄀ ᅡ ᆨ ㄱㅏ ㅋㅋㅋ 각 각ᆨ",  # lone and conjoining jamo
    "a\x00b\x01c\x7fd\x85e\u200bf\u2028g\u3000h\ufeffi\xa0j",
    "▁ ▁the the▁bank <unk> <0x41> ##s",
    "ΟΔΟΣ ΣΑΣ İstanbul ẞ ǅ Ⅷ Ⓐ ﬀ Å K",
    "🙂 ❤️ 👩‍👩‍👧 🇰🇷 𝕏 𐐀 𠀀 \ud800 \udfff\ud83d x\ufffdy \ue000 \uffff \U0010ffff",
    "은행" * 5000,
    "뷁" * 3000,
    "!" * 3000,
]


@pytest.fixture(scope="module", params=["scores", "ties"])
def tokenizer(request: pytest.FixtureRequest) -> Any:
    """A student's tokenizer; with ties, all ways into as many tokens have the same score."""
    import tokenizers

    learnt = learn_tokenizer([*TEXTS, "🙂 ❤️ é ㅋㅋ !"] * 2, 300)
    values = json.loads(learnt.to_str())
    if request.param == "ties":
        values["model"]["vocab"] = [[name, -10.0] for name, _ in values["model"]["vocab"]]
    return tokenizers.Tokenizer.from_str(json.dumps(values))


@pytest.fixture(scope="module")
def lookup(tokenizer: Any) -> TokenLookup:
    return compiled(tokenizer)


def package_ids(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    encoded = tokenizer.encode_batch(list(map(normalize_text, texts)), add_special_tokens=False)
    return [each.ids for each in encoded]


def compiled(tokenizer: Any) -> TokenLookup:
    """A lookup whose kernel has taken over."""
    lookup = TokenLookup(tokenizer)
    lookup([""] * TEXTS_WITHOUT_KERNEL)
    assert lookup.is_compiled
    return lookup


def kernel_ids(lookup: TokenLookup, texts: list[str]) -> list[list[int]]:
    offsets, ids = lookup(texts)
    return [part.tolist() for part in np.split(ids, offsets[1:-1])]


def test_odd_texts_have_the_ids_of_the_package(tokenizer: Any, lookup: TokenLookup) -> None:
    assert kernel_ids(lookup, ODDER_TEXTS) == package_ids(tokenizer, ODDER_TEXTS)


@given(st.lists(st.text(st.characters(), max_size=20), min_size=1, max_size=8))
def test_any_text_has_the_ids_of_the_package(
    tokenizer: Any, lookup: TokenLookup, texts: list[str]
) -> None:
    assert kernel_ids(lookup, texts) == package_ids(tokenizer, texts)


@given(
    st.lists(
        st.text("the bankrivẹ́r가은행이각ᄀ\u1161\u11a8\u0301🙂️\u200d▁!.,\n\t", max_size=20),
        min_size=1,
    )
)
def test_texts_of_few_characters_have_the_ids_of_the_package(
    tokenizer: Any, lookup: TokenLookup, texts: list[str]
) -> None:
    assert kernel_ids(lookup, texts) == package_ids(tokenizer, texts)


def test_every_character_has_the_ids_of_the_package(tokenizer: Any, lookup: TokenLookup) -> None:
    table = character_table(tokenizer)
    codes = np.flatnonzero(table >> KIND_BITS != UNUSUAL)
    assert len(codes) > 60_000
    texts = [f"a{chr(code)}a" for code in codes.tolist()]
    wrong = [
        text
        for text, ours, theirs in zip(
            texts, kernel_ids(lookup, texts), package_ids(tokenizer, texts), strict=True
        )
        if ours != theirs
    ]
    assert wrong == []


def test_usual_characters_do_not_compose(tokenizer: Any) -> None:
    """No character that the kernel takes is the second part of a composed one."""
    table = character_table(tokenizer)
    composed = [unicodedata.decomposition(chr(code)).split() for code in range(CHARACTERS)]
    seconds = [int(each[1], 16) for each in composed if len(each) == 2 and each[0][0] != "<"]
    assert seconds
    assert not any(table[code] for code in seconds)
    assert not table[0x1161:0x11C3].any()


@pytest.mark.parametrize("name", ["reviews_ko.txt.gz", "kowiki.txt.gz", "enwiki.txt.gz"])
def test_real_texts_have_the_ids_of_the_package(name: str) -> None:
    path = CORPORA / name
    if not path.is_file():
        pytest.skip(f"there is no {path}: set MALMOI_DATA to the folder of data sets")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [line.strip() for line in islice(file, 1500)]
    tokenizer = learn_tokenizer(texts[:300], 2000)  # most words of the others are in parts
    assert kernel_ids(compiled(tokenizer), texts) == package_ids(tokenizer, texts)


def test_decomposed_texts_are_not_left_to_the_package(tokenizer: Any, lookup: TokenLookup) -> None:
    tokenize = unigram_tokenizer(tokenizer)
    assert tokenize is not None
    decomposed = [unicodedata.normalize("NFD", text) for text in TEXTS]
    assert tokenize(decomposed)[2].tolist() == [unicodedata.normalize("NFD", t) != t for t in TEXTS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "_by_words", None)  # which cannot be called
        composed, again = lookup(TEXTS), lookup(decomposed)
    np.testing.assert_array_equal(composed[1], again[1])


def test_many_texts_are_segmented_in_blocks(
    tokenizer: Any, lookup: TokenLookup, monkeypatch: pytest.MonkeyPatch
) -> None:
    from malmoi.encode.static import unigram

    monkeypatch.setattr(unigram, "BLOCK_TEXTS", 4)
    assert kernel_ids(lookup, ODDER_TEXTS) == package_ids(tokenizer, ODDER_TEXTS)
    offsets, ids, is_left = unigram_tokenizer(tokenizer)([])  # type: ignore[misc]
    assert (offsets.tolist(), len(ids), len(is_left)) == ([0], 0, 0)


def test_other_tokenizers_have_no_kernel(tokenizer: Any) -> None:
    import tokenizers

    assert unigram_tokenizer(wordpiece(["a"])) is None
    other = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    other.normalizer = tokenizers.normalizers.Lowercase()
    assert unigram_tokenizer(other) is None
    other = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    other.add_tokens(["bank"])
    assert unigram_tokenizer(other) is None
    few = tokenizers.models.Unigram([("<unk>", 0.0), ("a", -1.0)], 0, byte_fallback=True)
    other = tokenizers.Tokenizer(few)
    other.normalizer, other.pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
    assert unigram_tokenizer(other) is None  # no tokens of bytes


def test_vectors_are_the_same_once_the_kernel_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, texts = mm.load_encoder(tiny_static(tmp_path / "static")), TEXTS * 20
    assert isinstance(encoder, mm.StaticEncoder)
    before = encoder.encode(texts)
    assert not encoder.lookup.is_compiled
    monkeypatch.setattr(token_lookup, "TEXTS_WITHOUT_KERNEL", len(texts) + 40)
    monkeypatch.setattr(static_encoder, "CHUNK_TEXTS", 16)
    np.testing.assert_array_equal(encoder.encode(texts), before)
    assert encoder.lookup.is_compiled
