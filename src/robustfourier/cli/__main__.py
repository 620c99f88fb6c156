"""``python -m robustfourier.cli`` is ``robustfourier``."""

from robustfourier.cli.app import main

main()
