"""From a file to a result folder: read, fit, sum up, draw, write."""

from robustfourier.analysis.file_analysis import Analysis, analyse
from robustfourier.analysis.fitting import METHODS, fit_model
from robustfourier.analysis.regressor_columns import read_regressors

__all__ = ["METHODS", "Analysis", "analyse", "fit_model", "read_regressors"]
