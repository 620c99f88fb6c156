"""netCDF, by xarray with h5netcdf or scipy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from robustfourier.samples.data_frames import Frame
from robustfourier.samples.objects import dataset_frame

if TYPE_CHECKING:
    from robustfourier.samples.text_tables import ReadOptions


def read_netcdf(path: str | os.PathLike[str], name: str, options: ReadOptions) -> Frame:
    """The variables of a netCDF file along its time; other dimensions tell series apart."""
    import xarray

    with open(path, "rb") as file:
        engine = "scipy" if file.read(3) == b"CDF" else "h5netcdf"
    with xarray.open_dataset(path, engine=engine) as data:
        return dataset_frame(data.load(), name, options.time, options.value)
