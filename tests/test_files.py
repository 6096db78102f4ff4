"""Files appear whole or not at all, and killed processes leave nothing for long."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading

import pytest

from sphericalpca import files
from sphericalpca.files import beside, check_writable, replacing, replacing_folder, write_whole


@pytest.fixture(scope="module")
def dead():
    """The id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def _left_by(process, path, ending="tmp", life=files.LIFE):
    return path.with_name(f".{path.name}.{files.MACHINE}.{process}.{life}.0.{ending}")


def _names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def _replace_folder(path, content):
    with replacing_folder(path, ours=["file"]) as new:
        (new / "file").write_text(content)


def test_a_file_that_fails_leaves_the_older_one_and_nothing_else(tmp_path):
    path = tmp_path / "a"
    write_whole(path, b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        raise ZeroDivisionError(temporary.write_bytes(b"half"))
    assert path.read_bytes() == b"old"
    assert _names(tmp_path) == ["a"]


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path, dead):
    path, kept = tmp_path / "a[1]*.npy", tmp_path / "kept"
    for process in (dead, 10**30):  # no system counts so far
        _left_by(process, path).write_bytes(b"half")
    kept.mkdir()
    (kept / "diary").write_text("dear")
    _left_by(dead, path, life="0" * 8).symlink_to(kept)  # a link goes, its target stays
    write_whole(path, b"whole")
    assert _names(tmp_path) == [path.name, "kept"]
    assert (kept / "diary").read_text() == "dear"


@pytest.mark.parametrize("ending", ["tmp", "old"])
def test_what_others_are_writing_stays(tmp_path, dead, ending):
    path = tmp_path / "a"
    theirs = [
        _left_by(os.getpid(), path, ending),  # a thread of this process
        _left_by(os.getppid(), path, ending),
        path.with_name(f".a.00000000.{dead}.{files.LIFE}.0.{ending}"),  # another machine
        _left_by(dead, tmp_path / "b", ending),  # another file
        tmp_path / f".a.{files.MACHINE}.{dead}.{ending}",
        tmp_path / "a.tmp",
    ]
    for name in theirs:
        name.write_bytes(b"half")
    write_whole(path, b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([path, *theirs])


def test_numbers_of_processes_that_come_again_are_told_apart(tmp_path):
    """A container that is started anew gives its program the number that the last one had."""
    path = tmp_path / "model"
    before = _left_by(os.getpid(), path, life="0" * 8)
    (before / "file").mkdir(parents=True)
    _replace_folder(path, "x")
    assert _names(tmp_path) == ["model"]


def test_what_cannot_be_removed_does_not_keep_the_rest(tmp_path, dead, monkeypatch):
    path = tmp_path / "a"
    first, second = (_left_by(dead, path, life=digit * 8) for digit in "01")
    for left in (first, second):
        left.write_bytes(b"half")
    unlink = type(path).unlink

    def unlink_mine(self, missing_ok=False):
        if self == first:
            raise PermissionError(13, "Permission denied")
        unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(type(path), "unlink", unlink_mine)
    write_whole(path, b"x")
    assert _names(tmp_path) == [first.name, "a"]


def test_folders_that_were_left_go_too(tmp_path, dead):
    path = tmp_path / "model"
    path.mkdir()
    for ending in ("tmp", "old"):
        (_left_by(dead, path, ending) / "file").mkdir(parents=True)
        # Killed while it wrote a file in it.
        _left_by(dead, _left_by(dead, path, ending) / "file").write_text("half")
    for content in ("first", "second"):
        _replace_folder(path, content)
        assert _names(tmp_path) == ["model"]
        assert (path / "file").read_text() == content


def test_a_folder_put_aside_for_one_that_never_came_gets_its_name_back(tmp_path, dead):
    path = tmp_path / "model"
    aside = _left_by(dead, path, "old")
    aside.mkdir()
    (aside / "file").write_text("old")
    _left_by(dead, path, "tmp").mkdir()
    files.sweep(path, ours=["file"])
    assert _names(tmp_path) == ["model"]
    assert (path / "file").read_text() == "old"


def test_a_folder_with_something_of_the_users_is_not_replaced(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "diary").write_text("dear")
    with pytest.raises(FileExistsError, match="diary"):
        _replace_folder(tmp_path / "model", "x")
    assert (tmp_path / "model" / "diary").read_text() == "dear"


def test_only_files_are_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="pipe is a device, pipe or socket"):
        write_whole(pipe, b"x")
    assert pipe.is_fifo()
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder is a folder"):
        write_whole(tmp_path / "folder", b"x")
    assert _names(tmp_path) == ["folder", "pipe"]


def test_permissions_of_the_older_file_stay(tmp_path):
    path = tmp_path / "a"
    write_whole(path, b"old")
    for mode in (0o600, 0o444):
        path.chmod(mode)
        write_whole(path, b"new")
        assert path.stat().st_mode & 0o777 == mode


