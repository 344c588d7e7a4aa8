"""TerminalReporter: progress bars and the memory of a training, on stderr."""

import sys

from malmoi.reporting.progress_bar import ProgressReporter


class TerminalReporter(ProgressReporter):
    """A `ProgressReporter` that also prints how much memory a training needs."""

    def memory(self, num_bytes: int) -> None:
        """Print the memory in megabytes."""
        size = f"{num_bytes / 1e6:,.0f} MB" if num_bytes >= 10**6 else "less than 1 MB"
        self.close()
        print(f"training takes {size} of memory", file=sys.stderr)
