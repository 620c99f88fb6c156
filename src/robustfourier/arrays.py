"""Names for the arrays that the rooms hand to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
ComplexArray = NDArray[np.complex128]
FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
IntArray = NDArray[np.int64]
