"""`malmoi serve --mcp` with the protocol's own client, over the pipes of a child process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import malmoi as mm
from malmoi.cli import run
from malmoi.formats import save
from malmoi.reporting.reporter import SilentReporter
from malmoi.search.index import Index
from tests.query.worlds import capitals
from tests.rerank.worlds import save_cross_encoder

TEXTS = ["서울 한국", "도쿄 일본", "한국 일본 서울", "서울 도쿄"]
FIELDS: list[dict[str, Any]] = [
    {"year": 2019, "topic": "a"},
    {"year": 2020},
    {"year": 2021},
    {"year": 2022},
]
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp")
    save(capitals(), path / "words.malmoi")
    save_cross_encoder(path / "judge")
    encoder = mm.load_encoder(str(path / "words.malmoi"))
    mm.build_index(encoder, TEXTS, fields=FIELDS, path=path / "notes")
    mm.build_index(encoder, TEXTS[:2], path=path / "other")
    return path


@pytest.fixture(scope="module")
def index(folder: Path) -> Index:
    return mm.open_index(folder / "notes")


def words_of(folder: Path, *names: str) -> list[str]:
    paths = [f"{name}={folder / (name if name != 'words' else 'words.malmoi')}" for name in names]
    return ["-m", "malmoi", "serve", "--mcp", *(w for path in paths for w in ("--model", path))]


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[tuple[Any, Call]]:
    """The client, and a function that calls one of its methods."""
    server = StdioServerParameters(
        command=sys.executable,
        args=words_of(folder, "notes", "other", "words", "judge"),
        env=dict(os.environ),
    )
    with (
        (folder / "log").open("w") as log,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(server, errlog=log))) as client,
    ):

        def call(name: str, **arguments: Any) -> Any:
            return portal.call(client.call_tool, name, arguments)

        yield portal.call(client.list_tools).tools, call


def test_tools_name_the_models(client: tuple[Any, Call]) -> None:
    tools = {tool.name: tool for tool in client[0]}
    assert list(tools) == ["search", "embed", "similarity"]
    search = tools["search"].input_schema
    assert search["properties"]["index"]["enum"] == ["notes", "other"]
    assert search["properties"]["rerank"]["enum"] == ["judge"]
    assert search["required"] == ["query"]
    assert "'notes', 4 texts with the fields topic, year;" in tools["search"].description
    assert tools["embed"].input_schema["properties"]["model"]["enum"] == ["words"]
    assert tools["similarity"].input_schema["properties"]["model"]["enum"] == ["words"]
    for tool in tools.values():
        assert tool.annotations.read_only_hint
        for schema in (tool.input_schema, tool.output_schema):
            assert schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("arguments", "way"),
    [
        ({"k": 2}, {"k": 2}),
        ({"hybrid": True, "filter": ["year>=2020"]}, {"hybrid": True, "where": ["year>=2020"]}),
        ({"lexical": True}, {"lexical": True}),
    ],
)
def test_search_in_korean_is_the_librarys(
    arguments: dict[str, Any], way: dict[str, Any], client: tuple[Any, Call], index: Index
) -> None:
    expected = index.search("서울", **way)
    result = client[1]("search", query="서울", **arguments)
    assert not result.is_error
    assert result.structured_content == json.loads(result.content[0].text)
    schema = next(tool.output_schema for tool in client[0] if tool.name == "search")
    jsonschema.validate(result.structured_content, schema)
    hits = result.structured_content["hits"]
    assert [hit["text"] for hit in hits] == [hit.text for hit in expected]
    assert [hit["score"] for hit in hits] == pytest.approx([hit.score for hit in expected], 1e-5)
    assert hits[0]["fields"] == dict(expected[0].fields)


def test_search_is_reranked(client: tuple[Any, Call], folder: Path, index: Index) -> None:
    judge = mm.load_reranker(str(folder / "judge"))
    best = index.search("서울", 2, rerank=judge, reporter=SilentReporter())
    result = client[1]("search", query="서울", k=2, rerank="judge").structured_content
    assert [hit["id"] for hit in result["hits"]] == [hit.id for hit in best]
    scores = [hit["score"] for hit in result["hits"]]
    assert scores == pytest.approx([hit.score for hit in best], abs=1e-5)


def test_embed_and_similarity(client: tuple[Any, Call], folder: Path) -> None:
    encoder = mm.load_encoder(str(folder / "words.malmoi"))
    result = client[1]("embed", texts=["서울 한국", "도쿄"]).structured_content
    expected = encoder.encode(["서울 한국", "도쿄"])
    for row, own in zip(result["embeddings"], expected, strict=True):
        assert row == pytest.approx(own.tolist(), abs=1e-6)
    cosine = client[1]("similarity", a="서울", b="도쿄").structured_content["similarity"]
    assert cosine == pytest.approx(mm.similarity(capitals(), "서울", "도쿄"), abs=1e-6)


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        (
            "search",
            {"query": "a", "index": "none"},
            "model 'none' does not exist: choose one of notes",
        ),
        ("search", {"query": "a", "index": "words"}, "'words' is not a search index"),
        ("search", {"query": "  "}, "the query is empty"),
        ("search", {"query": ""}, "'query'"),
        ("search", {}, "missing required field query"),
        ("search", {"query": "a", "k": 0}, "'k'"),
        ("search", {"query": "a", "filter": ["nonsense"]}, "nonsense"),
        ("search", {"query": "a", "rerank": "words"}, "'words' is not a reranker"),
        ("search", {"query": "a", "where": ["a=1"]}, "unknown field where"),
        ("embed", {"texts": []}, "'texts'"),
        ("embed", {"texts": ["a"] * 3000}, "at most 2,048"),
        ("similarity", {"a": "서울", "b": "없는말", "model": "words"}, "없는말"),
    ],
)
def test_errors_are_results_of_one_sentence(
    tool: str, arguments: dict[str, Any], sentence: str, client: tuple[Any, Call]
) -> None:
    result = client[1](tool, **arguments)
    assert result.is_error
    assert sentence in result.content[0].text
    assert "\n" not in result.content[0].text


def test_an_unknown_tool_is_an_error_of_the_protocol(client: tuple[Any, Call]) -> None:
    with pytest.raises(MCPError, match="there is no tool 'drop': the tools are search, embed"):
        client[1]("drop")


def test_the_log_has_no_text(client: tuple[Any, Call], folder: Path) -> None:
    client[1]("search", query="비밀 질문")
    lines = [json.loads(line) for line in (folder / "log").read_text("utf-8").splitlines()]
    assert {line["event"] for line in lines} == {"tool"}
    assert "비밀" not in (folder / "log").read_text("utf-8")


@pytest.mark.parametrize("ending", ["end of input", signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly(ending: object, folder: Path) -> None:
    command = [sys.executable, *words_of(folder, "words")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        process.stdin.write(json.dumps(request).encode() + b"\nnot JSON\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "malmoi"
        if isinstance(ending, signal.Signals):
            process.send_signal(ending)  # while the client's end of the pipe stays open
            assert process.wait(60) == 0
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert b"Traceback" not in err


def test_keys_are_for_http(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["serve", "--mcp", "--model", str(folder / "words.malmoi"), "--allow-host", "a.b"]
    assert run(words) == 1
    assert "keys, hosts, origins and traces are for HTTP" in capsys.readouterr().err
