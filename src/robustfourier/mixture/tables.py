"""What the models of several columns say together: shares of the variation, and one mode table."""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.labels import label
from robustfourier.mixture.model import ColumnModel
from robustfourier.modes import ModeTable
from robustfourier.periodic.uncertainty import amplitude_errors, mode_errors, phase_errors


def shares(models: list[ColumnModel]) -> list[FloatArray]:
    """Return the share of the variation that each component of each column explains, (C, q) each.

    The variation of one column's fit is what the columns before it have left over. Where a
    component takes back a part of another (a day beside the day of a week), its own share is
    nothing, and the others share what all of them explain together.
    """
    powers = [np.zeros((m.n_components, 1)) if m.power is None else m.power for m in models]
    last = models[-1].variation
    whole = (0.0 if last is None else last) + sum(power.sum(axis=0) for power in powers[:-1])
    whole = np.where(whole > 0, whole, np.inf)
    together = np.maximum(sum(power.sum(axis=0) for power in powers), 0.0)
    alone = sum(np.maximum(power, 0.0).sum(axis=0) for power in powers)
    part = np.where(alone > together, together / np.where(alone > 0, alone, 1.0), 1.0)
    return [np.clip(part * power / whole, 0.0, 1.0) for power in powers]


def mode_table(models: list[ColumnModel], single: bool) -> ModeTable:
    """Join the tables of all columns; with `single`, columns of one output are flat."""
    parts, tables = [], []
    bases = components = 0
    for column, model in enumerate(models):
        parts.append(_columns(model, bases, components, column))
        bases, components = bases + len(model.bases), components + model.n_components
    for model, part in zip(models, parts, strict=True):
        if single:
            flat = ("cosine", "sine", "amplitude_error", "phase_error")
            part.update({name: part[name][:, 0] for name in flat})
        if len(models) == 1:
            del part["column"]
        tables.append(ModeTable.build(span=model.domain.span, unit=model.domain.unit, **part))
    return ModeTable.stack(tables)


def _columns(
    model: ColumnModel, first_base: int, first_component: int, column: int
) -> dict[str, Any]:
    """Return the columns of a `ModeTable` for the significant lines."""
    listed = np.flatnonzero(np.isfinite(model.false_alarm))
    p = len(model.trend)
    harmonics = model.harmonics
    if harmonics is None:
        harmonics = model.order[:, None] * model.rows[model.component]
    error = mode_errors(harmonics, model.base_covariance)
    amplitude = amplitude_errors(model.lines, model.factor, p)
    phase = phase_errors(model.lines, model.factor, p)
    names = [label([0] * first_base + harmonics[i].tolist()) for i in listed]
    return {
        "mode": model.lines.mode[listed],
        "cosine": model.lines.cosine[listed],
        "sine": model.lines.sine[listed],
        "mode_error": error[listed],
        "amplitude_error": amplitude[listed],
        "phase_error": phase[listed],
        "false_alarm": model.false_alarm[listed],
        "component": first_component + model.component[listed],
        "harmonic": model.order[listed],
        "label": np.array(names, dtype=str),
        "column": np.full(len(listed), column),
    }
