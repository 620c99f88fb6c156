"""Cosinor analysis: known periods tested in many series on one time base.

To search for unknown periods, use `PeriodicMixture`.
"""

from robustfourier.cosinor.rhythms import Rhythms, rhythm

__all__ = ["Rhythms", "rhythm"]
