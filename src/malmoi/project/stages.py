"""How far a piece of work in several stages is: whoever waits gives a progress for each."""

from collections.abc import Callable

from malmoi.reporting.reporter import Progress, no_progress

Watch = Callable[[str], Progress]  # the name of a stage to its progress


def unwatched(stage: str) -> Progress:
    """Stages that nobody watches."""
    return no_progress
