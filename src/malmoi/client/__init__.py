"""A client for `malmoi serve`: NumPy and the standard library are all it needs."""

from malmoi.client.answers import FetchedTokens, FetchedVectors
from malmoi.client.client import BertClient, Client
from malmoi.client.connection import ServerError, ServerTimeoutError, ServerUnreachableError

__all__ = [
    "BertClient",
    "Client",
    "FetchedTokens",
    "FetchedVectors",
    "ServerError",
    "ServerTimeoutError",
    "ServerUnreachableError",
]
