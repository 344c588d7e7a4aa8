"""The test texts that a classifier gets wrong, as JSON lines that the projector shows as a map."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from malmoi.classify.compare.run import Run
from malmoi.files.output import open_output
from malmoi.tune.data.labelled_set import LabelledSet


def write_errors(data: LabelledSet, runs: Mapping[int, Run], path: Path) -> None:
    """Write each wrong text once, with its label and what it was taken for.

    The field `error` names both, so that the map can be coloured by kinds of errors.
    """
    written: set[int] = set()
    offsets, items = data.labels
    with open_output(path) as (stream,):
        for run in runs.values():
            for i in np.flatnonzero(~run.right):
                row = int(run.rows[i])
                if row in written:
                    continue
                written.add(row)
                label = ", ".join(data.names[k] for k in items[offsets[row] : offsets[row + 1]])
                predicted = data.names[int(run.predicted[i])]
                record = {
                    "text": data.texts[row],
                    "label": label,
                    "predicted": predicted,
                    "error": f"{label} → {predicted}",
                }
                stream.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
