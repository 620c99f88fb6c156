"""Die before the given one of all steps that touch the disk; for programs that tests start."""

import itertools
import os
import signal

from robustfourier import atomic_files

STEPS = ["open", "fsync", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "chmod"]


def kill_at(step):
    count = itertools.count(1)

    def dying(call):
        def called(*args, **kwargs):
            if next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **kwargs)

        return called

    for name in STEPS:
        setattr(os, name, dying(getattr(os, name)))
    atomic_files._exchange_at_once = dying(atomic_files._exchange_at_once)
