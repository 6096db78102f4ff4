"""Downloads over a network that may fail."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from ssl import SSLError
from typing import IO, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from sphericalpca.exceptions import Parameter, ParameterError

__all__ = ["Progress", "download", "over_https_only", "persist"]

# Called with the number of bytes so far, and the total if it is known.
Progress = Callable[[int, int | None], None]
Sleep = Callable[[float], object]

CHUNK = 1 << 16
# Many times the largest archive, so that no server can fill the disk.
LARGEST = 256 << 20

# On the same machine nobody can eavesdrop or impersonate the server.
THIS_MACHINE = ("127.0.0.1", "::1", "localhost")

# Errors that a retry may fix, unlike a full disk.
PASSING = (URLError, HTTPException, ConnectionError, TimeoutError, SSLError)

T = TypeVar("T")


def download(url: str, path: Path, *, timeout: float, progress: Progress | None = None) -> None:
    """Download `url` to `path`, in one try.

    Raises
    ------
    ConnectionError
        If the number of bytes differs from the server's, or an address is not https.
    ValueError
        If the download is larger than any data set.
    """
    _check_secure(url)
    # Some servers reject Python's default user agent.
    request = urllib.request.Request(url, headers={"User-Agent": "sphericalpca"})
    opener = urllib.request.build_opener(_SecureRedirects)
    with opener.open(request, timeout=timeout) as answer, path.open("wb") as file:
        length = answer.headers.get("Content-Length", "")
        total = int(length) if length.isdecimal() else None
        received = _copy(answer, file, total, progress)
    if total is not None and received != total:
        raise ConnectionError(f"received {received} of {total} bytes")


@contextmanager
def over_https_only() -> Iterator[None]:
    """Apply our rules for addresses to other libraries that use `urllib`."""
    before = getattr(urllib.request, "_opener", None)
    urllib.request.install_opener(urllib.request.build_opener(_SecureRedirects))
    try:
        yield
    finally:
        urllib.request.install_opener(before)


class InsecureError(ConnectionError):
    """The connection is not secure, so the answer could come from anyone."""


class _SecureRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> urllib.request.Request | None:
        request, answer, *_, url = args
        try:
            _check_secure(url, seen_from=request.full_url)
        except InsecureError:
            answer.close()  # `urllib` closes it only if it follows the redirect
            raise
        return super().redirect_request(*args)


def _check_secure(url: str, *, seen_from: str | None = None) -> None:
    """Plain http within this machine may be requested, but servers may not redirect to it."""
    parts, asking = urlsplit(url), urlsplit(seen_from or url)
    here = parts.hostname in THIS_MACHINE and asking.hostname in THIS_MACHINE
    if parts.scheme == "https" or (parts.scheme == "http" and here):
        return
    raise InsecureError(f"{url} is not https")


def _copy(answer: Any, file: IO[bytes], total: int | None, progress: Progress | None) -> int:
    received = 0
    while chunk := answer.read(CHUNK):
        file.write(chunk)
        received += len(chunk)
        if received > LARGEST:
            raise ValueError(f"received more than {LARGEST} bytes")
        if progress is not None:
            progress(received, total)
    return received


def persist(action: Callable[[], T], *, tries: int = 3, sleep: Sleep = time.sleep) -> T:
    """Try an action until it works, with waits of 1, 2, 4, ... seconds in between.

    Raises
    ------
    ConnectionError
        After the last try, or immediately if another would not help; says why and how often.
    """
    for attempt in range(1, tries + 1):
        try:
            return action()
        except PASSING as error:
            if isinstance(error, HTTPError):
                error.close()
            if attempt == tries or _is_final(error):
                often = "1 try" if attempt == 1 else f"{attempt} tries"
                raise ConnectionError(f"{_reason(error)}, after {often}") from error
        sleep(2.0 ** (attempt - 1))
    raise ParameterError(Parameter("tries", tries), "must be at least 1")


def _is_final(error: Exception) -> bool:
    """Whether the server refused, as with 404 Not Found, or redirected to a forbidden address."""
    if isinstance(error, InsecureError):
        return True
    passing = (408, 425, 429)
    return isinstance(error, HTTPError) and 300 <= error.code < 500 and error.code not in passing


def _reason(error: Exception) -> str:
    inner = error if isinstance(error, HTTPError) else getattr(error, "reason", error)
    text = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return " ".join(str(text).split())
