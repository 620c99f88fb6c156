"""The table of modes."""

import re

import numpy as np
import pytest

from robustfourier.errors import InputError
from robustfourier.modes import ModeTable


def table(**columns):
    return ModeTable.build(
        mode=[0.0, 2.5, 10.0], cosine=[1.0, 3.0, 0.0], sine=[0.0, 4.0, 2.0], span=5.0, **columns
    )


def test_amplitude_and_phase_rebuild_the_sinusoid():
    modes, theta = table(), np.linspace(-1, 1, 7)
    for k, a, b, amplitude, phase in zip(
        modes.mode, [1, 3, 0], [0, 4, 2], modes.amplitude, modes.phase, strict=True
    ):
        np.testing.assert_allclose(
            amplitude * np.cos(np.pi * k * theta - phase),
            a * np.cos(np.pi * k * theta) + b * np.sin(np.pi * k * theta),
            atol=1e-14,
        )


def test_period_and_frequency_follow_from_the_span():
    np.testing.assert_array_equal(table().period, [np.inf, 2.0, 0.5])
    np.testing.assert_array_equal(table().frequency, [0.0, 0.5, 2.0])


def test_the_error_of_the_period_is_that_of_the_frequency_relative():
    modes = table(mode_error=[0.1, 0.1, 0.1]).select(slice(1, None))
    np.testing.assert_allclose(
        modes.period_error / modes.period, modes.frequency_error / modes.frequency
    )


def test_absent_columns_do_not_appear():
    assert list(table().to_frame()) == ["mode", "frequency", "period", "amplitude", "phase"]
    assert "false_alarm" in table(false_alarm=[0.0, 0.1, 0.2]).to_frame()


def test_selecting_rows_keeps_every_column():
    chosen = table(active=[True, False, True]).select([2])
    assert (len(chosen), chosen.mode[0], chosen.active[0]) == (1, 10.0, True)


def test_several_outputs_become_several_columns_of_the_frame():
    modes = ModeTable.build(mode=[1.0], cosine=[[1.0, 2.0]], sine=[[0.0, 0.0]], span=1.0)
    assert modes.to_frame()["amplitude_1"].item() == 2.0


def test_columns_of_different_length_are_refused():
    with pytest.raises(InputError, match=re.escape("active has 2 rows, but mode has 3")):
        table(active=[True, False])


def test_an_empty_table_prints():
    empty = ModeTable.build(mode=[], cosine=[], sine=[], span=1.0)
    assert str(empty) == "ModeTable: no modes"
    assert repr(empty).startswith("<ModeTable: 0 modes")


def test_labels_are_escaped_in_html():
    html = table(label=["<script>", "b", "c"])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
