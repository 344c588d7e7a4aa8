"""A thousand hostile requests: none fails, none hangs, and the next one is answered."""

import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from malmoi.encode.encoder import TransformerEncoder
from malmoi.search.build import build_index
from malmoi.serve.service.loaded_models import LoadedModel, Models
from tests.serve.fixtures import Running, serving
from tests.serve.hostile_requests import Case, cases

SEED, COUNT, CLIENTS = 13, 1200, 4
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"  # an answer will follow
LONGEST = 60.0  # seconds without a byte: what takes so long hangs, on whatever machine


@pytest.fixture
def everything(models: Models, minilm: TransformerEncoder) -> Iterator[Running]:
    texts, fields = (
        ["the bank of the river", "a loan"],
        [{"year": 2020}, {"year": 1990, "a": 2**70}],
    )
    index = LoadedModel("index", "index", index=build_index(minilm, texts, fields=fields))
    with serving(Models({**models.by_name, "index": index})) as running:
        yield running


def status_of(port: int, case: Case) -> int:
    """The status of the last answer; 0 if the server hung up without any, -1 if it hangs."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=LONGEST) as connection:
        try:
            connection.sendall(case.sent)
            if not case.ends:
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65_536):
                found = (found + part)[:1000].removeprefix(CONTINUE)
        except TimeoutError:
            return -1
        except OSError:  # it hung up while we were sending
            with suppress(OSError):
                found += connection.recv(100)
    return int(found[9:12]) if found.startswith(b"HTTP/1.1 ") else 0


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")  # as `malmoi serve` does
def test_no_hostile_request_fails_or_hangs(everything: Running) -> None:
    hostile = cases(SEED, COUNT)
    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(lambda case: status_of(everything.port, case), hostile))
    named = list(zip(found, (case.name for case in hostile), strict=True))
    assert [one for one in named if one[0] >= 500 and one[0] != 503] == []
    assert [one for one in named if one[0] == -1] == []
    unanswered = [one for one, case in zip(named, hostile, strict=True) if not one[0] and case.ends]
    assert unanswered == []
    assert Counter(found)[400] > COUNT / 4
    assert everything.post("/embed", {"texts": ["a"]}).status == 200


def test_the_same_seed_makes_the_same_requests() -> None:
    assert cases(1, 700) == cases(1, 700)
    assert cases(1, 700) != cases(2, 700)
    assert len(cases(1, 6000)) == 6000
