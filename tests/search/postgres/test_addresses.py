"""Addresses of indexes in a database, and errors of one sentence."""

import psycopg
import pytest

import malmoi as mm
from malmoi.search.storage.address import parse_address, path_or_url, shown_path
from tests.postgres_server import PrivateServer
from tests.search.postgres.texts import BAG


def test_the_parts_of_an_address() -> None:
    url = (
        "postgresql://me:secret@host:5432/db?table=search.faq&vector_index=halfvec&sslmode=require"
    )
    address = parse_address(url)
    assert (address.schema, address.table, address.vector_index) == ("search", "faq", "halfvec")
    assert address.conninfo == "postgresql://me:secret@host:5432/db?sslmode=require"
    assert str(address) == "postgresql://me@host:5432/db, table search.faq"
    assert shown_path(url) == str(address)
    assert parse_address("postgres://host/db").table == "malmoi"
    assert path_or_url(url) == url
    assert str(path_or_url("folder")) == "folder"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?table=", "is not the name of a table"),
        (f"?table={'x' * 41}", "is not the name of a table"),
        ("?vector_index=ivf", "choose vector, halfvec, binary"),
    ],
)
def test_an_invalid_address(query: str, message: str) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=message):
        mm.open_index(f"postgresql://host/db{query}")


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(mm.InvalidFileError, match="cannot be reached"):
        mm.open_index("postgresql://me:secret@localhost:1/db?table=faq")
    with pytest.raises(mm.InvalidFileError) as caught:
        mm.open_index("postgresql://me:secret@localhost:1/db?table=faq")
    assert "secret" not in str(caught.value)


def test_an_unknown_parameter_of_the_connection(server: PrivateServer) -> None:
    with pytest.raises(mm.InvalidFileError, match="is not valid"):
        mm.open_index(f"{server.url}&tabel=faq")


def test_an_index_that_does_not_exist(url: str) -> None:
    with pytest.raises(mm.InvalidFileError, match="does not exist"):
        mm.open_index(url)


def test_a_table_of_somebody_else_stays_as_it_is(server: PrivateServer) -> None:
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE customers (id int)")
    url = f"{server.url}&table=customers"
    for use in (
        lambda: mm.open_index(url),
        lambda: mm.build_index(BAG, ["text"], path=url),
        lambda: mm.update_index(url, BAG, [mm.Entry("1", "text")]),
    ):
        with pytest.raises(mm.InvalidFileError, match="is not an index of malmoi"):
            use()
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT count(*) FROM customers").fetchone() == (0,)


def test_an_index_is_not_built_twice(url: str) -> None:
    mm.build_index(BAG, ["text"], path=url)
    with pytest.raises(mm.InvalidArgumentError, match="holds an index already"):
        mm.build_index(BAG, ["text"], path=url)


def test_a_user_without_permission(server: PrivateServer, url: str) -> None:
    mm.build_index(BAG, ["text"], path=url)
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE ROLE visitor LOGIN")
    with pytest.raises(mm.InvalidFileError, match="this user may not do that"):
        mm.open_index(url.replace("postgres@", "visitor@"))


def test_a_table_may_have_any_name_and_a_schema(server: PrivateServer) -> None:
    with psycopg.connect(server.url) as connection:
        connection.execute('CREATE SCHEMA "My Texts"')
    url = f"{server.url}&table=My%20Texts.q%22a%3B--%ED%95%9C"
    index = mm.build_index(BAG, ["one", "two"], path=url, approximate=True)
    assert [hit.id for hit in index.search("two", 1)] == ["1"]
    assert mm.reindex(url, type(BAG)("other")).texts == 2
