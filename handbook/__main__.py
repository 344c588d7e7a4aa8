"""`python -m handbook`: writes to `build/` what the site generator of `make docs` reads."""

from pathlib import Path

from handbook.staging import stage_site

if __name__ == "__main__":
    stage_site(Path("build"))
