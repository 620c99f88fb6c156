"""The scikit-learn estimators, and what they accept and return."""
