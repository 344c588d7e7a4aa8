"""Saves a pretrained ELMo as a folder that AllenNLP reads: options.json and weights.hdf5.

Besides these, `vocab.txt` has the words of the softmax, one per line, and `softmax.safetensors`
its weights and the facts of the pretraining. In options.json the key `malmoi` names the characters
and the tokenizer; other readers ignore it.
"""

import json
from os import PathLike
from pathlib import Path
from typing import Any

from malmoi.arguments import expect, expect_path
from malmoi.encode.checkpoint.convert import folder_beside
from malmoi.files.hdf5.writer import write_hdf5
from malmoi.files.tensor_file import FileKind, write_tensor_file
from malmoi.files.tensors import Tensors
from malmoi.text.character_ids import NUM_IDS
from malmoi.tune.elmo.result import PretrainedElmo
from malmoi.tune.elmo.settings import CHARACTER_DIM, MAX_CHARACTERS, Elmo

KIND = FileKind("elmo-softmax", "the softmax of an ELMo model")
OPTIONS, WEIGHTS, WORDS, SOFTMAX = (
    "options.json",
    "weights.hdf5",
    "vocab.txt",
    "softmax.safetensors",
)


def save_elmo(model: PretrainedElmo, folder: str | PathLike[str]) -> None:
    """Write a pretrained ELMo as a folder, which is complete or does not exist.

    Args:
        model: The model, as `train_elmo` returns it.
        folder: The folder to write; it must not exist yet.

    Raises:
        InvalidFileError: The folder exists already or cannot be written.
    """
    expect(model, PretrainedElmo, "model", "a pretrained ELMo, as train_elmo returns it")
    target = expect_path(folder)
    with folder_beside(Path(target)) as part:
        text = json.dumps(options(model), indent=2, ensure_ascii=False)
        (part / OPTIONS).write_text(text + "\n", encoding="utf-8")
        (part / WORDS).write_text("".join(f"{word}\n" for word in model.words.words), "utf-8")
        write_hdf5(part / WEIGHTS, model.weights)
        tensors: Tensors = {"softmax": model.softmax, "counts": model.words.counts}
        write_tensor_file(part / SOFTMAX, KIND, tensors, {"training": json.dumps(model.facts)})


def options(model: PretrainedElmo) -> dict[str, Any]:
    """The content of options.json."""
    malmoi = {
        "characters": model.settings.characters,
        "tokenizer": json.loads(model.tokenizer),
    }
    return network_options(model.settings) | {"malmoi": malmoi}


def network_options(settings: Elmo) -> dict[str, Any]:
    """The network as AllenNLP describes it.

    The cells were trained without clips, so none is named. `n_characters` counts the id 0 of
    padding, which readers add.
    """
    return {
        "lstm": {
            "use_skip_connections": True,
            "projection_dim": settings.dim,
            "dim": settings.dim,
            "cell_clip": None,
            "proj_clip": None,
            "n_layers": settings.layers,
        },
        "char_cnn": {
            "embedding": {"dim": CHARACTER_DIM},
            "filters": [list(each) for each in settings.filters],
            "n_highway": 1,
            "n_characters": NUM_IDS[settings.characters] + 1,
            "max_characters_per_token": MAX_CHARACTERS,
            "activation": "relu",
        },
    }
