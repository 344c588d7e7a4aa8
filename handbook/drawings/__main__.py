"""`python -m handbook.drawings`: write all drawings beside the pages of each language."""

from handbook.drawings.gallery import DRAWINGS, LANGUAGES, drawing, path_of

if __name__ == "__main__":
    for language in LANGUAGES:
        for name in DRAWINGS:
            path_of(name, language).write_text(drawing(name, language).svg(), encoding="utf-8")
