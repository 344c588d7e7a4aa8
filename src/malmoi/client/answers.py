"""What a client reads in answers, whoever sent them: nothing in them is taken for granted."""

from typing import Any

LONGEST_WAIT = 10.0  # seconds before a server that was too busy is asked again


def sentence_of(answer: Any, status: int) -> str:
    """The sentence in a refusal, whichever its shape; a redirect is followed by nobody."""
    said = answer.get("description") if isinstance(answer, dict) else None
    error = answer.get("error") if isinstance(answer, dict) else None
    said = said or (error.get("message") if isinstance(error, dict) else error)
    return said if isinstance(said, str) else f"it answers {status} without a reason"


def count_of(header: str) -> int:
    """A number in a header; 0 where there is none."""
    return int(header) if header.isascii() and header.isdecimal() and len(header) < 16 else 0


def seconds_of(retry_after: str) -> float:
    """How long to wait; a date is a proxy's way to say it, and a while will do."""
    return min(float(retry_after), LONGEST_WAIT) if retry_after.isdecimal() else 1.0
