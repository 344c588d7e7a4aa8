"""Traces of requests by OpenTelemetry; the only file that imports it.

A request is a server span by the semantic conventions for HTTP; its time in the queue and in the
model are children of it. No span has a text, nor the query string of a URL, which may hold one.
"""

import os
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points, version
from time import perf_counter_ns, time_ns
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter
from starlette.types import Scope

from malmoi.errors import InvalidArgumentError, MissingDependencyError
from malmoi.serve.service.request_context import JobTimes, RequestContext

METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
OTEL_TRACES_EXPORTER = "OTEL_TRACES_EXPORTER"  # the variable that names exporters
EXPORTERS = "opentelemetry_traces_exporter"  # the group of entry points
DISCONNECTED = "client_disconnected"
NO_ANSWER, CLIENT_CLOSED, FIRST_FAULT = 0, 499, 500  # statuses


class HttpTrace:
    """The span of one request, and its children."""

    def __init__(self, tracer: trace.Tracer, span: trace.Span) -> None:
        self._tracer, self._span = tracer, span
        self._context = trace.set_span_in_context(span)
        self._epoch = time_ns() - perf_counter_ns()  # of perf_counter

    def add_job(self, times: JobTimes) -> None:
        """Add spans for the time in the queue and the time in the model."""
        if not self._span.is_recording():
            return
        tokens = {"malmoi.tokens": times.num_tokens}
        if times.started > times.queued:
            self._add("queue", times.queued, times.started, tokens)
        if times.batches:
            tokens["malmoi.batches"] = times.batches
            self._add("model", times.started, times.ended, tokens)

    def end(self, context: RequestContext, route: str, status: int) -> None:
        """End the span of the request; the status is 0 if no answer was sent."""
        span = self._span
        if span.is_recording():
            if route:
                method = span.attributes["http.request.method"]
                span.update_name(f"{method if method != '_OTHER' else 'HTTP'} {route}")
                span.set_attribute("http.route", route)
            if status in (NO_ANSWER, CLIENT_CLOSED):
                span.set_attribute("error.type", DISCONNECTED)
                span.set_status(trace.StatusCode.ERROR)
            else:
                span.set_attribute("http.response.status_code", status)
            if status >= FIRST_FAULT:
                span.set_attribute("error.type", str(status))
                span.set_status(trace.StatusCode.ERROR)
            span.set_attribute("malmoi.request_id", context.request_id)
            if context.model_name:
                span.set_attribute("malmoi.model", context.model_name)
                span.set_attribute("malmoi.texts", context.num_texts)
                span.set_attribute("malmoi.tokens", context.num_tokens)
        span.end()

    def _add(self, name: str, start: float, end: float, attributes: dict[str, Any]) -> None:
        first, last = (self._epoch + int(seconds * 1e9) for seconds in (start, end))
        child = self._tracer.start_span(name, self._context, start_time=first)
        child.set_attributes(attributes)
        child.end(end_time=last)


class OpenTelemetryTracing:
    """Starts the spans of requests; a trace that the client began is continued."""

    def __init__(self, provider: trace.TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("malmoi.serve", version("malmoi"))

    def start(self, scope: Scope, headers: Mapping[bytes, bytes]) -> HttpTrace:
        """Start the span of a request; its parent is in the header `traceparent`."""
        carrier = {name.decode("latin-1"): one.decode("latin-1") for name, one in headers.items()}
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        span = self._tracer.start_span(
            "HTTP" if method == "_OTHER" else method,
            propagate.extract(carrier),
            trace.SpanKind.SERVER,
            request_attributes(scope, method, carrier),
        )
        return HttpTrace(self._tracer, span)

    def close(self) -> None:
        """Export the spans that are left."""
        if isinstance(self._provider, TracerProvider):
            self._provider.shutdown()


def request_attributes(scope: Scope, method: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """What is known of a request before it is answered."""
    attributes: dict[str, Any] = {
        "http.request.method": method,
        "url.scheme": scope.get("scheme", "http"),
        "url.path": scope["path"],
        "network.protocol.version": scope.get("http_version", "1.1"),
    }
    if method == "_OTHER":
        attributes["http.request.method_original"] = scope["method"]
    for side in ("client", "server"):
        if address := scope.get(side):
            attributes |= {f"{side}.address": address[0], f"{side}.port": address[1]}
    if "user-agent" in headers:
        attributes["user_agent.original"] = headers["user-agent"]
    return attributes


def tracer_provider() -> trace.TracerProvider:
    """The provider that a program has set before, or one that exports as OTEL_* variables say."""
    current = trace.get_tracer_provider()
    if not isinstance(current, trace.ProxyTracerProvider):
        return current
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "malmoi"}))
    provider = TracerProvider(resource=resource)
    for name in os.environ.get(OTEL_TRACES_EXPORTER, "otlp").split(","):
        if name.strip() != "none":
            provider.add_span_processor(BatchSpanProcessor(span_exporter(name.strip())))
    return provider


def span_exporter(name: str) -> SpanExporter:
    """An exporter by its name in OTEL_TRACES_EXPORTER; `console` writes lines of JSON to stderr.

    Raises:
        InvalidArgumentError: There is no exporter of this name.
        MissingDependencyError: The exporter for OTLP is not installed.
    """
    if name == "console":
        return ConsoleSpanExporter(
            out=sys.stderr, formatter=lambda span: f"{span.to_json(indent=None)}\n"
        )
    names = {name, f"{name}_proto_http"}  # `otlp` alone is over gRPC or HTTP, whichever is there
    installed = {one.name: one for one in entry_points(group=EXPORTERS) if one.name in names}
    if installed:
        exporter: SpanExporter = installed[min(installed)].load()()
        return exporter
    if name == "otlp":
        raise MissingDependencyError(
            "the exporter 'otlp' of traces is not installed: pip install"
            " opentelemetry-exporter-otlp-proto-http, or set OTEL_TRACES_EXPORTER=console"
        )
    raise InvalidArgumentError(
        f"OTEL_TRACES_EXPORTER names '{name}', which is not installed: choose otlp, console or none"
    )
