"""The folder of a fine-tuned classifier: a sentence-transformers folder, and its linear layer.

The linear layer is in `classifier.safetensors`, with labels and metadata as in the file of any
classifier: `head_weight` f32 [outputs, dim] and `head_bias` f32 [outputs].
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.classify.base.trained_classifier import CommonFields
from malmoi.classify.networks.transformer_classifier import TransformerClassifier
from malmoi.encode.checkpoint.convert import folder_beside
from malmoi.encode.encoder import load_transformer
from malmoi.errors import InvalidArgumentError
from malmoi.files.tensors import Tensors, check_tensors
from malmoi.tune.saving import CARD, check_target, model_folder

HEAD_FILE = "classifier.safetensors"
CARD_TEXT = """\
---
library_name: malmoi
pipeline_tag: text-classification
---

# {name}

A text classifier: a transformer, fine-tuned with malmoi. Its labels: {labels}.

```python
import malmoi as mm

classifier = mm.load_classifier("{name}")
labels = classifier.predict(["A text.", "Another text."])
```

{facts}
"""


def head_tensors(
    classifier: TransformerClassifier,
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """The tensors and metadata of its own."""
    return {"head_weight": classifier.head_weight, "head_bias": classifier.head_bias}, {}


@contextmanager
def copied_folder(classifier: TransformerClassifier, target: Path) -> Iterator[Path]:
    """A folder with the files of the transformer; yields the path of its linear layer.

    It becomes `target` unless there is an exception.

    Raises:
        InvalidFileError: The target exists or cannot be written.
    """
    check_target(target)
    source = model_folder(classifier.encoder)
    facts = "\n".join(f"- {name}: {value}" for name, value in classifier.describe().items())
    card = CARD_TEXT.format(name=target.name, labels=", ".join(classifier.labels), facts=facts)
    with folder_beside(target) as part:
        others = shutil.ignore_patterns(HEAD_FILE, CARD)
        shutil.copytree(source, part, ignore=others, dirs_exist_ok=True)
        (part / CARD).write_text(card, encoding="utf-8")
        yield part / HEAD_FILE


def read_transformer(tensors: Tensors, folder: Path, common: CommonFields) -> TransformerClassifier:
    """A fine-tuned transformer from its folder and the tensors of its linear layer."""
    check_tensors(tensors, 2, head_weight="<f4")
    check_tensors(tensors, 1, head_bias="<f4")
    weight, bias = tensors["head_weight"], tensors["head_bias"]
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise InvalidArgumentError("its weights are not all numbers")
    encoder = load_transformer(str(folder))
    return TransformerClassifier(
        encoder=encoder, head_weight=weight, head_bias=bias, **common._asdict()
    )
