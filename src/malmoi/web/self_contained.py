"""A page in one file: its own styles and script, and those that all pages share.

Nothing is fetched from outside: the policy of the page names the hashes of its style and script,
and forbids the rest. Knows nothing about the data that a page shows.
"""

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from malmoi.web.modules import joined

START = "main"  # the module that begins
SHARED = "shared"


def page_modules(name: str) -> dict[str, str]:
    """The ES modules of a page and those that all pages share, by name."""
    web = files("malmoi") / "web"
    return {
        file.name.removesuffix(".js"): file.read_text(encoding="utf-8")
        for folder in (SHARED, name)
        for file in (web / folder).iterdir()
        if file.name.endswith(".js")
    }


def page_around_data(name: str, title: str, *, connect: str = "'none'") -> tuple[str, str]:
    """The page of a folder of `web/`, before its data and after it.

    `connect` is what the page may send requests to, as a source of its policy.
    """
    web = files("malmoi") / "web"
    script = "\n" + joined(page_modules(name), START)
    styles = (web / SHARED / "paper.css", web / name / "style.css")
    style = "\n" + "\n".join(one.read_text(encoding="utf-8") for one in styles)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        f"img-src data: blob:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )
    values = {"title": escape(title), "policy": policy}
    before, after = (web / name / "page.html").read_text(encoding="utf-8").split("$data")
    return (
        Template(before).substitute(values, style=style),
        Template(after).substitute(script=script),
    )


def json_element(identifier: str, value: object) -> bytes:
    """An element of the page that holds data, which cannot be markup."""
    # In a script element only < can end the data; in JSON it can be written otherwise.
    text = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
    element = f'<script type="application/json" id="{identifier}">{text}</script>\n'
    return element.encode("utf-8", "backslashreplace")  # of lone surrogates: \udc80 is JSON too


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
