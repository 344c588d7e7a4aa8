"""What docs/server.md shows is executed, against a server like the one it starts."""

import shlex

import pytest

from malmoi.cli.serve import serve_command
from malmoi.serve.server import ServerSettings
from malmoi.serve.service.loaded_models import Models, load_model
from tests.pages import assert_answers, blocks
from tests.serve.fixtures import serving


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_python_answers_what_the_page_says(models: Models) -> None:
    glove = load_model("glove", "glove-6b-50d")
    with serving(Models({"minilm": models.get("minilm"), "glove": glove})) as server:
        found = assert_answers("server", lambda code: code.replace("8080", str(server.port)))
    assert found >= 10


def test_the_command_names_what_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    (command,) = blocks("server", "text")
    words = shlex.split(command)
    assert words[:2] == ["malmoi", "serve"]
    asked: list[tuple[dict[str, str], ServerSettings]] = []
    monkeypatch.setattr("malmoi.cli.serve.prepare", lambda *given: asked.append(given))
    monkeypatch.setattr("malmoi.cli.serve.run", lambda *given: None)
    serve_command(model=tuple(words[3::2]))
    places, settings = asked[0]
    assert places == {"minilm": "minilm", "glove": "glove-6b-50d"}
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
