"""The program as a command, for tests that run it in a process of its own."""

import sys

PROGRAM = [sys.executable, "-m", "robustfourier.cli"]
