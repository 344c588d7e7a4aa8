"""Messages that cyclopts writes and our command line prints: usage errors."""

FOREIGN = (
    'Unknown command "{command}". Did you mean "{other}"?',
)
