"""ShardSettings: how shards of texts are read, and what is written for each text."""

import dataclasses
from dataclasses import asdict, dataclass
from typing import Any

from malmoi.arguments import expect
from malmoi.encode.bulk.embed import EmbedSettings
from malmoi.errors import InvalidArgumentError, check_encoding


@dataclass(frozen=True, kw_only=True)
class ShardSettings:
    """How shards are read, and what is written for each text.

    Args:
        field: The field of JSON lines, or the column of a table or of Parquet, with the text.
        id: The field or column of an id, which is written as the column `id`.
        text: Whether the texts are written too, as the column `text`.
        encoding: The encoding of files of text.
        embed: What to compute for each text: recipe, prompt, windows; one vector per text.

    Raises:
        InvalidArgumentError: A value is of another kind, or the vectors are not those of texts.
    """

    field: str | None = None
    id: str | None = None
    text: bool = False
    encoding: str = "utf-8"
    embed: EmbedSettings = dataclasses.field(default_factory=EmbedSettings)

    def __post_init__(self) -> None:
        expect(self.field, str | None, "field", "the name of a field")
        expect(self.id, str | None, "id", "the name of a field")
        expect(self.embed, EmbedSettings, "embed", "an EmbedSettings")
        check_encoding(self.encoding)
        if self.embed.per != "text":
            raise InvalidArgumentError(
                f"shards hold one vector per text, not per {self.embed.per}: write vectors per"
                f" {self.embed.per} to one .parquet or .jsonl file"
            )

    def as_json(self) -> dict[str, Any]:
        """The settings as they are in a manifest: two runs with equal ones write equal shards."""
        return asdict(self)
