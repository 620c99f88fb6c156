"""Detection: the result of the search for lines, in units of y and in modes."""

from __future__ import annotations

from dataclasses import dataclass

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.least_squares.lines import Lines
from robustfourier.mixture.search.aliases import Alias, alias_notes
from robustfourier.mixture.search.noise import NoiseFloor
from robustfourier.mixture.trend import Trend
from robustfourier.spectral.flow import DiagonalFlow
from robustfourier.spectral.limits import ModeLimit

__all__ = ["Detection", "notes_for"]


@dataclass(frozen=True)
class Detection:
    """The lines that noise cannot explain, the trend and the noise, in units of y.

    Parameters
    ----------
    lines : Lines
        Found and known lines, by ascending mode.
    known : ndarray of bool, shape (K,)
        Lines that were given.
    mode_error : ndarray of shape (K,)
        Standard errors of the modes; zero for known and for integer modes.
    amplitude_error, phase_error : ndarray of shape (K, q)
        Standard errors under the noise at each line.
    false_alarm : ndarray of shape (K,)
        Probability that noise alone shows a line as strong anywhere in the range searched.
    strength : ndarray of shape (K,)
        Power of each line over the noise floor.
    trend : Trend
    noise : ndarray of shape (q,)
        Standard deviation of the residual.
    floor : NoiseFloor
        Noise power as a function of the mode, in units of y²/scale².
    scale : ndarray of shape (q,)
        The unit of each output's powers.
    theta, values, weights : ndarray of shape (m,), (m, q), (m,)
        The rows that least squares was done on: sorted, equal rows merged, outliers pulled in.
    original : ndarray of shape (m, q)
        The values of those rows as they were given.
    limit : ModeLimit
        Highest mode searched, and why.
    flow : DiagonalFlow or None
        The diagonal flow that proposed first.
    aliases : tuple of Alias
        What each line could be instead.
    huber : bool
        Whether outliers were pulled in.
    rounds : int
        Rounds of propose, refine, test.
    notes : tuple of str
        What the user should know, in words.
    """

    lines: Lines
    known: BoolArray
    mode_error: FloatArray
    amplitude_error: FloatArray
    phase_error: FloatArray
    false_alarm: FloatArray
    strength: FloatArray
    trend: Trend
    noise: FloatArray
    floor: NoiseFloor | None
    scale: FloatArray
    theta: FloatArray
    values: FloatArray
    weights: FloatArray
    original: FloatArray
    limit: ModeLimit
    flow: DiagonalFlow | None
    aliases: tuple[Alias, ...]
    huber: bool
    rounds: int
    notes: tuple[str, ...]

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return trend plus lines at `theta`, shape (n, q)."""
        return self.trend.evaluate(theta) + self.lines.evaluate(theta)


def notes_for(
    limit: ModeLimit, aliases: tuple[Alias, ...], n_lines: int, max_lines: int
) -> tuple[str, ...]:
    """Say what the user should know."""
    notes = [f"searched up to mode {limit.max_mode:.6g}: {limit.rule}"]
    if n_lines and n_lines >= max_lines:
        notes.append(f"stopped at {n_lines} lines, as many as these samples can bear")
    notes.extend(alias_notes(aliases))
    if limit.nyquist is not None and n_lines:
        notes.append(
            f"even sampling: a mode k cannot be told from {2 * limit.nyquist:.6g} − k; "
            "the lower one is reported"
        )
    return tuple(notes)
