"""The model file: arrays and JSON in one checked, versioned file; never a pickle.

>>> import numpy as np, tempfile, pathlib
>>> from robustfourier.persistence.container import read_container, write_container
>>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers.rfm"
>>> write_container(path, {"answer": 42}, [np.arange(3.0)])
>>> read_container(path)
Content(tree={'answer': 42}, arrays=[array([0., 1., 2.])], version=2)
"""

from robustfourier.persistence.models import describe, load, save

__all__ = ["describe", "load", "save"]
