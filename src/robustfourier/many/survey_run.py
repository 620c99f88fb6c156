"""`fit_many`: a survey from its source to a folder of tables, resumable at any moment."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from robustfourier.atomic_files import plain, results_in
from robustfourier.errors import InputError, WorkerError, require_choice
from robustfourier.many.engines import Engine, Lost, open_engine
from robustfourier.many.index_page import write_index
from robustfourier.many.series_rows import failed_row
from robustfourier.many.shards import AGAIN, Done, read_shards, write_shard
from robustfourier.many.survey_folder import begin, finish, refuse_other_table
from robustfourier.many.survey_items import Batch, Item, Task
from robustfourier.many.survey_plan import Plan, Selection, named_source, plan
from robustfourier.many.survey_tables import gather, write_tables
from robustfourier.result_folders import SURVEY, claimed

_SECONDS = 2.0  # that a batch should take: starting one costs some milliseconds
_LARGEST = 200  # series of a batch: what is lost if its worker dies
_REPORTS = 1000  # series up to which each gets a page of its own
_TRIES = 3  # of a series alone before it is blamed for the death of its worker
_REMEDY = "what is done is kept, run the same command again or choose another folder"


@dataclass(frozen=True)
class Progress:
    """How far a survey is.

    Parameters
    ----------
    done, total, failed : int
        Series; those done in an earlier run are counted.
    rate : float
        Series per second in this run.
    left : float
        Seconds that the rest will take at this rate; NaN before the first has ended.
    """

    done: int
    total: int
    failed: int
    rate: float
    left: float


@dataclass(frozen=True)
class Survey:
    """The result of `fit_many`.

    Parameters
    ----------
    folder : Path
        Holds ``series.csv``, ``patterns.csv``, both as Parquet too, and ``index.html``.
    series, patterns : DataFrame
        One row per series, and per series and pattern.
    forecasts : DataFrame
        One row per series and time ahead: id, time, mean, low, high; none if not asked for.
    seconds, fitting : float
        Time of this run by the clock, and of the processors on fits.
    """

    folder: Path
    series: pd.DataFrame
    patterns: pd.DataFrame
    forecasts: pd.DataFrame
    seconds: float
    fitting: float

    @property
    def failed(self) -> pd.DataFrame:
        """Rows of the series that could not be fitted, with class and message of the error."""
        return self.series[self.series["status"] != "ok"]


def fit_many(
    source: Any,
    *,
    out: str | Path,
    by: str | None = None,
    time: str | None = None,
    value: str | Sequence[str] | None = None,
    error: str | None = None,
    together: bool = False,
    engine: str = "processes",
    jobs: int | None = None,
    address: Any = None,
    patience: float = 600.0,
    seed: int = 0,
    models: bool = False,
    reports: str = "auto",
    forecast: str | int | None = None,
    period: Any = None,
    unit: str | None = None,
    reading: dict[str, Any] | None = None,
    overwrite: bool = False,
    observe: Callable[[Progress], Any] | None = None,
    **parameters: Any,
) -> Survey:
    """Fit every series of a survey.

    Parameters
    ----------
    source : path, list of paths, or table
        Files with a series each; or, with `by`, a long table: CSV or Parquet of any size, folders
        of them, pandas, polars, pyarrow tables and data sets, `dask.dataframe`. A table without
        `by` has a series in each value column.
    out : path
        The folder of results, which changes as a whole when all is done. If a run with the same
        source and parameters was broken off, it goes on. Series that an earlier survey there has
        fitted from the same data with the same parameters are not fitted again.
    by : str, optional
        Column that tells the series of a long table apart.
    time, error : str, optional
        Columns; found by themselves where their names speak.
    value : str or sequence of str, optional
        Value column, several of them, or "all".
    together : bool
        Fit the value columns of a series as outputs that share their periods. Right where one
        cause moves all of them; one column's weak pattern is then found by the help of others.
    engine : {"processes", "serial", "dask"}
        Where. All give the same results to the bit.
    jobs : int, optional
        Processes; all cores if not given.
    address : str or dask Client, optional
        For ``engine="dask"``.
    patience : float
        Seconds without progress after which a series is given up.
    seed : int
        Each series has a seed of its own, made from this one and its name.
    models : bool
        Whether to write a model file for each series.
    reports : {"auto", "all", "found", "none"}
        Which series get a page of their own; "auto" is all of up to 1000 series, and of more those
        in which a pattern was found.
    forecast : str or int, optional
        How far to forecast each series: "30d", or a number of its steps. One table of all of them,
        and a picture of each.
    period : float, str or list of them, optional
        Periods known to be there, such as "7d"; the rest is searched for.
    unit : str, optional
        Unit of numeric times, or that in which the periods of dates are given.
    reading : dict, optional
        Further options of `read_samples`, such as ``time_format``.
    overwrite : bool
        Whether a survey of another source or with other parameters may be replaced. Files of
        others are never touched, and neither is an input.
    observe : callable, optional
        Given `Progress` after each batch.
    **parameters
        Of `PeriodicMixture`.

    Raises
    ------
    RunLockedError
        If another run is at work on the folder.
    OutputError
        If the folder holds something else, or cannot be written.
    """
    given = {"time": time, "error": error, "unit": unit}
    if period is not None:
        several = isinstance(period, (list, tuple))
        parameters = {**parameters, "periods": list(period) if several else [period]}
    if forecast is not None and together:
        raise InputError("forecast goes with series that are fitted one by one, not together")
    reading = {**(reading or {}), **{k: v for k, v in given.items() if v is not None}}
    _check(parameters, reports)
    values = [value] if isinstance(value, str) and value != "all" else value
    selection = Selection(by, values, together, reading)
    folder, sources = Path(out).absolute(), named_source(source)
    identity = plain({**vars(selection), "parameters": parameters, "seed": seed})
    identity |= {} if forecast is None else {"forecast": forecast}
    identity["source"] = None if sources is None else [str(path.resolve()) for path in sources]
    with (
        results_in(out, _REMEDY),
        claimed(SURVEY, folder, identity, sources or [], overwrite=overwrite),
    ):
        draft = begin(folder, identity, overwrite)
        planned = plan(source, selection, draft)
        refuse_other_table(draft, folder, planned.content, overwrite)
        many = len(planned.items) > _REPORTS
        wanted = ("found" if many else "all") if reports == "auto" else reports
        task = Task(
            *(str(draft), parameters, reading, planned.layout, int(seed), models, wanted, forecast)
        )
        with open_engine(engine, jobs, address, patience) as opened:
            survey = _Run(folder, planned, task, observe).with_engine(opened)
        record = {"identity": identity, "content": planned.content}
        finish(draft, folder, record, survey.series)
        return survey


def _check(parameters: dict[str, Any], reports: str) -> None:
    """Refuse what would fail for every series."""
    from robustfourier.estimators.mixture import PeriodicMixture

    known = set(PeriodicMixture().get_params()) - {"unit", "random_state"}
    if unknown := sorted(set(parameters) - known):
        raise InputError(f"{unknown[0]!r} is no parameter; there are {', '.join(sorted(known))}")
    require_choice("reports", reports, ("auto", "all", "found", "none"))


class _Run:
    """One run over the series that are not done yet."""

    def __init__(
        self, folder: Path, planned: Plan, task: Task, observe: Callable[[Progress], Any] | None
    ) -> None:
        self.folder, self.plan, self.task, self.observe = folder, planned, task, observe
        self.draft = Path(task.folder)
        self.started, self.fitting = time.monotonic(), 0.0
        self.keys = {item.id: task.key(item) for item in planned.items}
        self.finished = self._finished()
        self.before = sum(key in self.finished for key in self.keys.values())
        self.done, self.failed, self.pace = self.before, 0, 0.3
        self.retries: deque[Batch] = deque()
        self.suspects: deque[Batch] = deque()  # on their last try

    def with_engine(self, engine: Engine) -> Survey:
        """Fit what is missing, then gather."""
        todo = deque(i for i in self.plan.items if self.keys[i.id] not in self.finished)
        running = 0
        self._tell()
        while todo or self.retries or self.suspects or running:
            while engine.free and (batch := self._next(todo, running)):
                engine.start(batch)
                running += 1
            for batch, outcome in engine.wait():
                running -= 1
                self._ended(batch, outcome)
        # Series of long tables are ordered by name; files as they were given.
        names = list(self.keys) if self.plan.layout is None else sorted(self.keys)
        keys = [self.keys[name] for name in names]
        series, patterns, forecasts = gather(self.draft, keys, self.plan.unread)
        write_tables(self.draft, series, patterns, forecasts)
        write_index(self.draft, series)
        seconds = time.monotonic() - self.started
        return Survey(self.folder, series, patterns, forecasts, seconds, self.fitting)

    def _finished(self) -> set[str]:
        rows = (row for rows in read_shards(self.draft) for row in rows)
        return {row["key"] for row in rows if row["status"] not in AGAIN}

    def _next(self, todo: deque[Item], running: int) -> Batch | None:
        """Return what to start now, if anything.

        A suspect has all workers to itself: then no other series shares its worker, to be blamed
        for its death or to take its memory.
        """
        if self.retries:
            return self.retries.popleft()
        if not todo:
            return self.suspects.popleft() if self.suspects and not running else None
        count = int(min(max(round(_SECONDS / max(self.pace, 1e-3)), 1), _LARGEST, len(todo)))
        return Batch(tuple(todo.popleft() for _ in range(count)), self.task)

    def _ended(self, batch: Batch, outcome: Done | Lost | Exception) -> None:
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, Lost):
            self._lost(batch, outcome)
            return
        self.done += len(batch.items)
        self.failed += outcome.failed
        self.fitting += outcome.fitting
        # The pace of late batches counts more: series of one kind often come together.
        self.pace += 0.3 * (outcome.seconds / len(batch.items) - self.pace)
        self._tell()

    def _lost(self, batch: Batch, lost: Lost) -> None:
        """Try again, then one by one; a series that kills its worker alone is named."""
        if len(batch.items) > 1:
            self.retries += batch.alone() if lost.certain or batch.attempt else [batch.again()]
        elif not lost.certain and batch.attempt + 1 < _TRIES:
            again = batch.again()
            (self.suspects if again.attempt + 1 == _TRIES else self.retries).append(again)
        else:
            error = WorkerError(f"given up: {lost.why}")
            row = failed_row(batch.items[0], self.task, error, 0.0)
            write_shard(self.draft, batch.name, [row])
            self.done, self.failed = self.done + 1, self.failed + 1
            self._tell()

    def _tell(self) -> None:
        if self.observe is None:
            return
        here, seconds = self.done - self.before, max(time.monotonic() - self.started, 1e-9)
        rate = here / seconds
        left = (len(self.keys) - self.done) / rate if rate else float("nan")
        self.observe(Progress(self.done, len(self.keys), self.failed, rate, left))
