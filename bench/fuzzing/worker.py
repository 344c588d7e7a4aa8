"""`python -m bench.fuzzing.worker JOBS`: damaged files, one after the other.

JOBS are which ones, `[[subject, first case, the one after the last], …]`. Prints a line of JSON
before each subject and each case, and one for each case that ends as it must not. A process of its
own, so that one that crashes or never ends can be told of.
"""

import json
import os
import resource
import shutil
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from random import Random

from bench.fuzzing.catalogue import find_subject
from bench.fuzzing.mutations import mutated
from bench.fuzzing.subjects import Subject
from malmoi.errors import MalmoiError
from malmoi.files import tensors

MEMORY = 6 << 30  # bytes that a case may take, however large it says that it is
Files = dict[str, bytes]


def main(jobs: list[tuple[str, int, int]]) -> None:
    """Run some cases of some subjects."""
    warnings.simplefilter("ignore")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, hard))
    large = tensors.VERIFY_LAZILY_ABOVE
    for name, first, last in jobs:
        subject = find_subject(name)
        tensors.VERIFY_LAZILY_ABOVE = 0 if subject.is_large else large
        with tempfile.TemporaryDirectory(prefix="malmoi-fuzz-") as place:
            os.environ["MALMOI_CACHE"] = f"{place}/cache"
            run_cases(subject, Path(place) / "case", range(first, last))


def run_cases(subject: Subject, folder: Path, cases: range) -> None:
    """Damage the files of a subject in these ways, each time from whole ones."""
    say(subject=subject.name)
    whole = made(subject, folder)
    fill(folder, whole)
    large, tensors.VERIFY_LAZILY_ABOVE = tensors.VERIFY_LAZILY_ABOVE, 1 << 60
    expected = subject.use(folder)  # the same whether it is verified at once or as it is used
    tensors.VERIFY_LAZILY_ABOVE = large
    fill(folder, whole)
    if subject.use(folder) != expected:
        raise RuntimeError(f"{subject.name} gives other answers when it is asked again")
    for case in cases:
        say(subject=subject.name, case=case)
        fill(folder, damaged(whole, subject, Random(f"{subject.name}/{case}")))
        if problem := run(subject, folder, expected):
            say(subject=subject.name, case=case, problem=problem)


def made(subject: Subject, folder: Path) -> Files:
    """The files of a subject, whole, as they are before the damage."""
    folder.mkdir()
    subject.make(folder)
    files = {str(path.relative_to(folder)): path.read_bytes()
             for path in sorted(folder.rglob("*")) if path.is_file()}  # fmt: skip
    files.pop("lock", None)
    before = subject.before or (lambda content: content)
    return {name: before(content) for name, content in files.items()}


def damaged(whole: Files, subject: Subject, random: Random) -> Files:
    """The same with one file damaged; of several, one may also be gone or another's."""
    files, name = dict(whole), random.choice(list(whole))
    kind = random.random()
    if len(files) > 1 and kind < 0.06:
        other = random.choice(list(whole))
        files[name], files[other] = files[other], files[name]
    elif kind < 0.07:
        files[name] = b""
    elif len(files) > 1 and kind < 0.09:
        del files[name]
    else:
        files[name] = mutated(files[name], random)
        if subject.after:
            files[name] = subject.after(files[name])
    return files


def fill(folder: Path, files: Files) -> None:
    """Let a folder hold these files and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def run(subject: Subject, folder: Path, expected: str) -> str:
    """What is wrong with how a case ended; nothing if all is well."""
    try:
        found = subject.use(folder)
    except MalmoiError as error:
        return f"more than a line: {error}" if "\n" in str(error) else ""
    except Exception as error:  # whatever it is, it is what we are looking for
        at = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in at if "/malmoi/" in frame.filename]
        where = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in ours[-3:]]
        return f"{type(error).__name__}: {str(error)[:150]} ({' > '.join(where)})"
    return "other answers, silently" if subject.checked and found != expected else ""


def say(**what: object) -> None:
    """A line for whoever watches."""
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
