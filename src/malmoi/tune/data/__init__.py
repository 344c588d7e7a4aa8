"""Examples to tune on: rows of tables, their columns, kinds of examples, batches."""
