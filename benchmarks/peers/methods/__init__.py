"""The rivals and us, in the order of the tables: one file for each kind of method.

A new one is a function ``fit(t, y, hints) -> Fit`` and its `Method`, listed here.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import metadata

from benchmarks.peers.method_interface import Method
from benchmarks.peers.methods import (
    best_subsets,
    even_grids,
    mixture,
    paper_networks,
    prewhitening,
    privileged,
    sparse_regressions,
    torch_networks,
)

FAMILIES = (
    mixture, privileged, prewhitening, even_grids, sparse_regressions, best_subsets,
    torch_networks, paper_networks,
)  # fmt: skip
METHODS: dict[str, Method] = {
    key: method for family in FAMILIES for key, method in family.METHODS.items()
}


def versions(method: Method) -> dict[str, str]:
    """Versions of the distributions a method needs, without those that are not installed."""
    found = {}
    for package in method.packages:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
