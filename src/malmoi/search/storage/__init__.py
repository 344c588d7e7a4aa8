"""An index on disk: segments, inverted index, columns, clusters, manifest."""
