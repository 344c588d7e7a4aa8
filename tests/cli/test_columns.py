"""Text that fits a terminal of 80 columns."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from malmoi.cli.shared.text_width import fitted, wrapped

LETTERS = st.text(alphabet="abc 한국한,", max_size=300)


@given(said=LETTERS, indent=st.integers(0, 8))
def test_no_line_is_wider_than_a_terminal(said: str, indent: int) -> None:
    lines = wrapped(said, indent).split("\n")
    assert all(cell_len(line) <= 80 for line in lines)
    assert all(line.startswith(" " * indent) for line in lines)


@given(words=st.lists(st.text(alphabet="ab한", min_size=1, max_size=20), min_size=1))
def test_words_stay_whole_and_in_order(words: list[str]) -> None:
    assert wrapped(" ".join(words), 4).split() == words


def test_the_first_line_is_full_before_the_next_begins() -> None:
    assert wrapped("a" * 40 + " " + "b" * 39 + " c") == f"{'a' * 40} {'b' * 39}\n    c"


def test_nothing_is_left_out_of_what_is_wider_than_a_line() -> None:
    path = "/folder" * 40
    assert "".join(wrapped(f"{path} is gone").split()) == f"{path}isgone"


def test_a_label_has_the_width_asked_for() -> None:
    assert fitted("한국어", 8) == "한국어  "
    assert fitted("한국어", 5) == "한국…"
