"""Limits on what the server accepts, holds in memory and sends."""

from dataclasses import dataclass

from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Upper bounds per request and for the whole server; timeouts are in seconds."""

    max_body_bytes: int = 8_000_000
    max_memory_bytes: int = 256_000_000  # bodies and answers of all requests in flight
    max_json_values: int = 300_000  # strings and numbers in one request
    max_texts: int = 2048
    max_text_characters: int = 200_000
    max_explained_characters: int = 5000  # of all texts whose labels are explained
    max_word_characters: int = 1000  # of one word or one filter
    max_expression_characters: int = 10_000  # of an analogy
    max_expression_words: int = 100
    max_filters: int = 32  # conditions of one search
    max_results: int = 1000  # the largest k
    max_answer_numbers: int = 32_000_000  # in all vectors of one answer
    max_waiting_tokens: int = 65_536  # queued for the workers
    max_batch_tokens: int = 1024
    max_connections: int = 1000
    body_timeout: float = 30  # until a request has arrived
    idle_timeout: float = 30  # until a request begins, or a client reads on
    drain_timeout: float = 60  # for accepted requests after a shutdown signal

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise InvalidArgumentError(f"{name} is {value}: it must be greater than 0")
