"""/models, /health, /ready and /metrics: the state of the server."""

from typing import Any

from malmoi.serve.http.api_errors import ApiError
from malmoi.serve.http.endpoint import Endpoint, Page
from malmoi.serve.http.schemas import HealthAnswer, ModelsAnswer
from malmoi.serve.service.loaded_models import LoadedModel
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.service import Service

PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


async def get_models(service: Service, context: RequestContext, request: None) -> dict[str, Any]:
    """List the models, their kinds and sizes."""
    return {"models": [model_state(model) for model in service.models]}


def model_state(model: LoadedModel) -> dict[str, Any]:
    """One model."""
    state: dict[str, Any] = {"name": model.name, "kind": model.kind, "dim": model.dim}
    if model.reranker is not None:
        encoder = model.reranker.encoder
        state |= {"layers": encoder.config.layers, "max_tokens": encoder.tokenizer.max_length}
    if model.tokenizer is not None:
        layers = model.tokenizer.encoder.config.layers
        state |= {"layers": layers, "max_tokens": model.tokenizer.max_tokens}
    if model.classifier is not None:
        state["labels"] = len(model.classifier.labels)
    if model.index is not None:
        state["texts"] = len(model.index)
    elif model.vectors is not None:
        state["words"] = len(model.vectors)
    return state


async def get_health(service: Service, context: RequestContext, request: None) -> dict[str, Any]:
    """Whether the server is up, or shutting down."""
    return {"status": "ok" if service.ready else "draining"}


async def get_ready(service: Service, context: RequestContext, request: None) -> dict[str, Any]:
    """Whether the server accepts work now."""
    if not service.ready or service.is_full():
        headers = {"retry-after": "1"}
        raise ApiError(503, "not ready: try again soon", code="not_ready", headers=headers)
    return {"status": "ok"}


async def get_metrics(service: Service, context: RequestContext, request: None) -> Page:
    """Metrics for Prometheus."""
    return Page(service.metrics.render(service.waiting_tokens).encode(), PROMETHEUS_TEXT)


ENDPOINTS = (
    Endpoint(
        path="/models",
        method="GET",
        summary="The models",
        handler=get_models,
        response_type=ModelsAnswer,
    ),
    Endpoint(
        path="/health",
        method="GET",
        summary="Whether the server is up",
        handler=get_health,
        response_type=HealthAnswer,
        public=True,
    ),
    Endpoint(
        path="/ready",
        method="GET",
        summary="Whether the server accepts work",
        handler=get_ready,
        response_type=HealthAnswer,
        public=True,
    ),
    Endpoint(
        path="/metrics",
        method="GET",
        summary="Metrics for Prometheus",
        handler=get_metrics,
        response_type=PROMETHEUS_TEXT,
    ),
)
