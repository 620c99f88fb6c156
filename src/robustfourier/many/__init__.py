"""Surveys: many series, fitted one by one on all cores or on a cluster, into one folder.

`fit_many` (`survey_run`) lists the series of a source (`survey_plan`, `survey_items`, `buckets`),
fits them in batches (`series_rows`) on an engine (`engines`, `on_dask`), each batch into a shard
(`shards`), and gathers the shards into tables and a page (`survey_tables`, `index_page`).
"""

from robustfourier.many.survey_run import Progress, Survey, fit_many

__all__ = ["Progress", "Survey", "fit_many"]
