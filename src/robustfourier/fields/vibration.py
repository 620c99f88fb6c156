"""Vibration of rotating machines: envelopes, orders, and the lines that bearings and gears make.

A damaged bearing strikes at the rate of its geometry and lets a resonance ring; the rate is in the
envelope of that resonance, not in the signal itself. Kinematics as in [1]_.

References
----------
.. [1] R. B. Randall and J. Antoni, Rolling element bearing diagnostics: a tutorial, Mech. Syst.
       Signal Process. 25 (2011).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.errors import DataError, InputError
from robustfourier.formatting import SECONDS
from robustfourier.samples import Samples

_LENGTHS = (16, 24, 32, 48, 64, 96, 128)  # of short spectra: a strike rings for some dozens
_EVEN = 1e-3  # of a step
_SIDES = 3  # sidebands to each side
_ORDERS = 10  # harmonics of a characteristic line that are named
_SLIP = 0.02  # rolling elements slip by a percent or two


@dataclass(frozen=True)
class Bearing:
    """Geometry of a rolling-element bearing whose outer ring stands still.

    Parameters
    ----------
    elements : int
        Number of balls or rollers.
    diameter, pitch : float
        Of an element and of the circle of their centres, in one unit.
    angle : float
        Contact angle in degrees.

    Examples
    --------
    >>> {name: round(order, 2) for name, order in Bearing(9, 7.94, 39.04).orders().items()}
    {'FTF': 0.4, 'BSF': 2.36, 'BPFO': 3.58, 'BPFI': 5.42}
    """

    elements: int
    diameter: float
    pitch: float
    angle: float = 0.0

    def __post_init__(self) -> None:
        if self.elements < 1 or not 0.0 < self.diameter < self.pitch:
            raise InputError(
                f"bearing {self.elements},{self.diameter},{self.pitch}: give the number of "
                "elements, their diameter and the larger pitch diameter, such as 9,7.94,39.04"
            )

    def orders(self) -> dict[str, float]:
        """Cage (FTF), element spin (BSF), outer and inner race (BPFO, BPFI), in shaft orders."""
        ratio = self.diameter / self.pitch * np.cos(np.deg2rad(self.angle))
        return {
            "FTF": float(0.5 * (1.0 - ratio)),
            "BSF": float(0.5 * self.pitch / self.diameter * (1.0 - ratio**2)),
            "BPFO": float(0.5 * self.elements * (1.0 - ratio)),
            "BPFI": float(0.5 * self.elements * (1.0 + ratio)),
        }


def characteristic_lines(
    frequencies: FloatArray, shaft: float, bearing: Bearing | None = None, teeth: int | None = None
) -> list[str]:
    """Names of lines of a machine: shaft orders, gear mesh and bearing lines with their sidebands.

    Parameters
    ----------
    frequencies : ndarray of shape (M,)
    shaft : float
        Frequency of the shaft, in the same unit.
    bearing : Bearing, optional
    teeth : int, optional
        Of a gear on the shaft.

    Returns
    -------
    list of str
        "BPFO", "2×BPFI", "mesh", "BPFI - 1×shaft" (a sideband), "3×shaft", or "" where nothing
        fits: within two percent of a bearing line, which slips, else half a percent.

    Examples
    --------
    >>> lines = np.array([25.0, 96.0, 135.6, 600.0, 625.0])
    >>> characteristic_lines(lines, 25.0, Bearing(9, 7.94, 39.04), teeth=24)
    ['1×shaft', '', 'BPFI', 'mesh', 'mesh + 1×shaft']
    """
    if not shaft > 0:
        raise InputError(f"shaft={shaft!r} must be a positive frequency")
    lines: list[tuple[float, float, str]] = []  # order, reach, name; the plainest first
    lines += [(float(n), 0.005, f"{n}×shaft") for n in range(1, _ORDERS + 1)]
    named = {} if teeth is None else {"mesh": (float(teeth), 0.005)}
    if bearing is not None:
        named |= {name: (order, _SLIP) for name, order in bearing.orders().items()}
    lines += [
        (n * order, slip, f"{n}×{name}" if n > 1 else name)
        for n in range(1, _ORDERS)
        for name, (order, slip) in named.items()
    ]
    for name, (order, slip) in named.items():
        if name in ("mesh", "BPFI"):  # what turns through the load is modulated by it
            lines += [
                (order + sign * k, slip, f"{name} {'+' if sign > 0 else '-'} {k}×shaft")
                for k in range(1, _SIDES + 1)
                for sign in (-1, 1)
                if order > k
            ]
    return [_nearest(float(f) / shaft, lines) for f in frequencies]


@dataclass(frozen=True)
class Machine:
    """What turns: the frequency of a shaft in Hz, and the bearing and gear on it.

    Examples
    --------
    >>> Machine.of(25.0, "9,7.94,39.04", None).names(np.array([25.0, 135.6]))
    ['1×shaft', 'BPFI']
    """

    shaft: float
    bearing: Bearing | None = None
    teeth: int | None = None

    @classmethod
    def of(cls, shaft: float | None, bearing: str | None, teeth: int | None) -> Machine | None:
        """The machine that the options of the command line describe; None without a shaft."""
        if shaft is None:
            if bearing is not None or teeth is not None:
                raise InputError("--bearing and --teeth need --shaft, its frequency in Hz")
            return None
        if not 0 < shaft < np.inf:
            raise InputError(f"--shaft {shaft} must be a positive frequency in Hz")
        if bearing is None:
            return cls(shaft, None, teeth)
        try:
            elements, *sizes = (float(part) for part in bearing.split(","))
            return cls(shaft, Bearing(int(elements), *sizes), teeth)
        except (TypeError, ValueError) as error:
            words = (
                error if isinstance(error, InputError) else "give 9,7.94,39.04 or 9,7.94,39.04,0"
            )
            raise InputError(f"--bearing {bearing!r}: {words}") from None

    def names(self, hertz: FloatArray) -> list[str]:
        """Names of lines; see `characteristic_lines`."""
        return characteristic_lines(hertz, self.shaft, self.bearing, self.teeth)


def _nearest(order: float, lines: list[tuple[float, float, str]]) -> str:
    """The line that is nearest within its reach; of equally near ones the plainest."""
    apart = [(round(abs(order - at) / at / reach, 6), n) for n, (at, reach, _) in enumerate(lines)]
    off, n = min(apart)
    return lines[n][2] if off <= 1.0 else ""


def strongest_resonance(values: FloatArray, rate: float) -> tuple[float, float]:
    """Band of the strongest resonance: where short spectra are most impulsive.

    The spectral kurtosis of a band is ⟨|X|⁴⟩ / ⟨|X|²⟩² - 2 over short spectra X: zero for steady
    noise, with variance 4 / N for N spectra, and large where a resonance rings again and again.
    Spectra of several lengths are tried (a kurtogram), and the most significant is taken.
    """
    from scipy import signal  # late: it loads scipy.stats

    best, band = -np.inf, (0.0, 0.0)
    for length in _LENGTHS:
        frequency, _, spectra = signal.stft(
            values, rate, nperseg=length, boundary=None, padded=False
        )
        power = np.abs(spectra) ** 2
        floor = np.finfo(float).tiny
        kurtosis = (power**2).mean(axis=1) / np.maximum(power.mean(axis=1) ** 2, floor) - 2.0
        score = kurtosis[2:-2] * (0.25 * power.shape[1]) ** 0.5  # without level and Nyquist
        at = int(np.argmax(score))
        if score[at] > best:
            wide = 1.5 * rate / length  # of the window
            best, band = score[at], (frequency[at + 2] - wide, frequency[at + 2] + wide)
    return float(band[0]), float(min(band[1], 0.49 * rate))


def band_of(text: str) -> tuple[float, float] | None:
    """Ends of a band as written: "2000-4000"; None for "auto", which finds one.

    >>> band_of("2000-4000"), band_of("auto")
    ((2000.0, 4000.0), None)
    """
    if text.strip().lower() == "auto":
        return None
    try:
        low, high = (float(part) for part in text.replace("–", "-").split("-"))
    except ValueError:
        low = high = np.nan
    if not 0 < low < high < np.inf:
        raise InputError(f"--envelope {text!r}: give LOW-HIGH in Hz, such as 2000-4000, or auto")
    return low, high


def envelope_signal(samples: Samples, band: tuple[float, float] | None = None) -> Samples:
    """The squared envelope of a band of an evenly sampled signal, itself a record.

    |x + iH(x)|² of the signal filtered to the band (H: Hilbert transform), with the mean over
    runs of samples, as many as its bandwidth leaves.

    Parameters
    ----------
    samples : Samples
        Evenly sampled, in a known unit of time or in seconds.
    band : (float, float), optional
        In Hz; by default the band of the strongest resonance.
    """
    unit = SECONDS.get(samples.unit, 1.0)
    if samples.dates:
        raise DataError(f"{samples.source}: an envelope needs times in seconds, not dates")
    times = np.asarray(samples.times, np.float64) * unit
    steps = np.diff(times)
    if len(times) < 64 or np.ptp(steps) > _EVEN * np.median(steps) * len(steps) ** 0.5:
        raise DataError(
            f"{samples.source}: an envelope needs 64 or more evenly spaced samples; give --rate, "
            "or leave out --envelope"
        )
    rate = 1.0 / float(np.mean(steps))
    values = samples.values - np.mean(samples.values)
    low, high = strongest_resonance(values, rate) if band is None else band
    if not high < 0.5 * rate:
        raise InputError(
            f"--envelope {low:g}-{high:g}: must end below half of the {rate:g} samples per second"
        )
    spectrum = np.fft.fft(values)
    frequency = np.fft.fftfreq(len(values), 1.0 / rate)
    inside = (frequency >= low) & (frequency <= high)
    envelope = np.abs(np.fft.ifft(np.where(inside, 2.0 * spectrum, 0.0))) ** 2
    every = max(int(rate / (2.56 * (high - low))), 1)  # its band ends at the width
    count = len(envelope) // every * every
    mean = envelope[:count].reshape(-1, every).mean(axis=1)
    middle = np.asarray(samples.times, np.float64)[:count].reshape(-1, every).mean(axis=1)
    how = "found by spectral kurtosis" if band is None else "as given"
    note = f"squared envelope of {low:g} to {high:g} Hz, {how}"
    return replace(
        samples,
        times=middle,
        values=mean,
        errors=None,
        value_name=f"envelope of {samples.value_name}",
        error_name=None,
        unit=samples.unit or "second",
        notes=(*samples.notes, note),
    )
