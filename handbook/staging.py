"""The pages of one language as a site generator wants them: a folder of their own, in `build/`.

Korean pages share the images of English ones, and every language has the API reference, whose
docstrings are English.
"""

import re
import shutil
from pathlib import Path

from handbook.reference import reference_page, topics

ROOT = Path(__file__).parents[1]
ENGLISH, KOREAN = ROOT / "docs", ROOT / "docs" / "ko"
ASSETS = (".svg", ".png", ".ipynb")
ABOVE = re.compile(r"(\]\(|src=\")\.\./(?=[\w.-]+\.(?:svg|png|ipynb))")  # of a page in docs/ko
OF_THE_REPOSITORY = re.compile(r"\[([^\]]+)\]\((?:\.\./)+[^)]*\)")  # [changes](../CHANGELOG.md)


def stage(source: Path, target: Path) -> None:
    """Copy the pages of a language, and write the API reference beside them."""
    shutil.rmtree(target, ignore_errors=True)
    (target / "api").mkdir(parents=True)
    for path in sorted(source.glob("*.md")):
        page = staged_page(path.read_text(encoding="utf-8"))
        (target / path.name).write_text(page, encoding="utf-8")
    for path in sorted(ENGLISH.iterdir()):
        if path.suffix in ASSETS:
            shutil.copyfile(path, target / path.name)
    for topic in topics():
        page = reference_page(topic)
        (target / "api" / f"{topic.page}.md").write_text(page, encoding="utf-8")


def staged_page(markdown: str) -> str:
    """A page whose links do not leave its folder: the site has no files of the repository."""
    return OF_THE_REPOSITORY.sub(r"\1", ABOVE.sub(r"\1", markdown))
