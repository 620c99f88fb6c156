"""Everything that scikit-learn asks of an estimator, with nothing excused."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from robustfourier import FourierNetworkRegressor

QUICK = {"n_modes": 5, "n_steps": 200, "learning_rate": 0.05}


@parametrize_with_checks(
    [
        FourierNetworkRegressor(**QUICK),
        FourierNetworkRegressor(**QUICK, training="layerwise", embedding="symmetrised"),
    ]
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)
