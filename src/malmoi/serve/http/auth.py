"""Who may ask: keys, of which only hashes are kept; and under which names of the server."""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile


@dataclass(frozen=True)
class ApiKeys:
    """SHA-256 hashes of the keys; without any, everybody may ask."""

    hashes: tuple[bytes, ...] = ()

    def admit(self, authorization: bytes) -> bool:
        """Whether a header `Authorization: Bearer KEY` has one of the keys.

        So may the password of `Basic`, which is what a browser asks for. All are compared,
        each in a time that does not depend on where they differ.
        """
        if not self.hashes:
            return True
        scheme, _, key = authorization.partition(b" ")
        if scheme.lower() == b"basic":
            key = password_of(key)
        given = hashlib.sha256(key.strip()).digest()
        same = [hmac.compare_digest(given, known) for known in self.hashes]
        return scheme.lower() in (b"bearer", b"basic") and any(same)


ANYBODY = ApiKeys()


@dataclass(frozen=True)
class AllowedHosts:
    """The names under which a server is asked, besides any address and any name without a dot.

    A page of another's can have its own name lead to this machine, and would then be let by a
    browser to read what a server answers here (DNS rebinding). The name gives it away: on the
    internet, all have dots.
    """

    others: tuple[str, ...] = ()

    def admit(self, host: bytes) -> bool:
        """Whether a header `Host: NAME:PORT` has one of the names; only browsers must send one."""
        name = name_in(host)
        is_near = "." not in name or name.endswith(".localhost")
        return is_near or name in self.others or is_address(name)


def name_in(host: bytes) -> str:
    """The name in a header `Host`, without its port."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].rstrip(".")


def is_address(name: str) -> bool:
    """Whether a name is an address in numbers."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def password_of(credentials: bytes) -> bytes:
    """What follows the name in base64; nothing if it is no base64."""
    try:
        return base64.b64decode(credentials.strip(), validate=True).partition(b":")[2]
    except ValueError:
        return b""


def read_keys(path: Path) -> ApiKeys:
    """A file with a key a line; empty lines and those that begin with # are none."""
    lines = (line.strip() for line in bytes(InputFile(path).mapped).splitlines())
    keys = [line for line in lines if line and not line.startswith(b"#")]
    if not keys:
        raise InvalidFileError(f"{path} holds no key: write one a line, or leave the option out")
    return ApiKeys(tuple(hashlib.sha256(key).digest() for key in keys))
