"""ReindexResult: what a change of the model did to an index."""

from dataclasses import asdict, dataclass

from malmoi.table import Table, Tabular


@dataclass(frozen=True)
class ReindexResult(Tabular):
    """What a change of the model did.

    `embedded` counts the texts that the new model embedded in this run; `recall` is the share of
    the ten nearest texts that translated vectors keep, None if no vector was translated.
    """

    before: str  # the model until now
    model: str
    texts: int
    passages: int
    dim: int
    embedded: int
    recall: float | None = None

    def _table(self) -> Table:
        values = asdict(self)
        return Table(f"Index of {self.texts:,} texts", list(values), [list(values.values())])
