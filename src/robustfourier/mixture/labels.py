"""Labels: A, B, … for components; 3B, A+B, 2A-B for integer combinations of frequencies.

Letters follow the order of the components. The minus sign is the plain hyphen, so that labels can
be typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import ascii_uppercase


def letter(i: int) -> str:
    """Return the label of the i-th component: A to Z, then AA, AB and so on."""
    return (letter(i // 26 - 1) if i >= 26 else "") + ascii_uppercase[i % 26]


def label(row: Iterable[int]) -> str:
    """Name an integer combination of frequencies.

    Examples
    --------
    >>> label([1, 0]), label([0, 3]), label([1, 1]), label([-1, 2])
    ('A', '3B', 'A+B', '2B-A')
    """
    terms = [(int(factor), letter(j)) for j, factor in enumerate(row) if factor]
    # A leading term with a plus sign reads better than -A+2B.
    terms.sort(key=lambda term: term[0] < 0)
    text = ""
    for factor, name in terms:
        sign = "-" if factor < 0 else "+" if text else ""
        text += f"{sign}{'' if abs(factor) == 1 else abs(factor)}{name}"
    return text


def relabelled(text: str) -> str:
    """Return a label of version 0.1, such as ``2f1-f2``, as it is now: ``2A-B``."""
    return re.sub(r"f(\d+)", lambda found: letter(int(found[1]) - 1), text)
