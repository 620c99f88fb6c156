"""UTide, given the astronomy: 59 or more tidal constituents by name and the gauge's latitude."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, NotApplicableError

NAME = "UTide"
PACKAGES = ("utide",)
HINTS = "the astronomy"


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    import utide

    if hints.latitude is None:
        raise NotApplicableError("not a tide")
    options = {"verbose": False}
    epoch = np.datetime64(hints.epoch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own use of numpy
        tide = utide.solve(
            t, y, lat=hints.latitude, epoch=epoch, conf_int="none", method="ols",
            **options,
        )  # fmt: skip

    def predict(times: FloatArray) -> FloatArray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(utide.reconstruct(times, tide, epoch=epoch, **options).h)

    return Fit(predict, None, note=f"{len(tide.name)} constituents")
