"""Every figure, from Python: each function takes and returns matplotlib Axes and shows nothing.

The only home of matplotlib, which is loaded when the first figure is drawn.
"""

from robustfourier.plots.band_figures import plot_bands
from robustfourier.plots.fit_figures import (
    plot_component,
    plot_components,
    plot_diagonal,
    plot_fit,
    plot_histogram,
    plot_link,
    plot_model,
    plot_residual_spectrum,
    plot_residuals,
    plot_spectrum,
)
from robustfourier.plots.forecast_figures import plot_forecast, plot_life, plot_remainder
from robustfourier.plots.rhythm_figures import plot_acrophases, plot_heat_map
from robustfourier.plots.sampling_figures import plot_completeness, plot_window

__all__ = [
    "plot_acrophases",
    "plot_bands",
    "plot_completeness",
    "plot_component",
    "plot_components",
    "plot_diagonal",
    "plot_fit",
    "plot_forecast",
    "plot_heat_map",
    "plot_histogram",
    "plot_life",
    "plot_link",
    "plot_model",
    "plot_remainder",
    "plot_residual_spectrum",
    "plot_residuals",
    "plot_spectrum",
    "plot_window",
]
