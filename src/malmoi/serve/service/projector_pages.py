"""The projector's pages of the served models: drawn by PCA at once, by t-SNE or PaCMAP later.

The better picture is computed in another process, one at a time, so that the event loop is never
blocked, and kept in the cache folder. Knows nothing of HTTP.
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from malmoi.project.live_scene import LiveScene, make_live_scene
from malmoi.project.page.page import live_files, live_page
from malmoi.project.picture_cache import picture_path, read_picture
from malmoi.project.points.index_points import index_points
from malmoi.project.points.points import Points
from malmoi.project.points.word_points import word_points
from malmoi.project.reduce.reduction import NAMES
from malmoi.serve.service.errors import RequestError
from malmoi.serve.service.loaded_models import LoadedModel, Models

MAX_DRAWN = 20_000  # words or texts of a model; queries reach all of them
MAX_WAIT = 0.5  # seconds for the first scene before the page is sent without it
WORKER = "malmoi.project.picture_cache"
PageFiles = Mapping[str, tuple[str, bytes]]  # content type and content, by path


@dataclass(frozen=True, eq=False)
class DrawnPage:
    """The files of one model's page, and the reduction that its picture was made by."""

    reduction: str
    files: PageFiles


class ProjectorPages:
    """The pages of all models that have vectors; each is made when it is first requested."""

    def __init__(self, models: Models) -> None:
        self.models = [one for one in models if one.vectors is not None]
        self._first: dict[str, asyncio.Task[None]] = {}
        self._pages: dict[str, list[DrawnPage]] = {}  # by model: PCA's, and the better one
        self._improving: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    async def files(self, name: str | None = None, picture: str | None = None) -> PageFiles:
        """The files of a model's page: those of one of its pictures, or else of the last.

        Raises:
            RequestError: No model of this name has vectors.
            InvalidArgumentError: The vectors cannot be drawn.
        """
        model = self._model(name)
        await asyncio.shield(self._opening(model))
        pages = self._pages[model.name]
        return next((one for one in pages if one.reduction == picture), pages[-1]).files

    async def page(self, name: str | None = None) -> bytes:
        """The page of a model, at once: what takes longer to make, the page waits for itself.

        Raises:
            RequestError: No model of this name has vectors.
            InvalidArgumentError: The vectors cannot be drawn.
        """
        model = self._model(name)
        opening = self._opening(model)
        done, _ = await asyncio.wait([opening], timeout=MAX_WAIT)
        for task in done:
            task.result()  # raises what went wrong
        return live_page(model.name)

    def _opening(self, model: LoadedModel) -> asyncio.Task[None]:
        if model.name not in self._first:
            self._first[model.name] = asyncio.create_task(self._open(model))
        return self._first[model.name]

    def _model(self, name: str | None) -> LoadedModel:
        model = next((one for one in self.models if name in (None, one.name)), None)
        if model is None:
            raise RequestError(f"'{name}' has no vectors to draw", field="model")
        return model

    async def _open(self, model: LoadedModel) -> None:
        live = await asyncio.to_thread(lambda: make_live_scene(model_points(model)))
        self._pages[model.name] = [await asyncio.to_thread(self._drawn, model, live)]
        if live.method is not None:
            task = asyncio.create_task(self._improve(model, live))
            self._improving.add(task)
            task.add_done_callback(self._improving.discard)

    async def _improve(self, model: LoadedModel, live: LiveScene) -> None:
        """Add the page with the better picture."""
        path = picture_path(live.matrix)
        async with self._turn:
            problem = await compute_picture(live.matrix, path)
        picture = await asyncio.to_thread(read_picture, path)
        if picture is None:
            live = live.with_notes(f"drawn by PCA: {problem or 'no other picture was made'}")
        else:
            live = await asyncio.to_thread(live.with_picture, picture)
        self._pages[model.name].append(await asyncio.to_thread(self._drawn, model, live))

    def _drawn(self, model: LoadedModel, live: LiveScene) -> DrawnPage:
        (space,) = live.scene.spaces
        more = {
            "query": urlencode({"model": model.name, "picture": space.reduction}),
            "models": [{"name": one.name, "kind": one.kind} for one in self.models],
            "searchable": space.labelled_by == "text",
            "computing": NAMES[live.method] if live.method else None,
        }
        return DrawnPage(space.reduction, live_files(live.scene, more))


async def compute_picture(matrix: np.ndarray, path: Path) -> str:
    """Compute a picture in another process; returns what it says if it fails."""
    with tempfile.TemporaryDirectory(prefix="malmoi-") as folder:
        source = Path(folder) / "matrix.npy"
        await asyncio.to_thread(np.save, source, matrix)
        process = subprocess.Popen(
            [sys.executable, "-m", WORKER, source, path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            _, errors = await asyncio.to_thread(process.communicate)
        finally:
            if process.poll() is None:  # the server stops: the thread ends with the process
                process.kill()
    if process.returncode == 0:
        return ""
    lines = errors.decode("utf-8", "replace").splitlines()
    return lines[-1] if lines else f"the process ended with {process.returncode}"


def model_points(model: LoadedModel) -> Points:
    """The points of a model that has vectors."""
    if model.index is not None:
        return index_points(model.index, model.name, limit=MAX_DRAWN)
    assert model.vectors is not None
    total, drawn = len(model.vectors), model.vectors.most_frequent(MAX_DRAWN)
    points = word_points(drawn, model.name)
    if total <= len(drawn):
        return points
    return points.with_notes(f"the {len(drawn):,} most frequent of {total:,} are drawn")
