"""Embeds shards of texts into a folder of Parquet shards, in this process or on a Ray cluster.

A shard is the unit of work: its file is whole or absent, and a run skips those that are there. So
a run that was killed, or lost a node, continues. Only reports of shards come back to the driver.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

from malmoi.arguments import expect, expect_path, settings_or_default
from malmoi.encode.bulk.embed import output_dim
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.lock import file_lock
from malmoi.files.output import invalid_file_on_os_error
from malmoi.reporting.reporter import DEFAULT_REPORTER, Progress, Reporter, expect_reporter
from malmoi.scale.cluster.engines import LOCAL
from malmoi.scale.cluster.opening import check_on, open_cluster
from malmoi.scale.inputs import FilePaths, Shard, find_shards
from malmoi.scale.manifest import Manifest, ModelIdentity, read_manifest
from malmoi.scale.result import ScaleReport, WarningTotals
from malmoi.scale.settings import ShardSettings
from malmoi.scale.shard_writer import ShardReport, embed_shard, read_shard
from malmoi.scale.worker import ShardWorker

MANIFEST_EVERY = 10.0  # seconds


def embed(
    files: FilePaths,
    model: str,
    out: str | Path,
    settings: ShardSettings | None = None,
    *,
    on: str = LOCAL,
    reporter: Reporter = DEFAULT_REPORTER,
) -> ScaleReport:
    """Embed files of texts into a folder: one Parquet file of vectors per file of texts.

    A shard that is written already is skipped, so that a second run continues the first one, and
    embeds files that are new or have changed.

    Args:
        files: A pattern such as `texts/*.parquet`, a file, a folder, or a list of them.
        model: The name of a model, as for `load_encoder`; every node loads it by this name.
        out: The folder to write; on a cluster, one that all nodes see under the same path.
        settings: How the files are read, and what is written; by default one text per line.
        on: `local`, `ray` (the cluster of $RAY_ADDRESS or of this machine, or else a new one), or
            the address of a cluster: `ray://host:port`.
        reporter: Receives progress in bytes of input, and warnings.

    Returns:
        The number of shards, of rows, and warnings, which are not passed to the reporter.

    Raises:
        InvalidArgumentError: The folder holds vectors of another model or with other settings,
            or the cluster cannot run the work.
        InvalidFileError: A file cannot be read or written; the sentence names it.
        MissingDependencyError: Ray or pyarrow is not installed.
    """
    expect_reporter(reporter)
    expect(model, str, "model", "the name of a model")
    settings, folder = settings_or_default(settings, ShardSettings), expect_path(out, "out")
    check_on(on)
    shards = find_shards(files)
    _check_folder(folder, shards)
    encoder = load_encoder(model)
    with invalid_file_on_os_error(folder):
        folder.mkdir(exist_ok=True)
    with file_lock(folder):
        manifest = _open_manifest(folder, encoder, settings)
        rest = [shard for shard in shards if not manifest.is_written(folder, shard)]
        total = sum(shard.size for shard in shards)
        run = _Run(folder.resolve(), manifest, settings, total - sum(one.size for one in rest))
        progress = reporter.stage("embedding")
        progress(run.done, total)
        if on == LOCAL:
            reports = run.here(encoder, rest, progress, total)
        else:
            del encoder  # the workers have their own
            reports = run.there(on, rest, progress, total, reporter)
        warnings = run.collect(reports)
    rows = sum(manifest.shards[shard.target].rows for shard in shards)
    if rows == 0:
        raise InvalidFileError(f"{shards[0].source.parent} holds no text in {len(shards):,} files")
    skipped = len(shards) - len(rest)
    return ScaleReport(str(out), len(shards), skipped, rows, manifest.model.dim, warnings)


def find_sample(files: FilePaths, settings: ShardSettings) -> Iterator[str]:
    """The texts of the first shard, to choose a model by."""
    for record in read_shard(find_shards(files)[0], settings):
        yield record.text


class _Run:
    """The shards of one run as they are written; `done` are bytes of input."""

    def __init__(
        self, folder: Path, manifest: Manifest, settings: ShardSettings, done: int
    ) -> None:
        self.folder, self.manifest, self.settings, self.done = folder, manifest, settings, done

    def here(
        self, encoder: Encoder, shards: list[Shard], progress: Progress, total: int
    ) -> Iterator[ShardReport]:
        """Embed the shards in this process."""
        for shard in shards:
            yield embed_shard(
                encoder,
                shard,
                self.folder,
                self.settings,
                lambda done, _: progress(self.done + done, total),
            )
            self.done += shard.size
            progress(self.done, total)

    def there(
        self, on: str, shards: list[Shard], progress: Progress, total: int, reporter: Reporter
    ) -> Iterator[ShardReport]:
        """Embed the shards on a cluster; reports come in any order."""
        worker = ShardWorker(self.manifest.model, self.folder, self.settings)
        if not shards:
            return
        with open_cluster(on, reporter) as cluster:
            names = [str(shard.source) for shard in shards]
            for position, report in cluster.map(worker, shards, names=names):
                yield report
                self.done += shards[position].size
                progress(self.done, total)

    def collect(self, reports: Iterator[ShardReport]) -> tuple[str, ...]:
        """Enter each shard into the manifest, also those before an error; returns warnings."""
        warnings, saved = WarningTotals(), monotonic()
        try:
            for report in reports:
                self.manifest.shards[report.target] = report.written
                warnings.add(report)
                if monotonic() - saved > MANIFEST_EVERY:
                    self.manifest.write(self.folder)
                    saved = monotonic()
        finally:
            self.manifest.write(self.folder)
        for part in self.folder.glob(".*.part"):  # of workers that were killed
            with suppress(OSError):
                part.unlink()
        return tuple(warnings.sentences())


def _open_manifest(folder: Path, encoder: Encoder, settings: ShardSettings) -> Manifest:
    """The manifest of the folder; a new one is written before any shard."""
    manifest = read_manifest(folder)
    if manifest is not None:
        manifest.check(folder, encoder, settings)
        return manifest
    if any(folder.iterdir()):
        raise InvalidArgumentError(f"{folder} holds other files: write to a new folder")
    identity = ModelIdentity.of(encoder, output_dim(encoder, settings.embed))
    manifest = Manifest(identity, settings.as_json())
    manifest.write(folder)
    return manifest


def _check_folder(folder: Path, shards: list[Shard]) -> None:
    """Raise unless the folder can be written, and holds none of the texts."""
    if folder.exists() and not folder.is_dir():
        raise InvalidArgumentError(f"{folder} is a file: name a folder for the shards of vectors")
    if not folder.resolve().parent.is_dir():
        raise InvalidFileError(f"{folder} cannot be written: there is no folder {folder.parent}")
    for shard in shards:
        if shard.source.is_relative_to(folder.resolve()):
            raise InvalidArgumentError(f"{shard.source} is in {folder}: write to another folder")
