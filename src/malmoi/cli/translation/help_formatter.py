"""The --help of cyclopts in another language: titles, descriptions, defaults, usage."""

from collections.abc import Callable
from io import StringIO
from typing import Any

from attrs import evolve
from cyclopts.help import DefaultFormatter, HelpEntry, HelpPanel
from cyclopts.help.specs import get_default_command_columns, get_default_parameter_columns
from rich.console import Console, ConsoleOptions
from rich.text import Text

NO_WRAP = 100_000  # columns
NOTES_STYLE, REQUIRED_STYLE = "cyclopts.default", "cyclopts.required"
Translate = Callable[[str], str]


class TranslatedHelp(DefaultFormatter):
    """The default layout, with every text passed through `translate`."""

    def __init__(self, translate: Translate) -> None:
        super().__init__()
        self.translate = translate

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print one panel of commands or parameters."""
        builder = (
            get_default_command_columns
            if panel.format == "command"
            else get_default_parameter_columns
        )
        *columns, last = builder(console, options, panel.entries)
        self.column_specs = (*columns, evolve(last, renderer=self._describe))
        super().__call__(console, options, evolve(panel, title=self.translate(str(panel.title))))

    def render_usage(self, console: Console, options: ConsoleOptions, usage: Any) -> None:
        """Print the usage line."""
        if usage:
            text = usage if isinstance(usage, Text) else Text(str(usage))
            line = text.plain.removeprefix("Usage: ")
            console.print(Text(f"{self.translate('Usage:')} {line}", style="bold"))

    def render_description(
        self, console: Console, options: ConsoleOptions, description: Any
    ) -> None:
        """Print the description, paragraph by paragraph."""
        for paragraph in paragraphs(description):
            console.print(Text(f"{self.translate(paragraph)}\n"))

    def _describe(self, entry: HelpEntry) -> Text:
        """What an entry is, then its choices and default, as cyclopts shows them."""
        text = Text(" ".join(self.translate(each) for each in paragraphs(entry.description)))
        if entry.choices:
            choices = ", ".join(entry.choices)
            text.append(f" [{self.translate('choices')}: {choices}]", NOTES_STYLE)
        if entry.default is not None:
            text.append(f" [{self.translate('default')}: {entry.default}]", NOTES_STYLE)
        if entry.required:
            text.append(f" [{self.translate('required')}]", REQUIRED_STYLE)
        return text


def paragraphs(description: Any) -> list[str]:
    """The plain text of a description, one string per paragraph."""
    if not description:
        return []
    out = StringIO()
    Console(file=out, width=NO_WRAP, color_system=None).print(description)
    joined = (" ".join(block.split()) for block in out.getvalue().split("\n\n"))
    return [paragraph for paragraph in joined if paragraph]
