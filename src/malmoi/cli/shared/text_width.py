"""Text in the columns of a terminal, where a Korean letter takes two."""

from rich.cells import cell_len, chop_cells, set_cell_size

WIDTH, FURTHER = 80, 4


def fitted(label: str, width: int) -> str:
    """Cut or filled to so many columns."""
    if cell_len(label) > width:
        label = set_cell_size(label, width - 1) + "…"
    return set_cell_size(label, width)


def wrapped(said: str, indent: int = 0) -> str:
    """On as many lines as it takes, all but the first further to the right.

    Broken at spaces; a word that is wider than a line is broken too.
    """
    lines, room = [""], WIDTH - indent
    for word in said.split(" "):
        joined = f"{lines[-1]} {word}" if lines != [""] else word
        if columns(joined) <= room:
            lines[-1] = joined
            continue
        room = WIDTH - indent - FURTHER
        parts = chop_cells(word, room)
        lines = [*lines, *parts] if lines != [""] else parts
    return f"\n{' ' * (indent + FURTHER)}".join([" " * indent + lines[0], *lines[1:]])


def columns(text: str) -> int:
    """Where a letter of Hangul that stands apart takes one, which it may or may not."""
    return sum(max(1, cell_len(letter)) for letter in text)
