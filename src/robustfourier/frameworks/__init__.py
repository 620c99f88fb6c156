"""Frameworks: `PeriodicMixture` in the forms of other forecasting libraries.

`robustfourier.frameworks.sktime_estimators` needs sktime; `robustfourier.frameworks.nixtla` takes
and returns frames of ``unique_id, ds, y`` and needs nothing more.
"""
