"""The rivals and us: one file each, named in the order of the tables."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module, metadata
from typing import cast

from benchmarks.peers.method_interface import Method

ALL = (
    "ours", "ours_integer", "limit", "lombscargle", "lombscargle_refined", "nifty_refined",
    "fft_threshold", "lasso_cv", "lasso_lars_ic", "omp_cv", "skglm_mcp", "abess_pairs",
    "abess_families", "pyriodicity_auto", "mstl", "prophet", "utide", "net_standard",
    "net_siren", "net_random_features", "paper_u0_diag", "paper_u1_diag",
)  # fmt: skip

#: What a method does not say: it is given nothing, takes any times, and runs on all problems.
UNSAID = {"HINTS": "", "EVEN_ONLY": False, "BUDGET": "all"}


def load(key: str) -> Method:
    """Import a method's module; what it needs is imported only when it fits."""
    module = import_module(f"benchmarks.peers.methods.{key}")
    for name, value in UNSAID.items():
        vars(module).setdefault(name, value)
    return cast(Method, module)


def versions(method: Method) -> dict[str, str]:
    """Versions of the distributions a method needs, without those that are not installed."""
    found = {}
    for package in method.PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
