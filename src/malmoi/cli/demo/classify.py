"""`malmoi demo classify [--data FILE]`: classifiers of messages compared, and explained."""

import os
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from malmoi.classify.compare.comparing import compare
from malmoi.classify.compare.settings import CompareSettings
from malmoi.classify.training import train_classifier
from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_width import wrapped
from malmoi.reporting.reporter import SilentReporter

if TYPE_CHECKING:
    from malmoi.classify.base.classifier import Classifier

MESSAGES = "messages.tsv"  # beside this file: advertising and other messages, in two languages
SPAM = ("spam", "spam.csv")  # in the folder that MALMOI_DATA names
SETTINGS = CompareSettings(seeds=3, curve=False, minutes=0.7)
BUNDLED_MODELS = ("majority", "words", "ngrams", "jamo")
MODELS = ("majority", "words", "ngrams", "minilm")
EXAMPLES = (
    "Claim your free prize: text WIN before midnight",
    "Are you free before midnight? Text me when you are home",
)
ENGLISH_EXAMPLE = "Your parcel is at the post office, bring the reference 4471"
KOREAN_EXAMPLE = "회원님께만 무료 쿠폰을 드립니다"
SHOWN_WORDS = 4  # of an explanation

NEXT_STEPS = """\
What to try next:
  malmoi compare YOUR-TABLE.csv --out report.html
  malmoi tune classify YOUR-TABLE.csv --out my.classifier
  malmoi classify my.classifier "a new text" --explain
  malmoi serve --model my=my.classifier"""


def demo_classify_command(
    *,
    data: Annotated[
        Path | None, Parameter(help="A table of texts and labels, such as the SMS spam table.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Compare classifiers of messages in under a minute, and let the best explain three of them.

    Without --data the SMS spam table is used where MALMOI_DATA names its folder (spam/spam.csv),
    and else 240 messages that come with malmoi: advertising or not, in English and Korean.
    """
    own = data or default_table()
    with as_file(files("malmoi.cli.demo") / MESSAGES) as bundled, TerminalReporter() as reporter:
        table, names = (own, MODELS) if own else (bundled, BUNDLED_MODELS)
        comparison = compare(table, names, SETTINGS, reporter=reporter)
        result = train_classifier(table, comparison.recommended, reporter=SilentReporter())
    texts = (*EXAMPLES, ENGLISH_EXAMPLE if own else KOREAN_EXAMPLE)
    messages = [explained(result.classifier, text) for text in texts]
    if json:
        print_json({"comparison": comparison.to_dict(), "messages": messages})
        return
    print(f"{comparison}\n\nNew messages, by {comparison.recommended}:")
    for message in messages:
        print_message(message)
    print(f"\n{NEXT_STEPS}")


def default_table() -> Path | None:
    """The SMS spam table, if it is there."""
    folder = os.environ.get("MALMOI_DATA")
    path = Path(folder, *SPAM) if folder else None
    return path if path is not None and path.is_file() else None


def explained(classifier: "Classifier", text: str) -> dict[str, Any]:
    """The label of a text, and the words that speak most for it."""
    explanation = classifier.explain(text)
    words = [one.part for one in explanation.by_word()[:SHOWN_WORDS] if one.value > 0]
    return {
        "text": text,
        "label": explanation.label,
        "probability": explanation.probability,
        "words": words,
    }


def print_message(message: dict[str, Any]) -> None:
    """A message, its label, and why."""
    print(wrapped(f"{message['label']} {message['probability']:.3f}  {message['text']}", 2))
    if message["words"]:
        words = ", ".join(f"‘{word}’" for word in message["words"])
        print(wrapped(f"because of {words}", 6))
