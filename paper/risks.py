"""What the second phase of Algorithm 1 is measured by: risks, and what the theorems say of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier import theory
from robustfourier.arrays import FloatArray
from robustfourier.network.embedding import embed
from robustfourier.synthetic import Mixture, relative_error

NOISE_MAX = 0.4 * 3.0**0.5  # uniform noise with the standard deviation 0.4 of the examples
NOISE_VARIANCE = NOISE_MAX**2 / 3.0
NOISE_PSI1 = NOISE_MAX**2 / np.log(2.0)  # sub-exponential norm of what is at most NOISE_MAX²
GRID = np.linspace(-1.0, 1.0, 4000, endpoint=False)  # means over it are exact expectations
BLOCK = 20_000  # rows whose units are held at once
RADEMACHER_DRAWS = 64  # of signs; their mean is then within about 3 %


@dataclass(frozen=True)
class FirstPhase:
    """Where the first phase ended, and on what."""

    f: Mixture
    n_modes: int
    alpha: FloatArray  # (4m+1,)
    c0: FloatArray  # c⁰, (4m+1,)
    box: float  # Q₁
    w: FloatArray  # w^T, (4m+1,)
    theta: FloatArray  # the sample, (TB,)
    y: FloatArray


def measured_risks(
    learnt: FirstPhase,
    c: FloatArray,
    second_box: float,
    n_steps: int,
    delta: float,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Measure the network with output weights c after T′ = n_steps steps within the box Q₂.

    Returns "empirical_risk", "least_risk", "population_risk" (of ½r²) and "relative_error"; if w
    has equal signs at ±j wherever α_j ≠ 0, also "existing_risk" and "existing_bound" (Lemma 2, of
    r²), "main_bound" (of r², all constants 1), "rademacher" (in units of its bound) and
    "rademacher_exponent". `rng` draws the signs of the Rademacher complexity.
    """
    f, n, fitted = learnt.f, learnt.y.size, _units(GRID, learnt) @ c
    gram, reach = _moments(learnt)
    best, *_ = np.linalg.lstsq(gram, reach, rcond=1e-10)

    def empirical(c: FloatArray) -> float:
        return float(0.5 * (c @ gram @ c - 2.0 * reach @ c + np.mean(learnt.y**2)))

    risks = {
        "empirical_risk": empirical(c),
        "least_risk": empirical(np.asarray(best, dtype=np.float64)),
        # E[(f̂ − f − z)²]/2 with z independent of θ
        "population_risk": float(np.mean((fitted - f(GRID)) ** 2) + NOISE_VARIANCE) / 2.0,
        "relative_error": relative_error(fitted, f(GRID)),
    }
    if not theory.mirrored_signs_agree(learnt.w, where=learnt.alpha != 0.0).all():
        return risks
    existing = theory.existing_output_weights(learnt.alpha, learnt.w)
    distance = np.clip(best, -second_box, second_box) - learnt.c0
    return (
        risks
        | {
            "existing_risk": 2.0 * empirical(existing),
            "existing_bound": theory.second_layer_existence_bound(
                variation=theory.truncation_error(f, learnt.n_modes),
                n_modes=learnt.n_modes,
                smoothness=0,  # the error of the Fourier sum itself stands for C(g)/m^r
                n_samples=n,
                noise_variance=NOISE_VARIANCE,
                sub_exponential_norm=NOISE_PSI1,
            ),
            "main_bound": _main_bound(
                learnt, second_box, n_steps, delta, distance_squared=float(distance @ distance)
            ),
        }
        | _rademacher(learnt, rng)
    )


def _main_bound(
    learnt: FirstPhase, second_box: float, n_steps: int, delta: float, distance_squared: float
) -> float:
    """Right-hand side of the main theorem, with M′ as printed and all constants 1."""
    m, box, f_max = learnt.n_modes, learnt.box, float(np.abs(learnt.f(GRID)).max())
    gradient_noise = 2.0 * (5 * m * box * second_box + f_max + NOISE_MAX) * np.sqrt(5.0 * m) * box
    bound = theory.main_bound(
        n_modes=m,
        n_samples=learnt.y.size,
        second_phase=theory.second_layer_bound(
            n_steps=n_steps,
            distance_squared=distance_squared,
            gradient_noise=float(gradient_noise),
            delta=delta,
        ),
        variation=theory.truncation_error(learnt.f, m),
        smoothness=0,
        noise_variance=NOISE_VARIANCE,
        sub_exponential_norm=NOISE_PSI1,
        alpha_max=float(np.abs(learnt.alpha).max()),
        f_max=f_max,
        noise_max=NOISE_MAX,
    )
    return bound.total


def _rademacher(learnt: FirstPhase, rng: np.random.Generator) -> dict[str, float]:
    """Rademacher complexity of the functions with |c_j| ≤ Q₂, and its exponent in L for this w.

    A linear function on the box is largest at a corner: the complexity is Q₂ Σ_j E|Σ_i ξ_i u_ij|/L.
    The proof's Q₁Q₂(4m+1)/√L bounds it with no constant left open.
    """
    units = _units(learnt.theta[:BLOCK], learnt)
    signs = rng.choice([-1.0, 1.0], (RADEMACHER_DRAWS, len(units)))
    sizes = (len(units) // 16, len(units))
    few, all_rows = (np.abs(signs[:, :n] @ units[:n]).sum(axis=1).mean() / n for n in sizes)
    return {
        "rademacher": float(all_rows * np.sqrt(sizes[1]) / (learnt.box * learnt.w.size)),
        "rademacher_exponent": float(np.log(all_rows / few) / np.log(sizes[1] / sizes[0])),
    }


def _moments(learnt: FirstPhase) -> tuple[FloatArray, FloatArray]:
    """Means over the sample of u uᵀ and y u, with u = σ(w ⊙ x), in blocks of rows."""
    gram, reach = np.zeros((learnt.w.size, learnt.w.size)), np.zeros(learnt.w.size)
    for start in range(0, learnt.y.size, BLOCK):
        rows = slice(start, start + BLOCK)
        units = _units(learnt.theta[rows], learnt)
        gram += units.T @ units
        reach += units.T @ learnt.y[rows]
    return gram / learnt.y.size, reach / learnt.y.size


def _units(theta: FloatArray, learnt: FirstPhase) -> FloatArray:
    """Return σ(w ⊙ x), shape (n, 4m+1)."""
    return np.maximum(embed(theta[:, None], learnt.n_modes, "symmetrised") * learnt.w, 0.0)
