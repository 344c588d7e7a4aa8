"""Errors are one sentence each, however long the value they quote."""

from malmoi.errors import BadSetting, UnknownWord


def test_a_long_value_is_shortened_and_the_fix_stays() -> None:
    sentence = str(BadSetting(f"'{'a' * 2_000_000}' is not a filter: write field=value"))
    assert len(sentence) < 1100
    assert sentence.startswith("'aaa")
    assert sentence.endswith("is not a filter: write field=value")
    assert len(str(UnknownWord("b" * 2_000_000, ["c"]))) < 1100


def test_half_a_character_is_printable() -> None:
    assert str(BadSetting("'\ud800' is not a word")) == r"'\ud800' is not a word"
    assert str(BadSetting("'\udcff' is not a word")) == r"'\xff' is not a word"
