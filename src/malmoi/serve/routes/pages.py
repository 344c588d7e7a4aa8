"""/ with the projector or the list of models, its files, and /docs."""

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
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.service import Service

HTML = "text/html; charset=utf-8"
MAX_DRAWN_WORDS = 20_000  # the most frequent words of a model; queries reach all of them
NO_PROJECTOR = "To see the projector here, serve word vectors or a search index too."
PageFiles = dict[str, Page]

_scenes: WeakKeyDictionary[Service, asyncio.Task[PageFiles]] = WeakKeyDictionary()


async def get_front(service: Service, context: RequestContext, request: None) -> Page:
    """The projector of the first vectors, or else the list of models."""
    if projected_model(service) is None:
        return Page(model_list(service, NO_PROJECTOR).encode(), HTML)
    try:
        return (await scene_files(service))["index.html"]
    except MalmoiError as error:  # too few vectors to draw, or all equal
        sentence = f"The projector is not available: {error}."
        return Page(model_list(service, sentence).encode(), HTML)


async def get_scene_file(service: Service, context: RequestContext, request: None) -> Page:
    """A file of the projector's page."""
    pages, name = await scene_files(service), context.path.lstrip("/")
    if name not in pages:
        raise ApiError(404, "nothing is served at this path: see /docs", code="not_found")
    return pages[name]


async def get_docs(service: Service, context: RequestContext, request: None) -> Page:
    """All endpoints, to read and to try."""
    return Page((files("malmoi.serve") / "docs.html").read_bytes(), HTML)


def projected_model(service: Service) -> LoadedModel | None:
    """The model that the projector shows."""
    return next((one for one in service.models if one.vectors is not None), None)


async def scene_files(service: Service) -> PageFiles:
    """The files of the projector, made for the first request that needs them."""
    if service not in _scenes:
        build = asyncio.to_thread(build_files, projected_model(service))
        _scenes[service] = asyncio.create_task(build)
    return await asyncio.shield(_scenes[service])


def build_files(model: LoadedModel | None) -> PageFiles:
    """Build the files of a model's projector."""
    if model is None or model.vectors is None:
        return {}
    scene = make_live_scene(Points(model.name, model.vectors.most_frequent(MAX_DRAWN_WORDS)))
    return {path: Page(content, kind) for path, (kind, content) in live_files(scene).items()}


def model_list(service: Service, sentence: str) -> str:
    """The list of models as HTML, with one sentence below."""
    rows = "".join(
        f"<tr><td>{escape(one.name)}</td><td>{one.kind}</td><td>{one.dim}</td></tr>"
        for one in service.models
    )
    page = (files("malmoi.serve") / "front.html").read_text(encoding="utf-8")
    return Template(page).substitute(rows=rows, sentence=escape(sentence))


ENDPOINTS = (
    Endpoint(
        path="/", method="GET", summary="The projector", handler=get_front, response_type=HTML
    ),
    Endpoint(
        path="/docs",
        method="GET",
        summary="This API as a page",
        handler=get_docs,
        response_type=HTML,
        public=True,
    ),
    *(
        Endpoint(
            path=path,
            method="GET",
            summary="A file of the projector",
            handler=get_scene_file,
            documented=False,
        )
        for path in ("/scene.json", "/sections/{space}/{name}")
    ),
)
