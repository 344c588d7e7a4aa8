"""The approximate vector index of an index in a database: HNSW (Malkov and Yashunin 2018).

It is made of whole vectors, of half-precision ones, or of one bit per dimension, whose candidates
whole vectors rank again. How many candidates a query follows (`ef_search`) is chosen when it is
made, by the recall of the ten nearest vectors on queries that are vectors with noise.
"""

import numpy as np
from psycopg import errors, sql

from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import Reporter
from malmoi.search.postgres.binary_rows import vector_of
from malmoi.search.postgres.schema.database import PgConnection
from malmoi.search.postgres.schema.tables import Tables
from malmoi.search.postgres.statements import OVERSAMPLE, distance_sql, vector_text
from malmoi.search.storage.address import VectorIndexKind
from malmoi.search.storage.clusters import MIN_RECALL, NOISE_NORM, RECALL_AT, SEED
from malmoi.vectors import l2_normalize

MAX_DIMS: dict[VectorIndexKind, int] = {"vector": 2000, "halfvec": 4000, "binary": 64_000}
OPERATORS: dict[VectorIndexKind, str] = {
    "vector": "vector_cosine_ops",
    "halfvec": "halfvec_cosine_ops",
    "binary": "bit_hamming_ops",
}
EF_SEARCH = (40, 60, 80, 120, 160, 240, 320, 480, 640, 1000)  # pgvector's limit is 1,000
SAMPLE_QUERIES = 40
LINK_BYTES = 400  # of a vector's links in the graph, while it is built
MAX_BUILD_KB = 4 << 20


def fitting_kind(kind: VectorIndexKind, dim: int, reporter: Reporter) -> VectorIndexKind:
    """The kind, or the next smaller one that can index so many dimensions."""
    if dim <= MAX_DIMS[kind]:
        return kind
    smaller = next(each for each, most in MAX_DIMS.items() if dim <= most)
    reporter.warn(f"pgvector's index of kind {kind} takes up to {MAX_DIMS[kind]:,} dimensions:"
                  f" {smaller} is used for {dim:,}")  # fmt: skip
    return smaller


def create_hnsw(
    connection: PgConnection, tables: Tables, generation: int, kind: VectorIndexKind, dim: int
) -> None:
    """Build the index, in the transaction of the caller; a killed build leaves none."""
    name, table = hnsw_name(tables, generation), tables.vectors(generation)
    (rows,) = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(table)).fetchone() or (
        0,)  # fmt: skip
    kilobytes = min(MAX_BUILD_KB, max(65_536, rows * (4 * dim + LINK_BYTES) // 800))
    connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", [f"{kilobytes}kB"])
    statement = sql.SQL("CREATE INDEX {} ON {} USING hnsw (({}) {})").format(
        name, table, _indexed(kind, dim), sql.SQL(OPERATORS[kind])
    )
    try:
        with connection.transaction():
            connection.execute(statement)
    except (errors.DiskFull, errors.InsufficientResources):  # of shared memory, in a container
        connection.execute("SELECT set_config('max_parallel_maintenance_workers', '0', true)")
        connection.execute(statement)


def drop_hnsw(connection: PgConnection, tables: Tables, generation: int) -> None:
    """Remove the index."""
    schema, name = tables.address.schema, f"{tables.address.table}_hnsw_{generation}"
    whole = sql.Identifier(schema, name) if schema else sql.Identifier(name)
    connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(whole))


def choose_ef_search(
    connection: PgConnection, tables: Tables, generation: int, kind: VectorIndexKind, dim: int
) -> int:
    """The fewest candidates per query that reach the recall on a sample; at most 1,000."""
    table = tables.vectors(generation)
    queries = [vector_text(each) for each in _sample(connection, table, dim)]
    exact = sql.SQL(
        "SELECT row, part FROM {} ORDER BY (embedding <=> %s::vector) + 0 LIMIT {}"
    ).format(table, sql.Literal(RECALL_AT))
    truth = [set(connection.execute(exact, [query]).fetchall()) for query in queries]
    distance = distance_sql(kind, dim, sql.SQL("embedding"), sql.SQL("%(q)s::vector"))
    near = sql.SQL(
        "SELECT row, part FROM (SELECT row, part, embedding <=> %(q)s::vector AS d FROM {}"
        " ORDER BY {} LIMIT {}) n ORDER BY d LIMIT {}"
    ).format(table, distance, sql.Literal(RECALL_AT * (OVERSAMPLE if kind == "binary" else 1)),
             sql.Literal(RECALL_AT))  # fmt: skip
    for ef in EF_SEARCH:
        set_ef_search(connection, ef)
        hits = sum(
            len(true & set(connection.execute(near, {"q": query}).fetchall()))
            for query, true in zip(queries, truth, strict=True)
        )
        if hits >= MIN_RECALL * sum(map(len, truth)):
            return ef
    return EF_SEARCH[-1]


def set_ef_search(connection: PgConnection, ef: int) -> None:
    """Set how many candidates the queries of a connection follow, and let filters continue."""
    connection.execute(
        "SELECT set_config('hnsw.ef_search', %s, false),"
        " set_config('hnsw.iterative_scan', 'strict_order', false)",
        [str(ef)],
    )


def hnsw_name(tables: Tables, generation: int) -> sql.Identifier:
    """The name of the vector index."""
    return tables.index_name(f"hnsw_{generation}")


def _indexed(kind: VectorIndexKind, dim: int) -> sql.Composable:
    if kind == "vector":
        return sql.SQL("embedding")
    template = "embedding::halfvec({})" if kind == "halfvec" else (
        "binary_quantize(embedding)::bit({})")  # fmt: skip
    return sql.SQL(template).format(sql.Literal(dim))


def _sample(connection: PgConnection, table: sql.Identifier, dim: int) -> list[Float32Array]:
    """Unit vectors with noise, as those of an index in a folder."""
    statement = sql.SQL(
        "SELECT embedding FROM {} WHERE vector_norm(embedding) > 0 ORDER BY hashint8(row), part"
        " LIMIT {}"
    ).format(table, sql.Literal(SAMPLE_QUERIES))
    with connection.cursor(binary=True) as cursor:
        units = [l2_normalize(vector_of(data)) for (data,) in cursor.execute(statement)]
    random = np.random.default_rng(SEED)
    noise = l2_normalize(random.normal(size=(len(units), dim)).astype(np.float32))
    return [l2_normalize(unit + NOISE_NORM * each) for unit, each in zip(units, noise, strict=True)]
