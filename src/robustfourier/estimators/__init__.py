"""The two scikit-learn faces of the package."""
