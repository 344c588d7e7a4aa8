"""`malmoi serve` as a process: what it says, how it ends, what it refuses."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malmoi.cli import run
from malmoi.formats import save
from malmoi.keys import Keys
from malmoi.search.build import build_index
from malmoi.vectors import Vectors
from tests.query.worlds import capitals
from tests.serve.fixtures import Answer, Running

Process = "subprocess.Popen[str]"


@pytest.fixture
def capitals_file(tmp_path: Path) -> Path:
    path = tmp_path / "capitals.malmoi"
    save(capitals(), path)
    return path


def start(*words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "malmoi", "serve", "--port", "0", *words]
    # Tests that are run by nohup have the hangup ignored; here it is to be heard.
    heard = partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=heard)


@pytest.fixture
def started() -> Iterator[Any]:
    processes: list[subprocess.Popen[str]] = []

    def starting(*words: str) -> tuple["subprocess.Popen[str]", Running]:
        process = start(*words)
        processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        return process, Running(line.split()[-1])

    yield starting
    for process in processes:
        process.kill()
        process.communicate()


def test_it_says_where_it_listens_and_what_to_try(started: Any, capitals_file: Path) -> None:
    process, server = started("--model", f"capitals={capitals_file}")
    example = process.stdout.readline()
    assert example.startswith(f"try: curl '{server.address}/neighbours?word=")
    assert server.get("/models").json["models"][0]["name"] == "capitals"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "Traceback" not in err
    assert {json.loads(line)["event"] for line in err.splitlines()} == {"request"}


def test_sigterm_finishes_what_was_accepted_and_takes_nothing_new(started: Any) -> None:
    process, server = started("--model", "minilm=minilm", "--quiet")
    found: list[Answer] = []
    asked = {"texts": ["a text of a few words " * 8] * 80}
    asking = threading.Thread(target=lambda: found.append(server.post("/embed", asked)))
    asking.start()
    waiting = ""
    while " 0" in (waiting or " 0"):
        lines = server.get("/metrics").body.decode().splitlines()
        waiting = next(line for line in lines if line.startswith("malmoi_waiting_tokens"))
        assert not found
    process.send_signal(signal.SIGTERM)
    asking.join(120)
    assert found[0].status == 200
    assert len(found[0].json["embeddings"]) == 80
    assert process.wait(120) == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", server.port))


def test_a_port_in_use_is_told_in_one_sentence(
    capitals_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for model in (str(capitals_file), "/no/such/folder"):  # before it takes its time to open
            assert run(["serve", "--model", model, "--port", str(port)]) == 1
            assert f"port {port} of 127.0.0.1 is in use" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "a=/no/such/folder"], "there is no model"),
        (["--model", "=x"], "'=x' is not a model"),
        (["--model", "a=minilm", "--model", "a=minilm"], "two models are called 'a'"),
        (["--model", "FILE", "--port", "70000"], "port 70000 is out of range"),
        (["--model", "FILE", "--host", "999.1.1.1", "--port", "0"], "cannot listen at 999.1.1.1"),
        (["--model", "FILE", "--max-texts", "0"], "max_texts is 0"),
        (["--model", "FILE", "--port", "0", "--api-key-file", "/no/keys"], "/no/keys"),
    ],
)
def test_what_cannot_be_served_is_told_before_anything_is(
    capitals_file: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
) -> None:
    given = [str(capitals_file) if word == "FILE" else word for word in words]
    assert run(["serve", *given]) == 1
    caught = capsys.readouterr()
    assert sentence in caught.err
    assert caught.err.count("\n") == 1
    assert not caught.out


def test_json_says_it_for_programs(capitals_file: Path) -> None:
    process = start("--model", f"c={capitals_file}", "--json")
    assert process.stdout is not None
    said = "".join(iter(process.stdout.readline, "}\n")) + "}"
    assert json.loads(said)["models"] == ["c"]
    process.terminate()
    process.communicate(timeout=120)
    assert process.returncode == 0


def test_vectors_and_an_index_are_served_too(
    started: Any, capitals_file: Path, tmp_path: Path
) -> None:
    texts = ["서울 한국", "도쿄 일본", "한국 일본"]
    from malmoi.encode.loading import load_encoder

    encoder = load_encoder(str(capitals_file))
    index = build_index(encoder, texts, ids=["a", "b", "c"], path=tmp_path / "index")
    expected = [(hit.id, pytest.approx(hit.score, abs=1e-5)) for hit in index.search("서울", 2)]
    _, server = started("--model", f"words={capitals_file}", "--model", f"i={tmp_path / 'index'}")
    found = server.post("/search", {"query": "서울", "k": 2}).json
    assert [(hit["id"], hit["score"]) for hit in found["hits"]] == expected
    assert found["model"] == "i"
    row = server.post("/embed", {"model": "words", "texts": ["서울 한국"]}).json["embeddings"][0]
    assert row == pytest.approx(encoder.encode(texts[:1])[0].tolist(), abs=1e-6)
    refused = server.post("/embed", {"model": "words", "texts": ["a"], "layers": -2})
    assert "is not a transformer" in refused.json["error"]["message"]
    page = server.get("/")
    assert page.status == 200
    assert b"Content-Security-Policy" in page.body
    assert server.get("/scene.json").json["title"] == "words"
    assert server.get("/sections/9/nothing").status == 404


def test_a_terminal_that_closes_ends_it_as_sigterm_does(started: Any, capitals_file: Path) -> None:
    process, server = started("--model", f"c={capitals_file}")
    assert server.get("/health").status == 200
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert {json.loads(line)["event"] for line in err.splitlines()} == {"request"}


def test_nohup_lets_it_stay(capitals_file: Path) -> None:
    command = ["nohup", sys.executable, "-m", "malmoi", "serve", "--port", "0", "--quiet"]
    command += ["--model", f"c={capitals_file}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        server = Running(process.stdout.readline().split()[-1])
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        status = server.get("/health").status
        process.terminate()
    assert status == 200


def test_texts_without_a_known_word_are_told(started: Any, capitals_file: Path) -> None:
    _, server = started("--model", f"c={capitals_file}", "--quiet")
    found = server.post("/v1/embeddings", {"model": "c", "input": ["서울", "zzz", "qqq"]})
    assert found.headers["x-zero-vectors"] == "2"
    assert b'malmoi_zero_vectors_total{model="c"} 2' in server.get("/metrics").body


def test_vectors_that_cannot_be_drawn_are_listed(started: Any, tmp_path: Path) -> None:
    save(Vectors(Keys.of(["<a>", "b"]), np.eye(2, 3, dtype=np.float32)), tmp_path / "two.malmoi")
    _, server = started("--model", f"<two>={tmp_path / 'two.malmoi'}", "--quiet")
    page = server.get("/")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert b"The projector is not available: &lt;two&gt; has 2 vectors" in page.body
    assert server.get("/neighbours?word=b").status == 200


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionError:
        return False
    return True


def test_it_ends_at_once_when_told_twice(started: Any, capitals_file: Path) -> None:
    process, server = started("--model", f"c={capitals_file}", "--quiet")
    with socket.create_connection(("127.0.0.1", server.port)):
        os.kill(process.pid, signal.SIGTERM)
        while process.poll() is None and accepts(server.port):  # until it has heard that
            time.sleep(0.01)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGINT)
        assert process.wait(120) == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [((), "--allow-token-ids"), (("--allow-token-ids",), "has no token ids")],
)
def test_token_ids_are_allowed_by_an_option(
    started: Any, capitals_file: Path, options: tuple[str, ...], sentence: str
) -> None:
    _, server = started("--model", f"c={capitals_file}", "--quiet", *options)
    found = server.post("/v1/embeddings", {"model": "c", "input": [1, 2]})
    assert found.status == 400
    assert sentence in found.json["error"]["message"]
