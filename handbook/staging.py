"""The pages of each language as a site generator wants them: in a folder of their own.

Korean pages share the images of English ones, and every language has the API reference, whose
docstrings are English.
"""

import re
import shutil
from pathlib import Path

from handbook.reference import reference_page, topics

HERE = Path(__file__).parent
ENGLISH, KOREAN = HERE.parent / "docs", HERE.parent / "docs" / "ko"
CONFIGS = ("site.en.yml", "site.ko.yml")
ASSETS = (".svg", ".png", ".ipynb")
ABOVE = re.compile(r"(\]\(|src=\")\.\./(?=[\w.-]+\.(?:svg|png|ipynb))")  # of a page in docs/ko
NOTEBOOKS = HERE.parent / "notebooks"
NOTEBOOK = re.compile(r"\]\((?:\.\./)+notebooks/(?:ko/)?(?=[\w.-]+\.ipynb)")
OF_THE_REPOSITORY = re.compile(r"\[([^\]]+)\]\((?:\.\./)+[^)]*\)")  # [changes](../CHANGELOG.md)


def stage_site(target: Path) -> None:
    """Write what the site generator reads: the pages of both languages, and its settings."""
    stage_pages(ENGLISH, target / "pages" / "en")
    stage_pages(KOREAN, target / "pages" / "ko")
    for name in ("site.yml", *CONFIGS):
        shutil.copyfile(HERE / name, target / name)


def stage_pages(source: Path, target: Path) -> None:
    """Copy the pages of a language, and write the API reference beside them."""
    shutil.rmtree(target, ignore_errors=True)
    (target / "api").mkdir(parents=True)
    for path in sorted(source.glob("*.md")):
        page = staged_page(path.read_text(encoding="utf-8"))
        (target / path.name).write_text(page, encoding="utf-8")
    for path in [*ENGLISH.iterdir(), *source.iterdir()]:  # drawings have files of each language
        if path.suffix in ASSETS:
            shutil.copyfile(path, target / path.name)
    (target / "notebooks").mkdir()
    for path in (NOTEBOOKS / source.relative_to(ENGLISH)).glob("*.ipynb"):
        shutil.copyfile(path, target / "notebooks" / path.name)
    for topic in topics():
        page = reference_page(topic)
        (target / "api" / f"{topic.page}.md").write_text(page, encoding="utf-8")


def staged_page(markdown: str) -> str:
    """A page whose links do not leave its folder: the site has no files of the repository."""
    markdown = NOTEBOOK.sub("](notebooks/", ABOVE.sub(r"\1", markdown))
    return OF_THE_REPOSITORY.sub(r"\1", markdown)
