"""How much memory may be taken, checked *before* it is taken.

An array that does not fit ends in a killed process, without a word. Whoever allocates something
whose size the user chose (modes × samples) asks here first and raises `OutOfMemoryError` with
the number of bytes. By hand: psutil does not know the limit of a container.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

from robustfourier.errors import OutOfMemoryError

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """Return the bytes that can still be allocated, or None where the system does not say.

    The smaller of what the kernel calls available and what is left of a container's limit.
    """
    known = [value for value in (_kernel_available(), _container_left()) if value is not None]
    return min(known) if known else _physical()


def require_bytes(n_bytes: int, *, what: str, remedy: str) -> None:
    """Raise `OutOfMemoryError` if `n_bytes` for `what` are more than `available_bytes`.

    >>> require_bytes(8, what="one number", remedy="buy a bigger computer")
    """
    available = available_bytes()
    if available is not None and n_bytes > available:
        raise OutOfMemoryError(
            f"{what} needs {n_bytes} bytes ({n_bytes / 1e9:.3g} GB) but only {available} bytes "
            f"({available / 1e9:.3g} GB) are available; {remedy}"
        )


def give_back() -> None:
    """Return memory that was freed to the system; allocators keep it otherwise, for the next time.

    Worth its milliseconds between two stages that need much memory of different kinds.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError, TypeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)


def _kernel_available() -> int | None:
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _container_left() -> int | None:
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = (_CGROUP / "memory.current").read_text().strip()
    except OSError:
        return None
    return None if limit == "max" else max(int(limit) - int(used), 0)


def _physical() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
