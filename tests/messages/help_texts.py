"""The texts of every --help, recorded where they are translated."""

from collections.abc import Iterator

from cyclopts import App
from rich.console import Console

from malmoi.cli import make_app, show_docstring
from malmoi.cli.translation.help_formatter import TranslatedHelp


def commands(app: App, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, that of the groups of commands included."""
    yield words
    for name in app:
        if not name.startswith("-"):
            yield from commands(app[name], (*words, name))


def help_texts() -> list[str]:
    """Every text of every --help page, in the order of the commands."""
    texts: dict[str, None] = {}

    def record(text: str) -> str:
        texts[text] = None
        return text

    console = Console(quiet=True)
    for words in commands(make_app()):
        for shown in (words, (*words, "--help")):  # without --help, groups show theirs too
            app = make_app()
            app.help_formatter = TranslatedHelp(record)
            show_docstring(app, shown)
            app.help_print(list(words), console=console)
    return list(texts)
