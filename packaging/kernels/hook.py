"""The build of the wheel: kernels are compiled where a C++ compiler is at hand.

Without one the wheel is made all the same; kernels then run through numba or as Python. Set
``ROBUSTFOURIER_REQUIRE_KERNELS=1`` to fail instead, as the release does.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):
    """Adds the extension of the kernels to a wheel, or builds it in place for an editable one."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the wheel is packed."""
        sys.path.insert(0, str(Path(__file__).parent))
        from build import PACKAGE, build

        try:
            built = build(PACKAGE if version == "editable" else Path(mkdtemp()))
        except Exception as error:
            if os.environ.get("ROBUSTFOURIER_REQUIRE_KERNELS"):
                raise
            self.app.display_warning(f"kernels are not compiled: {error}")
            return
        build_data["pure_python"], build_data["infer_tag"] = False, True
        if version != "editable":
            build_data["force_include"][str(built)] = f"robustfourier/{built.name}"
