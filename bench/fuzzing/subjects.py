"""What is damaged: files of a kind, how they are made, and how they are used afterwards.

`use` opens the files, asks them all that the library can ask, and gives a digest of the answers;
it may raise a `MalmoiError` and nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from bench.tampering import signed_again, without_checksums

Edit = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Subject:
    """Files of a kind; with `checked` any answer other than that of the whole files is an error."""

    name: str
    make: Callable[[Path], None]  # into an empty folder
    use: Callable[[Path], str]
    checked: bool = False
    weight: int = 8  # cases, beside those of other subjects
    before: Edit | None = None  # what is done to a file before it is damaged
    after: Edit | None = None  # and after it was
    is_large: bool = False  # as if the file were so large that it is verified as it is used


def tensor_subjects(subject: Subject) -> list[Subject]:
    """Tensor files as they are, as earlier releases wrote them, and with checksums of the damage.

    The last two show what readers see to without the help of checksums.
    """
    return [
        replace(subject, checked=True),
        replace(
            subject, name=f"{subject.name}, no checksums", before=stripped, weight=subject.weight
        ),
        replace(
            subject,
            name=f"{subject.name}, signed again",
            before=stripped,
            after=signed,
            weight=subject.weight,
        ),
    ]


def stripped(content: bytes) -> bytes:
    """Without checksums, if it is a tensor file."""
    return without_checksums(content) if content[8:9] == b"{" else content


def signed(content: bytes) -> bytes:
    """With checksums of what is there, if it still is a tensor file."""
    try:
        return signed_again(content)
    except (ValueError, AttributeError, TypeError, KeyError, IndexError, RecursionError):
        return content
    except Exception as error:  # struct.error of a file that is too short
        if type(error).__name__ == "error":
            return content
        raise


def digest(*answers: Any) -> str:
    """A short text that differs where answers do."""
    found = blake2b(digest_size=16)
    for answer in answers:
        found.update(_bytes(answer))
        found.update(b"\0")
    return found.hexdigest()


def _bytes(answer: Any) -> bytes:
    if isinstance(answer, np.ndarray):
        return repr((answer.dtype, answer.shape)).encode() + np.ascontiguousarray(answer).tobytes()
    if isinstance(answer, Mapping):
        return repr(sorted(answer.items())).encode("utf-8", "surrogateescape")
    return repr(answer).encode("utf-8", "surrogateescape")
