"""Every kind of file that is damaged, by name."""

from functools import cache

from bench.fuzzing import folders, model_files, text_files, vector_files
from bench.fuzzing.subjects import Subject


@cache
def subjects() -> dict[str, Subject]:
    """All of them."""
    modules = (vector_files, model_files, folders, text_files)
    return {subject.name: subject for module in modules for subject in module.subjects()}


def find_subject(name: str) -> Subject:
    """One of them."""
    return subjects()[name]
