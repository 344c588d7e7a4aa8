"""The folder that a resumable training writes: new, or with --resume complete already."""

from pathlib import Path

from malmoi.cli.shared.output import print_json
from malmoi.cli.shared.resume import discard_leftovers
from malmoi.cli.shared.text_width import wrapped
from malmoi.cli.translation.language import translate
from malmoi.tune.saving import CARD, check_target, is_saved
from malmoi.tune.static.teacher import vectors_path


def is_finished(out: Path, *, resume: bool, json: bool, holds: str = CARD) -> bool:
    """Whether the run to resume was killed after it had saved `out`: prints that.

    Otherwise `out` must not exist. A complete folder `holds` a file of this name.

    Raises:
        InvalidFileError: `out` exists and there is nothing to resume, or it cannot be created.
    """
    if not (resume and is_saved(out, holds)):
        check_target(out)
        return False
    discard_leftovers(out)
    vectors_path(out).unlink(missing_ok=True)
    if json:
        print_json({"written": str(out), "resumed": False})
    else:
        print(wrapped(translate(f"{out} is complete: there is nothing to resume")))
    return True
