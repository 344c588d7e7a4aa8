"""Damaged files of every kind: `python -m bench fuzz` with fewer cases."""

from random import Random

import numpy as np
import pytest

from bench.fuzz import shared_out
from bench.fuzzing.campaign import run_campaign
from bench.fuzzing.catalogue import subjects
from bench.fuzzing.mutations import MUTATIONS, Mutation, mutated

CASES = 2400
SLOW = ("model", "clusters")  # torch and faiss take longer to import than all others take to run


def test_damaged_files_of_every_kind_are_refused_or_answer_as_before() -> None:
    cases = {name: some for name, some in shared_out(CASES).items() if not name.startswith(SLOW)}
    outcomes = run_campaign(cases, workers=2)
    assert [problem for outcome in outcomes for problem in outcome.problems] == []
    assert sum(outcome.cases for outcome in outcomes) == sum(map(len, cases.values()))
    assert len(outcomes) > 50


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutations_change_most_files_and_are_the_same_every_time(mutation: Mutation) -> None:
    content = np.random.default_rng(1).bytes(300) + b'{"a": 12, "b": [3.5]}' * 20
    changed = [mutation(content, Random(seed)) for seed in range(40)]
    assert sum(each != content for each in changed) > 20
    assert changed == [mutation(content, Random(seed)) for seed in range(40)]
    for seed in range(40):
        mutated(b"", Random(seed))


def test_every_kind_of_file_with_checksums_is_among_the_damaged() -> None:
    checked = {name for name, subject in subjects().items() if subject.checked}
    kinds = {"malmoi", "corpus", "co-occurrences", "ngram", "nnlm", "checkpoint", "index"}
    assert kinds | {"malmoi, large", "index, large", "clusters"} <= checked
