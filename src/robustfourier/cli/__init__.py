"""The command line: parse, call one function, print. The only home of typer.

Exit codes: 0 ok, 1 failure, 2 usage, 3 bad data (or a bad model file), 130 interrupted.
"""

from robustfourier.cli.program import main

__all__ = ["main"]
