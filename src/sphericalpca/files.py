"""Write files and folders atomically, under a temporary hidden name first."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import stat
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sphericalpca.exceptions import AbsentError, ExistsError, IsFolderError, NotFolderError

__all__ = [
    "beside",
    "check_writable",
    "refuse_devices",
    "refuse_pipes",
    "replacing",
    "replacing_folder",
    "resolved",
    "sweep",
    "write_whole",
]

# Processes on other machines may write to the same folder, with the same process ids.
MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
# Process ids are reused, immediately if a container is restarted.
LIFE = secrets.token_hex(4)
# Process, life and ending of a hidden name, after its machine.
MARK = re.compile(r"(\d+)\.([0-9a-f]{8})\.\d+\.(tmp|old)")
# Maximum number of links to follow.
MOST_LINKS = 40


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name, renamed to `path` on success and removed on failure.

    The temporary file exists and is empty.  An older file is kept until the new one is complete and
    on disk; the new file gets its permissions.  If `path` is a link, its target is replaced.
    """
    path = _followed(path)
    if path.is_dir():
        raise IsFolderError(f"{path} is a folder", "must be a file", "choose a file name")
    refuse_devices(path)
    sweep(path)
    temporary = beside(path)
    try:
        with _naming(path, temporary):
            # Never opens a file that others may have put there, such as a link.
            temporary.touch(exist_ok=False)
            yield temporary
            _to_disk(temporary)
            with suppress(FileNotFoundError):
                _pass_permissions(path, temporary)
            temporary.replace(path)
    finally:
        with suppress(OSError):  # for example if the disk has become read-only
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, ours: Collection[str]) -> Iterator[Path]:
    """Yield a temporary folder, renamed to `path` on success and removed on failure.

    An older folder of that name is kept until the new one is complete.  It is replaced only if
    all names in it are among `ours`, because anything else would be lost.
    """
    path = _followed(path)
    sweep(path, ours)
    if path.exists() and not path.is_dir():
        raise NotFolderError(f"{path} is a file", "must be a folder", "choose another name")
    inside = sorted(entry.name for entry in path.iterdir()) if path.exists() else []
    for other in (name for name in inside if name not in ours):
        found = f"{path} contains {other!r}, which would be deleted"
        raise ExistsError(found, remedy="choose another folder")
    temporary = beside(path)
    try:
        with _naming(path, temporary):
            temporary.mkdir(parents=True)
            yield temporary
            for file in temporary.rglob("*"):
                _to_disk(file)
            _take_the_place(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step; its folder is created if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def check_writable(path: Path) -> None:
    """Raise an `OSError` now, rather than after a long fit, if `path` cannot be written."""
    temporary = beside(path)
    with _naming(path, temporary):
        temporary.touch(exist_ok=False)
        temporary.unlink()


def refuse_pipes(path: Path) -> None:
    """Raise an `OSError` for a device, pipe or socket: reading it could wait forever."""
    if _is_special(path):
        raise OSError(errno.EINVAL, "It is a device, pipe or socket", str(path))


def resolved(path: Path) -> Path:
    """The absolute path, with links resolved."""
    try:
        return Path(os.path.realpath(path))
    except FileNotFoundError:  # the current folder was removed
        found = f"The current folder no longer exists, so {str(path)!r} cannot be written"
        raise AbsentError(found, remedy="change to a folder that exists") from None


def beside(path: Path, ending: str = "tmp") -> Path:
    """Make a hidden, unpredictable name in the same folder, marked with this process."""
    mark = f"{MACHINE}.{os.getpid()}.{LIFE}.{secrets.randbits(64)}"
    return path.with_name(f".{path.name}.{mark}.{ending}")


def sweep(path: Path, ours: Collection[str] = ()) -> None:
    """Remove leftovers of killed processes; restore folders whose replacement was interrupted."""
    # Files that cannot be read or removed are harmless: new files have other names.
    with suppress(OSError):
        start = f".{path.name}.{MACHINE}."
        with os.scandir(path.parent) as entries:
            names = sorted(entry.name for entry in entries if entry.name.startswith(start))
        for name in names:
            made = MARK.fullmatch(name, len(start))
            if made is not None and not _is_alive(int(made[1]), made[2]):
                with suppress(OSError):
                    _take_away(path.with_name(name), made[3], path, ours)


def _take_away(left: Path, ending: str, path: Path, ours: Collection[str]) -> None:
    making = tuple(f".{our}.{MACHINE}." for our in ours)
    if left.is_symlink() or not left.is_dir():
        left.unlink()
    elif any(e.name not in ours and not e.name.startswith(making) for e in left.iterdir()):
        return  # another user may have chosen such a name
    elif ending == "old" and not path.exists():
        left.rename(path)
    else:
        shutil.rmtree(left)


@contextmanager
def _naming(path: Path, temporary: Path) -> Iterator[None]:
    """Make errors of the system name the requested file, not the temporary one."""
    try:
        yield
    except OSError as error:
        about = str(error.filename or temporary)
        if error.errno is None or not about.startswith(str(temporary)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_alive(process: int, life: str) -> bool:
    if process == os.getpid():
        return life == LIFE
    if os.name == "nt":  # os.kill would end the process there
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        pass
    return True


def _to_disk(path: Path) -> None:
    """Flush to disk; otherwise a crash of the machine may leave an empty file."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _followed(path: Path) -> Path:
    """The target of a path; links of other users in world-writable folders are not followed."""
    for _ in range(MOST_LINKS):
        path = resolved(path.parent) / path.name
        if not path.is_symlink():
            break
        link, folder = path.lstat(), path.parent.stat()
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        user = os.geteuid() if hasattr(os, "geteuid") else 0  # where all files belong to user 0
        if shared and link.st_uid not in (user, folder.st_uid):
            raise PermissionError(errno.EACCES, "It is a link owned by another user", str(path))
        path = path.parent / path.readlink()
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return resolved(path)


def _pass_permissions(old: Path, new: Path) -> None:
    """Copy permissions; from a file of another user, only those that a new file has anyway."""
    before, now = old.stat(), new.stat()
    kept = stat.S_IMODE(before.st_mode) & 0o777
    if before.st_uid != now.st_uid:
        kept &= now.st_mode
    new.chmod(kept)


def refuse_devices(path: Path) -> None:
    """Raise an error for a device, which would be replaced by a file if rights allow it."""
    if _is_special(path):
        raise ExistsError(f"{path} is a device, pipe or socket", "", "choose the name of a file")


def _is_special(path: Path) -> bool:
    return path.exists() and not (path.is_file() or path.is_dir())


def _take_the_place(new: Path, path: Path) -> None:
    """Replace a folder by two renames, because one cannot replace a non-empty folder."""
    aside = beside(path, "old")
    if path.exists():
        path.rename(aside)
    try:
        new.rename(path)
    except OSError:
        if aside.exists():
            aside.rename(path)
        raise
    shutil.rmtree(aside, ignore_errors=True)
