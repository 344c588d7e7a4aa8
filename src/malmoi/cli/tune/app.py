"""`malmoi tune KIND DATA --model M --out FOLDER`: one command per kind of model."""

from cyclopts import App

KINDS = (
    ("sentence", "sentence:tune_sentence_command", "A sentence encoder (extra train)."),
    ("distill", "distill:tune_distill_command", "A teacher into another language (extra train)."),
    ("extend", "extend:tune_extend_command", "Tokens of a language that a model lacks."),
)

tune_app = App(name="tune", help="Tune a pretrained model on your own data.")
for name, target, text in KINDS:
    tune_app.command(f"malmoi.cli.tune.{target}", name=name, help=text)
