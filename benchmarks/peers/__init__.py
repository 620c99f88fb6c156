"""The peer benchmark: us and what a user would pick instead, on the same data in one run.

Problem × method × seed gives one row; `python -m benchmarks.peers` runs what is missing and draws
`docs/benchmarks.md` from the rows. A new rival is one function in `methods/`.
"""
