"""Surveys: many series, fitted one by one on all cores or on a cluster, into one folder.

`fit_many` lists the series of a source (`plan`), fits them in batches (`item`, `rows`) on an engine
(`engines`, `on_dask`), each batch into a shard (`shards`), and gathers the shards into two tables
and a page (`survey_tables`, `index`).
"""

from robustfourier.many.run import Progress, Survey, fit_many

__all__ = ["Progress", "Survey", "fit_many"]
