"""Whatever README and the pages name is there: functions, commands, options, pages, headings."""

import re
import shlex
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

import malmoi
from malmoi.cli import COMMANDS, run, select_command
from malmoi.cli.train.app import KINDS
from malmoi.cli.tune.app import KINDS as TUNED
from tests.pages import DOCS, slug

PAGES = sorted(DOCS.glob("*.md"))
KOREAN = [DOCS.parent / "README.ko.md", *sorted((DOCS / "ko").glob("*.md"))]
every_page = pytest.mark.parametrize(
    "page",
    [DOCS.parent / "README.md", *PAGES, *KOREAN],
    ids=lambda page: str(page.relative_to(DOCS.parent).with_suffix("")),
)
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
OTHERS = {"--no-deps", "--minutes"}  # of pip, and of the bench
OTHERS |= {"--rm", "--publish", "--volume", "--read-only", "--tmpfs"}  # of docker run
OTHERS |= {"--build-arg", "--no-healthcheck", "--build"}  # of docker
OTHERS |= {"--head", "--port", "--address", "--num-cpus"}  # of ray start


@cache
def options(*command: str) -> frozenset[str]:
    """What a command can be given."""
    shown = StringIO()
    with redirect_stdout(shown):
        assert run([*command, "--help"]) == 0
    return frozenset(OPTION.findall(shown.getvalue())) | {"--help"}


@cache
def all_options() -> frozenset[str]:
    """What any command can be given."""
    kinds = [("train", name) for name, _, _ in KINDS] + [("tune", name) for name, _, _ in TUNED]
    return frozenset().union(
        *(options(*one) for one in [*((name,) for name, _, _ in COMMANDS), *kinds])
    )


@every_page
def test_names_are_public(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\bmm\.([A-Za-z]\w*)", text, re.ASCII):  # Korean particles follow
        assert name in {*malmoi.__all__, *malmoi._MODULES}, name
    for module, name in re.findall(rf"\bmm\.({'|'.join(malmoi._MODULES)})\.(\w+)", text, re.ASCII):
        assert hasattr(getattr(malmoi, module), name), name


@every_page
def test_options_are_there(page: Path) -> None:
    for name in OPTION.findall(page.read_text(encoding="utf-8")):
        assert name in all_options() | OTHERS, name


@every_page
def test_commands_have_the_options_they_are_shown_with(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    shown = "\n".join(re.findall(r"```\w+\n(.*?)```", text, re.DOTALL))
    lines = re.findall(r"^(?:\$ )?(malmoi .*)$", shown, re.MULTILINE)
    spans = re.findall(r"`(malmoi [a-z][^`\n]*)`", text)
    for line in [*lines, *(span for span in spans if "train …" not in span)]:  # of any kind
        words = select_command(shlex.split(line, comments=True)[1:])
        command = words[:2] if words[0] in ("train", "tune") else words[:1]
        assert {word for word in words if OPTION.fullmatch(word)} <= options(*command), line


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for target, heading in re.findall(
        r"\]\(([\w./-]*)(?:#([\w-]+))?\)", page.read_text(encoding="utf-8")
    ):
        place = page.parent / target if target else page
        assert place.exists(), target
        if heading:
            lines = re.findall(r"^#+ (.+)$", place.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {slug(line) for line in lines}


def test_the_first_page_leads_to_every_other() -> None:
    led_to = set(re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "index.md").read_text(encoding="utf-8")))
    assert led_to == {page.name for page in PAGES} - {"index.md"}
