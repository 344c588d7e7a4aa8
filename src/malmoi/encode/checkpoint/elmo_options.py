"""The options.json of an ELMo model: its sizes, as AllenNLP and bilm-tf write them.

Models that malmoi trains have one object more, `malmoi`: the characters of their words, bytes or
jamo, and their tokenizer. Knows nothing of weights.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from malmoi.encode.checkpoint.config import read_json
from malmoi.errors import InvalidFileError
from malmoi.text.character_ids import CHARACTER_UNITS, NUM_IDS, CharacterUnits

OPTIONS_FILES = "*options*.json"  # elmo_2x4096_512_2048cnn_2xhighway_options.json, for example
ACTIVATIONS = ("relu", "tanh")
MAX_SIZE = 1 << 20  # of one dimension
MAX_LAYERS = 100  # of LSTMs, and of highways
MIN_CHARACTERS, MAX_CHARACTERS = 3, 1000  # of a word, with its begin and end
MAX_LENGTH = 2048  # tokens of a text that are read; an LSTM has no limit, but memory has
OWN = "malmoi"  # what AllenNLP's options do not have


@dataclass(frozen=True, kw_only=True)
class ElmoConfig:
    """The sizes of an ELMo model.

    `filters` are the widths of the character CNN and how many there are of each. An LSTM has
    `cells`, projected to `projection` numbers; a token's vector has both directions side by side.
    Clips are infinite where there are none. `tokenizer` is a description for `tokenizer_from`.
    """

    char_dim: int
    filters: tuple[tuple[int, int], ...]
    highways: int
    max_characters: int
    activation: str
    units: CharacterUnits
    cells: int
    projection: int
    layers: int
    cell_clip: float
    proj_clip: float
    skip_connections: bool
    tokenizer: str | None

    @property
    def dim(self) -> int:
        """The dimension of a token's vector: forward and backward."""
        return 2 * self.projection

    @property
    def num_states(self) -> int:
        """The number of hidden states: the token vectors, and the output of each LSTM."""
        return self.layers + 1

    @property
    def num_filters(self) -> int:
        """The number of all filters, the dimension of a word after the CNN."""
        return sum(count for _, count in self.filters)

    @property
    def num_characters(self) -> int:
        """The rows of the character embeddings."""
        return NUM_IDS[self.units]


def is_elmo_folder(folder: Path) -> bool:
    """Whether a folder has the options of an ELMo model, and no config.json of another one."""
    if (folder / "config.json").is_file() or (folder / "modules.json").is_file():
        return False
    return any("lstm" in read_json(path) for path in sorted(folder.glob(OPTIONS_FILES)))


def read_options(folder: Path) -> ElmoConfig:
    """Read the options of an ELMo folder.

    Raises:
        InvalidFileError: There are none or several, or they describe a model that is not
            supported.
    """
    paths = sorted(folder.glob(OPTIONS_FILES))
    if not paths:
        raise InvalidFileError(f"{folder} has no options.json: it is not the folder of an ELMo")
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths)
        raise InvalidFileError(f"{folder} has several options: keep one of {names}")
    values = read_json(paths[0])
    if "char_cnn" not in values:
        raise InvalidFileError(
            f"{paths[0]} has no char_cnn: models that read words instead of characters are not"
            " supported"
        )
    try:
        return _config(values)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else str(error)
        raise InvalidFileError(f"{paths[0]} does not describe an ELMo model: {reason}") from error


def _config(values: Mapping[str, Any]) -> ElmoConfig:
    cnn, lstm, own = values["char_cnn"], values["lstm"], values.get(OWN, {})
    units = own.get("characters", "bytes")
    if units not in CHARACTER_UNITS:
        raise ValueError(f"characters must be one of {', '.join(CHARACTER_UNITS)}, not '{units}'")
    activation = str(cnn.get("activation", "relu"))
    if activation not in ACTIVATIONS:
        raise ValueError(f"the activation '{activation}' is not {' or '.join(ACTIVATIONS)}")
    tokenizer = own.get("tokenizer")
    config = ElmoConfig(
        char_dim=_size(cnn["embedding"]["dim"], "embedding.dim"),
        filters=tuple(
            (_size(width, "the width of a filter"), _size(count, "the number of filters"))
            for width, count in cnn["filters"]
        ),
        highways=_size(cnn.get("n_highway") or 0, "n_highway", 0, MAX_LAYERS),
        max_characters=_size(
            cnn["max_characters_per_token"],
            "max_characters_per_token",
            MIN_CHARACTERS,
            MAX_CHARACTERS,
        ),
        activation=activation,
        units=units,
        cells=_size(lstm["dim"], "lstm.dim"),
        projection=_size(lstm["projection_dim"], "lstm.projection_dim"),
        layers=_size(lstm["n_layers"], "lstm.n_layers", 1, MAX_LAYERS),
        cell_clip=_clip(lstm.get("cell_clip"), "cell_clip"),
        proj_clip=_clip(lstm.get("proj_clip"), "proj_clip"),
        skip_connections=bool(lstm.get("use_skip_connections", False)),
        tokenizer=None if tokenizer is None else json.dumps(tokenizer, ensure_ascii=False),
    )
    _check(config, cnn)
    return config


def _check(config: ElmoConfig, cnn: Mapping[str, Any]) -> None:
    widest = max((width for width, _ in config.filters), default=0)
    if not config.filters or widest > config.max_characters:
        raise ValueError(
            f"its filters, up to {widest} characters wide, do not fit words of"
            f" {config.max_characters} characters"
        )
    rows = config.num_characters  # 261 while a model is trained, 262 with AllenNLP's row for masks
    characters = cnn.get("n_characters", rows)
    if characters not in (rows, rows + 1):
        raise ValueError(
            f"n_characters is {characters}; {config.units} need {rows}, or {rows + 1} with a row"
            " for padding"
        )


def _size(value: Any, name: str, minimum: int = 1, maximum: int = MAX_SIZE) -> int:
    size = int(value)
    if size != value or not minimum <= size <= maximum:
        raise ValueError(f"{name} is {value}: it must be from {minimum} to {maximum:,}")
    return size


def _clip(value: Any, name: str) -> float:
    if value is None:
        return math.inf
    if not float(value) >= 0:
        raise ValueError(f"{name} is {value}: it must be positive")
    return float(value) or math.inf  # AllenNLP reads 0 as no clip
