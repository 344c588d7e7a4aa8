"""A reporter that records everything, for tests."""

from malmoi.reporting.reporter import Progress, Reporter


class RecordingReporter(Reporter):
    """Records stages, progress, losses, memory and warnings."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, str]] = []
        self.progress: list[tuple[int, int]] = []
        self.losses: list[float] = []
        self.bytes: list[int] = []
        self.warnings: list[str] = []

    def stage(self, name: str, unit: str = "") -> Progress:
        self.stages.append((name, unit))
        return lambda done, total: self.progress.append((done, total))

    def loss(self, loss: float) -> None:
        self.losses.append(loss)

    def memory(self, num_bytes: int) -> None:
        self.bytes.append(num_bytes)

    def warn(self, sentence: str) -> None:
        self.warnings.append(sentence)
