"""ExtendResult: what a vocabulary extension added, and what it changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from malmoi.evaluate.scores import Score
from malmoi.table import Table, Tabular
from malmoi.tune.extend.coverage import Coverage
from malmoi.tune.model_card import card_page, score_cells
from malmoi.tune.result import Difference

SHOWN_NEIGHBOURS = 5


@dataclass(frozen=True, kw_only=True)
class DevComparison:
    """A dev set by the model as it was and with the new tokens: Spearman's correlations."""

    name: str
    before: Score
    after: Score
    difference: Difference | None

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        before, after = (100 * (score.value or 0.0) for score in (self.before, self.after))
        line = f"{self.name}: Spearman {before:.2f} → {after:.2f}"
        if self.difference is None:
            return f"{line}, difference undefined"
        each = self.difference
        low, high = 100 * each.low, 100 * each.high
        return f"{line}, {each.verdict} ({100 * each.value:+.2f} [{low:+.2f}, {high:+.2f}])"


@dataclass(frozen=True, kw_only=True, repr=False)
class ExtendResult(Tabular):
    """An extended model in a folder: its new tokens, what they are near to, and dev scores.

    `added` counts new tokens by origin, `skipped` others by reason. `examples` are some new tokens
    with the known tokens that their rows come from, and the weights of these. `coverage` is that
    of a sample of texts, before and after.
    """

    folder: Path
    model: str
    through: str
    added: Mapping[str, int]
    skipped: Mapping[str, int]
    vocab_size: int
    examples: Mapping[str, Sequence[tuple[str, float]]]
    coverage: tuple[Coverage, Coverage] | None
    dev: tuple[DevComparison, ...]
    seconds: float
    command: str

    @property
    def count(self) -> int:
        """The number of new tokens."""
        return sum(self.added.values())

    @property
    def sentences(self) -> list[str]:
        """What happened, one line each."""
        origins = ", ".join(f"{count:,} from {origin}" for origin, count in self.added.items())
        lines = [
            f"{self.folder}: {self.model} with {self.count:,} new tokens ({origins}),"
            f" {self.vocab_size:,} in all, in {self.seconds:.0f} s"
        ]
        if self.skipped:
            counts = ", ".join(f"{count:,} {reason}" for reason, count in self.skipped.items())
            lines.append(f"skipped: {counts}")
        if self.coverage:
            before, after = self.coverage
            lines.append(
                f"of {before.texts:,} texts with an unknown token:"
                f" {before.unknown_texts:.1%} → {after.unknown_texts:.1%}; words in single"
                f" letters or unknown: {before.fragments:.1%} → {after.fragments:.1%};"
                f" tokens per text: {before.tokens:.1f} → {after.tokens:.1f}"
            )
        return [*lines, *(one.sentence for one in self.dev)]

    def __repr__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        rows = [(token, _shown(near)) for token, near in self.examples.items()]
        return Table("New tokens and those that their rows are made of", ["", ""], rows)


def extension_card(result: ExtendResult) -> str:
    """The README.md of an extended model."""
    lines = ["| dev set | pairs | Spearman | 95 % interval |", "|---|--:|--:|---|"]
    for one in result.dev:
        for name, score in ((f"{one.name}, before", one.before), (one.name, one.after)):
            lines.append(f"| {name} | {score.total:,} | {score_cells(score)} |")
    examples = "\n".join(f"- {token}: {_shown(n)}" for token, n in result.examples.items())
    return card_page(
        result.folder.name,
        f"A sentence encoder: {result.model} with {result.count:,} more tokens, added by malmoi."
        f"\nThe row of each is a mean of known rows, chosen by {result.through}; nothing was"
        " trained.",
        {
            "Scores": "\n".join(lines) if result.dev else "No dev set was given.",
            "New tokens": "\n".join([*(f"- {line}" for line in result.sentences), "", examples]),
            "Command": f"```sh\n{result.command}\n```",
        },
    )


def _shown(neighbours: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{token} {weight:.2f}" for token, weight in neighbours[:SHOWN_NEIGHBOURS])
