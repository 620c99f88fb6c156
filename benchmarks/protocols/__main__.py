"""Run a protocol: ``python -m benchmarks.protocols periods|stars|forecasts --help``."""

from __future__ import annotations

import sys
from importlib import import_module

PROTOCOLS = ("periods", "stars", "forecasts")


def main(arguments: list[str]) -> int:
    """Hand the arguments to the protocol that comes first."""
    name, *rest = arguments or [""]
    if name not in PROTOCOLS:
        print(f"usage: python -m benchmarks.protocols {{{','.join(PROTOCOLS)}}} [options]",
              file=sys.stderr)  # fmt: skip
        return 2
    # Each alone: rivals of one have no need of the others' packages.
    code: int = import_module(f"benchmarks.protocols.{name}").main(rest)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
