"""`python -m handbook`: stage the pages of both languages in `build/pages/`; `make docs` follows."""

from handbook.staging import ENGLISH, KOREAN, ROOT, stage

if __name__ == "__main__":
    for language, source in (("en", ENGLISH), ("ko", KOREAN)):
        stage(source, ROOT / "build" / "pages" / language)
