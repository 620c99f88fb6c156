"""Labels: names such as f1, 3f2, f1+f2 and 2f1-f2 for integer combinations of bases.

Bases are numbered from 1 in the order of their components. The minus sign is the plain hyphen, so
that labels can be typed.
"""

from __future__ import annotations

from collections.abc import Iterable


def label(row: Iterable[int]) -> str:
    """Name an integer combination of bases.

    Examples
    --------
    >>> label([1, 0]), label([0, 3]), label([1, 1]), label([-1, 2])
    ('f1', '3f2', 'f1+f2', '2f2-f1')
    """
    terms = [(int(factor), f"f{j}") for j, factor in enumerate(row, start=1) if factor]
    # A leading term with a plus sign reads better than -f1+2f2.
    terms.sort(key=lambda term: term[0] < 0)
    text = ""
    for factor, name in terms:
        sign = "-" if factor < 0 else "+" if text else ""
        text += f"{sign}{'' if abs(factor) == 1 else abs(factor)}{name}"
    return text
