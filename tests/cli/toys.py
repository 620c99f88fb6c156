"""The name of a column that a page, a spreadsheet or TeX would take for something else."""

HOSTILE = "=cmd() <script> $5 \\frac{"
