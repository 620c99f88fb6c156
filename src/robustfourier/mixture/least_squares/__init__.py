"""Lines and trend fitted together by least squares: moments, refinement, covariances."""
