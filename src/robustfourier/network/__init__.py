"""The paper's networks: their description, their weights, and (in `modules`) torch modules.

`architecture`, `weights` and `initial` need numpy only; torch has its home in `modules`.
"""
