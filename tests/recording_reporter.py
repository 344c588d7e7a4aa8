"""A reporter that records everything, for tests."""

from malmoi.explanation import Explanation
from malmoi.reporting.reporter import OovExplanation, Progress, Reporter


class RecordingReporter(Reporter):
    """Records the progress of each stage, losses, memory, warnings and explanations of words."""

    def __init__(self) -> None:
        self.stages: dict[str, list[tuple[int, int]]] = {}
        self.units: dict[str, str] = {}
        self.losses: list[float] = []
        self.bytes: list[int] = []
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.explanations: list[Explanation] = []

    @property
    def progress(self) -> list[tuple[int, int]]:
        return [call for calls in self.stages.values() for call in calls]

    def stage(self, name: str, unit: str = "") -> Progress:
        calls = self.stages.setdefault(name, [])
        self.units[name] = unit
        return lambda done, total: calls.append((done, total))

    def loss(self, loss: float) -> None:
        self.losses.append(loss)

    def memory(self, num_bytes: int) -> None:
        self.bytes.append(num_bytes)

    def warn(self, sentence: str) -> None:
        self.warnings.append(sentence)

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def out_of_vocabulary(self, explanation: OovExplanation) -> None:
        assert isinstance(explanation, Explanation)
        self.explanations.append(explanation)
