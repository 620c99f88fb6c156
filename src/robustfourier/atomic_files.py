"""The one way to write a file: whole or not at all, by one process at a time.

A file is written beside its place as ``.<name>.part``, forced to the disk and renamed, which is one
step. Whatever fails before that, the earlier file stays as it was. A process that is killed leaves
its part behind; the next one that writes to the same place takes it over, so parts never pile up.
"""

from __future__ import annotations

import ctypes
import errno
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from robustfourier.errors import OutputError, RunLockedError

fcntl: Any = None
with suppress(ImportError):  # Windows
    import fcntl

_FAR = 2**31 - 2  # a byte that no file of ours has: Windows refuses to read or write a locked one


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its place when the block ends, unless it ends with an error.

    An earlier file is replaced; a symbolic link, folder or device is refused. What the system
    refuses is an `OutputError` that names `path`, with the system's error as its cause.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"1 2 3")
    >>> target.read_text()
    '1 2 3'
    """
    target = Path(path)
    part = target.with_name(f".{target.name}.part")
    try:
        mode = _mode(target)
        with locked(part, f"cannot write {str(target)!r}: another process is writing it") as file:
            file.truncate()
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.chmod(part, mode)
            if os.name == "nt":  # which renames no open file
                file.close()
            os.replace(part, target)
        _sync_folder(target.parent)
    except OSError as error:
        raise OutputError(
            f"cannot write {str(target)!r} ({reason(error)}); choose another place"
        ) from error


@contextmanager
def results_in(folder: str | os.PathLike[str], remedy: str) -> Iterator[None]:
    """Tell errors of the system with the user's path of a folder of results, and a remedy."""
    try:
        yield
    except OSError as error:
        if isinstance(error, OutputError) and error.__cause__ is None:
            raise
        raise OutputError(
            f"cannot write results to {str(folder)!r} ({reason(error)}); {remedy}"
        ) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, whatever the locale; what UTF-8 does not know becomes a ``?``."""
    with replacing(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def append_line(path: str | os.PathLike[str], line: str) -> None:
    """Add one line to a file that only grows, and force it to the disk.

    A process that is killed leaves whole lines, and at most one torn line at the end; the next
    line starts on a line of its own.
    """
    with open(path, "a+b") as file:
        torn = False
        if file.tell():
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
        file.write(b"\n" * torn + line.encode("utf-8", errors="replace") + b"\n")
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def locked(path: Path, busy: str) -> Iterator[BinaryIO]:
    """Hold a file that nobody else holds; it is made before and removed afterwards.

    The operating system keeps the lock and ends it with the process, however that ends. If another
    process, or another place in this one, holds the file, `RunLockedError` says `busy`. By hand:
    the library filelock locks a further file, which it leaves behind.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        with os.fdopen(os.open(path, flags, 0o666), "r+b") as file:
            if not _locks(file):
                raise RunLockedError(busy)
            if not _is_at(file, path):
                continue  # its holder removed or renamed it between our two steps
            try:
                yield file
            finally:
                ours = _is_at(file, path)  # else it was renamed, and the name may be another's now
                refused: tuple[type[OSError], ...] = ()
                if os.name == "nt":  # which removes no open file, and another may open it now
                    file.close()
                    refused = (PermissionError,)
                if ours:
                    with suppress(*refused):
                        path.unlink(missing_ok=True)
            return


def _locks(file: BinaryIO) -> bool:
    """Lock an open file until it is closed; False if somebody else holds it."""
    try:
        if fcntl is None:
            _lock_on_windows(file)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_on_windows(file: BinaryIO) -> None:
    import msvcrt  # Windows' own

    file.seek(_FAR)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError as error:  # EACCES or EDEADLOCK: somebody holds it
        raise BlockingIOError(*error.args) from None
    file.seek(0)


def exchange(new: Path, old: Path) -> None:
    """Let two folders change places in one step; if there is no old one, the new one moves there.

    Where the system has no such step (it is Linux's) there are two, and between them no `old`.
    """
    if not old.exists():
        os.rename(new, old)
    elif not _exchange_at_once(new, old):
        aside = new.with_name(f"{new.name}.old")
        for source, target in ((old, aside), (new, old), (aside, new)):
            os.rename(source, target)
    _sync_folder(old.parent)


def refuse_inputs(out: Path, *inputs: str | None) -> None:
    """Raise `OutputError` if a file that would be written is one that is read."""
    for path in inputs:
        if path is not None and os.path.exists(path) and out.exists() and out.samefile(path):
            raise OutputError(f"{str(out)!r} is the input itself; choose another place with --out")


def plain(value: Any) -> Any:
    """A value as JSON can hold it: NaN and infinity as None, what it does not know as text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def reason(error: OSError) -> str:
    """What the operating system said, without the name of any file."""
    while error.strerror is None and isinstance(error.__cause__, OSError):
        error = error.__cause__
    return error.strerror or str(error)


def _exchange_at_once(new: Path, old: Path) -> bool:
    here, both = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of <linux/fs.h>
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if rename(here, os.fsencode(new), here, os.fsencode(old), both) == 0:
        return True
    if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL):  # an old kernel, or a network's disk
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _is_at(file: BinaryIO, path: Path) -> bool:
    with suppress(OSError, ValueError):  # no such file, or ours is closed
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    return False


def _mode(target: Path) -> int | None:
    """Permissions of the file that will be replaced; None if there is none."""
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return None
    except ValueError as error:  # a NUL in the name
        raise OSError(None, str(error)) from None
    if not stat.S_ISREG(mode):
        what = "a symbolic link" if stat.S_ISLNK(mode) else "no regular file"
        raise OSError(None, f"it is {what}")
    return stat.S_IMODE(mode)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system lets one open a folder
        handle = os.open(folder, os.O_RDONLY)
        with suppress(OSError):
            os.fsync(handle)
        os.close(handle)
