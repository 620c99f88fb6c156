"""Toy versions of the catalogue's entries: the same code in a fraction of a second."""

from dataclasses import replace

from paper.catalogue import trials
from paper.theory_runs import theory_tasks


def toy(trial):
    return replace(trial, n_modes=70, width=6, n_steps=40, batch_size=50)


def toy_trials(examples=("1", "2", "3", "4", "simulated"), n_seeds=1):
    return [
        toy(t) for t in trials(examples) if t.seed < n_seeds and t.variation in ("", "width 50")
    ]


def toy_tasks(n_seeds=1):
    """Every sweep of the theory, with small batches and few steps of the second phase."""
    return [
        replace(
            task,
            batch_size=max(5, task.batch_size // 20),
            n_output_steps=min(task.n_output_steps, 50 + task.n_output_steps // 100),
        )
        for task in theory_tasks()
        if task.seed < n_seeds and task.n_modes <= 256
    ]
