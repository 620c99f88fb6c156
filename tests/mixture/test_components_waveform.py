"""From lines to waveforms: harmonics within families, ties, penalised fit, bands."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from robustfourier.domain import Domain
from robustfourier.mixture.components.compose import Separated, compose
from robustfourier.mixture.components.fit_context import FitContext
from robustfourier.mixture.components.penalised_fit import penalised_fit
from robustfourier.mixture.components.waveform_prior import Prior, waveform_rows
from robustfourier.mixture.line_wings import wing_ratio
from robustfourier.mixture.model import ColumnModel, mode_table
from robustfourier.mixture.search.noise_evidence import NoiseModel
from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.periodic.basis import Lines, extended_columns
from robustfourier.periodic.frequency_limits import ModeLimit
from robustfourier.periodic.gram_matrices import direct_moments
from robustfourier.periodic.harmonic_families import Families
from robustfourier.periodic.kernels import sho_of_logarithms
from robustfourier.periodic.noise_spectrum import NoiseFloor
from robustfourier.periodic.nufft import direct_sums
from robustfourier.periodic.uncertainty import amplitude_errors, lengths, prediction_errors
from robustfourier.synthetic import random_mixture

WHITE = NoiseFloor(np.array([1.0, 1000.0]), np.full((2, 1), 0.09), np.full(2, 1e6))


def samples(n=1200, seed=0, gap=True):
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.uniform(-1, 1, n))
    theta = theta[(theta < 0.1) | (theta > 0.35)] if gap else theta
    return theta, rng


def sawtooth(theta, mode):
    return 2.0 * ((0.5 * mode * theta) % 1.0) - 1.0


def single(bases):
    return Families.free(np.asarray(bases, float))


def ground_of(theta, y, highest=400.0, noise=0.09, **settings):
    """Values as they are, up to a given mode, on a white floor."""
    values, one = y.reshape(len(theta), -1), np.ones(1)
    options = Settings(**{"trend": "level", "max_mode": highest, **settings})
    limit = ModeLimit(highest, None, "given")
    weights = np.ones(len(theta))
    series = Series(theta, values, values, weights, 0.0 * one, one, options, limit)
    return FitContext(series, WHITE, np.array([noise]), 1)


def left_over(theta, residuals):
    return lambda modes: direct_sums(theta, residuals, modes)


def separated(theta, y, mode, **options):
    mode, context = np.asarray(mode, float), ground_of(theta, y, **options)
    one = np.ones(len(mode))
    return compose(
        context, mode, 0.02**2 * np.diag(one), one, 1e-6 * one, np.zeros(len(mode), bool)
    )


def test_weak_harmonics_are_listed_at_multiples_of_a_known_base():
    theta, rng = samples(gap=False)
    x = np.pi * 20.3 * theta
    y = np.cos(x) + 0.06 * np.cos(3 * x) + 0.3 * rng.normal(size=len(theta))
    fit = separated(theta, y, [20.3])
    assert fit.grouping.order[fit.listed].tolist() == [1, 3]
    assert fit.false_alarm[fit.listed][1] < 0.01


def test_noise_alone_gives_a_false_harmonic_about_as_often_as_the_level_says():
    alarms = 0
    for seed in range(200):
        theta, rng = samples(300, seed, gap=False)
        y = np.cos(np.pi * 11.7 * theta) + 0.3 * rng.normal(size=len(theta))
        alarms += separated(theta, y, [11.7], highest=100.0, level=0.05).listed.sum() > 1
    # Five places share 1/3 + 1/3 + 1/12 + 1/20 + 1/30 of the level: 8 of 200 expected.
    assert 2 <= alarms <= 18


def test_a_place_that_two_families_share_goes_to_the_lower_order():
    rows = waveform_rows(
        Families(
            np.array([5.0, 29.0]),
            np.array([[1, 0], [3, 0], [0, 1], [0, 3]]),
            np.zeros(2, bool),
        ),
        highest=400.0,
        limit=100,
    )
    assert [0, 5] in rows.tolist()
    assert [29, 0] not in rows.tolist()


def test_a_family_of_one_line_comes_last_where_rows_are_limited():
    grouping = Families(
        np.array([31.1, 7.3]), np.array([[1, 0], [0, 1], [0, 2]]), np.zeros(2, bool)
    )
    rows = waveform_rows(grouping, highest=400.0, limit=100).tolist()
    # To twice the highest order found and four more.
    assert rows == [[0, n] for n in range(3, 9)] + [[n, 0] for n in range(2, 7)]
    assert waveform_rows(grouping, highest=400.0, limit=4).tolist() == rows[:4]


def test_a_harmonic_that_another_line_hides_belongs_to_the_waveform():
    grouping = Families(
        np.array([10.0, 30.3]), np.array([[1, 0], [2, 0], [0, 1]]), np.zeros(2, bool)
    )
    assert [3, 0] in waveform_rows(grouping, highest=400.0, limit=100).tolist()


def test_no_harmonic_beyond_the_highest_mode_enters_a_waveform():
    """On an even grid it would be seen folded, as slow drift under another name."""
    grouping = Families(np.array([43.2]), np.array([[1], [2]]), np.zeros(1, bool))
    assert waveform_rows(grouping, highest=100.0, limit=100).tolist() == []
    assert waveform_rows(grouping, highest=140.0, limit=100).tolist() == [[3]]


def test_a_line_alone_stays_a_sinusoid_unless_its_harmonics_are_likely():
    lines = []
    for size in (0.0, 0.05):
        counts = []
        for seed in range(10):
            theta, rng = samples(1200, seed, gap=False)
            x = np.pi * 20.3 * theta
            y = np.cos(x) + size * np.cos(3 * x) + 0.3 * rng.normal(size=len(theta))
            fit = separated(theta, y, [20.3], level=1e-9)  # no harmonic is listed
            assert fit.listed.sum() == 1
            counts.append(len(fit.lines) > 1)
        lines.append(np.mean(counts))
    # The third harmonic has 4 standard errors; noise alone looks like harmonics now and then.
    assert lines[0] <= 0.3
    assert lines[1] >= 0.7


def test_a_hidden_harmonic_does_not_bend_the_line_that_hides_it():
    ratios = []
    for seed in range(8):
        theta, rng = samples(1500, seed)
        wave = np.tanh(10 * np.cos(np.pi * 10.1 * theta))  # its third harmonic is at 30.3
        truth = wave + np.cos(np.pi * 30.7 * theta + 1.0)
        y = truth + 0.3 * rng.normal(size=len(theta))
        fit = separated(theta, y, [10.1, 30.65, 50.5, 70.7])
        error = fit.lines.evaluate(theta)[:, 0] + fit.trend[0, 0] - truth
        band = prediction_errors(theta, np.ones((len(theta), 1)), fit.lines.mode, fit.factor)[:, 0]
        ratios.append(np.mean(error**2) / np.mean(band**2))
    assert np.median(ratios) < 1.5


def test_two_sawtooths_are_separated_with_their_harmonics_tied_exactly():
    theta, rng = samples(2000)
    y = sawtooth(theta, 13.3) + 0.5 * sawtooth(theta, 21.7) + 0.3 * rng.normal(size=len(theta))
    fit = separated(theta, y, [13.31, 26.59, 39.91, 53.2, 21.71, 43.38])
    bases = np.sort(fit.grouping.bases)
    assert bases == pytest.approx([13.3, 21.7], abs=0.02)
    assert np.array_equal(fit.lines.mode, fit.grouping.harmonics @ fit.grouping.bases)
    assert fit.listed.sum() >= 8
    # Beyond the listed harmonics the waveform holds weak ones, shrunk.
    assert len(fit.lines) > fit.listed.sum()


def test_a_tie_that_holds_is_kept():
    kept = []
    for seed in range(20):
        theta, rng = samples(1200, seed)
        x = np.pi * 20.0 * theta
        y = 0.8 * np.cos(x) + 0.4 * np.cos(2 * x + 1.0) + 0.3 * rng.normal(size=len(theta))
        kept.append(len(separated(theta, y, [20.0, 40.03]).grouping.bases) == 1)
    assert np.mean(kept) >= 0.95


def test_smoothing_lowers_the_error_of_a_waveform():
    errors = {"listed": [], "smoothed": []}
    for seed in range(6):
        theta, rng = samples(2000, seed, gap=False)
        truth = np.tanh(10 * np.cos(np.pi * 13.3 * theta))
        y = truth + 0.3 * rng.normal(size=len(theta))
        fit = separated(theta, y, [13.3, 39.9, 66.5])
        for name, which in (("smoothed", slice(None)), ("listed", fit.listed)):
            lines = Lines(fit.lines.mode[which], fit.lines.cosine[which], fit.lines.sine[which])
            errors[name].append(np.std(lines.evaluate(theta)[:, 0] - truth))
    assert np.median(errors["smoothed"]) < np.median(errors["listed"])


def test_the_penalised_fit_minimises_its_objective():
    """Against a general optimiser on the same objective: data misfit plus prior."""
    theta, rng = samples(300)
    harmonics = np.array([[1], [2], [3]])
    y = sawtooth(theta, 6.3) + 0.3 * rng.normal(size=len(theta))
    trend, weights = np.ones((len(theta), 1)), np.ones(len(theta))
    variance = np.array([np.inf, 0.05, 0.01])
    prior = Prior(
        np.diag(1.0 / variance)[None],
        np.zeros((3, 3)),
        np.ones(3),
        np.full(3, np.nan),
        np.zeros(3, np.int64),
        np.array([1, 2, 3]),
    )
    fit = penalised_fit(
        lambda modes: direct_moments(theta, y[:, None], weights, trend, modes),
        harmonics,
        np.array([6.32]),
        np.ones(1, bool),
        prior,
        np.array([0.09]),
        squares=weights @ y[:, None] ** 2,
        total=float(len(theta)),
    )

    def residuals(p):
        modes = harmonics[:, 0] * p[0]
        lines = Lines(modes, p[2:5, None], p[5:8, None])
        data = (y - p[1] - lines.evaluate(theta)[:, 0]) / 0.3
        return np.concatenate([data, p[2:5] / np.sqrt(variance), p[5:8] / np.sqrt(variance)])

    start = np.concatenate([fit.bases, fit.coefficients[:, 0]]) + 0.001
    best = least_squares(residuals, start, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    assert fit.bases[0] == pytest.approx(best[0], abs=1e-5)
    assert fit.coefficients[:, 0] == pytest.approx(best[1:], abs=1e-4)


def test_the_penalised_fit_in_phase_minimises_its_objective():
    theta, rng = samples(400)
    order = np.array([1, 2, 3])
    y = np.maximum(np.cos(np.pi * 6.3 * theta - 0.5), 0) + 0.3 * rng.normal(size=len(theta))
    trend, weights = np.ones((len(theta), 1)), np.ones(len(theta))
    variance = np.array([np.inf, 0.05, 0.01])
    precision = np.diag(1.0 / variance)[None]
    known = np.zeros((3, 3))
    prior = Prior(precision, known, np.ones(3), np.full(3, 0.4), np.zeros(3, np.int64), order)
    fit = penalised_fit(
        lambda modes: direct_moments(theta, y[:, None], weights, trend, modes),
        order[:, None],
        np.array([6.31]),
        np.ones(1, bool),
        prior,
        np.array([0.09]),
        squares=weights @ y[:, None] ** 2,
        total=float(len(theta)),
    )

    def model(p):
        angle = np.outer(np.pi * p[0] * theta - p[2], order)
        return p[1] + np.cos(angle) @ p[3:]

    def residuals(p):
        return np.concatenate([(y - model(p)) / 0.3, p[3:] / np.sqrt(variance)])

    best = least_squares(
        residuals, [6.3, 0.3, 0.5, 0.5, 0.2, 0.0], xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    along = np.hypot(fit.coefficients[1:4, 0], fit.coefficients[4:, 0])
    assert fit.bases[0] == pytest.approx(best.x[0], abs=1e-4)
    assert fit.shift == pytest.approx(np.full(3, best.x[2]), abs=1e-3)
    assert along == pytest.approx(np.abs(best.x[3:]), abs=1e-3)
    # The band is that of the linearised model: compare with the optimiser's own Jacobian.
    covariance = np.linalg.inv(best.jac.T @ best.jac)
    gradient = np.array([(model(best.x + h) - model(best.x - h)) / 2e-6 for h in 1e-6 * np.eye(6)])
    expected = np.sqrt(np.einsum("pn,pq,qn->n", gradient, covariance, gradient))
    band = prediction_errors(theta, trend, order * fit.bases[0], fit.factor)[:, 0]
    assert band == pytest.approx(expected, rel=0.02)


def test_a_step_of_the_penalised_fit_that_leads_uphill_is_not_taken():
    # A slow pattern whose harmonics the gaps make nearly collinear: full steps run away.
    problem = random_mixture(
        4,
        links=("tanh", "relu", "exp"),
        max_mode=80,
        integer_modes=False,
        n_samples=1500,
        sampling="gappy",
        noise=0.5,
        random_state=34,
    )
    mode = np.concatenate([[2.32, 6.94], *(k * np.arange(1, 4) for k in (52.78, 20.93, 70.03))])
    fit = separated(problem.theta, problem.y, mode[[0, 1, 2, 4, 5, 6, 8, 9]], noise=0.25)
    assert fit.noise_variance[0] < 0.5 * np.var(problem.y)


def test_a_line_at_the_nyquist_mode_leaves_its_unseen_phase_at_zero():
    theta = np.linspace(-1, 1, 121)  # Nyquist mode 60
    rng = np.random.default_rng(0)
    y = np.cos(np.pi * 20 * theta) + 0.5 * np.cos(np.pi * 60 * theta) + 0.3 * rng.normal(size=121)
    fit = separated(theta, y, [20.0, 60.0], highest=60.0, frequencies="integer")
    at = int(np.argmax(fit.lines.mode))
    assert fit.lines.mode[at] == 60.0
    assert abs(fit.lines.sine[at, 0]) < 0.05
    assert fit.lines.cosine[at, 0] == pytest.approx(0.5, abs=0.1)


def test_a_cusp_is_seen_and_flat_noise_has_none():
    theta, rng = samples(3000, gap=False)
    lines = np.array([50.0, 120.0])
    noise = 0.3 * rng.normal(size=(3000, 1))
    wobble = 0.4 * np.cos(np.pi * 51.6 * theta) + 0.4 * np.cos(np.pi * 48.4 * theta)
    flat = wing_ratio(left_over(theta, noise), 3000.0, lines, lines, WHITE)
    cusp = wing_ratio(left_over(theta, noise + wobble[:, None]), 3000.0, lines, lines, WHITE)
    assert flat.tolist() == [1.0, 1.0]
    assert cusp[0] > 10
    assert cusp[1] == 1.0


def test_a_line_in_a_cusp_has_the_errors_of_the_cusp():
    theta, rng = samples(2000, gap=False)
    steady = np.cos(np.pi * 50 * theta) + 0.3 * rng.normal(size=len(theta))
    wobble = 0.3 * np.cos(np.pi * 51.7 * theta) + 0.3 * np.cos(np.pi * 48.3 * theta)
    plain = separated(theta, steady, [50.0]).mode_error[0]
    moved = separated(theta, steady + wobble, [50.0]).mode_error[0]
    assert moved > 2 * plain


def test_a_model_ranks_components_and_takes_their_errors_along():
    factor = np.zeros((1, 9, 2))
    factor[0, [1, 3], 0] = 0.1  # cosine and sine of the first, weak line
    factor[0, [2, 4], 1] = 0.3  # of the second, strong one
    fit = Separated(
        grouping=single([30.0, 10.0]),
        lines=Lines(np.array([30.0, 10.0]), np.array([[0.5], [2.0]]), np.zeros((2, 1))),
        trend=np.array([[1.0]]),
        base_covariance=np.diag([1e-4, 4e-4]),
        factor=factor,
        noise_variance=np.array([0.04]),
        false_alarm=np.array([1e-3, 1e-9]),
        shift=np.zeros(2),
        p_value=np.full(2, np.nan),
    )
    series = ground_of(np.linspace(-1, 1, 50), np.zeros(50)).series
    series = replace(series, scale=np.array([2.0]), centre=np.array([7.0]))
    model = ColumnModel.of(Domain(0.0, 5.0), fit, series)
    table = mode_table([model], single=True)
    assert table.mode.tolist() == [10.0, 30.0]
    assert table.label.tolist() == ["A", "B"]
    assert table.amplitude == pytest.approx([4.0, 1.0])
    assert table.amplitude_error == pytest.approx([0.6, 0.2])
    assert table.mode_error == pytest.approx([0.02, 0.01])
    assert table.period == pytest.approx([0.5, 5 / 30])
    assert model.trend[0, 0] == pytest.approx(9.0)
    assert model.noise == pytest.approx([0.4])
    strong, weak = model.components(np.full((2, 1), 0.4), first=0, column=0)
    assert strong.waveform([0.0, 0.5], return_std=True)[1] == pytest.approx([0.6, 0.6])
    assert weak.period_error == pytest.approx(5 / 30 * 0.01 / 30)


def test_amplitude_errors_follow_the_direction_of_the_line():
    lines = Lines(np.array([3.0]), np.array([[1.0]]), np.array([[0.0]]))
    factor = np.zeros((1, 5, 2))
    factor[0, 1, 0], factor[0, 2, 1] = 0.1, 0.3
    assert amplitude_errors(lines, factor, 1) == pytest.approx(0.1)


def test_lengths_do_not_overflow():
    assert lengths(np.array([[3e300, 4e300], [0.0, 0.0]])) == pytest.approx([5e300, 0.0])


def test_errors_in_coloured_noise_are_those_of_its_whole_covariance():
    """By day alone a daily cycle and the level are not orthogonal."""
    theta = (np.arange(40.0)[:, None] + np.linspace(0.3, 0.7, 6)).ravel() / 20.0 - 1.0
    y = np.cos(40.0 * np.pi * theta) + 0.3 * np.random.default_rng(0).normal(size=240)
    oscillator = np.log([20.0, 0.5, 30.0])
    noise = NoiseModel(np.array([0.2]), (oscillator,))
    context = replace(ground_of(theta, y), noise_model=noise)
    refined = context.refined(single([40.0]))
    given = refined.noise_gram
    columns = extended_columns(theta, np.ones((240, 1)), refined.lines.mode)
    dense = sho_of_logarithms(oscillator)(np.abs(theta[:, None] - theta)) + np.eye(240)
    expected = 0.2 * columns.T @ dense @ columns / refined.noise_variance[0]
    np.testing.assert_allclose(given, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    # The level takes slow noise, the cycle hardly any of it.
    flat, coloured = replace(refined, noise_gram=None).factor[0], refined.factor[0]
    wider = lengths(coloured[:2]) / lengths(flat[:2])
    assert wider[0] > 10.0
    assert wider[1] < 2.0
