"""Reporter: the one way in which work reports progress, losses, memory and warnings.

Every function that may take long takes a `reporter`. The default passes warnings on as
`MalmoiWarning` and ignores the rest. `ProgressReporter` adds progress bars for terminals and
notebooks, the server counts warnings per request, and tests record everything.
"""

from collections.abc import Callable, Iterator
from typing import Protocol, Self, runtime_checkable

from malmoi.arguments import expect
from malmoi.errors import warn

Progress = Callable[[int, int], None]  # called with (done, total)


def no_progress(done: int, total: int) -> None:
    """Ignore the progress of a stage."""


@runtime_checkable
class ProgressTexts(Protocol):
    """Texts that report how much of their source has been read."""

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts."""

    def with_progress(self, progress: Progress) -> Iterator[str]:
        """Iterate over the texts and call `progress` on the way."""


class InputStats(Protocol):
    """Counts of inputs that were truncated, skipped or unknown, with examples."""

    def add(self, other: Self) -> None:
        """Add the counts of a later call."""

    def sentences(self, *, numbered: bool = True) -> list[str]:
        """One warning per kind of problem; `numbered` adds the positions of the first inputs."""


class OovExplanation(Protocol):
    """Where the vector of an out-of-vocabulary word comes from; see `malmoi.explanation`."""

    @property
    def word(self) -> str:
        """The word of the query."""

    @property
    def note(self) -> str:
        """One sentence for the user."""

    @property
    def read_as(self) -> dict[str, float]:
        """The known words that answer instead, with their shares of the vector."""


class Reporter:
    """Passes warnings on and ignores everything else; subclasses override what they show."""

    def stage(self, name: str, unit: str = "") -> Progress:
        """Begin a stage of the work and return its progress callback.

        `unit` is what the callback counts ("texts", "words"), for speeds. A stage ends when
        `done` reaches `total`.
        """
        return no_progress

    def loss(self, loss: float) -> None:
        """Report the mean training loss since the last call."""

    def memory(self, num_bytes: int) -> None:
        """Report how much memory the work is about to allocate."""

    def warn(self, sentence: str) -> None:
        """Report something that was repaired, skipped or lost."""
        warn(sentence)

    def note(self, sentence: str) -> None:
        """Report what is good to know and no problem, such as how long the work will take."""

    def out_of_vocabulary(self, explanation: OovExplanation) -> None:
        """Report a word of a query that has no row of its own, and what answers instead.

        Warns only if other words answer: a vector from n-grams is what subwords are for.
        """
        if explanation.read_as:
            self.warn(explanation.note)

    def inputs(self, source: str, stats: InputStats) -> None:
        """Report what happened to the inputs of one call; `source` names the model or file."""
        for sentence in stats.sentences():
            self.warn(f"{source}: {sentence}")


DEFAULT_REPORTER = Reporter()


def expect_reporter(value: object) -> None:
    """Raise `InvalidArgumentError` unless a value is a reporter; its class is not one."""
    hint = "pass ProgressReporter() to see progress, or leave reporter out"
    expect(value, Reporter, "reporter", "a Reporter", hint=hint)


class InputTotals(Reporter):
    """Adds up the input statistics of many calls and passes the totals on once.

    Use it as a context manager around the calls: the totals are reported on leaving it. All other
    reports go to `target` at once.
    """

    def __init__(self, target: Reporter = DEFAULT_REPORTER) -> None:
        self.target = target
        self._totals: dict[str, InputStats] = {}

    def stage(self, name: str, unit: str = "") -> Progress:
        """Begin a stage of `target`."""
        return self.target.stage(name, unit)

    def loss(self, loss: float) -> None:
        """Report to `target`."""
        self.target.loss(loss)

    def memory(self, num_bytes: int) -> None:
        """Report to `target`."""
        self.target.memory(num_bytes)

    def warn(self, sentence: str) -> None:
        """Report to `target`."""
        self.target.warn(sentence)

    def note(self, sentence: str) -> None:
        """Report to `target`."""
        self.target.note(sentence)

    def out_of_vocabulary(self, explanation: OovExplanation) -> None:
        """Report to `target`."""
        self.target.out_of_vocabulary(explanation)

    def inputs(self, source: str, stats: InputStats) -> None:
        """Add the statistics to the totals of this source."""
        self._totals.setdefault(source, type(stats)()).add(stats)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for source, stats in self._totals.items():
            for sentence in stats.sentences(numbered=False):
                self.target.warn(f"{source}: {sentence}")
        self._totals = {}


class WithinStage(InputTotals):
    """Reports the stages of many calls as the progress of one stage, and the totals of inputs once.

    `progress` is the callback of that stage for the next call.
    """

    def __init__(self, target: Reporter, progress: Progress) -> None:
        super().__init__(target)
        self.progress = progress

    def stage(self, name: str, unit: str = "") -> Progress:
        """The progress of the stage around the calls."""
        return self.progress


class SilentReporter(Reporter):
    """Reports nothing at all: for inputs that are not the user's."""

    def warn(self, sentence: str) -> None:
        """Drop the warning."""
