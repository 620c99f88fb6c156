"""The truth set: small problems in the style of ordinary files, each with its known answer.

``python -m benchmarks.ordinary`` fits every problem with `PeriodicMixture()` as it is, compares
what is reported with what is true, and prints one line per kind. A change to the mixture is right
when this table says so. Seeds below 1000 are for development, the others for reporting.
"""
