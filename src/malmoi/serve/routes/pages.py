"""/ with the projector or the list of models, its files, and /docs."""

from html import escape
from importlib.resources import files
from string import Template
from weakref import WeakKeyDictionary

from malmoi.errors import MalmoiError
from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.endpoint import Endpoint, Page
from malmoi.serve.http.schemas import PageQuery
from malmoi.serve.service.projector_pages import ProjectorPages
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.service import Service

HTML = "text/html; charset=utf-8"
NO_PROJECTOR = "To see the projector here, serve word vectors or a search index too."

_pages: WeakKeyDictionary[Service, ProjectorPages] = WeakKeyDictionary()


async def get_front(service: Service, context: RequestContext, request: PageQuery) -> Page:
    """The projector of a model, by default the first with vectors; or else the list of models."""
    pages = projector_pages(service)
    if not pages.models:
        return Page(model_list(service, NO_PROJECTOR).encode(), HTML)
    try:
        content = await pages.page(request.model)
    except MalmoiError as error:  # too few vectors to draw, or all equal
        sentence = f"The projector is not available: {error}."
        return Page(model_list(service, sentence).encode(), HTML)
    return Page(content, HTML)


async def get_scene_file(service: Service, context: RequestContext, request: PageQuery) -> Page:
    """A file of the projector's page."""
    pages, name = projector_pages(service), context.path.lstrip("/")
    found_files = await pages.files(request.model, request.picture) if pages.models else {}
    if name not in found_files:
        raise ApiError(404, "nothing is served at this path: see /docs", code="not_found")
    content_type, content = found_files[name]
    return Page(content, content_type)


async def get_docs(service: Service, context: RequestContext, request: None) -> Page:
    """All endpoints, to read and to try."""
    return Page((files("malmoi.serve") / "docs.html").read_bytes(), HTML)


def projector_pages(service: Service) -> ProjectorPages:
    """The pages of a service."""
    if service not in _pages:
        _pages[service] = ProjectorPages(service.models)
    return _pages[service]


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
        path="/",
        method="GET",
        summary="The projector",
        handler=get_front,
        request_type=PageQuery,
        response_type=HTML,
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
            request_type=PageQuery,
            documented=False,
        )
        for path in ("/scene.json", "/sections/{space}/{name}")
    ),
)
