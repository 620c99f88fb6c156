"""A result of which some parts are other than the model says."""

import copy
from functools import cached_property

DERIVED = {"std", "predicted", "owner", "shown_modes"}  # from other parts, and so anew


def altered(result, **parts):
    """Return the result with other parts in place of those that it would compute."""
    kinds = type(result).__mro__
    names = {name for kind in kinds for name, part in vars(kind).items()
             if isinstance(part, cached_property)}  # fmt: skip
    twin = copy.copy(result)
    vars(twin).update({name: getattr(result, name) for name in names - DERIVED}, **parts)
    for name in DERIVED - set(parts):
        vars(twin).pop(name, None)
    return twin
