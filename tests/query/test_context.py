import unicodedata

import numpy as np
import pytest

from malmoi.encode.encoder import TransformerEncoder, load_transformer
from malmoi.errors import InvalidArgumentError, MalmoiError, MalmoiWarning, UnknownWordError
from malmoi.query.context import Occurrences, occurrences, surrounding
from malmoi.query.occurrences import WordSpan

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

BANK = (
    "After stealing money from the bank vault, the bank robber was seen fishing on the"
    " Mississippi river bank."
)


@pytest.fixture(scope="module")
def minilm() -> TransformerEncoder:
    return load_transformer("minilm")


def written(found: Occurrences, texts: list[str]) -> list[str]:
    return [texts[t][a:b] for t, (a, b) in zip(found.texts, found.offsets.tolist(), strict=True)]


@pytest.mark.parametrize(
    "how", [{}, {"layers": -1}, {"layers": -2}, {"recipe": "last-four-concat"}]
)
def test_the_vault_and_the_robber_share_a_bank_the_river_has_another(
    minilm: TransformerEncoder, how: dict[str, int | str]
) -> None:
    found = occurrences(minilm, "bank", [BANK], **how)  # type: ignore[arg-type]
    vault_robber, robber_river = found.similarity()[1, [0, 2]]
    assert vault_robber > robber_river
    assert found.keys == ("bank",) * 3
    assert found.surroundings == (
        "… from the [bank] vault, the …",
        "… vault, the [bank] robber was …",
        "… Mississippi river [bank].",
    )


def test_vectors_are_those_of_the_words_of_the_activations(minilm: TransformerEncoder) -> None:
    texts = ["Embeddings, embeddings!", "no such word", "My embeddings"]
    found = occurrences(
        minilm, "embeddings", texts, layers="-2:", layer_pooling="concat", word_pooling="sum"
    )
    words = minilm.activations(texts).words(
        layers="-2:", layer_pooling="concat", word_pooling="sum"
    )
    expected = np.stack([words[0].matrix[0], words[0].matrix[2], words[2].matrix[1]])
    np.testing.assert_allclose(found.matrix, expected, atol=1e-5)
    assert found.texts == (0, 0, 2)
    assert written(found, texts) == ["Embeddings", "embeddings", "embeddings"]
    assert len(minilm.tokenizer(["embeddings"])[0].tokens) > 3, "a word of several tokens"


def test_similarity_is_one_with_itself_and_the_same_both_ways(minilm: TransformerEncoder) -> None:
    cosines = occurrences(minilm, "bank", [BANK]).similarity()
    np.testing.assert_allclose(np.diag(cosines), 1, atol=1e-5)
    np.testing.assert_array_equal(cosines, cosines.T)


def test_capitals_and_accents_count_as_they_do_for_the_model(minilm: TransformerEncoder) -> None:
    texts = ["BANK, Bank and bänk's embankment banks"]
    assert written(occurrences(minilm, "bank", texts), texts) == ["BANK", "Bank", "bänk"]


def test_what_is_several_words_to_the_model_must_follow_each_other(
    minilm: TransformerEncoder,
) -> None:
    texts = ["I don't; don t. New York is new, York is not. NEW YORK"]
    assert written(occurrences(minilm, "don't", texts), texts) == ["don't"]
    assert written(occurrences(minilm, "New York", texts), texts) == ["New York", "NEW YORK"]


def test_hangul_is_found_with_its_particles_unless_told_otherwise(
    minilm: TransformerEncoder,
) -> None:
    texts = ["은행에 갔다. 은행은 닫혔다.", "저 은행 옆", "큰은행"]
    assert written(occurrences(minilm, "은행", texts), texts) == ["은행에", "은행은", "은행"]
    assert written(occurrences(minilm, "은행", texts, prefix=False), texts) == ["은행"]
    assert occurrences(minilm, "bank", ["banker bank"], prefix=True).keys == ("banker", "bank")


def test_hangul_in_letters_is_the_same(minilm: TransformerEncoder) -> None:
    whole = ["은행에 갔다"]
    parts = [unicodedata.normalize("NFD", whole[0])]
    for word in ("은행", unicodedata.normalize("NFD", "은행")):
        found = occurrences(minilm, word, parts)
        assert found.keys == ("은행에",)
        assert written(found, whole) == ["은행에"], "offsets are those of the text in NFC"


@pytest.mark.parametrize(
    ("word", "texts", "kind", "said"),
    [
        ("bnak", [BANK], UnknownWordError, "'bnak' is not in the text; did you mean bank?"),
        ("bank", ["a", "b"], UnknownWordError, "'bank' is not in any of the 2 texts"),
        ("bank", [], UnknownWordError, "'bank' is not in any of the 0 texts"),
        ("", [BANK], InvalidArgumentError, "'' is not a word"),
        ("   ", [BANK], InvalidArgumentError, "is not a word"),
        ("bank", BANK, InvalidArgumentError, "the single string"),
        ("bank", [("the bank", "a bank")], InvalidArgumentError, "is a pair"),
    ],
)
def test_invalid_queries(
    minilm: TransformerEncoder, word: str, texts: list[str], kind: type[MalmoiError], said: str
) -> None:
    with pytest.raises(kind, match=said.replace("?", r"\?")):
        occurrences(minilm, word, texts)


def test_a_word_beyond_what_the_model_reads_is_reported_with_the_number_of_its_text(
    minilm: TransformerEncoder,
) -> None:
    far, both = "word " * 300 + "bank", "bank " + "word " * 300 + "bank"
    said = r"'bank' occurs beyond the first 256 tokens of 2 texts.*\(number 2, 4\)"
    with pytest.warns(MalmoiWarning, match=said) as caught:
        found = occurrences(minilm, "bank", ["a bank", far, "word " * 300, both])
    assert len(caught) == 1
    assert found.texts == (0, 3)
    with pytest.warns(MalmoiWarning, match="of 1 texts"), pytest.raises(UnknownWordError):
        occurrences(minilm, "bank", [far])


def test_an_unknown_word_pooling(minilm: TransformerEncoder) -> None:
    with pytest.raises(
        InvalidArgumentError, match="word_pooling must be one of mean, sum, first, last; got 'max'"
    ):
        occurrences(minilm, "bank", [BANK], word_pooling="max")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bank", "[bank]"),
        ("a bank", "a [bank]"),
        ('the "bank," he said', 'the "[bank]," he said'),
        ("one two three bank.", "… two three [bank]."),
        ("(bank) one two three", "([bank]) one two …"),
    ],
)
def test_surroundings(text: str, said: str) -> None:
    begin = text.index("bank")
    assert surrounding(text, WordSpan(0, 0, 1, begin, begin + 4)) == said
