"""What a residual r = ŷ − y costs: r² (experiments), ½r² (theory), Huber's (outliers).

A loss is a name and a number, so that compiled code can write it in its own way; `value` and
`slope` are the definition it must agree with. The loss of a batch of B rows with q outputs is
``Σ_b Σ_o ω_b·value(r_bo) / (B·q)`` with row weights ω.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from robustfourier.errors import InputError, require_choice

LossName: TypeAlias = Literal["mean_squared", "half_squared", "huber"]
LOSSES: tuple[str, ...] = get_args(LossName)


@dataclass(frozen=True)
class Loss:
    """A loss for one residual.

    Parameters
    ----------
    name : {"mean_squared", "half_squared", "huber"}
    delta : float, default 1.0
        Where Huber's loss turns from ½r² to δ(|r| − ½δ), in the unit of y; others ignore it.

    Examples
    --------
    >>> import numpy as np
    >>> Loss("huber", delta=1.0).value(np.array([0.5, 3.0]))
    array([0.125, 2.5  ])
    """

    name: LossName = "mean_squared"
    delta: float = 1.0

    def __post_init__(self) -> None:
        require_choice("loss", self.name, LOSSES)
        if not (np.isfinite(self.delta) and self.delta > 0):
            raise InputError(f"delta={self.delta!r} of the Huber loss must be positive")

    def value(self, residual: Any) -> Any:
        """Return the cost of each residual, an array or a tensor as they are."""
        if self.name == "mean_squared":
            return residual**2
        if self.name == "half_squared":
            return 0.5 * residual**2
        inside = abs(residual).clip(max=self.delta)
        return inside * (abs(residual) - 0.5 * inside)

    def slope(self, residual: Any) -> Any:
        """Return the derivative of `value`, an array or a tensor."""
        if self.name == "mean_squared":
            return 2.0 * residual
        if self.name == "half_squared":
            return residual
        return residual.clip(-self.delta, self.delta)
