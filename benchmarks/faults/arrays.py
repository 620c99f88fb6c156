"""Odd arrays in the hands of both estimators: fitted, or refused by an error of ours."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.faults.cases import Case
from robustfourier.errors import RobustFourierError

_N = 40
_T = np.arange(float(_N))


class _Evil:
    """Fails in a way of its own when it is asked for numbers."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no")


class _Half:
    """Has a length and no rows."""

    def __len__(self) -> int:
        return _N

    def __getitem__(self, _: Any) -> Any:
        raise ZeroDivisionError


def _dates() -> Any:
    return pd.date_range("2020", periods=_N)


#: Kinds by name; each is made anew, since some can be read only once.
KINDS: dict[str, Callable[[], Any]] = {
    "numbers": lambda: _T,
    **{f"as {kind}": (lambda kind=kind: _T.astype(kind)) for kind in
       ("i1", "u8", "f2", "g", ">f8", "c16", "?", "U", "S", "O", "M8[D]", "M8[Y]", "m8[s]")},
    **{f"times {x}": (lambda x=x: _T * float(x)) for x in ("nan", "inf", "1e306", "1e-320", "0")},
    "one far away": lambda: np.r_[_T[:-1], 1e6],
    "pairs": lambda: _T - np.where(_T % 2, 1.0 - 1e-6, 0.0),
    "coarser and coarser": lambda: 1.9**_T,
    "bursts": lambda: 1e5 * (_T // 5) + 1e-3 * (_T % 5),
    "alternating": lambda: (-1.0) ** _T,
    "a step": lambda: (_T > 20) * 1.0,
    "one peak": lambda: (_T == 20) * 1e9,
    "attoseconds": lambda: np.arange(_N).astype("M8[as]"),
    "no times": lambda: np.full(_N, "NaT", "M8[ns]"),
    "nothing": lambda: None,
    "Nones": lambda: np.full(_N, None),
    "objects": lambda: np.array([object()] * _N),
    "whole numbers beyond 64 bits": lambda: np.array([10**30 + i for i in range(_N)], object),
    "decimals": lambda: np.array([decimal.Decimal(i) for i in range(_N)]),
    "days": lambda: np.array([datetime.date(2020, 1, 1 + i % 28) for i in range(_N)]),
    "text and numbers": lambda: np.array([1, "a", None, 2.5] * (_N // 4), object),
    "surrogates": lambda: np.array(["\ud800"] * _N, object),
    "records": lambda: np.zeros(_N, [("a", "f8"), ("b", "i4")]),
    "bytes": lambda: np.zeros(_N, "V8"),
    **{f"{n} rows": (lambda n=n: _T[:n]) for n in range(4)},
    "no dimensions": lambda: np.array(3.0),
    "three dimensions": lambda: _T[:, None, None],
    "two columns": lambda: np.c_[_T, _T],
    "a matrix": lambda: np.matrix(_T).T,
    "masked": lambda: np.ma.array(_T, mask=_T < 3),
    "all masked": lambda: np.ma.array(_T, mask=True),
    "a list": lambda: list(_T),
    "a ragged list": lambda: [[1], [1, 2]] * (_N // 2),
    "a set": lambda: set(_T),
    "a dictionary": lambda: {"a": _T},
    "a generator": lambda: (x for x in _T),
    "a number": lambda: 3.0,
    "a text": lambda: "abc",
    "a function": lambda: len,
    "a buffer": lambda: memoryview(_T),
    "a series": lambda: pd.Series(_T),
    "categories": lambda: pd.Series(pd.Categorical(_T)),
    "missing whole numbers": lambda: pd.Series([None, *range(_N - 1)], dtype="Int64"),
    "periods": lambda: pd.Series(pd.period_range("2020", periods=_N, freq="D")),
    "intervals": lambda: pd.Series(pd.interval_range(0, _N)),
    "dates of a zone": lambda: pd.Series(_dates().tz_localize("Europe/Berlin")),
    "a table": lambda: pd.DataFrame({"a": _T, "b": ["x", "y"] * (_N // 2)}),
    "an empty table": pd.DataFrame,
    "what raises": _Evil,
    "what has a length alone": _Half,
}  # fmt: skip


class OddArrays:
    """Two of three arguments of `fit` are sound, the third is odd; or all three are."""

    name = "arrays"

    def seeds(self) -> list[Case]:
        """One of each kind in each place, for both estimators."""
        return [
            Case(
                b"", {"network": network, "X": "numbers", "y": "numbers", "w": "nothing", at: kind}
            )
            for network in (False, True)
            for at in ("X", "y", "w")
            for kind in KINDS
        ]

    def change(self, rng: random.Random, case: Case, other: Case) -> Case:
        """Take an argument from another case."""
        at = rng.choice(("X", "y", "w"))
        return Case(b"", {**case.options, at: other.options[at]})

    def run(self, case: Case, place: Path) -> bool:
        """Fit and predict."""
        from robustfourier import FourierNetworkRegressor, PeriodicMixture

        del place
        network = case.options["network"]
        model: Any = (
            FourierNetworkRegressor(n_steps=20, n_modes=5) if network else PeriodicMixture()
        )
        X, y, w = (KINDS[case.options[at]]() for at in ("X", "y", "w"))
        if network and isinstance(X, np.ndarray) and X.ndim == 1:
            X = X[:, None]
        try:
            model.fit(X, y, sample_weight=w)
            model.predict(X)
        except RobustFourierError:
            return False
        return True
