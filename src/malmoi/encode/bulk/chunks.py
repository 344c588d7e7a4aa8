"""Many texts in chunks that fit into memory, each made ready while the one before is run.

Where a chunk ends depends on nothing but the texts from its beginning on: who goes on at the
beginning of a chunk meets the same chunks. Knows nothing of models.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

from malmoi.encode.tokens.inputs import Text, as_texts

Made = TypeVar("Made")
CHARACTERS = 1 << 22  # of the texts of a chunk, at most


def chunks(texts: Iterable[Text], count: int, characters: int) -> Iterator[list[Text]]:
    """At most `count` texts at a time, or fewer once they have so many characters."""
    if isinstance(texts, str | bytes):
        as_texts(texts)  # says that it is one text alone
    chunk: list[Text] = []
    size = 0
    for text in texts:
        size += len(text) if isinstance(text, str) else 0
        chunk.append(text)
        if len(chunk) == count or size >= characters:
            yield as_texts(chunk)
            chunk, size = [], 0
    if chunk:
        yield as_texts(chunk)


def ahead(make: Callable[[list[Text]], Made], items: Iterator[list[Text]]) -> Iterator[Made]:
    """`make` of each item, the next one made while the last is used; items are asked for here."""
    first, second = next(items, None), next(items, None)
    if first is None:
        return
    if second is None:  # not worth a thread
        yield make(first)
        return
    with ThreadPoolExecutor(1) as worker:
        coming: deque[Future[Made]] = deque([worker.submit(make, first)])
        for item in chain([second], items):
            coming.append(worker.submit(make, item))
            yield coming.popleft().result()
        yield coming.popleft().result()
