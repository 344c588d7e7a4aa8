"""Which instruction sets there are, and that kernels are compiled for the one that is set."""

import itertools
import subprocess
import sys
from typing import Any

import pytest

from malmoi.kernels.core.instruction_sets import INSTRUCTION_SETS, current_set, runnable_sets
from tests.instruction_sets import Run, planned


def test_each_set_has_the_features_of_the_one_before() -> None:
    for smaller, larger in itertools.pairwise(INSTRUCTION_SETS):
        assert set(smaller.features) < set(larger.features)


def test_kernels_run_on_a_set_that_the_processor_has() -> None:
    assert runnable_sets()[0].name == "plain"
    assert current_set() in runnable_sets()


@pytest.mark.parametrize("instructions", runnable_sets())
def test_numba_compiles_for_the_set_that_a_run_asks_for(instructions: Any) -> None:
    program = (
        "from malmoi.kernels.core.instruction_sets import current_set; print(current_set().name);"
        "from numba.core.registry import cpu_target as target;"
        "print(target.target_context.codegen().magic_tuple()[1:])"
    )
    run = Run(instructions, True, ())
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=run.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    name, target = done.stdout.splitlines()
    assert name == instructions.name
    assert ("+avx2" in target) == ("avx2" in instructions.features)


def test_every_set_is_tested_and_loops_with_bounds_checks() -> None:
    for largest in INSTRUCTION_SETS:
        sets = list(INSTRUCTION_SETS[: INSTRUCTION_SETS.index(largest) + 1])
        runs = planned(sets, largest)
        plain = {run.instructions.name for run in runs if not run.bounds_checks}
        assert plain | {largest.name} == {each.name for each in sets}
        assert next(run.instructions.name for run in runs if run.bounds_checks) == "plain"
