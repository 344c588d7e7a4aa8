"""`python -m tests.instruction_sets`: the kernel tests on every instruction set of this machine.

pytest alone runs on the largest set there is. Here the tests of kernels, engines and one small
training of each kind run on each smaller one too, and again with Numba's bounds checks. Each run
is a process of its own, for Numba reads its settings once. Compiled kernels stay in the virtual
environment for the next time.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from malmoi.kernels.core.instruction_sets import InstructionSet, current_set, runnable_sets
from malmoi.kernels.threads import THREADS

ROOT = Path(__file__).parents[1]
CACHE = Path(sys.prefix) / "kernels"
KERNELS = ("tests/kernels", "--ignore=tests/kernels/test_instruction_sets.py")
TRAININGS = "tests/train/test_each_kind.py"
ENGINES = ("tests/encode/test_engines.py", "tests/encode/elmo/test_network.py")
PRODUCTS = sorted(str(path) for path in (ROOT / "tests/kernels").glob("test_*product*.py"))
TRANSFORMERS = (
    *PRODUCTS,
    "tests/kernels/test_transformer_checks.py",
    "tests/kernels/test_elmo.py",
    "tests/encode/test_worker_group.py",
)
say = partial(print, flush=True)
OPTIONS = ("-n", "0", "-p", "no:cacheprovider", "--color=no")


class Run(NamedTuple):
    """Tests for one instruction set."""

    instructions: InstructionSet
    bounds_checks: bool
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        """As it is printed."""
        return self.instructions.name + (", bounds checks" if self.bounds_checks else "")

    def environment(self) -> dict[str, str]:
        """What tells Numba to compile for this set, and where to keep it."""
        features = ",".join(f"+{name}" for name in ("sse2", *self.instructions.features))
        own = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": features}
        if self.instructions == current_set():  # this very processor, which may be no x86
            own = {}
        checks = {"NUMBA_BOUNDSCHECK": "1"} if self.bounds_checks else {}
        folder = re.sub(r"\W+", "-", self.name.lower())
        cache = {"NUMBA_CACHE_DIR": str(CACHE / folder)}
        return os.environ | own | checks | cache


class Result(NamedTuple):
    """How a run ended."""

    name: str
    code: int
    output: str

    @property
    def closing_line(self) -> str:
        """pytest's own summary; a process that dies leaves none."""
        lines = re.findall(r"^=*\s*(\d+ (?:passed|failed|skipped|error).*?)=*$", self.output, re.M)
        return str(lines[-1]) if lines else f"ended with code {self.code} and without a summary"


def planned(sets: list[InstructionSet], largest: InstructionSet) -> list[Run]:
    """Every set but the one that pytest itself runs on, and what bounds checks can see.

    Vector instructions of our own are not checked, loops are: the plain set has most of these,
    and a transformer runs from AVX2 on.
    """
    runs = [Run(sets[0], True, (*KERNELS, TRAININGS))]
    runs += [Run(each, True, TRANSFORMERS) for each in sets[1:2]]
    tests = (*KERNELS, TRAININGS, *ENGINES)
    return runs + [Run(each, False, tests) for each in sets if each != largest]


def run(plan: Run) -> Result:
    """One pytest in a process of its own."""
    command = [sys.executable, "-m", "pytest", *OPTIONS, *plan.tests]
    done = subprocess.run(
        command, cwd=ROOT, env=plan.environment(), capture_output=True, text=True, check=False
    )
    result = Result(plan.name, done.returncode, done.stdout + done.stderr)
    say(f"{plan.name}: {result.closing_line}")
    return result


def main() -> int:
    """Run all, some at a time; what failed is printed whole."""
    largest = current_set()
    plan = planned(runnable_sets(), largest)
    with ThreadPoolExecutor(min(THREADS, len(plan))) as pool:
        results = list(pool.map(run, plan))
    for result in results:
        if result.code:
            say(f"\n{result.name} failed:\n{result.output}")
    names = ", ".join(result.name for result in results)
    say(f"kernels tested on: {names}; pytest runs on {largest.name}")
    return int(any(result.code for result in results))


if __name__ == "__main__":
    sys.exit(main())
