"""Traces of the server: spans by the conventions for HTTP, in the trace of the client."""

import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import malmoi as mm
from malmoi.formats import save
from malmoi.serve.server import ServerSettings
from malmoi.serve.service.loaded_models import Models
from malmoi.serve.traces import OpenTelemetryTracing, span_exporter
from tests.query.worlds import capitals
from tests.serve.fixtures import Running, serving

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture(scope="module")
def traced(models: Models, exporter: InMemorySpanExporter) -> Iterator[Running]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with serving(models, tracing=OpenTelemetryTracing(provider)) as running:
        yield running


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Any:
    """The spans of one request, once its own has ended."""
    exporter.clear()

    def finished() -> dict[str, Any]:
        deadline = time.monotonic() + 10  # the server ends a span after it has sent the answer
        while time.monotonic() < deadline:
            found = exporter.get_finished_spans()
            if any(span.kind is SpanKind.SERVER for span in found):
                return {"request" if s.kind is SpanKind.SERVER else s.name: s for s in found}
            time.sleep(0.005)
        raise AssertionError("no span has ended")

    return finished


def test_a_request_is_a_server_span_with_its_queue_and_model(traced: Running, spans: Any) -> None:
    texts = ["a text of some words " * 6] * 20  # too many tokens to be run by the event loop
    answer = traced.post("/embed", {"texts": texts}, user_agent="tester/1", x_request_id="one")
    found = spans()
    request = found["request"]
    assert request.name == "POST /embed"
    assert dict(request.attributes) | {"client.port": 0} == {
        "http.request.method": "POST",
        "http.route": "/embed",
        "http.response.status_code": 200,
        "url.scheme": "http",
        "url.path": "/embed",
        "network.protocol.version": "1.1",
        "client.address": "127.0.0.1",
        "client.port": 0,
        "server.address": "127.0.0.1",
        "server.port": traced.port,
        "user_agent.original": "tester/1",
        "malmoi.request_id": "one",
        "malmoi.model": "minilm",
        "malmoi.texts": 20,
        "malmoi.tokens": answer.json["num_tokens"],
    }
    assert request.status.status_code is StatusCode.UNSET
    queue, model = found["queue"], found["model"]
    for child in (queue, model):
        assert child.parent.span_id == request.context.span_id
        assert child.attributes["malmoi.tokens"] == answer.json["num_tokens"]
    assert model.attributes["malmoi.batches"] >= 1
    times = [request.start_time, queue.start_time, queue.end_time, model.start_time]
    assert sorted(times) == times
    assert queue.end_time == model.start_time < model.end_time <= request.end_time


def test_a_text_that_the_event_loop_runs_waits_for_nothing(
    traced: Running, spans: Any, exporter: InMemorySpanExporter
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", traced.port)
    body, is_inline = json.dumps({"texts": ["hello"]}), False
    for _ in range(5):  # the first times over a connection, it may not be alone
        connection.request("POST", "/embed", body)
        assert connection.getresponse().read()
        is_inline = is_inline or "queue" not in spans()
        exporter.clear()
        time.sleep(0.06)
    connection.close()
    assert is_inline


def test_the_trace_of_the_client_goes_on(traced: Running, spans: Any) -> None:
    assert traced.get("/health", traceparent=PARENT, tracestate="a=b").status == 200
    request = spans()["request"]
    assert f"{request.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{request.parent.span_id:016x}" == PARENT.split("-")[2]
    assert request.context.trace_state.get("a") == "b"


@pytest.mark.parametrize("header", ["", "nonsense", PARENT.replace("00-", "ff-", 1)])
def test_a_wrong_traceparent_begins_a_trace(header: str, traced: Running, spans: Any) -> None:
    assert traced.get("/health", traceparent=header).status == 200
    assert spans()["request"].parent is None


@pytest.mark.parametrize(
    ("path", "name", "status"),
    [
        ("/v1/models/minilm", "GET /v1/models/{name}", 200),
        ("/neighbours?word=secret", "GET /neighbours", 404),
        ("/secret", "GET", 404),
    ],
)
def test_routes_are_templates_and_queries_are_not_told(
    path: str, name: str, status: int, traced: Running, spans: Any
) -> None:
    assert traced.get(path).status == status
    request = spans()["request"]
    assert request.name == name
    assert request.attributes["http.response.status_code"] == status
    assert request.attributes.get("http.route") == (name.partition(" ")[2] or None)
    assert request.status.status_code is StatusCode.UNSET  # the client's mistake
    shown = json.dumps(dict(request.attributes))
    assert "word=" not in shown
    assert not request.events


def test_a_method_that_http_does_not_know(traced: Running, spans: Any) -> None:
    assert traced.ask("PROPFIND", "/health", None, {}).status == 405
    attributes = spans()["request"].attributes
    assert attributes["http.request.method"] == "_OTHER"
    assert attributes["http.request.method_original"] == "PROPFIND"


def test_a_fault_is_an_error(traced: Running, spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("malmoi.serve.routes.embed.check_texts", fail)
    assert traced.post("/embed", {"texts": ["a"]}).status == 500
    request = spans()["request"]
    assert request.status.status_code is StatusCode.ERROR
    assert request.attributes["error.type"] == "500"
    assert "secret" not in request.to_json()


def test_exporters_by_name() -> None:
    with pytest.raises(mm.InvalidArgumentError, match="names 'nothing', which is not installed"):
        span_exporter("nothing")


def test_traces_are_off_by_default() -> None:
    assert not ServerSettings().traces


def test_the_command_exports_to_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    save(capitals(), tmp_path / "c.malmoi")
    command = [sys.executable, "-m", "malmoi", "serve", "--port", "0", "--traces", "--quiet"]
    command += ["--model", str(tmp_path / "c.malmoi")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        status = Running(line.split()[-1]).get("/neighbours?word=%EC%84%9C%EC%9A%B8").status
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert (status, process.returncode) == (200, 0)
    spans = {span["name"]: span for span in map(json.loads, err.splitlines())}
    assert spans.keys() == {"GET /neighbours", "queue", "model"}
    request = spans["GET /neighbours"]
    assert request["resource"]["attributes"]["service.name"] == "malmoi"
    assert request["attributes"]["malmoi.model"] == "c"
    assert "서울" not in err
