"""What is run: every experiment of the paper's section 5, and ours beside them, as data.

A `Trial` is one line of the catalogue: problem × network × seed × hyper-parameters. It holds
everything that is needed to run it again, and nothing else; its `key` names its row and curves.

The paper leaves open the number of modes, the widths, the number of steps and the rates of
examples 3 and 4. Chosen here: 100 modes (the targets' highest is 61), width 100, the rates of
examples 1 and 2 for all, and the numbers of steps below. The "sweep" varies these choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from paper.result_store import digest
from robustfourier.errors import require_choice

Purpose = Literal["main", "init", "sweep"]

NETWORKS: dict[str, tuple[int, bool]] = {
    "*u0_diag": (0, True),
    "u0_diag": (0, True),
    "u1_diag": (1, True),
    "u2_diag": (2, True),
    "u1_standard": (1, False),
    "u2_standard": (2, False),
    "u3_standard": (3, False),
}
"""The paper's names → (dense layers, diagonal layer); the star means layer-wise training."""

_LINEAR = ("*u0_diag", "u0_diag", "u1_diag", "u1_standard")
EXAMPLES: dict[str, tuple[str, ...]] = {
    "1": _LINEAR,
    "2": _LINEAR,
    "3": tuple(NETWORKS),
    "4": tuple(NETWORKS),
    "simulated": _LINEAR,
    "trends": tuple(NETWORKS),
}
"""Example → the networks that the paper trains on it ("simulated" is our stand-in for its 4)."""

STEPS: dict[str, tuple[int, int]] = {
    "1": (300_000, 500_000),
    "2": (300_000, 500_000),
    "3": (300_000, 500_000),
    "4": (30_000, 60_000),
    "simulated": (24_000, 48_000),
    "trends": (30_000, 60_000),
}
"""Example → steps of SGD for networks with dense layers, and without (layer-wise: of each phase).

At 60 000 steps the networks with a diagonal layer still improve on examples 1 to 3, while the
standard ones already get worse; at these numbers both have settled. Short series are passed over
more often and need fewer.
"""

QUICK_STEPS = (6_000, 10_000)
"""Steps of the quick form, at ten times the rate, for each kind of network; never more than a tenth
of the catalogue's."""

SEEDS = (0, 1, 2, 3, 4)

_SWEPT = {
    "u0_diag": 60_000,
    "u1_diag": 20_000,
    "u1_standard": 20_000,
    "u2_diag": 30_000,
    "u2_standard": 30_000,
}


@dataclass(frozen=True)
class Trial:
    """One training."""

    example: str  # of `EXAMPLES`
    network: str  # of `NETWORKS`
    seed: int  # of the noise, the initial weights and the batches
    purpose: Purpose = "main"  # the paper's experiment, another start, or a varied choice
    init: str = "glorot"
    n_modes: int = 100
    width: int = 100  # of the dense layers
    learning_rate: float = 2e-3  # α₀ of the inverse decay
    decay_rate: float = 0.95  # γ
    decay_steps: float = 5e4  # m₀
    batch_size: int = 201
    n_steps: int = 60_000  # in all for joint training, of each phase for layer-wise
    noise: float = 0.4  # standard deviation of what is added
    dtype: str = "float32"
    variation: str = ""  # in a sweep, what differs from the main choice

    def __post_init__(self) -> None:
        require_choice("example", self.example, EXAMPLES)
        require_choice("network", self.network, NETWORKS)

    @property
    def key(self) -> str:
        """Name of the row: readable, and different for trials that differ in anything."""
        network = self.network.replace("*", "layerwise_")
        return f"{self.example}-{network}-s{self.seed}-{digest(self)}"

    @property
    def hidden_layer_sizes(self) -> tuple[int, ...]:
        """Widths of the dense layers."""
        return (self.width,) * NETWORKS[self.network][0]

    @property
    def diagonal(self) -> bool:
        """Whether a diagonal layer follows the embedding."""
        return NETWORKS[self.network][1]

    @property
    def layerwise(self) -> bool:
        """Whether the layers are trained one after the other (Algorithm 1)."""
        return self.network.startswith("*")


def trials(examples: Iterable[str], *, quick: bool = False) -> list[Trial]:
    """List the trials of some examples, seed by seed, so that a partial run is already useful.

    With `quick` two seeds, a tenth of the steps at ten times the rate, no sweep.

    Examples
    --------
    >>> len(trials(["1"]))
    45
    >>> [t.network for t in trials(["2"])][:4]
    ['*u0_diag', 'u0_diag', 'u1_diag', 'u1_standard']
    """
    wanted = list(examples)
    listed = [t for name in wanted for t in (*_main(name), *_other_starts(name))]
    if not quick:
        listed += [t for name in wanted for t in _sweep(name)]
        return sorted(listed, key=_order)
    return sorted((_quick(t) for t in listed if t.seed < 2), key=_order)


def _main(example: str) -> Iterator[Trial]:
    for seed in SEEDS:
        for network in EXAMPLES[example]:
            yield Trial(example, network, seed, n_steps=STEPS[example][NETWORKS[network][0] == 0])


def _other_starts(example: str) -> Iterator[Trial]:
    """The same networks from pairs that start as one linear function, or with opposite signs."""
    networks = ("*u0_diag", "u0_diag", "u1_diag") if example == "1" else ("*u0_diag", "u0_diag")
    for trial in _main(example):
        if trial.network in networks:
            yield replace(trial, purpose="init", init="symmetric")
        if NETWORKS[trial.network] == (0, True):
            yield replace(trial, purpose="init", init="antisymmetric")


def _sweep(example: str) -> Iterator[Trial]:
    """Vary one open choice at a time, on the example with nonlinear links, for fewer steps."""
    if example != "3":
        return
    variations: dict[str, dict[str, Any]] = {
        "as chosen": {},
        "modes 150": {"n_modes": 150},
        "width 50": {"width": 50},
        "width 200": {"width": 200},
        "rate 1e-3": {"learning_rate": 1e-3},
        "rate 4e-3": {"learning_rate": 4e-3},
        "batch 100": {"batch_size": 100},
        "float64": {"dtype": "float64"},
    }
    for label, change in variations.items():
        for network, steps in _SWEPT.items():
            base = Trial(example, network, 0, purpose="sweep", variation=label, n_steps=steps)
            yield replace(base, **change)


def _quick(trial: Trial) -> Trial:
    most = QUICK_STEPS[NETWORKS[trial.network][0] == 0]
    return replace(
        trial,
        n_steps=min(trial.n_steps // 10, most),
        learning_rate=10 * trial.learning_rate,
        decay_steps=trial.decay_steps / 10,
    )


def _order(trial: Trial) -> tuple[int, bool]:
    # The sweep has one seed and comes after two of the others.
    return (2 if trial.purpose == "sweep" else trial.seed, trial.purpose != "sweep")
