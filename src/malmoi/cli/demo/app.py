"""`malmoi demo` and `malmoi demo classify`: a tour of vectors, and one of classifiers."""

from cyclopts import App

from malmoi.cli.demo.vectors import demo_command

TOURS = (("classify", "classify:demo_classify_command", "Compare classifiers of messages."),)

demo_app = App(name="demo")
demo_app.default(demo_command)
for name, target, text in TOURS:
    demo_app.command(f"malmoi.cli.demo.{target}", name=name, help=text)
