"""An index in a PostgreSQL database: tables, binary COPY, BM25 and hybrid search in SQL."""
