"""Many processes side by side: their likelihoods in one pass over the rows, compiled.

Where a search starts, the same samples are asked about dozens of processes. Each number of the
pass (`factoring` has it for one process) is then `LANES` numbers, one of each process, which the
processor takes in one step, and what is slow about a row, a division or an exponential, no longer
waits for the row before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.compiling import compiled
from robustfourier.mixture.factoring import EVEN, STRETCH
from robustfourier.mixture.process import Waves
from robustfourier.periodic.basis import cos_sin

LANES = 8  # processes at once: two vectors of four numbers, so that one can wait for the other


def each_summed(
    theta: FloatArray,
    noise: FloatArray,
    columns: FloatArray,
    present: Waves,
    waves: Waves,
    count: int,
) -> tuple[FloatArray, FloatArray]:
    """Return what `factoring.summed` does of many processes.

    Parameters
    ----------
    theta, noise : ndarray of shape (n,)
        Sorted positions; white variances.
    columns : ndarray of shape (n, r)
    present : Waves
        Terms that all processes have.
    waves : Waves
        The terms of one after the other, of like kinds in each.
    count : int
        Processes.

    Returns
    -------
    grams : ndarray of shape (count, r, r)
        Products of columns over their variances, summed; infinite where there is no covariance.
    logs : ndarray of shape (count,)
        Log determinants.
    """
    own = waves.numbers.reshape(4, count, -1).transpose(0, 2, 1)
    shared = np.repeat(present.numbers[:, :, None], count, axis=2)
    terms = np.concatenate([shared, own], axis=1)
    more = -count % LANES  # the last lanes are filled up with the last process
    terms = np.concatenate([terms, np.repeat(terms[:, :, -1:], more, axis=2)], axis=2)
    grams = np.empty((count + more, columns.shape[1], columns.shape[1]))
    logs = np.empty(count + more)
    for first in range(0, count, LANES):
        some = slice(first, first + LANES)
        lanes = np.ascontiguousarray(terms[:, :, some])
        _summed(theta, lanes, noise, columns, grams[some], logs[some])
    return grams[:count], logs[:count]


@compiled
def _fill(i: int, theta: Any, terms: Any, turn: Any, fading: Any, u: Any, v: Any) -> None:
    """Fill in fading, U and V of one row, as `factoring.fill` does."""
    step, j = theta[i] - theta[max(i - 1, 0)], 0
    same = i > 1 and abs(step - (theta[i - 1] - theta[i - 2])) <= EVEN * step
    before = i > 2 and abs(theta[i - 1] - 2.0 * theta[i - 2] + theta[i - 3]) <= EVEN * step
    for t in range(terms.shape[1]):
        if not same:
            for m in range(LANES):
                fading[j, m] = np.exp(-terms[2, t, m] * step)
        if terms[3, t, 0] == 0.0:
            for m in range(LANES):
                u[j, m], v[j, m] = terms[0, t, m], 1.0
            j += 1
            continue
        if not same:
            for m in range(LANES):
                fading[j + 1, m] = fading[j, m]
        if same and not before:
            cos_sin(terms[3, t], step / np.pi, turn[t, 0], turn[t, 1])
        if same and i % STRETCH:
            for m in range(LANES):
                x, y, p, q = v[j, m], v[j + 1, m], turn[t, 0, m], turn[t, 1, m]
                v[j, m], v[j + 1, m] = x * p - y * q, y * p + x * q
        else:
            cos_sin(terms[3, t], theta[i] / np.pi, v[j], v[j + 1])
        for m in range(LANES):
            a, b = terms[0, t, m], terms[1, t, m]
            u[j, m], u[j + 1, m] = a * v[j, m] + b * v[j + 1, m], a * v[j + 1, m] - b * v[j, m]
        j += 2


@compiled
def _summed(theta: Any, terms: Any, noise: Any, y: Any, grams: Any, logs: Any) -> None:
    """Write products and log determinants of `LANES` processes with terms of shape (4, T, LANES).

    S is symmetric, and its lower half is kept.
    """
    (n, count), size = y.shape, terms.shape[1] + np.count_nonzero(terms[3, :, 0])
    fading, u, v, w = np.ones((4, size, LANES))
    s, f = np.zeros((size, size, LANES)), np.zeros((size, count, LANES))
    z, total = np.zeros((count, LANES)), np.zeros((count, count, LANES))
    turn, variance = np.ones((terms.shape[1], 2, LANES)), terms[0].sum(axis=0)
    pivot, told, product = np.zeros(LANES), np.zeros(LANES), np.ones(LANES)
    none, w[:], logs[:] = np.zeros(LANES, np.bool_), 0.0, 0.0
    for i in range(n):
        _fill(i, theta, terms, turn, fading, u, v)
        for j in range(size):
            for m in range(LANES):
                told[m] = pivot[m] * w[j, m]
            for k in range(j + 1):
                for m in range(LANES):
                    s[j, k, m] = fading[j, m] * fading[k, m] * (s[j, k, m] + told[m] * w[k, m])
            for r in range(count):
                for m in range(LANES):
                    f[j, r, m] = fading[j, m] * (f[j, r, m] + w[j, m] * z[r, m])
        for r in range(count):
            for m in range(LANES):
                z[r, m] = y[i, r]
            for j in range(size):
                for m in range(LANES):
                    z[r, m] -= u[j, m] * f[j, r, m]
        for m in range(LANES):
            pivot[m] = variance[m] + noise[i]
        for j in range(size):
            told[:] = 0.0
            for k in range(size):
                for m in range(LANES):
                    told[m] += s[max(j, k), min(j, k), m] * u[k, m]
            for m in range(LANES):
                w[j, m] = v[j, m] - told[m]
                pivot[m] -= u[j, m] * told[m]
        for m in range(LANES):
            if not pivot[m] > 0.0:
                none[m], pivot[m] = True, 1.0
            product[m] *= pivot[m]  # a logarithm takes longer
            if not 1e-200 < product[m] < 1e200:
                logs[m], product[m] = logs[m] + np.log(product[m]), 1.0
            told[m] = 1.0 / pivot[m]
        for j in range(size):
            for m in range(LANES):
                w[j, m] *= told[m]
        for r in range(count):
            for q in range(r + 1):
                for m in range(LANES):
                    total[r, q, m] += z[r, m] * z[q, m] * told[m]
    for m in range(LANES):
        logs[m] += np.log(product[m])
        for r in range(count):
            for q in range(count):
                grams[m, r, q] = np.inf if none[m] else total[max(r, q), min(r, q), m]
