"""What the paper says about its experiments, in its own words (section 5)."""

from __future__ import annotations

_SUPERIOR = "The cases with the diagonal layer […] exhibit superior performance (5.1)."
_SHIFTED = "The effectiveness of the diagonal layer is clearly demonstrated […] (5.2)."
_IMPACT = (
    "the regularization impact of the diagonal layer is evident, while the standard case exhibits "
    "overfitting to the noise (5.4)."
)
_BEST = "the network with two additional layers u2_diag outperform the other cases (5.3)."
SAID: dict[str, dict[str, str]] = {
    "u1": {"1": _SUPERIOR, "2": _SHIFTED, "4": _IMPACT},
    "u2": {"3": _BEST, "4": _IMPACT},
    "u0": {"1": _SUPERIOR, "2": _SHIFTED},
    "best": {"3": _BEST},
    "joint": {
        "1": "simultaneous adjustments in the diagonal layer and output layer still yield superior "
        "regression performance compared to sequential learning (5.1)."
    },
    "overfitting": {
        "3": "rapid convergence initially gives way to increased error due to overfitting (5.3).",
        "4": _IMPACT,
    },
    "sparser": {
        "1": "layer-wise training promoted sparsity in the distribution of the diagonal layer "
        "[…] more effectively than standard training (5.1).",
        "4": "Layer-wise training, in particular, results in more sparse distribution (5.4).",
    },
    "all modes": {
        "1": "nearly all frequencies are activated (5.1).",
        "2": "nearly all frequencies are activated (5.1).",
        "3": "As previous examples, all Fourier modes in the standard network […] are activated "
        "(5.3).",
    },
    "targets": {
        "1": "displays activation in only a few frequencies including the target frequencies "
        "(5.1).",
        "2": "captures the target frequencies (5.2).",
        "3": "the diagonal layer consistently captures the corresponding Fourier modes (5.3).",
    },
    "exclusively": dict.fromkeys(
        ("1", "2"),
        "similar to the previous example, training only the diagonal layer in a layer-wise manner "
        "can activate the target frequency modes exclusively (5.2).",
    ),
}
"""Claim → example → the paper's words and section."""
