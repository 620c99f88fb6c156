"""A kernel, however it was compiled, computes what its Python function does."""

import sys

import numpy as np
import pytest

from robustfourier import PeriodicMixture, compiling
from robustfourier.large.condense import Sums, bins_for
from robustfourier.periodic.kernels import sho
from robustfourier.periodic.semiseparable import MarginalLikelihood

CHECKS = 3  # calls of each kernel that are compared


class Checked:
    """A kernel whose first calls are compared with the Python function."""

    def __init__(self, kernel):
        self.kernel, self.python, self.calls = kernel, compiling.reference(kernel), 0

    def __call__(self, *given):
        self.calls += 1
        if self.calls > CHECKS:
            return self.kernel(*given)
        other = [np.array(one, order="K") if isinstance(one, np.ndarray) else one for one in given]
        result = self.kernel(*given)
        with np.errstate(all="ignore"):
            expected = self.python(*other)
        for one, two in zip((result, *given), (expected, *other), strict=True):
            if one is not None:
                size = np.nanmax(np.abs(np.nan_to_num(two, posinf=0.0, neginf=0.0)), initial=0.0)
                np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10 * size)
        return result


@pytest.fixture
def checked(monkeypatch):
    kernels = {id(kernel): Checked(kernel) for kernel in compiling.kernels()}
    for name, module in list(sys.modules.items()):
        if name.startswith("robustfourier."):
            for word, value in list(vars(module).items()):
                if id(value) in kernels:
                    monkeypatch.setattr(module, word, kernels[id(value)])
    rooms = ("robustfourier.periodic.", "robustfourier.mixture.", "robustfourier.large.")
    ours = [one for one in kernels.values() if one.python.__module__.startswith(rooms)]
    return {f"{one.python.__module__}.{one.python.__name__}": one for one in ours}


def test_every_kernel_computes_what_its_python_function_does(checked):
    rng = np.random.default_rng(4)
    t = np.sort(rng.uniform(0.0, 40.0, 300))
    wave = np.exp(np.cos(2.0 * np.pi * t / 3.7)) + 0.5 * np.sin(2.0 * np.pi * t / 1.3)
    noise = 0.1 * rng.standard_normal(300)
    likelihood = MarginalLikelihood(t / 20.0 - 1.0, wave, np.ones(300), t[:, None])
    likelihood.gradient(sho([[20.0, 0.3, 4.0], [60.0, 3.0, 2.0]]))  # before values, which need less
    PeriodicMixture().fit(t, wave + noise)
    PeriodicMixture().fit(t, np.c_[wave + noise + (t > 20.0), wave - 2.0 * noise])
    red = np.convolve(rng.standard_normal(360), 0.8 ** np.arange(60.0), "valid")[:300]
    PeriodicMixture().fit(np.arange(300.0), np.sin(np.arange(300.0)) + red)
    Sums.of(t / 20.0 - 1.0, wave, np.ones(300), bins_for(20))
    missing = sorted(name for name, kernel in checked.items() if not kernel.calls)
    assert missing == [], "\n".join(missing)
