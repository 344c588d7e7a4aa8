"""`malmoi classify MODEL [TEXT…|--file F]`: the labels of texts, and what speaks for them."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from malmoi.classify.files import load_classifier
from malmoi.cli.shared.output import AsJson, Flag, print_json_list
from malmoi.cli.shared.text_width import fitted
from malmoi.errors import InvalidArgumentError
from malmoi.text.corpus import Corpus

if TYPE_CHECKING:
    from malmoi.classify.base.classifier import Classifier

TEXT_COLUMNS = 52
SHOWN_PARTS = 6  # of an explanation
BATCH_TEXTS = 4096


def classify_command(
    model: Annotated[Path, Parameter(help="A file of tune classify, or fastText's .bin or .ftz.")],
    /,
    *texts: Annotated[str, Parameter(help="Texts to classify.")],
    file: Annotated[Path | None, Parameter(help="A file of texts instead, one per line.")] = None,
    k: Annotated[int, Parameter(name=["-k"], help="How many labels to show.")] = 1,
    explain: Annotated[bool, Flag, Parameter(help="Show what speaks for the label.")] = False,
    json: AsJson = False,
) -> None:
    """Print the label of each text and its probability."""
    if bool(texts) == bool(file):
        raise InvalidArgumentError("pass texts to classify, or a --file of them")
    if k < 1:
        raise InvalidArgumentError(f"-k is {k}: it must be at least 1")
    classifier = load_classifier(model)
    documents = Corpus.of(file) if file else Corpus.of(texts)
    records = classified(classifier, documents.texts, k, explain)
    if json:
        print_json_list(records)
        return
    for record in records:
        print_record(record)


def classified(
    classifier: "Classifier", documents: Iterable[str], k: int, explain: bool
) -> Iterable[dict[str, Any]]:
    """A record for each text, in batches."""
    rest = iter(documents)
    while batch := list(islice(rest, BATCH_TEXTS)):
        yield from records_of(classifier, batch, k, explain)


def records_of(
    classifier: "Classifier", texts: list[str], k: int, explain: bool
) -> Iterable[dict[str, Any]]:
    """The labels of some texts with their probabilities, most probable first."""
    probabilities = classifier.probabilities(texts).tolist()
    for text, row in zip(texts, probabilities, strict=True):
        order = sorted(range(len(row)), key=lambda i: -row[i])[:k]
        labels = [{"label": classifier.labels[i], "probability": row[i]} for i in order]
        record: dict[str, Any] = {"text": text, "labels": labels}
        if explain:
            parts = classifier.explain(text).contributions
            record["explanation"] = [
                {"part": one.part, "label": one.label, "value": one.value, "spans": one.spans}
                for one in parts
            ]
        yield record


def print_record(record: dict[str, Any]) -> None:
    """One line for a text and its labels, and those of the explanation."""
    labels = ", ".join(f"{one['label']} {one['probability']:.3f}" for one in record["labels"])
    print(f"{fitted(' '.join(record['text'].split()), TEXT_COLUMNS)}  {labels}")
    for one in record.get("explanation", [])[:SHOWN_PARTS]:
        print(f"    ‘{one['part']}’ speaks for {one['label']} by {one['value']:.3f}")
