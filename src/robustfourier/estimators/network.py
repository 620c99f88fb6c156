"""The paper's networks as a scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names, _check_n_features

from robustfourier.arrays import FloatArray
from robustfourier.concurrency import one_blas_thread
from robustfourier.estimators.base import EstimatorBase, all_or_nothing
from robustfourier.estimators.network_training import (
    Scaling,
    check_choices,
    train_network,
    warn_of_columns,
)
from robustfourier.estimators.times import as_table
from robustfourier.estimators.validation import (
    check_row_weights,
    check_targets,
    input_errors,
    span_columns,
    theta_columns,
    time_columns,
    without_masked_rows,
)
from robustfourier.network.architecture import Activation
from robustfourier.network.embedding import EmbeddingKind
from robustfourier.network.fourier_coefficients import (
    active_by_level,
    mixed_modes,
    network_modes,
)
from robustfourier.network.initial_weights import Init
from robustfourier.network.link_networks import fundamentals
from robustfourier.training import fixed_sample
from robustfourier.training.callbacks import Progress
from robustfourier.training.engine import EngineName
from robustfourier.training.link_training import train_links
from robustfourier.training.losses import LossName
from robustfourier.training.sgd import Box
from robustfourier.weighted_rows import canonical_rows


class FourierNetworkRegressor(RegressorMixin, EstimatorBase):
    """A Fourier network, with or without diagonal layer, trained by SGD as in the paper.

    With the defaults this is u0_diag: f̂(θ) = Σ c_j w_j x_j over sines and cosines of both signs.
    Training from a small start leaves few w_j·c_j of any size, and start, rate, length and number
    of modes follow from the data: there is no sparsity level to choose and nothing is selected
    afterwards. Where a number is given, it is taken.

    Training is calibrated (start, rate and length by the noise) where it is joint, of a diagonal
    without dense layers, and `n_steps` is "auto" and `init` not "theory".

    Parameters
    ----------
    n_modes : int or "auto", default "auto"
        Highest mode m: cycles over the span of the data. "auto" begins with 100, or as many as
        the samples can tell apart, and widens the band while the residual asks for modes beyond;
        where training is not calibrated it is 100.
    mixed_modes : int or "auto", default "auto"
        With several columns: highest |k_j| of the modes cos, sin π(k·θ) across them, of which
        products of waves and plane waves are made. 0 leaves a sum over columns. "auto" takes as
        many as make 500 modes (15 for two columns, 4 for three) where training is calibrated,
        else none: dense layers mix columns themselves.
    hidden_layer_sizes : tuple of int, default ()
        Widths of dense layers behind the diagonal (u1, u2, …).
    diagonal : bool, default True
        False gives the standard Fourier network.
    activation : {"auto", "relu", "identity"}, default "auto"
        The paper's is "relu". "auto" is "relu" with dense layers and "identity" without: there a
        rectified pair that is awake brings |sin| or |cos| along, parameters that nothing asked for
        (error 1.2 to 1.3 × that of "identity" on the paper's examples 1 and 2).
    embedding : {"signed", "symmetrised"}, default "signed"
        Section 5 or section 2.1 of the paper.
    training : {"joint", "layerwise"}, default "joint"
        All parameters at once, or Algorithm 1 (first the diagonal, then the output).
    init : {"auto", "even", "symmetric", "glorot", "antisymmetric", "theory"}, default "auto"
        "glorot" is the paper's; see `robustfourier.network.initial_weights`. "auto" is "even" for
        joint training of a diagonal network, else "symmetric".
    init_scale : float or "auto", default "auto"
        Factor on the size of the start, of which sparsity depends: 1 is the paper's. "auto" starts
        every product at 1/2000 of the noise's largest gradient; see
        `robustfourier.training.calibration`. Where training is not calibrated 0.1, with dense
        layers 0.3, and without diagonal or layer by layer 1.
    r_c : float, default 0.1
        Size of the output weights that "theory" starts from.
    loss : {"mean_squared", "half_squared", "huber"}, default "mean_squared"
    delta : float, default 1.345
        Where Huber's loss turns linear, in units of the spread of y (of y itself if not
        `standardize`).
    ridge : float, default 0.0
        λ of the penalty λ‖w‖²/2 on the diagonal.
    diagonal_box, output_box : float, "theorem" or None
        Half-widths of the boxes that w and c are projected to; "theorem" needs layer-wise
        training and 0 < ridge < 1.
    learning_rate : float or "auto", default "auto"
        α_0. The rate of a step is learning_rate / (1 + decay_rate·step/decay_steps). "auto" is a
        fifth of the largest stable rate; where training is not calibrated 0.02, and without
        diagonal or layer by layer the paper's 2e-3.
    decay_rate : float, default 0.95
    decay_steps : float or "auto", default "auto"
        "auto" is 50 000 · 2e-3 / learning_rate, as in the paper for its rate.
    batch_size : int, default 201
    n_steps : int or "auto", default "auto"
        Steps; of the first phase if layer-wise. "auto" trains until the largest gradient of noise
        would have grown to itself, and ends with falling rates; see
        `robustfourier.training.calibration`. Where that has no closed form: 12 000 steps with
        dense layers behind a diagonal, 8 000 with init="theory" trained jointly, else 40 000.
    n_output_steps : int, optional
        Steps of the second phase of layer-wise training; as many as the first if not given.
    output_learning_rate : float, optional
        η′ of the second phase of layer-wise training; `learning_rate` if not given.
    standardize : bool, default True
        Train on (y − mean)/standard deviation and undo it in `predict`; with ``loss="huber"`` on
        median and median absolute deviation. SGD with a given rate is stable for targets of
        size one only; False trains on y as it is, as the paper does.
    period : number, timedelta or sequence of them, optional
        Length of the domain where it is known; the extent of the data otherwise.
    endpoint : {"included", "excluded"}, default "included"
        Whether the last of evenly spaced samples is the end of the domain; see `Domain`.
    select : {"ebic", None}, default None
        "ebic" selects modes after the training by the extended Bayesian information criterion and
        fits the rest to the end: exactly without dense layers, by as many steps again with them;
        see `robustfourier.network.mode_selection`. It does nothing where a penalty or box is asked
        for, without diagonal layer, with mixed modes, with dense layers behind several columns, and
        when an observer ended the training.
    links : {"network", None}, default None
        "network" fits one small network for each fundamental mode that the diagonal network finds,
        a function of its cosine and sine alone, as wide as the data ask for; see
        `robustfourier.training.link_training`. The diagonal network is then trained on what they
        leave. For one column, where training is calibrated.
    threshold : float, optional
        Strength above which a mode is called active. By default those that the selection left in;
        without it those whose amplitude noise would not reach in 99 of 100 records, or, where
        training was not calibrated, the rule of `robustfourier.network.active_modes`.
    dtype : {"float64", "float32"}, default "float64"
        What training computes in.
    engine : {"auto", "torch", "fused"}, default "auto"
    observers : sequence of callables, optional
        Called with a `Progress` every 1000 steps; one that returns True ends the training.
    random_state : int, numpy Generator, RandomState or None, default None
        For the initial weights and the batches.

    Attributes
    ----------
    modes_ : ModeTable
        All modes 1 … m of each column, in this order, with `amplitude` and `phase` of the fitted
        function, `cosine_weight` and `sine_weight` (root mean square of the diagonal weights of
        both signs; of the weights of the first layer without diagonal), and `active`.
    diagonal_weights_ : ndarray, shape (D,), or None
        The diagonal layer's weights in the embedding's order.
    mixed_modes_ : MixedModes or None
        The modes across several columns, if there are any.
    links_ : tuple of LinkNetwork
        One for each fundamental, for standardised y; `decompose` gives their parts of y.
    kept_modes_ : ndarray of bool, shape (d, m), or None
        Modes that the selection left in; None if nothing was selected.
    start_weights_ : Weights
        The network before its first step: w⁰ and c⁰ of Algorithm 1.
    noise_ : float or None
        Standard deviation of the residual in units of `y_scale_`, where training was calibrated.
    history_ : History
        Loss and diagonal weights over the steps; which engine ran. Steps after a selection are the
        phase "selected".
    weights_ : Weights
        The trained network, for standardised y; ``FourierNetwork.from_estimator(model)`` is the
        same as a torch module.
    domains_ : list of Domain
        Times ⇄ θ for each column; `domain_` is the first.
    y_offset_, y_scale_ : ndarray, shape (q,)
        ``predict = y_offset_ + y_scale_ · network``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X had column names.

    Notes
    -----
    Columns of X may be numbers or dates. Several columns are embedded one by one and across each
    other by mixed modes. Outside the span of the data the prediction repeats, with the
    domain's length as its period. Rows equal in X and y are one row with summed weight, so weight
    2 is the row twice; the order of rows does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> t = np.linspace(0, 10, 400)
    >>> y = 3 * np.cos(2 * np.pi * t * 1.5) + rng.normal(size=400)
    >>> model = FourierNetworkRegressor(random_state=0).fit(t, y)
    >>> found = model.modes_.select(model.modes_.active)
    >>> found.mode, found.amplitude.round(), found.period.round(2)
    (array([15.]), array([3.]), array([0.67]))
    """

    def __init__(
        self,
        n_modes: int | Literal["auto"] = "auto",
        hidden_layer_sizes: tuple[int, ...] = (),
        diagonal: bool = True,
        activation: Activation | Literal["auto"] = "auto",
        embedding: EmbeddingKind = "signed",
        mixed_modes: int | Literal["auto"] = "auto",
        training: Literal["joint", "layerwise"] = "joint",
        init: Init | Literal["auto"] = "auto",
        init_scale: float | Literal["auto"] = "auto",
        r_c: float = 0.1,
        loss: LossName = "mean_squared",
        delta: float = 1.345,
        ridge: float = 0.0,
        diagonal_box: Box = None,
        output_box: Box = None,
        learning_rate: float | Literal["auto"] = "auto",
        decay_rate: float = 0.95,
        decay_steps: float | Literal["auto"] = "auto",
        batch_size: int = 201,
        n_steps: int | Literal["auto"] = "auto",
        n_output_steps: int | None = None,
        output_learning_rate: float | None = None,
        standardize: bool = True,
        period: Any = None,
        endpoint: Literal["included", "excluded"] = "included",
        select: Literal["ebic"] | None = None,
        links: Literal["network"] | None = None,
        threshold: float | None = None,
        dtype: Literal["float64", "float32"] = "float64",
        engine: EngineName = "auto",
        observers: Sequence[Callable[[Progress], bool | None]] | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_modes = n_modes
        self.mixed_modes = mixed_modes
        self.hidden_layer_sizes = hidden_layer_sizes
        self.diagonal = diagonal
        self.activation = activation
        self.embedding = embedding
        self.training = training
        self.init = init
        self.init_scale = init_scale
        self.r_c = r_c
        self.loss = loss
        self.delta = delta
        self.ridge = ridge
        self.diagonal_box = diagonal_box
        self.output_box = output_box
        self.learning_rate = learning_rate
        self.decay_rate = decay_rate
        self.decay_steps = decay_steps
        self.batch_size = batch_size
        self.n_steps = n_steps
        self.n_output_steps = n_output_steps
        self.output_learning_rate = output_learning_rate
        self.standardize = standardize
        self.period = period
        self.endpoint = endpoint
        self.select = select
        self.links = links
        self.threshold = threshold
        self.dtype = dtype
        self.engine = engine
        self.observers = observers
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FourierNetworkRegressor:
        """Train the network.

        Parameters
        ----------
        X : array-like or table, shape (n,) or (n, d)
            Times: numbers or dates.
        y : array-like, shape (n,) or (n, q)
        sample_weight : array-like, shape (n,), optional

        Raises
        ------
        InputError
            If something cannot be used; the estimator is left as it was.
        DivergenceError
            If training diverged; the error keeps the last good weights.
        """
        check_choices(self)
        with input_errors():
            X, y, sample_weight = without_masked_rows(X, y, sample_weight)
            X = as_table(X)
            columns = time_columns(X, self)
            target = check_targets(y, len(columns[0]), self)
        weight = check_row_weights(sample_weight, len(target))
        domains = span_columns(columns, weight > 0, self.period, self.endpoint)
        theta, values, weight = canonical_rows(
            theta_columns(columns, domains), target.reshape(len(target), -1), weight
        )
        scaling = self._scaling(values, weight)
        sample = fixed_sample(theta, scaling.apply(values), weight)
        trained, kept, calibrated = train_network(self, sample)
        level = None if calibrated is None else calibrated.level
        weights, links = trained.weights, None
        if self.links == "network":
            found = fundamentals(np.flatnonzero(active_by_level(weights, level)) + 1)
            links = train_links(sample, found)
            rest = sample.y - links.predict(sample.theta)
            exact = np.abs(rest).max() <= 1e-9 * np.abs(sample.y).max()  # only rounding is left
            left = replace(sample, y=np.zeros_like(rest) if exact else rest)
            other, *_ = train_network(self, left)
            trained = replace(trained, weights=other.weights.widened(weights.architecture.n_modes))
        modes = network_modes(
            trained.weights, domains, scaling.scale, self.threshold, kept, target.ndim, level, links
        )
        mixed = None
        if weights.architecture.mixed_modes:
            mixed = mixed_modes(weights, scaling.scale, level or 0.0, target.ndim)
        elif modes.active is not None and not modes.active.any():
            warn_of_columns(self, weights.architecture)
        # all at once, at the end: an error above leaves no trace
        _check_feature_names(self, X, reset=True)
        _check_n_features(self, X, reset=True)
        self.weights_, self.history_ = trained.weights, trained.history
        self.start_weights_ = trained.start
        self.domains_, self.domain_ = domains, domains[0]
        self.y_offset_, self.y_scale_ = scaling.offset, scaling.scale
        self.modes_, self.kept_modes_ = modes, kept
        self.mixed_modes_ = mixed
        self.links_ = () if links is None else links.links
        self._links = links
        self.noise_ = None if calibrated is None else calibrated.noise
        self.diagonal_weights_ = trained.weights.diagonal
        self._y_ndim = target.ndim
        self._remember(columns[0] if len(columns) == 1 else None, y)
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the network's values.

        Parameters
        ----------
        X : array-like or table, shape (n,) or (n, d)
            Times of the same kind as in `fit`; outside its span the function repeats.

        Returns
        -------
        ndarray, shape (n,) or (n, q)
        """
        theta = self._theta(X)
        with one_blas_thread():
            values = self.weights_.predict(theta)
            links = getattr(self, "_links", None)
            values = values if links is None else values + links.predict(theta)
            values = self.y_offset_ + self.y_scale_ * values
        return values[:, 0] if self._y_ndim == 1 else values

    def decompose(self, X: ArrayLike) -> dict[int, FloatArray]:
        """Return the part of each fundamental's link, and what is left, which add up to `predict`.

        Parameters
        ----------
        X : array-like or table, shape (n,) or (n, 1)

        Returns
        -------
        dict of int to ndarray, each of shape (n,) or (n, q)
            By fundamental mode; 0 is the level with all that no link explains. Without links that
            is everything.
        """
        whole = self.predict(X)
        theta = self._theta(X)[:, 0]
        parts = {}
        for link in getattr(self, "links_", ()):
            values = self.y_scale_ * link.predict(theta)
            parts[link.mode] = values[:, 0] if self._y_ndim == 1 else values
        rest = np.asarray(whole - sum(parts.values()))
        return {0: rest, **parts}

    def _scaling(self, y: FloatArray, weight: FloatArray) -> Scaling:
        if not self.standardize:
            return Scaling.none(y.shape[1])
        return Scaling.robust(y, weight) if self.loss == "huber" else Scaling.mean(y, weight)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
