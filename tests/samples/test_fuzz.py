"""Fuzz of the table reader: whatever the bytes, samples that are sound or a `DataError`."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robustfourier.errors import DataError
from robustfourier.samples import read_samples

CELLS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=True, allow_infinity=True).map(str),
    st.sampled_from(
        [
            *("", " ", "NA", "nan", "1,5", "1.234,5", "1e400", "<1", "1_000", "0x1F", "−5", "=1+1"),
            *("2024-01-01", "2024-13-01", "01/02/2024", "12:30", "1600000000000", "Z"),
            *('"', "\0", "\ufeff", "#"),
        ]
    ),
    st.text(max_size=8),
)
TABLES = st.builds(
    lambda rows, delimiter, end: end.join(delimiter.join(row) for row in rows),
    st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=12),
    st.sampled_from([",", ";", "\t", " ", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
ANY_CASE = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def is_sound_or_refused(path):
    try:
        samples = read_samples(path)
    except DataError:
        return
    known = ~np.isnat(samples.times) if samples.dates else np.isfinite(samples.times)
    assert known.all()
    assert np.isfinite(samples.values).all()
    assert (samples.times[1:] > samples.times[:-1]).all()
    assert samples.counts.used == len(samples) >= 1


@given(content=st.binary(max_size=300))
@ANY_CASE
def test_any_bytes_are_read_or_refused(tmp_path, content):
    path = tmp_path / "fuzz.csv"
    path.write_bytes(content)
    is_sound_or_refused(path)


@given(content=TABLES)
@ANY_CASE
def test_any_table_is_read_or_refused(tmp_path, content):
    path = tmp_path / "fuzz.csv"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    is_sound_or_refused(path)
