"""The process of one job: it loads the library, waits for an order, works, and ends.

Orders and later commands come as JSON lines on standard input, frames leave as JSON lines on
standard output. When standard input ends, the server is gone, and so is the worker.
"""

from __future__ import annotations

import json
import os
import queue
import select
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

#: What a job of each kind loads, before it is known what it has to do.
_NEEDED = {
    "fit": ("app.fit_job", "app.rhythm_job", "estimators.mixture", "report.page"),
    "laboratory": ("app.laboratory",),
}
_WARM = 5000  # samples: more than those for which sums are added up directly


class _Wire:
    """Frames to the server, each on a line; whatever else prints goes to standard error."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def __call__(self, frame: dict[str, Any]) -> None:
        line = json.dumps(frame, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        with self._lock:
            self._out.write(f"{line}\n")
            self._out.flush()


def main() -> None:
    """Load, say so, and do one job."""
    send = _Wire()
    kind, memory = sys.argv[1:]
    _limit_memory(int(memory))
    for name in _NEEDED[kind]:
        import_module(f"robustfourier.{name}")
    with suppress(OSError):  # Windows, whose pipes cannot be asked
        if not select.select([sys.stdin], [], [], 0.0)[0]:  # nobody waits yet
            _rehearse(kind)
    first = sys.stdin.readline()
    if not first:
        return
    order, commands = json.loads(first), queue.SimpleQueue[dict[str, Any]]()
    threading.Thread(target=_listen, args=(commands,), daemon=True).start()
    _work(order, commands, send)


def _listen(commands: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        commands.put(json.loads(line))
    os._exit(1)  # the server is gone


def _limit_memory(limit: int) -> None:
    """Let the system refuse more than `limit` bytes; zero, or a system without limits: no limit."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _rehearse(kind: str) -> None:
    """Go once through a small job: the first of each kind takes longer."""
    if kind == "fit":
        from robustfourier.app.progress_frames import Frames
        from robustfourier.estimators.mixture import PeriodicMixture
        from robustfourier.observers import observed_by

        with observed_by(Frames(lambda _: None)):
            PeriodicMixture().fit(list(range(_WARM)), [(i * i) % 17 for i in range(_WARM)])
    else:
        from robustfourier.app.laboratory import run_laboratory
        from robustfourier.app.request_checks import checked_laboratory

        few = {"steps": 100, "networks": [{"layers": 1}, {"layers": 1, "diagonal": False}]}
        run_laboratory(checked_laboratory(few), queue.SimpleQueue(), lambda _: None)


def _work(order: dict[str, Any], commands: queue.SimpleQueue[dict[str, Any]], send: _Wire) -> None:
    from robustfourier.app.reading_controls import in_controls
    from robustfourier.errors import RobustFourierError

    try:
        if order["kind"] == "fit":
            _analyse(order, send)
        else:
            from robustfourier.app.laboratory import run_laboratory

            run_laboratory(order["settings"], commands, send)
    except RobustFourierError as error:
        send({"t": "failed", "words": in_controls(str(error))})
    except MemoryError:
        send({"t": "failed", "words": "not enough memory; thin out the data or raise --memory"})
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        words = f"internal error, please report it: {type(error).__name__}: {first}"
        send({"t": "failed", "words": words})


def _analyse(order: dict[str, Any], send: _Wire) -> None:
    """Fit a series of a file, or test known periods in each, and write the result folder."""
    from robustfourier.app.file_preview import preview
    from robustfourier.app.fit_job import run_fit
    from robustfourier.app.page_files import report_policy
    from robustfourier.app.rhythm_job import run_rhythm
    from robustfourier.atomic_files import write_text
    from robustfourier.errors import DataError

    path, run = Path(order["path"]), run_rhythm if "rhythm" in order else run_fit
    try:
        send({"t": "columns", **preview(path, order["reading"])})
        answer = run(order, send)
    except DataError as error:
        raise DataError(str(error).replace(path.name, order["name"])) from None
    # Kept with the result: a later version of the report has other scripts.
    write_text(Path(order["out"]).with_name("policy.txt"), report_policy())
    send({"t": "result", **answer})


if __name__ == "__main__":
    main()
