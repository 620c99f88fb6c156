"""The description of the package on an index, where paths of the repository lead nowhere.

Pictures of the repository are left out there, and links to its files become their words. With the
address of the repository in ``[project.urls]`` as "Source", both point to it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # for the test of `description` alone
    MetadataHookInterface = object

_PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)\n?")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)")
_FOLDED = re.compile(r"<details>.*?</details>\n*", re.S)


def description(readme: str, source: str = "") -> str:
    """Return the README with pictures and links that lead somewhere from outside.

    Parameters
    ----------
    readme : str
    source : str
        Address of the repository; empty if it has none.
    """
    readme = _FOLDED.sub("", readme)
    if not source:
        return _LINK.sub(r"\1", _PICTURE.sub("", readme))
    base = source.rstrip("/")
    pictures = _PICTURE.sub(rf"![\1]({base}/raw/HEAD/\2)\n", readme)
    return _LINK.sub(rf"[\1]({base}/blob/HEAD/\2)", pictures)


class ReadmeHook(MetadataHookInterface):  # type: ignore[misc, valid-type]
    """Gives the description to the build."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "")
        metadata["readme"] = {"content-type": "text/markdown", "text": description(text, source)}
