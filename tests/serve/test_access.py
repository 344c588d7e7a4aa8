"""Who may ask, from where, and what is written down of it."""

import base64
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from malmoi.errors import InvalidFileError
from malmoi.serve.http.auth import AllowedHosts, ApiKeys, read_api_keys
from malmoi.serve.server import ServerSettings
from malmoi.serve.service.loaded_models import Models
from tests.serve.fixtures import Running, serving

KEY = "correct horse"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys.txt"
    path.write_text(f"# the first\n{KEY}\n\nanother\n", encoding="utf-8")
    return path


@pytest.fixture
def locked(models: Models, key_file: Path) -> Iterator[Running]:
    settings = ServerSettings(
        quiet=True, api_key_file=key_file, allow_origin=("https://page.example",)
    )
    with serving(models, settings) as running:
        yield running


def test_without_a_key_nothing_is_answered_but_health(locked: Running) -> None:
    assert locked.get("/health").status == 200
    assert locked.get("/ready").status == 200
    for path in ("/models", "/metrics", "/", "/nothing"):
        assert locked.get(path).status == 401
    refused = locked.post("/v1/embeddings", {"model": "minilm", "input": "a"})
    assert refused.status == 401
    assert refused.json["error"]["type"] == "authentication_error"
    assert refused.headers["www-authenticate"] == "Bearer"


def test_either_key_opens(locked: Running) -> None:
    for key in (KEY, "another"):
        assert locked.get("/models", Authorization=f"Bearer {key}").status == 200
    for wrong in (f"Bearer {KEY}x", "Bearer ", KEY, f"Basic {KEY}", "Bearer # the first"):
        assert locked.get("/models", Authorization=wrong).status == 401


def test_a_browser_asks_for_the_key_as_a_password(locked: Running) -> None:
    assert locked.get("/").headers["www-authenticate"].startswith("Basic realm=")
    for name, status in ((f"anybody:{KEY}", 200), (KEY, 401), (f"{KEY}:", 401), ("a:b", 401)):
        sent = base64.b64encode(name.encode()).decode()
        assert locked.get("/", Authorization=f"Basic {sent}").status == status


def test_a_page_may_send_headers_of_its_clients_own(locked: Running) -> None:
    asked = {
        "Origin": "https://page.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-stainless-os",
    }
    assert locked.ask("OPTIONS", "/v1/embeddings", None, asked).status == 200


HOSTS = pytest.mark.parametrize(
    ("host", "admitted"),
    [
        ("localhost:8080", True),
        ("LOCALHOST.", True),
        ("malmoi.localhost:1", True),
        ("127.0.0.1:8080", True),
        ("192.168.0.7", True),
        ("my-machine:80", True),
        ("[::1]:8080", True),
        ("Words.example:443", True),
        ("", True),
        ("evil.example:8080", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("words.example.evil", False),
        ("[::1", True),
        ("[evil.example]:80", False),
    ],
)


@HOSTS
def test_a_name_that_only_leads_here_is_not_ours(host: str, admitted: bool) -> None:
    assert AllowedHosts(("words.example",)).allows(host.encode()) == admitted


def test_a_rebound_name_is_refused_where_no_key_is_needed(models: Models, locked: Running) -> None:
    with serving(models, ServerSettings(quiet=True, allow_host=("Words.example",))) as running:
        refused = running.get("/models", Host="evil.example:80")
        assert refused.status == 421
        assert refused.json["error"]["message"].endswith("--allow-host evil.example")
        assert running.get("/models", Host="words.example").status == 200
        assert running.get("/models").status == 200
    asked = {"Host": "proxy.example", "Authorization": f"Bearer {KEY}"}
    assert locked.get("/models", **asked).status == 200


def test_only_hashes_of_keys_are_kept(key_file: Path) -> None:
    keys = read_api_keys(key_file)
    assert len(keys.hashes) == 2
    assert KEY not in repr(keys)
    assert ApiKeys().allows(b"")


def test_a_file_without_keys_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(InvalidFileError, match="has no key"):
        read_api_keys(tmp_path / "none.txt")
    with pytest.raises(InvalidFileError):
        read_api_keys(tmp_path / "missing.txt")


def test_pages_of_other_origins_may_not_ask(server: Running, locked: Running) -> None:
    asked = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}
    assert "access-control-allow-origin" not in server.get("/health", **asked).headers
    allowed = locked.get("/health", Origin="https://page.example")
    assert allowed.headers["access-control-allow-origin"] == "https://page.example"
    other = locked.get("/health", Origin="https://other.example")
    assert "access-control-allow-origin" not in other.headers
    preflight = locked.ask("OPTIONS", "/embed", None, asked)
    assert preflight.status == 200


def test_a_request_keeps_its_name(server: Running) -> None:
    assert server.get("/health", X_Request_Id="mine-1").headers["x-request-id"] == "mine-1"
    named = server.get("/health", X_Request_Id="not a name!").headers["x-request-id"]
    assert len(named) == 32


def test_the_log_has_a_line_of_json_a_request_and_no_text(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with serving(models, ServerSettings()) as server:
        server.post("/embed", {"texts": ["a secret sentence", "word " * 300]})
        server.get("/neighbours?word=secret")
        server.post("/embed", b"secret, not JSON")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["path"], line["status"]) for line in requests] == [
        ("/embed", 200),
        ("/neighbours", 404),
        ("/embed", 400),
    ]
    assert (requests[0]["texts"], requests[0]["truncated"]) == (2, 1)
    assert "secret" not in log.getvalue()


def test_measures_are_what_prometheus_reads(models: Models) -> None:
    with serving(models) as server:
        server.post("/embed", {"texts": ["a", "b"]})
        server.get("/nothing")
        found = server.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = found.body.decode().splitlines()
    assert 'malmoi_requests_total{path="/embed",status="200"} 1' in lines
    assert 'malmoi_requests_total{path="other",status="404"} 1' in lines
    assert 'malmoi_request_seconds_bucket{path="/embed",le="+Inf"} 1' in lines
    assert 'malmoi_texts_total{model="minilm"} 2' in lines
    assert 'malmoi_tokens_total{model="minilm"} 6' in lines
    for line in lines:
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2
