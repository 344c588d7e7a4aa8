"""Vectors and hits as tables of Arrow, pandas, Polars and DuckDB, and the way back."""

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import malmoi as mm


def as_duckdb(vectors: mm.Vectors) -> duckdb.DuckDBPyRelation:
    return duckdb.sql("SELECT * FROM vectors")


TABLES = [pa.table, pd.DataFrame.from_arrow, pl.DataFrame, as_duckdb]


@pytest.mark.parametrize("make", TABLES, ids=["arrow", "pandas", "polars", "duckdb"])
def test_vectors_through_a_table_are_the_same(make: Any, words: mm.Vectors) -> None:
    again = mm.Vectors.from_arrow(make(words))
    assert list(again) == list(words)
    np.testing.assert_array_equal(again.matrix, words.matrix)
    assert again.counts is not None
    np.testing.assert_array_equal(again.counts, np.asarray(words.counts))


def test_arrow_keeps_the_notes_and_copies_no_numbers(words: mm.Vectors) -> None:
    table = words.to_arrow()
    assert mm.Vectors.from_arrow(table).meta == words.meta
    numbers = table["vector"].chunk(0).values.to_numpy(zero_copy_only=True)
    assert np.shares_memory(numbers, words.matrix)


def test_words_are_found_by_sql(words: mm.Vectors) -> None:
    query = "SELECT key, vector[1] FROM words WHERE count > 40 ORDER BY count"
    assert duckdb.sql(query).fetchall() == [
        ("king", pytest.approx(float(words["king"][0]))),
        ("the", pytest.approx(float(words["the"][0]))),
    ]


def test_columns_of_other_names() -> None:
    table = pl.DataFrame({"id": ["a", "b"], "embedding": [[1.0, 2.0], [3.0, 4.0]]})
    vectors = mm.Vectors.from_arrow(table, key="id", vector="embedding")
    assert vectors["b"].tolist() == [3, 4]
    assert len(mm.Vectors.from_arrow(table.clear(), key="id", vector="embedding")) == 0


def test_tables_that_hold_no_vectors() -> None:
    with pytest.raises(mm.InvalidArgumentError, match=r"no column 'vector' \(it has key, number\)"):
        mm.Vectors.from_arrow(pd.DataFrame({"key": ["a"], "number": [1]}))
    with pytest.raises(mm.InvalidArgumentError, match="different width"):
        mm.Vectors.from_arrow(pl.DataFrame({"key": ["a", "b"], "vector": [[1.0], [1.0, 2.0]]}))
    with pytest.raises(mm.InvalidArgumentError, match="not a dict"):
        mm.Vectors.from_arrow({"key": ["a"], "vector": [[1.0]]})
    with pytest.raises(mm.InvalidArgumentError, match="not UTF-8"):
        mm.Vectors(["a\udcff"], [[1.0]]).to_arrow()


@pytest.fixture(scope="module")
def hits() -> mm.Hits:
    encoder = mm.average_encoder(mm.Vectors(["cat", "dog", "bank"], np.eye(3)), weighting="mean")
    fields: list[dict[str, Any]] = [{"lang": "en", "year": 2020}, {"lang": "ko"}, {}]
    index = mm.build_index(encoder, ["cat", "cat dog", "bank"], ids=["a", "b", "c"], fields=fields)
    return index.search("cat", 2)


def test_hits_are_a_table(hits: mm.Hits) -> None:
    near = hits.to_arrow()
    assert near.column_names == ["id", "score", "text", "passage", "fields"]
    found = duckdb.sql("SELECT id, fields.lang FROM near WHERE score > 0.5").fetchall()
    assert found == [("a", "en"), ("b", "ko")]
    assert pl.DataFrame(near).unnest("fields")["year"].to_list() == [2020, None]
    assert near.to_pandas()["text"].tolist() == ["cat", "cat dog"]
    assert mm.Hits().to_arrow().num_rows == 0
    reranked = mm.Hits(hit._replace(retrieval_score=hit.score) for hit in hits).to_arrow()
    assert reranked["retrieval_score"].to_pylist() == near["score"].to_pylist()


def test_fields_of_several_kinds_are_no_column(hits: mm.Hits) -> None:
    mixed = mm.Hits([hits[0]._replace(fields={"a": 1}), hits[1]._replace(fields={"a": "x"})])
    with pytest.raises(mm.InvalidArgumentError, match="several kinds"):
        mixed.to_arrow()


def test_a_query_of_duckdb_is_a_column_of_texts() -> None:
    encoder = mm.average_encoder(mm.Vectors(["cat", "dog"], np.eye(2)), weighting="mean")
    texts = duckdb.sql("SELECT * FROM (VALUES ('cat', 1), ('dog', 2)) AS t(text, number)")
    rows = encoder.encode(texts["text"])
    assert rows.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(mm.InvalidArgumentError, match="pass one column"):
        encoder.encode(texts)
