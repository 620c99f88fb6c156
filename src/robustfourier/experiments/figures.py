"""What the figures show, gathered from the results."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.experiments.catalogue import EXAMPLES, SEEDS
from robustfourier.experiments.finished import Results, Row
from robustfourier.experiments.problems import example_data
from robustfourier.experiments.trial import diagonal_sizes, thinned
from robustfourier.network.architecture import Architecture
from robustfourier.network.embedding import embedding_layout
from robustfourier.plots.files import save_figure
from robustfourier.plots.networks import draw_networks
from robustfourier.plots.paper import (
    ErrorCurve,
    RegressionFigure,
    WeightsFigure,
    draw_appendix,
    draw_regression,
    draw_weights,
)

# The part of θ that is zoomed in.
_BOX, _BOX_OF_SERIES = (0.0, 0.2), (0.0, 0.5)


def example_figures(
    results: Results, example: str, folder: Path, *, csv: Path | None = None
) -> dict[str, Path]:
    """Draw the three figures of an example as far as there are results.

    Returns
    -------
    dict of str to Path
        Caption → file.
    """
    regression = regression_figure(results, example, csv=csv)
    if regression is None:
        return {}
    stem = f"example{example}" if example.isdigit() else f"example4_{example}"
    drawn = {
        "Noisy target, regression in the box, and relative error against iterations.": save_figure(
            folder / f"{stem}_regression.png", (11.5, 5.6), partial(draw_regression, regression)
        )
    }
    weights = weights_figure(results, example, csv=csv)
    if weights is not None:
        caption = (
            "Weights of the diagonal layer at the end and during training, and of the first dense "
            "layer of the standard network."
        )
        drawn[caption] = save_figure(
            folder / f"{stem}_weights.png", (11.5, 5.6), partial(draw_weights, weights)
        )
    drawn["Regression results over the whole span (the paper's appendix)."] = save_figure(
        folder / f"{stem}_appendix.png",
        (11.5, 0.7 + 1.15 * len(regression.predictions)),
        partial(draw_appendix, regression),
    )
    return drawn


def networks_figure(folder: Path) -> dict[str, Path]:
    """Draw the two kinds of networks (the paper's figure 1); caption → file."""
    shapes = [Architecture(100, hidden_layer_sizes=(100,), diagonal=d) for d in (True, False)]
    caption = (
        "The two networks (the paper's figure 1), with the number of outputs of each layer: with a "
        "diagonal layer behind the Fourier embedding, and without."
    )
    return {caption: save_figure(folder / "networks.png", (9, 2.6), partial(draw_networks, shapes))}


def regression_figure(
    results: Results, example: str, *, csv: Path | None = None
) -> RegressionFigure | None:
    """Gather the regression figure, or None if nothing has finished."""
    first = {
        network: row
        for network in EXAMPLES[example]
        if (row := _of_first_seed(results, example, network)) is not None
    }
    if not first:
        return None
    any_trial = next(iter(first.values())).trial
    data = example_data(example, any_trial.seed, noise=any_trial.noise, csv=csv)
    return RegressionFigure(
        title=data.title,
        theta=data.theta,
        y=data.y,
        truth=data.truth,
        box=_BOX if example in ("1", "2", "3") else _BOX_OF_SERIES,
        predictions={
            network: np.interp(
                data.theta,
                data.theta[thinned(data.theta.size)],
                results.curves(row)["prediction"].astype(np.float64),
            )
            for network, row in first.items()
        },
        curves={network: _error_curve(results, example, network) for network in first},
    )


def weights_figure(
    results: Results, example: str, *, csv: Path | None = None
) -> WeightsFigure | None:
    """Gather the figure of the weights, or None if one of its networks has not finished."""
    rows = {
        network: _of_first_seed(results, example, network)
        for network in ("*u0_diag", "u0_diag", "u1_standard")
    }
    layerwise, joint, standard = rows.values()
    if layerwise is None or joint is None or standard is None:
        return None
    data = example_data(example, joint.trial.seed, csv=csv)
    final, steps, strengths, ends = {}, {}, {}, {}
    for network, row in (("*u0_diag", layerwise), ("u0_diag", joint)):
        curves = results.curves(row)
        final[network] = _by_kind(curves["diagonal"], row.trial.n_modes)
        steps[network] = curves["step"].astype(np.float64)
        strengths[network] = curves["sizes"].astype(np.float64)
        ends[network] = row.trial.n_steps
    targets = data.targets
    if example == "3":
        targets += (3 * 29,)  # the third harmonic of tanh(10 cos 29πθ) is as real
    if not example.isdigit() or example == "4":
        # The daily pattern's harmonics are as real as its fundamental.
        targets = tuple(t * n for t in data.targets for n in (1, 2, 3))
    return WeightsFigure(
        title=data.title,
        targets=targets,
        final=final,
        steps=steps,
        strengths=strengths,
        phase_ends=ends,
        dense=results.curves(standard)["neurons"].astype(np.float64),
    )


def _of_first_seed(results: Results, example: str, network: str) -> Row | None:
    """The row of the first seed, the one whose curves hold what is drawn."""
    wanted = {"example": example, "network": network, "purpose": "main", "seed": SEEDS[0]}
    return next(iter(results.select(**wanted)), None)


def _error_curve(results: Results, example: str, network: str) -> ErrorCurve:
    rows = results.select(example=example, network=network, purpose="main")
    curves = [results.curves(row) for row in rows]
    errors = np.stack([curve["error"] for curve in curves])
    return ErrorCurve(
        step=curves[0]["step"].astype(np.float64),
        low=errors.min(axis=0),
        median=np.median(errors, axis=0),
        high=errors.max(axis=0),
    )


def _by_kind(diagonal: NDArray[Any], n_modes: int) -> FloatArray:
    """Diagonal weights → size for cosine and sine of each mode, shape (2, m)."""
    sine = embedding_layout(n_modes).is_sine
    pair = [diagonal_sizes(np.where(sine == kind, diagonal, 0), n_modes) for kind in (False, True)]
    return np.stack(pair)
