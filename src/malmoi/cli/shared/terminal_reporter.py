"""TerminalReporter: progress bars and the memory of a training, on stderr."""

import sys

from malmoi.reporting.progress_bar import ProgressReporter
from malmoi.train.common.memory import in_megabytes


class TerminalReporter(ProgressReporter):
    """A `ProgressReporter` that also prints how much memory a training needs."""

    def memory(self, num_bytes: int) -> None:
        """Print the memory in megabytes."""
        size = in_megabytes(num_bytes) if num_bytes >= 10**6 else "less than 1 MB"
        self.close()
        print(f"training takes {size} of memory", file=sys.stderr)
