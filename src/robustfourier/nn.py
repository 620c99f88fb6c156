"""The networks of the paper as torch modules: embedding, diagonal layer, whole network.

>>> import torch
>>> from robustfourier.nn import DiagonalLayer, FourierEmbedding
>>> model = torch.nn.Sequential(FourierEmbedding(3), DiagonalLayer(14), torch.nn.Linear(14, 1))
>>> model(torch.zeros(5, 1)).shape
torch.Size([5, 1])
"""

from robustfourier.errors import MissingDependencyError

try:
    from robustfourier.network.torch_modules import (
        DiagonalLayer,
        FourierEmbedding,
        FourierNetwork,
        sliced,
    )
except ModuleNotFoundError as error:
    raise MissingDependencyError(
        f"robustfourier.nn needs {error.name}, which is not installed; "
        "pip install 'robustfourier[torch]'"
    ) from error

__all__ = ["DiagonalLayer", "FourierEmbedding", "FourierNetwork", "sliced"]
