"""``python -m robustfourier.cli`` is ``robustfourier``."""

from robustfourier.cli.program import main

main()
