"""A network small enough for tests."""

from robustfourier import FourierNetworkRegressor

QUICK = {"n_modes": 12, "n_steps": 600, "learning_rate": 0.05, "random_state": 0}


def regressor(**options) -> FourierNetworkRegressor:
    return FourierNetworkRegressor(**{**QUICK, **options})
