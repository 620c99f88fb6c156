"""What a journal would send back: axes without a name, numbers that run into each other."""

import re
from itertools import combinations

TOUCH = 1.0  # pixels that two labels may share: their boxes are a little larger than their ink


def faults(figure):
    """Return what is wrong with a figure, in words."""
    said = []
    for ax in figure.axes:
        if ax.axison:
            said += [f"{ax.get_title()!r}: no name at {axis.axis_name}" for axis in nameless(ax)]
    boxes = [box for ax in figure.axes if ax.axison for box in tick_boxes(ax)]
    for (one, first), (other, second) in combinations(boxes, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        if wide > TOUCH and high > TOUCH:
            said.append(f"{first!r} touches {second!r}")
    return said


def nameless(ax):
    """Axes with numbers but no name; words as ticks name themselves."""
    for axis in (ax.xaxis, ax.yaxis):
        shown = [text for _, text in tick_boxes(ax, (axis,))]
        if shown and any(is_number(text) for text in shown) and not axis.get_label_text():
            yield axis


def is_number(text):
    return re.fullmatch(r"[−+\d.,ek]+|\$.*\$", text) is not None


def tick_boxes(ax, axes=None):
    for axis in axes or (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            label = tick.label1
            seen = low <= tick.get_loc() <= high and label.get_visible() and label.get_text()
            if seen and label.get_rotation() == 0:
                yield label.get_window_extent(), label.get_text()
