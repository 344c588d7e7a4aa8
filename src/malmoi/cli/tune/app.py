"""`malmoi tune KIND DATA --model M --out FOLDER`: one command per kind of model."""

from cyclopts import App

KINDS = (
    ("sentence", "sentence:tune_sentence_command", "A sentence encoder (extra train)."),
    (
        "distill",
        "distill:tune_distill_command",
        "Into another language; with --static, into token vectors.",
    ),
    (
        "distill-static",
        "distill_static:distill_static_command",
        "The same as distill --static.",
    ),
    ("extend", "extend:tune_extend_command", "Tokens of a language that a model lacks."),
    ("layers", "layers:tune_layers_command", "The weight of each layer for labelled texts."),
    ("adapt", "adapt:adapt_command", "An encoder, to the raw text of a domain (extra train)."),
)

tune_app = App(name="tune", help="Tune a pretrained model on your own data.")
for name, target, text in KINDS:
    tune_app.command(f"malmoi.cli.tune.{target}", name=name, help=text)
