"""The long run against faults: fuzzed files and command lines, and processes killed at work.

``python -m benchmarks.faults`` runs it in pieces that can be interrupted and go on, prints a table
and writes the figures into ``docs/reliability.md``.
"""
