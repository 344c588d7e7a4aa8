"""Finished runs in the cache folder, so that a comparison that is broken off goes on.

A run is found again by the texts and labels it was trained and tested on, the settings of its
classifier and the state of the files that these name.
"""

import os
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.compare.run import Part, Run
from malmoi.evaluate.suites.vector_cache import remove_oldest
from malmoi.files.cache_folder import cache_folder
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.labelled_set import LabelledSet

VERSION = 2  # of the runs: others are not read
MAX_BYTES = 1 << 28  # of all runs together


class RunCache:
    """The finished runs on one set of labelled texts; none are kept if not `enabled`."""

    def __init__(self, data: LabelledSet, reporter: Reporter, *, enabled: bool = True) -> None:
        self.folder, self.enabled, self.reporter = cache_folder("comparisons"), enabled, reporter
        digest = blake2b(f"{VERSION} {data.names} {data.multi_label}".encode(), digest_size=16)
        for text in data.texts:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        for array in data.labels:
            digest.update(array.data)
        self._data = digest

    def path(self, part: Part, settings: ClassifierSettings) -> Path:
        """The file of a run."""
        digest = self._data.copy()
        for rows in part:
            digest.update(rows.data)
        digest.update(repr(settings).encode())
        for file in named_files(settings):
            stat = file.stat()
            digest.update(f"{file} {stat.st_size} {stat.st_mtime_ns}\n".encode())
        return self.folder / f"run-{digest.hexdigest()}.npz"

    def get(self, path: Path) -> Run | None:
        """A finished run; None if there is none, or its file is damaged."""
        if not self.enabled:
            return None
        try:
            run = Run.load(path)
            os.utime(path)  # used now
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            return None
        return run

    def put(self, path: Path, run: Run) -> None:
        """Keep a finished run; a warning says if that is not possible."""
        if not self.enabled:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}.part")
            run.save(part)
            part.replace(path)
            remove_oldest(self.folder.glob("run-*.npz"), MAX_BYTES)
        except OSError as error:
            self.enabled = False
            self.reporter.warn(f"finished runs are not kept: {error}")


def named_files(settings: Any) -> Iterable[Path]:
    """The files that the settings of a classifier name, such as an encoder's."""
    for each in fields(settings):
        value = getattr(settings, each.name)
        if isinstance(value, tuple):
            yield from (file for part in value if is_dataclass(part) for file in named_files(part))
        elif isinstance(value, str) and value and each.name in ("model", "vectors"):
            path = Path(value)
            files = sorted(path.rglob("*")) if path.is_dir() else [path]
            yield from (file for file in files if file.is_file())
