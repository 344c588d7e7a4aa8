"""EmbedBatches: a class for Ray Data's `map_batches` that adds a vector to each text.

Does not import Ray: Ray Data makes one instance per worker and calls it with batches.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect
from malmoi.encode.bulk.embed import EmbedSettings, embed, output_dim
from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import SilentReporter

ColumnBatch = dict[str, npt.NDArray[Any]]


class EmbedBatches:
    """Adds the vectors of a column of texts to batches; each instance holds one model.

    `ds.map_batches(mm.scale.EmbedBatches, fn_constructor_args=("minilm",), concurrency=2)`.

    Args:
        model: The name of a model, as for `load_encoder`; it is loaded on the worker.
        column: The column with the texts; None among them is an empty text.
        output: The column of the vectors, float32 [rows, dim].
        settings: What to compute for each text; by default the model's own vector.

    Raises:
        InvalidArgumentError: The settings do not make one vector per text.
        InvalidFileError: There is no such model.
    """

    def __init__(
        self,
        model: str,
        column: str = "text",
        output: str = "vector",
        settings: EmbedSettings | None = None,
    ) -> None:
        expect(column, str, "column", "the name of a column")
        self.column, self.output, self.settings = column, output, settings or EmbedSettings()
        if self.settings.per != "text":
            raise InvalidArgumentError(
                f"a batch gets one vector per text, not per {self.settings.per}"
            )
        self.encoder = load_encoder(model)

    def __call__(self, batch: ColumnBatch) -> ColumnBatch:
        """The batch with its vectors."""
        if self.column not in batch:
            raise InvalidArgumentError(
                f"the batch has no column '{self.column}': it has {', '.join(batch)}"
            )
        texts = ["" if text is None else str(text) for text in batch[self.column].tolist()]
        chunks = embed(self.encoder, texts, self.settings, reporter=SilentReporter())
        vectors = [np.asarray(chunk.vectors, np.float32) for chunk in chunks]
        empty = np.empty((0, output_dim(self.encoder, self.settings)), np.float32)
        return {**batch, self.output: np.concatenate([empty, *vectors])}
