"""Models, limits, batching and the work of requests; knows nothing of HTTP."""
