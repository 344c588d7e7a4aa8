"""Text fitted to the columns of a terminal, where a Korean syllable takes two."""

from rich.cells import cell_len, chop_cells, set_cell_size

WIDTH, HANGING_INDENT = 80, 4  # columns


def fitted(label: str, width: int) -> str:
    """A label truncated or padded to `width` columns."""
    if cell_len(label) > width:
        label = set_cell_size(label, width - 1) + "…"
    return set_cell_size(label, width)


def wrapped(text: str, indent: int = 0) -> str:
    """Wrap a text at spaces, with a hanging indent; words wider than a line are broken."""
    lines, width = [""], WIDTH - indent
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines != [""] else word
        if columns(joined) <= width:
            lines[-1] = joined
            continue
        width = WIDTH - indent - HANGING_INDENT
        parts = chop_cells(word, width)
        lines = [*lines, *parts] if lines != [""] else parts
    return f"\n{' ' * (indent + HANGING_INDENT)}".join([" " * indent + lines[0], *lines[1:]])


def columns(text: str) -> int:
    """The width of a text; zero-width jamo count as one, as some terminals show them."""
    return sum(max(1, cell_len(letter)) for letter in text)
