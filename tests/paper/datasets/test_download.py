"""Downloads over a network that fails in all the usual ways."""

from __future__ import annotations

import errno
import gc
import io
import urllib.request
from functools import partial

import pytest

from paper.datasets import download as downloading
from paper.datasets.download import CHUNK, download, persist

BODY = bytes(range(256)) * 1000


def get(url, path, progress=None, timeout=5.0):
    download(url, path, timeout=timeout, progress=progress)
    return path.read_bytes()


def test_every_byte_comes(server, tmp_path):
    for answer, total in ((BODY, len(BODY)), (("unmeasured", BODY), None)):
        seen = []
        url = server.play("/a", answer)
        assert get(url, tmp_path / "a", lambda *now, seen=seen: seen.append(now)) == BODY
        received, totals = zip(*seen, strict=True)
        assert list(received) == sorted(set(received))
        assert received[-1] == len(BODY) > CHUNK
        assert set(totals) == {total}
    assert set(server.agents) == {"sphericalpca"}


@pytest.mark.parametrize("failure", [("short", BODY), 500, 429, 408], ids=str)
def test_a_second_try_helps(server, tmp_path, naps, failure):
    url = server.play("/a", failure, BODY)
    assert persist(partial(get, url, tmp_path / "a"), sleep=naps) == BODY
    assert naps == [1.0]
    assert len(server.requests) == 2


def test_a_clear_no_is_not_asked_again(server, tmp_path, naps):
    url = server.play("/a", 404)
    with pytest.raises(ConnectionError, match=r"HTTP Error 404: .*, after 1 try$"):
        persist(partial(get, url, tmp_path / "a"), sleep=naps)
    assert naps == []
    assert len(server.requests) == 1


def test_a_server_that_falls_silent_or_does_not_listen(server, tmp_path, naps):
    url = server.play("/a", ("stall", BODY))
    with pytest.raises(ConnectionError, match="timed out, after 2 tries"):
        persist(partial(get, url, tmp_path / "a", timeout=0.2), tries=2, sleep=naps)
    nobody = url.replace(str(server.server_address[1]), "1")
    with pytest.raises(ConnectionError, match="Connection refused, after 3 tries"):
        persist(partial(get, nobody, tmp_path / "a"), sleep=naps)


def test_a_file_that_moved_is_followed_but_nobody_can_fill_the_disk(server, tmp_path, monkeypatch):
    new = server.play("/new", BODY)
    assert get(server.play("/old", ("moved", new)), tmp_path / "a") == BODY
    monkeypatch.setattr(downloading, "LARGEST", len(BODY) - 1)
    with pytest.raises(ValueError, match="received more than"):
        get(server.play("/a", ("unmeasured", BODY)), tmp_path / "a")


def test_what_no_second_try_can_cure_is_passed_on(naps):
    def fail():
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        persist(fail, sleep=naps)
    assert naps == []
    with pytest.raises(ValueError, match="tries=0 must be at least 1"):
        persist(int, tries=0)


@pytest.mark.parametrize("address", ["http://example.org/a", "file:///etc/passwd", "nonsense"])
@pytest.mark.parametrize("moved", [False, True])
def test_other_ways_than_https_are_not_taken(server, tmp_path, naps, address, moved):
    if moved and address == "nonsense":
        address = "ftp://example.org/a"  # a relative address stays on its server
    url = server.play("/a", ("moved", address)) if moved else address
    with pytest.raises(ConnectionError, match=r"is not https, after 1 try|Error 302"):
        persist(partial(get, url, tmp_path / "a"), sleep=naps)
    assert naps == []
    assert not (tmp_path / "a").exists()
    gc.collect()  # a connection that was left open would be told of now


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_no_server_elsewhere_sends_us_to_this_machine(name):
    """Plain http is allowed within it, but for addresses of ours only."""
    inside = f"http://{name}:8080/admin"
    handler, answer = downloading._SecureRedirects(), io.BytesIO()
    request = urllib.request.Request("https://example.org/data.zip")
    with pytest.raises(ConnectionError, match="is not https"):
        handler.redirect_request(request, answer, 302, "Found", {}, inside)
    assert answer.closed
