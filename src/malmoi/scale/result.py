"""ScaleReport: what a run over shards wrote, and warnings about its texts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from malmoi.scale.shard_writer import ShardReport
from malmoi.table import Table, Tabular

NUMBERS = re.compile(r"\d[\d,.]*")
EXAMPLES = ", such as "  # before words of the texts
MAX_KINDS = 20  # of warnings


@dataclass(frozen=True, repr=False)
class ScaleReport(Tabular):
    """What is in a folder of vectors after a run.

    `shards` and `rows` are those of the input, `skipped` the shards among them that were written
    before; `warnings` are sentences about texts that the model cannot read as they are.
    """

    folder: str
    shards: int
    skipped: int
    rows: int
    dim: int
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"ScaleReport({self.folder}: {self.rows:,} rows × {self.dim} in {self.shards:,} shards,"
            f" {self.skipped:,} of them written before)"
        )

    def _table(self) -> Table:
        facts = ("shards", "skipped", "rows", "dim")
        return Table(self.folder, ["", ""], [(name, getattr(self, name)) for name in facts])


@dataclass
class WarningTotals:
    """Warnings of many shards, one sentence per kind: however many shards, few are kept."""

    first: dict[str, str] = field(default_factory=dict)
    shards: dict[str, int] = field(default_factory=dict)

    def add(self, report: ShardReport) -> None:
        """Add the warnings of a shard; those that differ in numbers and examples are one kind."""
        for sentence in report.warnings:
            kind = NUMBERS.sub("#", sentence.partition(EXAMPLES)[0])
            if kind in self.first or len(self.first) < MAX_KINDS:
                self.first.setdefault(kind, f"{report.target}: {sentence}")
                self.shards[kind] = self.shards.get(kind, 0) + 1

    def sentences(self) -> Iterable[str]:
        """The first warning of each kind, with the number of shards that have others like it."""
        for kind, sentence in self.first.items():
            others = self.shards[kind] - 1
            yield sentence + (f" (and {others:,} more shards like it)" if others else "")
