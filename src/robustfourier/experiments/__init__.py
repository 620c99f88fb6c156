"""The paper's experiments as data, a runner that resumes, claims with verdicts, pages.

`reproduce` runs them all, as ``robustfourier reproduce`` does from a shell.
"""

from robustfourier.experiments.reproduction import reproduce

__all__ = ["reproduce"]
