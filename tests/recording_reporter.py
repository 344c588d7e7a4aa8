"""A reporter that records everything, for tests."""

from malmoi.explanation import Explanation
from malmoi.reporting.reporter import OovExplanation, Progress, Reporter


class RecordingReporter(Reporter):
    """Records progress by stage, warnings, and explanations of words."""

    def __init__(self) -> None:
        self.stages: dict[str, list[tuple[int, int]]] = {}
        self.warnings: list[str] = []
        self.explanations: list[Explanation] = []

    def stage(self, name: str, unit: str = "") -> Progress:
        calls = self.stages.setdefault(name, [])
        return lambda done, total: calls.append((done, total))

    def warn(self, sentence: str) -> None:
        self.warnings.append(sentence)

    def out_of_vocabulary(self, explanation: OovExplanation) -> None:
        assert isinstance(explanation, Explanation)
        self.explanations.append(explanation)
