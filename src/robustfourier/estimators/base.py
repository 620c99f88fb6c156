"""Face: what a fitted model shows of itself, in a notebook, as figures and as a report.

Everything shown is made in rooms above, behind doors that open when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from robustfourier.concurrency import interruption_as_such

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from robustfourier.cosinor import Rhythms
    from robustfourier.results import Result


Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Let a method `fit` work on a twin, whose attributes are taken over in one step at the end.

    Whatever ends it before, an error or Ctrl-C, no attribute has changed. An interruption within
    compiled code is told as such, see `interruption_as_such`.
    """

    @wraps(fit)
    def fitted(self: Any, *given: Any, **named: Any) -> Any:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        with interruption_as_such():
            fit(twin, *given, **named)
        vars(self).update(vars(twin))  # one step of the interpreter
        return self

    return fitted  # type: ignore[return-value]


class Face(BaseEstimator):
    """Headline, table, figures and report of a model of one column and one output.

    The data of the fit are kept for figures, as they were given and without a copy; neither a
    pickle nor a model file holds them.
    """

    def _remember(self, times: Any, values: Any, errors: Any = None) -> None:
        self._seen = (times, values, errors)

    def without_regressors(self) -> Any:
        """Return what figures show: the model of the values without the effects of regressors."""
        return self

    def result(self, times: ArrayLike | None = None, values: ArrayLike | None = None) -> Result:
        """Return all that a figure, table or page shows of this fit, as arrays and words.

        Parameters
        ----------
        times, values : array-like of shape (n,), optional
            Data to show instead of those of the fit.
        """
        from robustfourier.results import result_of

        check_is_fitted(self)
        return result_of(self.without_regressors(), times, values)

    def plot(
        self,
        times: ArrayLike | None = None,
        values: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        **line: Any,
    ) -> Axes:
        """Draw data, fitted function and its 90 % band.

        Parameters
        ----------
        times, values : array-like of shape (n,), optional
            Data to show instead of those of the fit. A model from a file knows no data, and draws
            the function alone.
        ax : Axes, optional
        **line
            For the curve, as `Axes.plot` takes them.
        """
        from robustfourier import plots

        check_is_fitted(self)
        return plots.plot_model(self.without_regressors(), times, values, ax=ax, **line)

    def plot_components(
        self,
        times: ArrayLike | None = None,
        values: ArrayLike | None = None,
        *,
        axes: NDArray[Any] | None = None,
        **line: Any,
    ) -> NDArray[Any]:
        """Draw two cycles of each pattern of 1 % or more; returns an array of Axes."""
        from robustfourier import plots

        return plots.plot_components(self.result(times, values), axes=axes, **line)

    def plot_spectrum(
        self,
        times: ArrayLike | None = None,
        values: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        **line: Any,
    ) -> Axes:
        """Draw the spectrum of data and residuals, with the threshold that was used."""
        from robustfourier import plots

        return plots.plot_spectrum(self.result(times, values), ax=ax, **line)

    def report(self, path: str | PathLike[str], times: Any = None, values: Any = None) -> Path:
        """Write the report, one self-contained HTML page; returns its path."""
        from robustfourier.atomic_files import write_text
        from robustfourier.report import render

        result = self.result(times, values)
        made = {"Estimator": super().__repr__(), "Search": "; ".join(getattr(self, "notes_", ()))}
        write_text(Path(path), render(result, {k: v for k, v in made.items() if v}))
        return Path(path)

    def test(
        self,
        periods: Any,
        times: Any = None,
        values: Any = None,
        *,
        harmonics: int = 1,
        trend: int = 0,
        noise: Literal["auto", "white", "replicates"] = "auto",
        coverage: float = 0.95,
    ) -> Rhythms:
        """Test known periods: p of zero amplitude, amplitude, acrophase, mesor with errors.

        Nothing is searched, so that a known period needs far less evidence than one that was found.
        Patterns of other periods are noise to the test, unless they are in the list too. On the
        scale "log" of a fitted model, logarithms are tested.

        Parameters
        ----------
        periods : float, str, timedelta, or list of them
            As of `robustfourier.rhythm`. A period that a search found in the same data has been
            chosen for its size: its p-value is the false alarm of the search, not this one.
        times, values : array-like of shape (n,) and (n,) or (n, q), optional
            Data to test instead of those of the fit; the model need not be fitted then.
        harmonics, trend, noise, coverage
            As of `robustfourier.rhythm`.

        Examples
        --------
        >>> import numpy as np
        >>> from robustfourier import PeriodicMixture
        >>> t = np.arange(0.0, 48.0, 4.0)
        >>> y = 5 + 3 * np.cos(2 * np.pi * (t - 14) / 24)
        >>> y = y + 0.5 * np.random.default_rng(0).normal(size=12)
        >>> found = PeriodicMixture(unit="hour").test("24h", t, y, noise="white").table
        >>> found[["mesor", "amplitude", "acrophase"]].round(1).values.tolist()
        [[5.0, 2.7, 14.1]]
        """
        from robustfourier.cosinor.periods_of_model import periods_of_model

        asked = {"harmonics": harmonics, "trend": trend, "noise": noise, "coverage": coverage}
        return periods_of_model(self, periods, times, values, **asked)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the fitted model to a file that `robustfourier.load` reads."""
        from robustfourier.persistence import save

        check_is_fitted(self)
        save(self, path)

    def _headline(self) -> str:
        """One sentence on what was found; empty before the fit."""
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        from robustfourier.results import outline

        return outline(self).headline

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text, words = super().__repr__(N_CHAR_MAX), self._headline()
        return f"{text}\n{words}" if words else text

    def _html_repr(self) -> str:
        """What a notebook shows; scikit-learn's diagram before the fit."""
        if not self._headline():
            return str(super()._html_repr())
        from robustfourier.report import notebook
        from robustfourier.results import outline

        return notebook(outline(self), super().__repr__())

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_seen"}
