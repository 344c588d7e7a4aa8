"""How much of everything the server takes."""

from dataclasses import dataclass

from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes in bytes, texts, characters and pieces; times in seconds.

    `waiting` is how many pieces of text may wait for a worker; `batch` how many one takes at a
    time; `body_time` is how long a client may take to send a request; `idle_time` how long
    it may take to begin one.
    """

    body: int = 8_000_000
    held: int = 256_000_000  # all requests that are here, with the vectors they asked for
    values: int = 300_000  # strings and numbers in the JSON of a request
    texts: int = 2048
    characters: int = 200_000  # in one text
    word: int = 1000  # characters of a word, or of one filter
    expression: int = 10_000  # characters of an analogy
    terms: int = 100  # words of an analogy
    filters: int = 32  # conditions of a search
    answers: int = 1000
    numbers: int = 32_000_000  # of all vectors in one answer
    waiting: int = 65_536
    batch: int = 1024
    connections: int = 1000
    body_time: float = 30
    idle_time: float = 30
    drain_time: float = 60

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise InvalidArgumentError(f"the limit {name} is {value}: it must be more than 0")
