"""Answers in the form that a field expects: tides, rotating machines, timing, coloured noise."""

from robustfourier.fields.observed_minus_computed import o_minus_c
from robustfourier.fields.red_noise import NoiseColour, noise_colour
from robustfourier.fields.tides import constituent_named, ellipses, harmonic_constants
from robustfourier.fields.vibration import Bearing, Machine, characteristic_lines, envelope_signal

__all__ = [
    "Bearing",
    "Machine",
    "NoiseColour",
    "characteristic_lines",
    "constituent_named",
    "ellipses",
    "envelope_signal",
    "harmonic_constants",
    "noise_colour",
    "o_minus_c",
]
