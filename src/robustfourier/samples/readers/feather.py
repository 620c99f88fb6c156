"""Feather files, by pyarrow."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from robustfourier.samples.data_frames import Frame

if TYPE_CHECKING:
    from robustfourier.samples.text_tables import ReadOptions


def read_feather(path: str | os.PathLike[str], name: str, options: ReadOptions) -> Frame:
    """All columns of a Feather file."""
    del name, options
    from pyarrow import feather

    table = feather.read_table(path)
    return Frame(table.to_pandas(ignore_metadata=True))
