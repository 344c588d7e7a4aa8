"""Authentication: API keys, stored as hashes, and the host names that the server accepts."""

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
    """SHA-256 hashes of the keys; without any, every request is allowed."""

    hashes: tuple[bytes, ...] = ()

    def allows(self, authorization: bytes) -> bool:
        """Whether the header `Authorization: Bearer KEY` has one of the keys.

        The password of `Basic` may be a key too, which is what browsers send. Every key is
        compared in constant time.
        """
        if not self.hashes:
            return True
        scheme, _, key = authorization.partition(b" ")
        if scheme.lower() == b"basic":
            key = basic_password(key)
        digest = hashlib.sha256(key.strip()).digest()
        matches = [hmac.compare_digest(digest, known) for known in self.hashes]
        return scheme.lower() in (b"bearer", b"basic") and any(matches)


NO_KEYS = ApiKeys()


@dataclass(frozen=True)
class AllowedHosts:
    """The host names that the server accepts besides IP addresses and names without a dot.

    This is the protection from DNS rebinding: the owner of a web page can point a name of theirs
    at this machine, and browsers would then let the page read the server's answers. Every name
    on the internet has a dot.
    """

    names: tuple[str, ...] = ()

    def allows(self, host: bytes) -> bool:
        """Whether the header `Host: NAME:PORT` has an accepted name; an empty header has."""
        name = host_name(host)
        is_local = "." not in name or name.endswith(".localhost")
        return is_local or name in self.names or is_ip_address(name)


@dataclass(frozen=True)
class Access:
    """Which requests are allowed; with `hosts` as `None`, under any host name."""

    keys: ApiKeys = NO_KEYS
    hosts: AllowedHosts | None = None


def host_name(host: bytes) -> str:
    """The name in a `Host` header, without its port."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].rstrip(".")


def is_ip_address(name: str) -> bool:
    """Whether a host name is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def basic_password(credentials: bytes) -> bytes:
    """The password in the credentials of `Basic`; empty if they are not base64."""
    try:
        return base64.b64decode(credentials.strip(), validate=True).partition(b":")[2]
    except ValueError:
        return b""


def read_api_keys(path: Path) -> ApiKeys:
    """Read a file with one key per line; empty lines and lines that begin with # are skipped."""
    lines = (line.strip() for line in bytes(InputFile(path).mapped).splitlines())
    keys = [line for line in lines if line and not line.startswith(b"#")]
    if not keys:
        raise InvalidFileError(f"{path} has no key: write one per line, or drop the option")
    return ApiKeys(tuple(hashlib.sha256(key).digest() for key in keys))
