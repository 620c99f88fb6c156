"""What takes too long for a test: speed, accuracy over many seeds, comparison with others.

Each module is a suite with ``main(quick: bool) -> list[Verdict]``; ``python -m benchmarks`` runs
them all and ends in one table of verdicts.
"""
