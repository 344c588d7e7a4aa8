"""The language of the command line: MALMOI_LANG, otherwise the locale of the environment."""

import os
from functools import cache
from importlib.resources import files

from malmoi.cli.translation.catalogue import Catalogue
from malmoi.cli.translation.po_file import read_po

LANGUAGE_VARIABLE = "MALMOI_LANG"
LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts
KOREAN = "ko"


def language() -> str:
    """`ko` or `en`."""
    for name in (LANGUAGE_VARIABLE, *LOCALE_VARIABLES):
        value = os.environ.get(name, "")
        if value:
            return KOREAN if is_korean(value) else "en"
    return "en"


def is_korean(locale: str) -> bool:
    """Whether a locale such as `ko`, `ko_KR.UTF-8` or `ko-KR` is Korean."""
    return locale.lower().replace("-", "_").split(".")[0].split("_")[0] == KOREAN


@cache
def catalogue() -> Catalogue:
    """The Korean messages, read when the first of them is needed."""
    path = files("malmoi") / "locale" / KOREAN / "LC_MESSAGES" / "malmoi.po"
    return Catalogue(read_po(path.read_text("utf-8")))


def translate(message: str) -> str:
    """A message in the language of the command line; one without a translation stays English."""
    return catalogue().translate(message) if language() == KOREAN else message