def test_threads_that_write_the_same_file_do_not_meet(tmp_path):
    path, errors = tmp_path / "a", []

    def write(letter):
        try:
            for _ in range(15):
                write_whole(path, letter * 5000)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    content = path.read_bytes()
    assert content in (b"a" * 5000, b"b" * 5000, b"c" * 5000)
    assert _names(tmp_path) == ["a"]


def test_a_folder_that_cannot_be_listed_is_no_obstacle(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refused)
    write_whole(tmp_path / "a", b"x")
    assert (tmp_path / "a").read_bytes() == b"x"


def test_errors_of_the_disk_name_the_file_that_was_asked_for(tmp_path):
    for error, words in (
        (OSError(errno.ENOSPC, "No space left on device"), r"No space left on device: '.*/a'"),
        (FileNotFoundError(errno.ENOENT, "No such file", "input"), "No such file: 'input'"),
    ):
        with pytest.raises(OSError, match=words), replacing(tmp_path / "a"):
            raise error
    check_writable(tmp_path / "a")  # known before
    assert _names(tmp_path) == []
    with pytest.raises(FileNotFoundError, match="none/a'"):
        check_writable(tmp_path / "none" / "a")


@pytest.mark.parametrize(("ending", "write"), [("tmp", "file"), ("old", "file"), ("old", "folder")])
def test_a_folder_of_others_under_such_a_name_stays(tmp_path, dead, ending, write):
    """In a folder of many people anybody can rename a folder, but not empty it."""
    path = tmp_path / "a"
    theirs = _left_by(dead, path, ending)
    theirs.mkdir()
    (theirs / "diary").write_text("dear")
    if write == "file":
        write_whole(path, b"x")
    else:
        _replace_folder(path, "x")
    assert _names(tmp_path) == [theirs.name, "a"]
    assert (theirs / "diary").read_text() == "dear"


def test_what_waits_under_a_temporary_name_is_not_written_to(tmp_path, monkeypatch):
    """Somebody else who may write to the folder could put a link there."""
    victim, taken = tmp_path / "victim", tmp_path / "shared" / ".a.tmp"
    taken.parent.mkdir()
    victim.write_text("dear")
    taken.symlink_to(victim)
    monkeypatch.setattr(files, "beside", lambda path, ending="tmp": taken)
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "shared" / "a", b"x")
    assert victim.read_text() == "dear"


def test_nobody_can_foresee_a_temporary_name(tmp_path):
    """Not from those that were seen before, which tell all of a name but its number."""
    numbers = [int(beside(tmp_path / "a").name.split(".")[-2]) for _ in range(20)]
    assert min(abs(a - b) for a in numbers for b in numbers if a != b) > 1000
    assert len(set(numbers)) == len(numbers)


@pytest.fixture
def shared(tmp_path):
    """A folder like /tmp."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.mark.parametrize("how", ["direct", "by a link of mine"])
def test_links_that_others_put_where_all_may_write(tmp_path, shared, monkeypatch, how):
    target = tmp_path / "home" / ".profile"
    target.parent.mkdir()
    (shared / "a").symlink_to(target)
    (tmp_path / "mine").symlink_to(shared / "a")
    path = shared / "a" if how == "direct" else tmp_path / "mine"
    write_whole(path, b"first")  # by who made the link
    assert target.read_bytes() == b"first"
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    stat_of = type(path).stat

    def somebody_elses(self, **options):
        found = stat_of(self, **options)
        return os.stat_result([*found[:4], me + 2, *found[5:]]) if self == shared else found

    monkeypatch.setattr(type(path), "stat", somebody_elses)
    with pytest.raises(PermissionError, match="link owned by another user"):
        write_whole(path, b"second")
    shared.chmod(0o755)
    write_whole(path, b"third")
    assert target.read_bytes() == b"third"


def test_links_in_circles_are_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="a"):
        write_whole(tmp_path / "a", b"x")


@pytest.mark.skipif(os.geteuid() != 0, reason="files of others need all rights")
@pytest.mark.parametrize(("theirs", "kept"), [(0o666, 0o644), (0o600, 0o600), (0o4777, 0o644)])
def test_permissions_of_a_file_of_others_give_no_more_than_usual(tmp_path, theirs, kept):
    before = os.umask(0o022)
    try:
        path = tmp_path / "a"
        path.write_bytes(b"theirs")
        os.chown(path, 12345, 12345)
        path.chmod(theirs)
        write_whole(path, b"mine")
    finally:
        os.umask(before)
    assert (path.stat().st_uid, path.stat().st_mode & 0o7777) == (0, kept)


@pytest.mark.parametrize("mask", [0o077, 0o022])
def test_new_files_have_the_permissions_that_the_user_wants(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~mask
