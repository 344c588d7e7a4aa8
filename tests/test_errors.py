"""Errors are one sentence each, however long the value they quote."""

from malmoi.errors import InvalidArgumentError, UnknownWordError


def test_a_long_value_is_shortened_and_the_fix_stays() -> None:
    sentence = str(InvalidArgumentError(f"'{'a' * 2_000_000}' is not a filter: write field=value"))
    assert len(sentence) < 1100
    assert sentence.startswith("'aaa")
    assert sentence.endswith("is not a filter: write field=value")
    assert len(str(UnknownWordError("b" * 2_000_000, ["c"]))) < 1100


def test_half_a_character_is_printable() -> None:
    assert str(InvalidArgumentError("'\ud800' is not a word")) == r"'\ud800' is not a word"
    assert str(InvalidArgumentError("'\udcff' is not a word")) == r"'\xff' is not a word"
