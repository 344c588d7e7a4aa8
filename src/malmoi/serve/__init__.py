"""Models over HTTP: many requests in few batches, in the dialects that programs know already."""
