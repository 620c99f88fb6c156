"""Public protocols, with rivals in the same run: periods, stars, forecasts.

``python -m benchmarks.protocols periods`` draws RobustPeriod's synthetic series,
``… stars --data DIR`` searches the periods of real stars, ``… forecasts --data DIR`` holds out the
end of real series. Rows are kept in a file, one JSON object per line, so that rivals which need an
environment of their own can add theirs.
"""
