"""/models, /health, /ready and /metrics: how the server is."""

from typing import Any

from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.endpoint import Endpoint, Page
from malmoi.serve.http.schemas import HealthAnswer, ModelsAnswer
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.service import RequestContext, Service

METRICS = "text/plain; version=0.0.4; charset=utf-8"


async def models(service: Service, visit: RequestContext, asked: None) -> dict[str, Any]:
    """What can be asked, and how large it is."""
    return {"models": [as_state(model) for model in service.models]}


def as_state(model: LoadedModel) -> dict[str, Any]:
    """One model."""
    state: dict[str, Any] = {"name": model.name, "kind": model.kind, "dim": model.dim}
    if model.reader is not None:
        encoder = model.reader.encoder
        state |= {"layers": encoder.config.layers, "longest": encoder.tokenizer.max_length}
    if model.index is not None:
        state["texts"] = len(model.index)
    elif model.vectors is not None:
        state["words"] = len(model.vectors)
    return state


async def health(service: Service, visit: RequestContext, asked: None) -> dict[str, Any]:
    """Whether it is up."""
    return {"status": "ok" if service.ready else "draining"}


async def ready(service: Service, visit: RequestContext, asked: None) -> dict[str, Any]:
    """Whether it takes work now."""
    if not service.ready or service.is_full():
        headers = {"retry-after": "1"}
        raise ApiError(503, "not ready: ask again soon", code="not_ready", headers=headers)
    return {"status": "ok"}


async def metrics(service: Service, visit: RequestContext, asked: None) -> Page:
    """Counts for Prometheus."""
    return Page(("\n".join(service.measures.lines()) + "\n").encode(), METRICS)


ENDPOINTS = (
    Endpoint(
        path="/models",
        method="GET",
        summary="What is served",
        handler=models,
        answers=ModelsAnswer,
    ),
    Endpoint(
        path="/health",
        method="GET",
        summary="Whether it is up",
        handler=health,
        answers=HealthAnswer,
        free=True,
    ),
    Endpoint(
        path="/ready",
        method="GET",
        summary="Whether it takes work",
        handler=ready,
        answers=HealthAnswer,
        free=True,
    ),
    Endpoint(
        path="/metrics",
        method="GET",
        summary="Counts for Prometheus",
        handler=metrics,
        answers=METRICS,
    ),
)
