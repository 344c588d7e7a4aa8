"""A reporter for tests that calls functions."""

from collections.abc import Callable

from malmoi.reporting.reporter import Progress, Reporter, no_progress


class CallbackReporter(Reporter):
    """Passes the progress of one stage, losses and memory to functions; warnings as usual."""

    def __init__(
        self,
        progress: Progress = no_progress,
        on_loss: Callable[[float], object] = lambda loss: None,
        on_memory: Callable[[int], object] = lambda num_bytes: None,
        stage: str = "training",
    ) -> None:
        self.progress, self.on_loss, self.on_memory, self.name = progress, on_loss, on_memory, stage

    def stage(self, name: str, unit: str = "") -> Progress:
        """The progress function for the stage of this name."""
        return self.progress if name == self.name else no_progress

    def loss(self, loss: float) -> None:
        """Call `on_loss`."""
        self.on_loss(loss)

    def memory(self, num_bytes: int) -> None:
        """Call `on_memory`."""
        self.on_memory(num_bytes)
