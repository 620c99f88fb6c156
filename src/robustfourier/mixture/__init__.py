r"""From sums to the periods that are really there: lines, noise, significance, components.

The model, once. With θ in [-1, 1] the whole record and a mode k the number of cycles in it, a
sample of weight w is

.. math::

    y = \sum_d \beta_d P_d(\theta) + \sum_m \delta_m (\theta - \tau_m)_+^{o_m}
        + \sum_c \sum_n [a_{cn} \cos \pi n k_c \theta + b_{cn} \sin \pi n k_c \theta]
        + q(\theta) + r(\theta) + \sigma \varepsilon / \sqrt{w}:

trend with breakpoints, families of harmonics, their quasi-periodic parts q, coloured noise r of
damped oscillators, and white noise that may have Huber's tails; all of it for y or for log y. A
structure (which lines, which noise, which trend) is scored by its log evidence,

.. math:: \log E = \log p(y \mid \text{lines}, \text{noise}) - \sum \text{prices},

the trend integrated over (`evidence`, `periodic.priors`). ``docs/method.md`` says what is proposed
by whom.
"""
