"""FourierFeatures: sines and cosines at the frequencies that the data have, for any regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError
from robustfourier.estimators.mixture import PeriodicMixture


class FourierFeatures(TransformerMixin, BaseEstimator):
    """Cosine and sine of each mode of a `PeriodicMixture`, at its real-valued frequency.

    As the first step of a Pipeline it finds the periods from the times and values of the training
    set; any regressor can then use them, alone or beside other features (ColumnTransformer).

    Parameters
    ----------
    model : PeriodicMixture, optional
        A fitted one gives its modes as they are, and `fit` searches nothing; one that is not
        fitted is fitted to a copy of itself. Default: ``PeriodicMixture()``.

    Attributes
    ----------
    model_ : PeriodicMixture
        The fitted model whose modes are used.
    n_features_in_ : int
        Always 1: the times.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> t = np.arange(0.0, 200.0)
    >>> y = np.cos(2 * np.pi * t / 7.3) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> pipe = make_pipeline(FourierFeatures(), Ridge()).fit(t.reshape(-1, 1), y)
    >>> pipe[0].get_feature_names_out().tolist()
    ['A_cos', 'A_sin']
    >>> bool(pipe.score(t.reshape(-1, 1), y) > 0.9)
    True
    """

    def __init__(self, model: PeriodicMixture | None = None) -> None:
        self.model = model

    def fit(self, X: Any, y: Any = None) -> FourierFeatures:
        """Find the modes, unless a fitted model brings them.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Times: numbers or dates.
        y : array-like of shape (n,)
            Values; not needed with a fitted model.
        """
        given = PeriodicMixture() if self.model is None else self.model
        try:
            check_is_fitted(given)
            model = given
        except NotFittedError:
            model = clone(given).fit(X, y)
        if model.n_features_in_ != 1:
            raise InputError(
                f"model was fitted to {model.n_features_in_} columns; FourierFeatures takes one"
            )
        self.model_, self.n_features_in_ = model, 1
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return cosine and sine of each mode at times X, shape (n, 2K)."""
        check_is_fitted(self)
        angle = np.pi * np.multiply.outer(self.model_._theta(X)[:, 0], self.model_.modes_.mode)
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1).reshape(len(angle), -1)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return names such as ``2A_cos``: twice the frequency of the first pattern."""
        check_is_fitted(self)
        labels = np.asarray(self.model_.modes_.label)
        names = [f"{label}_{part}" for label in labels for part in ("cos", "sin")]
        return np.asarray(names, dtype=object)
