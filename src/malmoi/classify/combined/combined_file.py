"""The tensors of combined classifiers in a file: those of part 0 have names that begin with `0.`.

The metadata of each part are JSON under `part_0`, `part_1` and so on; `stack_weights` f64 [parts]
and `stack_bias` f64 [outputs] combine their scores. How a part is written and read is passed in:
it may be of any kind.
"""

import json
from collections.abc import Callable, Mapping

from malmoi.classify.base.trained_classifier import CommonFields, TrainedClassifier
from malmoi.classify.combined.stacked_classifier import StackedClassifier
from malmoi.classify.combined.stacking import Stack
from malmoi.files.tensors import Tensors, check_tensors

WritePart = Callable[[TrainedClassifier], tuple[Tensors, dict[str, str]]]
ReadPart = Callable[[Tensors, Mapping[str, str]], TrainedClassifier]


def combined_tensors(
    classifier: StackedClassifier, write: WritePart
) -> tuple[Tensors, dict[str, str]]:
    """The tensors and metadata of its own and of all parts."""
    tensors: Tensors = {
        "stack_weights": classifier.stack.weights,
        "stack_bias": classifier.stack.bias,
    }
    metadata = {"parts": str(len(classifier.parts))}
    for number, part in enumerate(classifier.parts):
        own, facts = write(part)
        tensors |= {f"{number}.{name}": array for name, array in own.items()}
        metadata[f"part_{number}"] = json.dumps(facts, ensure_ascii=False)
    return tensors, metadata


def read_combined(
    tensors: Tensors, metadata: Mapping[str, str], common: CommonFields, read: ReadPart
) -> StackedClassifier:
    """Combined classifiers from their tensors."""
    check_tensors(tensors, 1, stack_weights="<f8", stack_bias="<f8")
    parts = []
    for number in range(int(metadata["parts"])):
        prefix = f"{number}."
        own = {
            name.removeprefix(prefix): array
            for name, array in tensors.items()
            if name.startswith(prefix)
        }
        parts.append(read(own, json.loads(metadata[f"part_{number}"])))
    stack = Stack(tensors["stack_weights"], tensors["stack_bias"])
    return StackedClassifier(parts=tuple(parts), stack=stack, **common._asdict())
