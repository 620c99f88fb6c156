"""Components: the repeating patterns of a model, as a tuple that is also a table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from robustfourier.mixture.component import Component
from robustfourier.wording import percent


class Components(tuple[Component, ...]):
    """A tuple of `Component`, the strongest first, combination tones last.

    Examples
    --------
    >>> Components().to_frame().columns[:4].tolist()
    ['label', 'period', 'period_error', 'unit']
    """

    __slots__ = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pattern; the share of each of several outputs is a column."""
        names = ("label", "period", "period_error", "unit", "frequency", "frequency_error")
        frame = {
            name: [getattr(c.domain if name == "unit" else c, name) for c in self] for name in names
        }
        shares = np.array([np.atleast_1d(c.share) for c in self] or np.zeros((0, 1)))
        outputs = [""] if shares.shape[1] < 2 else [f"_{i}" for i in range(shares.shape[1])]
        for i, name in enumerate(outputs):
            frame[f"share{name}"] = list(shares[:, i]) if len(self) else []
        frame["harmonics"] = [" ".join(map(str, c.harmonics)) for c in self]
        frame["epoch"] = [c.epoch for c in self]
        return pd.DataFrame(frame)

    def _repr_html_(self) -> str:
        rows = [
            {
                "": c.label,
                "period": c.domain.period_words(c.period, c.period_error, spread=True),
                "share": ", ".join(percent(share) for share in np.ravel(c.share).tolist()),
                "harmonics": ", ".join(map(str, c.harmonics)),
            }
            for c in self
        ]
        if not rows:
            return "<p>No repeating pattern.</p>"
        return pd.DataFrame(rows).to_html(index=False, escape=True)
