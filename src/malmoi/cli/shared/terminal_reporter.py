"""TerminalReporter: progress bars and the memory of a training, in the user's language."""

import sys

from malmoi.cli.translation.language import translate
from malmoi.reporting.progress_bar import ProgressReporter
from malmoi.reporting.reporter import Progress
from malmoi.train.common.memory import in_megabytes


class TerminalReporter(ProgressReporter):
    """A `ProgressReporter` that also prints how much memory a training needs."""

    def stage(self, name: str, unit: str = "") -> Progress:
        """Translate the name of the stage; units and speeds stay as they are."""
        return super().stage(translate(name), unit)

    def note(self, sentence: str) -> None:
        """Print the sentence on stderr, above the bar."""
        super().note(translate(sentence))

    def memory(self, num_bytes: int) -> None:
        """Print the memory in megabytes."""
        size = in_megabytes(num_bytes) if num_bytes >= 10**6 else "less than 1 MB"
        self.close()
        print(translate(f"training takes {size} of memory"), file=sys.stderr)
