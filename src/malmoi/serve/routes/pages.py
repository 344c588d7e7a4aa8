"""/ the projector, or what is served; /docs and /openapi.json."""

import asyncio
from html import escape
from importlib.resources import files
from string import Template
from weakref import WeakKeyDictionary

from malmoi.errors import MalmoiError
from malmoi.project.page.page import live_files
from malmoi.project.points.points import Points
from malmoi.project.scene_builder import make_live_scene
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.endpoint import Endpoint, Page
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.service import RequestContext, Service

HTML = "text/html; charset=utf-8"
SHOWN = 20_000  # the most frequent words of a model are drawn; all of them can be asked for
WITHOUT = (
    "With vectors of words or an index of texts among the models, the projector is shown here."
)
Files = dict[str, Page]

_scenes: WeakKeyDictionary[Service, asyncio.Task[Files]] = WeakKeyDictionary()


async def front(service: Service, visit: RequestContext, asked: None) -> Page:
    """The projector of the first vectors, or a list of what is served where there are none."""
    if shown(service) is None:
        return Page(listed(service, WITHOUT).encode(), HTML)
    try:
        return (await scene_files(service))["index.html"]
    except MalmoiError as error:  # too few to draw, or all alike
        return Page(listed(service, f"There is no projector: {error}.").encode(), HTML)


async def scene_file(service: Service, visit: RequestContext, asked: None) -> Page:
    """A file of the projector's page."""
    found, name = await scene_files(service), visit.path.lstrip("/")
    if name not in found:
        raise ApiError(404, "there is nothing at this path: see /docs", code="not_found")
    return found[name]


async def docs(service: Service, visit: RequestContext, asked: None) -> Page:
    """All endpoints, to read and to try."""
    return Page((files("malmoi.serve") / "docs.html").read_bytes(), HTML)


def shown(service: Service) -> LoadedModel | None:
    """The model that the projector shows."""
    return next((one for one in service.models if one.vectors is not None), None)


async def scene_files(service: Service) -> Files:
    """The projector's files, made when somebody first looks."""
    if service not in _scenes:
        _scenes[service] = asyncio.create_task(asyncio.to_thread(make_files, shown(service)))
    return await asyncio.shield(_scenes[service])


def make_files(model: LoadedModel | None) -> Files:
    """The files of a model's projector."""
    if model is None or model.vectors is None:
        return {}
    scene = make_live_scene(Points(model.name, model.vectors.most_frequent(SHOWN)))
    return {path: Page(content, kind) for path, (kind, content) in live_files(scene).items()}


def listed(service: Service, sentence: str) -> str:
    """What is served, for people, and why there is nothing to see."""
    rows = "".join(
        f"<tr><td>{escape(one.name)}</td><td>{one.kind}</td><td>{one.dim}</td></tr>"
        for one in service.models
    )
    page = (files("malmoi.serve") / "front.html").read_text(encoding="utf-8")
    return Template(page).substitute(rows=rows, sentence=escape(sentence))


ENDPOINTS = (
    Endpoint(path="/", method="GET", summary="The projector", handler=front, answers=HTML),
    Endpoint(
        path="/docs", method="GET", summary="A page to read", handler=docs, answers=HTML, free=True
    ),
    *(
        Endpoint(
            path=path, method="GET", summary="The projector's", handler=scene_file, documented=False
        )
        for path in ("/scene.json", "/sections/{space}/{name}")
    ),
)
