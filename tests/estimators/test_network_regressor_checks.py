"""Everything that scikit-learn asks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustfourier import FourierNetworkRegressor

QUICK = {"n_modes": 5, "n_steps": 200, "learning_rate": 0.05}
EXPECTED = {
    "check_fit1d": "times may be given as one plain array; scikit-learn wants them refused",
}


@pytest.mark.filterwarnings("ignore:none of the")  # ten columns of noise explain nothing
@parametrize_with_checks(
    [
        FourierNetworkRegressor(),
        FourierNetworkRegressor(**QUICK),
        FourierNetworkRegressor(**QUICK, training="layerwise", embedding="symmetrised"),
    ],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)
