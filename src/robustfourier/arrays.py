"""Names for the arrays that the rooms hand to each other."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
ComplexArray = NDArray[np.complex128]
FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
IntArray = NDArray[np.int64]

# What kernels are compiled for, by the number of axes.
Vector: TypeAlias = FloatArray
Matrix: TypeAlias = FloatArray
Tensor: TypeAlias = FloatArray
IntVector: TypeAlias = IntArray
BoolVector: TypeAlias = BoolArray
ComplexVector: TypeAlias = ComplexArray
ComplexMatrix: TypeAlias = ComplexArray
ComplexTensor: TypeAlias = ComplexArray
