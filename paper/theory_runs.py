"""Algorithm 1 with fresh batches against the theorems, as tasks for the runner.

The first phase is compared with Theorem 1 over r_c, B, T and m, and with the third corollary's
step; the second with its least-squares limit over T′. Generalisation gap, Rademacher complexity
and main bound are followed over the number of samples TB, and Assumption 2 is violated on purpose.
Noise is uniform, because the theorems ask for bounded noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal

import numpy as np

from paper.result_store import Outcome, ResultStore, digest
from paper.risks import NOISE_MAX, FirstPhase, measured_risks
from robustfourier import theory
from robustfourier.arrays import FloatArray
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.weights import Weights
from robustfourier.synthetic import PAPER_COMPONENTS, Component, Mixture
from robustfourier.training import InverseDecay, train_layerwise

Sweep = Literal[
    "r_c", "B", "T", "m", "second phase", "samples", "violation", "corollary", "links", "step"
]

DELTA = 1e-5
BOX_SLACK = 2.0  # Q₁ in units of the smallest that Theorem 1 allows
FLAT_STEPS = 30  # the second phase's step size falls like 1/√T′ from here on

_FIRST, _SECOND, _THIRD = PAPER_COMPONENTS[1]
TARGETS: dict[str, Mixture] = {
    "odd": Mixture((_FIRST, _SECOND, _THIRD)),
    "even": Mixture((_FIRST, replace(_SECOND, mode=28), _THIRD)),
    "links": Mixture(
        (
            Component(5, kind="cos", amplitude=0.5, link="cube"),
            Component(9, kind="cos", amplitude=0.4, link="tanh"),
            Component(31, kind="sin", amplitude=0.3),
        )
    ),
}
"""Example 1; the same with its mode 29 moved to the even 28, which Assumption 2 forbids; and
nonlinear links that meet both assumptions: odd modes and odd links, no harmonic shared up to 64."""


@dataclass(frozen=True)
class TheoryTask:
    """One run of Algorithm 1."""

    sweep: Sweep  # the question that the run belongs to
    seed: int
    target: str = "odd"  # of `TARGETS`
    n_modes: int = 64  # m
    r_c: float = 0.1
    decay: float = 0.5  # λ
    step_size: float = 0.1  # η
    n_steps: int = 200  # T
    batch_size: int = 1000  # B
    n_output_steps: int = 0  # T′
    large_start: bool = False  # from w⁰ = Q₁ everywhere, not nearly zero, to see the start fade

    @property
    def key(self) -> str:
        """Name of the row."""
        return f"{self.sweep.replace(' ', '_')}-s{self.seed}-{digest(self)}"


@dataclass(frozen=True)
class TheoryRow:
    """A finished run of Algorithm 1; NaN where it has nothing to show."""

    task: TheoryTask
    deviation: float  # ‖w^T − prediction‖_∞
    bound: float  # Theorem 1's right-hand side
    signal: float  # ‖prediction‖_∞
    signs_agree: float  # share of the active pairs with sign(w_j) = sign(w_{−j})
    leak_deviation: float  # from the prediction with leakage
    false_weight: float  # largest weight where α = 0, relative to the largest elsewhere
    empirical_risk: float  # R̂(c^{T′})
    least_risk: float  # R̂(ĉ)
    population_risk: float  # R(c^{T′})
    relative_error: float
    existing_risk: float  # R̂(c̃), of r², as are the two bounds below
    existing_bound: float  # Lemma 2's right-hand side
    main_bound: float  # the main theorem's
    rademacher: float  # complexity in units of its bound
    rademacher_exponent: float  # how it changes with L
    trace: float  # share of the start that is left


COLUMNS = ("key", *(field.name for field in (*fields(TheoryTask), *fields(TheoryRow)[1:])))


def load_theory(store: ResultStore, tasks: Iterable[TheoryTask]) -> list[TheoryRow]:
    """Read the rows of the given tasks; those that are not finished are left out."""
    found = store.rows()
    names = [field.name for field in fields(TheoryRow)[1:]]
    return [
        TheoryRow(task, **{name: float(found[task.key][name] or np.nan) for name in names})
        for task in tasks
        if task.key in found
    ]


def theory_tasks(*, quick: bool = False) -> list[TheoryTask]:
    """List the runs; quick means two seeds instead of five and no large cases.

    Examples
    --------
    >>> len(theory_tasks()), len(theory_tasks(quick=True))
    (225, 46)
    """
    tasks = [task for seed in range(2 if quick else 5) for task in _tasks_of_one_seed(seed)]
    if quick:
        tasks = [
            t for t in tasks if t.batch_size * t.n_modes <= 130_000 and t.n_output_steps <= 1000
        ]
    return tasks


def _tasks_of_one_seed(seed: int) -> Iterator[TheoryTask]:
    for r_c in (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 4.0):
        yield TheoryTask("r_c", seed, r_c=r_c, batch_size=4000)
    for batch_size in (60, 250, 1000, 4000):
        yield TheoryTask("B", seed, batch_size=batch_size, r_c=0.03)
    for n_steps in (2, 10, 25, 50, 75, 100, 150, 200):
        yield TheoryTask("T", seed, n_steps=n_steps, r_c=0.03, large_start=True)
    for n_modes in (64, 128, 256, 512):
        yield TheoryTask("m", seed, n_modes=n_modes, r_c=0.03)
    for n_output_steps in (30, 100, 300, 1000, 3000, 10_000):
        yield TheoryTask("second phase", seed, batch_size=400, n_output_steps=n_output_steps)
    for batch_size in (12, 48, 192, 768):
        # the main theorem asks for B > 1/r_c²
        yield TheoryTask("samples", seed, r_c=0.3, batch_size=batch_size, n_output_steps=3000)
    for r_c in (0.05, 0.1, 0.2, 0.4):
        # the first corollary lets the batch grow like 1/r_c²
        yield TheoryTask("corollary", seed, r_c=r_c, batch_size=round(100 / r_c**2))
    for n_steps in (25, 50, 100, 200, 400):
        # the third corollary's step
        step_size = theory.step_size_for(n_steps, TheoryTask.decay)
        yield TheoryTask("step", seed, n_steps=n_steps, step_size=step_size, large_start=True)
    yield TheoryTask("links", seed, target="links", r_c=0.03, batch_size=4000, n_output_steps=300)
    for target in ("odd", "even"):
        yield TheoryTask("violation", seed, target=target, batch_size=400, n_output_steps=120_000)


def run_theory_task(task: TheoryTask) -> Outcome:
    """Run Algorithm 1 and set it beside the theory.

    Returns
    -------
    row, curves
        `row` has the `COLUMNS`, empty where a run has nothing to say; `curves` holds, for the
        first seed, the trained weights and what was predicted.
    """
    f, m = TARGETS[task.target], task.n_modes
    rng = np.random.default_rng([task.seed, 7])
    alpha = theory.alpha(f, m)
    alpha[np.abs(alpha) < 1e-9] = 0.0
    c0 = theory.theory_output_weights(m, task.r_c, rng)
    box = BOX_SLACK * theory.first_layer_box(alpha, c0, decay=task.decay)
    small = 1e-3 * task.r_c / np.sqrt(m)
    w0 = np.full(c0.size, box if task.large_start else small)
    sample = _draw(f, task.n_steps * task.batch_size, rng)
    w = _first_phase(task, w0, c0, box, sample)
    learnt = FirstPhase(f, m, alpha, c0, box, w, *sample)
    predicted = theory.predicted_diagonal(
        alpha, c0, decay=task.decay, step_size=task.step_size, n_steps=task.n_steps
    )
    row = _first_phase_row(task, learnt, w0, predicted)
    if task.sweep == "step":
        # The same batches from nearly zero: the difference is what is left of the start. Units
        # whose sign changes on the way see other halves of the samples, and are left out.
        other = _first_phase(task, np.full(c0.size, small), c0, box, sample)
        row["trace"] = float(np.abs(w - other)[predicted > 0.0].max() / (box - small))
    if task.n_output_steps:
        second_box = theory.second_layer_box(m, task.r_c, decay=task.decay)
        c = _second_phase(task, learnt, second_box, rng)
        row |= measured_risks(learnt, c, second_box, task.n_output_steps, DELTA, rng)
    cells = {name: repr(float(value)) for name, value in row.items()}
    vectors = {"w": w, "predicted": predicted, "c0": c0, "alpha": alpha}
    curves = {name: x.astype(np.float32) for name, x in vectors.items() if task.seed == 0}
    return {**dict.fromkeys(COLUMNS, ""), "key": task.key, **asdict(task), **cells}, curves


def _draw(f: Mixture, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    theta = rng.uniform(-1.0, 1.0, n)
    return theta, f(theta) + rng.uniform(-NOISE_MAX, NOISE_MAX, n)


def _network(n_modes: int, w: FloatArray, c: FloatArray) -> Weights:
    architecture = Architecture(n_modes, embedding="symmetrised")
    return Weights(architecture, {DIAGONAL: w.copy(), OUTPUT: c[None, :].copy()})


class _InOrder:
    """Hand out the rows of a sample one batch after the other: each batch is fresh."""

    def __init__(self, theta: FloatArray, y: FloatArray) -> None:
        self.theta, self.y, self.used = theta, y, 0

    def __call__(self, rng: np.random.Generator, size: int) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        rows = slice(self.used, self.used + size)
        self.used += size
        return self.theta[rows], self.y[rows]


def _first_phase(
    task: TheoryTask,
    w0: FloatArray,
    c0: FloatArray,
    box: float,
    sample: tuple[FloatArray, FloatArray],
) -> FloatArray:
    training = train_layerwise(
        _network(task.n_modes, w0, c0),
        _InOrder(*sample),
        n_steps=task.n_steps,
        n_output_steps=0,
        batch_size=task.batch_size,
        schedule=InverseDecay(task.step_size, decay=0.0),
        loss="half_squared",
        ridge=task.decay,
        diagonal_box=box,
        record_every=task.n_steps,
    )
    assert training.weights.diagonal is not None
    return training.weights.diagonal


def _first_phase_row(
    task: TheoryTask, learnt: FirstPhase, w0: FloatArray, predicted: FloatArray
) -> dict[str, float]:
    # From w⁰ on, the theorem's ‖w¹ − η c⁰⊙α/2‖ is at most (1−ηλ)‖w⁰‖ plus one step's error.
    bound = theory.feature_learning_bound(
        n_modes=task.n_modes,
        r_c=task.r_c,
        box=learnt.box,
        decay=task.decay,
        step_size=task.step_size,
        n_steps=task.n_steps,
        batch_size=task.batch_size,
        f_max=float(sum(abs(component.amplitude) for component in learnt.f.components)),
        noise_max=NOISE_MAX,
        delta=DELTA,
        start=(1.0 - task.step_size * task.decay) * float(np.abs(w0).max()),
    )
    w, active = learnt.w, learnt.alpha != 0.0
    with_leak = leaky_prediction(task, learnt.alpha, learnt.c0, w)
    return {
        "deviation": float(np.abs(w - predicted).max()),
        "bound": bound.total,
        "signal": float(np.abs(predicted).max()),
        "signs_agree": float(theory.mirrored_signs_agree(w, where=active).mean()),
        "leak_deviation": float(np.abs(w - with_leak).max()),
        "false_weight": float(np.abs(w[~active]).max() / np.abs(w[active]).max()),
    }


def leaky_prediction(
    task: TheoryTask, alpha: FloatArray, c0: FloatArray, w: FloatArray
) -> FloatArray:
    """Return w^T as predicted with E[f|x_j|] added, for the signs that the trained w has."""
    predicted = theory.predicted_diagonal(
        alpha,
        c0,
        decay=task.decay,
        step_size=task.step_size,
        n_steps=task.n_steps,
        leak=theory.leakage(TARGETS[task.target], task.n_modes),
        signs=np.sign(w),
    )
    # A unit whose leakage pushes it back to zero rests there instead.
    predicted[predicted * np.sign(w) < 0.0] = 0.0
    return predicted


def _second_phase(
    task: TheoryTask, learnt: FirstPhase, second_box: float, rng: np.random.Generator
) -> FloatArray:
    steps = task.n_output_steps
    # η′ = min{1/(10 Q₁²), η′/√T′} of the second-layer theorem.
    step_size = min(1.0, np.sqrt(FLAT_STEPS / steps)) / (10.0 * learnt.box**2)
    training = train_layerwise(
        _network(task.n_modes, learnt.w, learnt.c0),
        (learnt.theta, learnt.y),
        n_steps=0,
        n_output_steps=steps,
        batch_size=min(task.batch_size, learnt.y.size),
        schedule=InverseDecay(step_size, decay=0.0),
        loss="half_squared",
        output_box=second_box,
        record_every=steps,
        random_state=rng,
    )
    return np.asarray(training.weights.arrays[OUTPUT][0], dtype=np.float64)
