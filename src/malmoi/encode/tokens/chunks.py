"""Splits many texts into chunks that fit into memory, and prepares each one ahead.

The end of a chunk depends only on the texts from its beginning on: a run that resumes at the
beginning of a chunk gets the same chunks. Knows nothing of models.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

from malmoi.encode.tokens.inputs import Text, TextOrPair, checked_texts

Prepared = TypeVar("Prepared")
CHUNK_CHARACTERS = 1 << 22  # of the texts of a chunk, at most


def chunks(
    texts: Iterable[TextOrPair], max_texts: int, max_characters: int
) -> Iterator[list[Text]]:
    """At most `max_texts` texts at a time, or fewer once they have `max_characters`."""
    chunk: list[Text] = []
    size = 0
    for text in checked_texts(texts):
        size += len(text) if isinstance(text, str) else 0
        chunk.append(text)
        if len(chunk) == max_texts or size >= max_characters:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def prepare_ahead(
    prepare: Callable[[list[Text]], Prepared], items: Iterator[list[Text]]
) -> Iterator[Prepared]:
    """`prepare(item)` of each item, the next in another thread while the last is used."""
    first, second = next(items, None), next(items, None)
    if first is None:
        return
    if second is None:  # not worth a thread
        yield prepare(first)
        return
    with ThreadPoolExecutor(1) as worker:
        pending: deque[Future[Prepared]] = deque([worker.submit(prepare, first)])
        for item in chain([second], items):
            pending.append(worker.submit(prepare, item))
            yield pending.popleft().result()
        yield pending.popleft().result()
