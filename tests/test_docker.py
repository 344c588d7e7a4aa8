"""The Dockerfile and the compose file: what they promise, and their commands without Docker."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from malmoi.cli import make_app
from tests.dockerfiles import has_registry_host, is_ignored, read_dockerfile
from tests.serve.fixtures import Running
from tests.test_other_user import AS_USER, USER

ROOT = Path(__file__).parents[1]
DOCKERFILE = read_dockerfile(ROOT / "Dockerfile")
LAST = [one for one in DOCKERFILE if one.stage == DOCKERFILE[-1].stage]
RULES = [
    line
    for line in (ROOT / ".dockerignore").read_text().splitlines()
    if line and not line.startswith("#")
]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]
PORT = "8080"


def last(name: str) -> Any:
    (found,) = (one for one in LAST if one.name == name)
    return found


def environment() -> dict[str, str]:
    words = [word.partition("=") for one in LAST if one.name == "ENV" for word in one.words]
    return {name: value for name, _, value in words}


def health_command() -> list[str]:
    _, _, command = last("HEALTHCHECK").arguments.partition("CMD ")
    words = yaml.safe_load(command)
    assert isinstance(words, list), "the exec form needs no shell"
    return words


def warm_up() -> str:
    """The program that compiles kernels when the image is built."""
    (run,) = (one for one in DOCKERFILE if one.arguments.startswith("python -c "))
    return str(run.arguments.partition('"')[2].rstrip('"'))


def parsed(words: list[str]) -> str:
    """The name of the command that `malmoi WORDS` would run; wrong options raise."""
    command, _, _ = make_app().parse_args(words, exit_on_error=False, print_error=False)
    return command.__name__


def test_images_have_a_version_and_no_host() -> None:
    images = [one.words[0] for one in DOCKERFILE if one.name == "FROM"]
    assert len(images) == 2
    assert len(set(images)) == 1, "the environment of the first stage needs the same Python"
    images += [service["image"] for service in SERVICES.values()]
    for image in images:
        name, _, tag = image.partition(":")
        assert name
        assert tag not in ("", "latest"), image
        assert not has_registry_host(image), image


def test_the_host_of_an_image_is_recognized() -> None:
    assert has_registry_host("registry.example.org/python:3")
    assert has_registry_host("localhost/python:3")
    assert has_registry_host("mirror:5000/python:3")
    assert not has_registry_host("pgvector/pgvector:pg18")
    assert not has_registry_host("python:3.11-slim")


def test_python_is_one_that_the_package_runs_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = DOCKERFILE[0].words[0].partition(":")[2].split("-")[0]
    least = project["requires-python"].removeprefix(">=")
    assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))


def test_extras_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (argument,) = (one for one in DOCKERFILE if one.name == "ARG")
    names = argument.arguments.removeprefix("EXTRAS=").split(",")
    assert {"serve", "bert", "postgres"} <= set(names)
    assert set(names) <= extras["optional-dependencies"].keys()


def test_what_is_copied_is_there_and_not_ignored() -> None:
    copies = [one for one in DOCKERFILE if one.name == "COPY" and "--from" not in one.arguments]
    sources = [word for one in copies for word in one.words[:-1]]
    assert "src" in sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert not is_ignored(source, RULES), source
    for path in ("src/malmoi/cli/serve.py", "src/malmoi/serve/docs.html"):
        assert not is_ignored(path, RULES)
    for path in (".git", ".venv/bin/python", ".env", "tests/naive.py", "models/a/config.json"):
        assert is_ignored(path, RULES), path
    assert is_ignored("src/malmoi/kernels/__pycache__/a.kernel", RULES)


def test_the_image_runs_as_a_user_that_owns_nothing_but_the_cache() -> None:
    names = [one.name for one in LAST]
    user = last("USER").arguments
    assert all(part.isdigit() and int(part) > 0 for part in user.split(":"))
    assert "RUN" not in names[names.index("USER") :]
    assert "pip" not in " ".join(one.arguments for one in LAST if one.name == "RUN")
    (volume,) = last("VOLUME").words
    assert environment()["MALMOI_CACHE"] == volume
    assert any(f"chown {user} {volume}" in one.arguments for one in LAST)


def test_ports_are_one() -> None:
    words = last("CMD").words
    assert words[words.index("--port") + 1] == PORT == last("EXPOSE").arguments
    assert f"127.0.0.1', {PORT}" in " ".join(health_command())
    (published,) = SERVICES["server"]["ports"]
    assert published == f"127.0.0.1:{PORT}:{PORT}"  # for this machine alone: it needs no key
    assert f"--port={PORT}" in SERVICES["server"]["command"]


def test_commands_are_those_of_malmoi() -> None:
    assert last("ENTRYPOINT").words == ["malmoi"]
    assert parsed(last("CMD").words) == "serve_command"
    commands = {name: parsed(SERVICES[name]["command"]) for name in OURS}
    assert commands == {"index": "index_command", "server": "serve_command"}
    with pytest.raises(Exception, match="--nonsense"):
        parsed([*last("CMD").words, "--nonsense"])


def test_services_wait_for_each_other() -> None:
    assert SERVICES.keys() == {"database", "index", "server"}
    for service in SERVICES.values():
        for name, wait in service.get("depends_on", {}).items():
            if wait["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[name] or name in OURS
            else:
                assert wait["condition"] == "service_completed_successfully"
                assert "restart" not in SERVICES[name], "it would never be complete"
    waits = {name: SERVICES[name]["depends_on"] for name in OURS}
    assert waits["index"].keys() == {"database"}
    assert waits["server"].keys() == {"database", "index"}
    assert SERVICES["database"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]


def test_the_index_that_is_written_is_the_one_that_is_served() -> None:
    words, served = SERVICES["index"]["command"], SERVICES["server"]["command"]
    address = words[words.index("--out") + 1]
    assert f"--model=texts={address}" in served
    owner = SERVICES["database"]["environment"]
    user, name = owner["POSTGRES_USER"], owner["POSTGRES_DB"]
    assert address.startswith(f"postgresql://{user}@database/{name}?")
    for service in OURS:
        assert SERVICES[service]["environment"]["PGPASSWORD"] == owner["POSTGRES_PASSWORD"]


def test_passwords_come_from_outside() -> None:
    password = SERVICES["database"]["environment"]["POSTGRES_PASSWORD"]
    assert password.startswith("${POSTGRES_PASSWORD:?")


def test_containers_are_read_only_but_for_volumes() -> None:
    named = {
        volume.split(":")[0]
        for service in SERVICES.values()
        for volume in service["volumes"]
        if not volume.startswith(".")
    }
    assert named == COMPOSE["volumes"].keys()
    for name in OURS:
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["tmpfs"] == ["/tmp"]
        assert service["cap_drop"] == ["ALL"]
        assert f"cache:{environment()['MALMOI_CACHE']}" in service["volumes"]
        assert "user" not in service  # that of the image
        assert (ROOT / service["build"] / "Dockerfile").is_file()
        binds = [volume for volume in service["volumes"] if volume.startswith(".")]
        assert binds
        assert all(volume.endswith(":ro") for volume in binds)


def test_the_tree_of_a_dockerignore() -> None:
    rules = ["*", "!src", "**/__pycache__", "!keep.txt"]
    assert is_ignored("other/src", rules)
    assert not is_ignored("src/a/b.py", rules)
    assert is_ignored("src/a/__pycache__/b.pyc", rules)
    assert not is_ignored("keep.txt", rules)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="only root can become another user, and setpriv is needed for it",
)
def test_the_steps_of_a_container_without_docker(tmp_path: Path) -> None:
    """Kernels are compiled, the server runs as the user, is healthy, answers, and stops."""
    user = last("USER").arguments.partition(":")[0]
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o755)
    os.chown(cache, int(user), int(user))
    values = {name: value.replace("/cache", str(cache)) for name, value in environment().items()}
    paths = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", warm_up()], check=True, timeout=600)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    as_user = [word.replace(USER, user) for word in AS_USER]
    words = [word.replace(PORT, str(port)) for word in last("CMD").words]
    command = [*as_user, sys.executable, "-m", "malmoi", *words]
    health = [word.replace(PORT, str(port)) for word in health_command()]
    health = [sys.executable if word == "python" else word for word in health]
    assert subprocess.run(health, capture_output=True).returncode != 0  # nothing listens yet
    with subprocess.Popen(
        command,
        cwd="/",
        env=values | paths,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert f":{port}" in line, process.communicate()[1]
        owner = Path(f"/proc/{process.pid}").stat().st_uid
        healthy = subprocess.run([*as_user, *health], env=values | paths, timeout=120).returncode
        answer = Running(f"http://127.0.0.1:{port}").post("/embed", {"texts": ["hello", "안녕"]})
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, healthy, owner) == (0, 0, int(user))
    assert len(answer.json["embeddings"]) == 2
    assert "cannot be" not in err  # no cache that cannot be written
    assert "Traceback" not in err
