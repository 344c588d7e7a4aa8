"""Normalization is Unicode's own, and linear where the standard library's is quadratic."""

import sys
import unicodedata
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.unicode import MAX_MARKS, MAX_SHORT_CHARACTERS, PLANES, Form, normalize

FORMS = pytest.mark.parametrize("form", get_args(Form))
MARKS = "\u0315\u0300"  # classes 232 and 230: each pair is out of order


def decomposed(text: str) -> str:
    """Each character alone: the standard library takes minutes for a long run of marks."""
    return "".join(unicodedata.normalize("NFD", character) for character in text)


@FORMS
@given(text=st.text())
def test_text_is_normalized_as_by_the_standard_library(form: Form, text: str) -> None:
    assert normalize(form, text) == unicodedata.normalize(form, text)


@FORMS
def test_long_text_is_normalized_as_by_the_standard_library(form: Form) -> None:
    text = (
        "가나다 café ﬁ " + "a" + MARKS * (MAX_MARKS // 4) + unicodedata.normalize("NFD", "한국어")
    )
    assert normalize(form, text * 50) == unicodedata.normalize(form, text * 50)


@FORMS
def test_a_long_run_of_marks_is_normalized_in_blocks(
    form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths, text = list[int](), "a" + MARKS * 100_000 + "é" + "b" * MAX_SHORT_CHARACTERS
    original = unicodedata.normalize

    def counted(form: Form, part: str) -> str:
        lengths.append(len(part))
        return original(form, part)

    monkeypatch.setattr(unicodedata, "normalize", counted)
    found = normalize(form, text)
    assert max(lengths) <= MAX_SHORT_CHARACTERS + 2 * MAX_MARKS  # work is quadratic in these alone
    assert sorted(decomposed(found)) == sorted(decomposed(text))


def test_all_marks_are_in_the_planes_that_are_looked_at() -> None:
    others = map(chr, range(PLANES, sys.maxunicode + 1))
    assert not any(map(unicodedata.combining, others))
