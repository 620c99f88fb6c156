"""The app: a local page on which a file is dropped, and the diagonal is seen to find the modes.

`serve` runs it. The room holds no analysis: jobs call `analysis` and `training` in processes of
their own, and what the page shows is what their observers report.
"""

from robustfourier.app.server import serve

__all__ = ["serve"]
