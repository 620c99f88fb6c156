"""What the models of several columns say together: shares of the variation, and one mode table."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.model import ColumnModel
from robustfourier.modes import ModeTable

__all__ = ["mode_table", "shares"]


def shares(models: list[ColumnModel]) -> list[FloatArray]:
    """Return the share of the variation that each component of each column explains, (C, q) each.

    The variation of one column's fit is what the columns before it have left over.
    """
    powers = [np.zeros((m.n_components, 1)) if m.power is None else m.power for m in models]
    last = models[-1].variation
    whole = (0.0 if last is None else last) + sum(power.sum(axis=0) for power in powers[:-1])
    whole = np.where(whole > 0, whole, np.inf)
    return [np.clip(power / whole, 0.0, 1.0) for power in powers]


def mode_table(models: list[ColumnModel], single: bool) -> ModeTable:
    """Join the tables of all columns; with `single`, columns of one output are flat."""
    parts, tables = [], []
    bases = components = 0
    for column, model in enumerate(models):
        parts.append(model.table(bases, components, column))
        bases, components = bases + len(model.bases), components + model.n_components
    for model, part in zip(models, parts, strict=True):
        if single:
            flat = ("cosine", "sine", "amplitude_error", "phase_error")
            part.update({name: part[name][:, 0] for name in flat})
        if len(models) == 1:
            del part["column"]
        tables.append(ModeTable.build(span=model.domain.span, unit=model.domain.unit, **part))
    return ModeTable.stack(tables)
