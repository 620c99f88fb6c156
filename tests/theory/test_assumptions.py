import numpy as np
import pytest

from robustfourier.synthetic import LINKS, Component, Mixture, paper_example
from robustfourier.theory import alpha, check_assumption_1, check_assumption_2, leakage


def test_the_first_example_meets_both_assumptions():
    problem = paper_example(1)
    assert check_assumption_1(problem.components, 100)
    assert check_assumption_2(problem.function, 100)


def test_the_second_example_is_shifted_but_has_odd_modes_only():
    problem = paper_example(2)
    finding = check_assumption_1(problem.components, 100)
    assert not finding
    assert len(finding.words) == 3
    assert all("is shifted" in sentence for sentence in finding.words)
    assert check_assumption_2(problem.function, 100)


def test_the_third_example_breaks_both_by_its_rectified_sine():
    problem = paper_example(3)
    first = check_assumption_1(problem.components, 300)
    assert first.words == (
        "Component 3 (relu of sin, mode 61) has a sine in a link that is not odd.",
    )
    second = check_assumption_2(problem.function, 300)
    assert "constant (0.318)" in second.words[0]
    assert "Mode 122 (amplitude 0.212) is even" in second.words[1]


@pytest.mark.parametrize("mode", [2, 4, 30])
def test_an_even_mode_breaks_assumption_two_and_an_odd_one_does_not(mode):
    assert not check_assumption_2(Mixture((Component(mode),)), 40)
    assert check_assumption_2(Mixture((Component(mode + 1),)), 40)


def test_the_leakage_vanishes_exactly_when_assumption_two_holds():
    good = Mixture((Component(5), Component(7, kind="sin", link="cube")))
    bad = Mixture((Component(5), Component(12)))
    assert np.abs(leakage(good, 20)).max() < 1e-12
    leak = leakage(bad, 20)
    # |cos πkθ| is made of the modes 2k, 4k, …, so 12 leaks into 6, 3 (12 = 4·3), 2 and 1.
    modes = (np.abs(np.arange(-40, 41)) + 1) // 2
    assert set(modes[np.abs(leak) > 1e-3]) == {1, 2, 3, 6}
    assert leak[modes == 6].max() == pytest.approx(2 / (3 * np.pi), abs=1e-6)  # kinks: O(1/n²)
    assert np.abs(alpha(bad, 20)[modes == 6]).max() < 1e-12


def test_shared_harmonics_are_named():
    finding = check_assumption_1([Component(3, link="exp"), Component(2, link="exp")], 13)
    assert finding.words == ("Components 1 (mode 3) and 2 (mode 2) share the harmonics 6, 12.",)
    assert check_assumption_1([Component(3, link="exp"), Component(2, link="square")], 13)


def test_links_with_a_jump_or_a_vertical_tangent_are_not_lipschitz(monkeypatch):
    monkeypatch.setitem(LINKS, "sign", np.sign)
    monkeypatch.setitem(LINKS, "root", lambda x: np.sqrt(np.abs(x)))
    for link in ("sign", "root"):
        finding = check_assumption_1([Component(3, link=link)], 20)
        assert "not Lipschitz" in finding.words[0]


def test_a_mode_off_the_grid_is_named():
    assert "not a whole number" in check_assumption_1([Component(3.5)], 20).words[0]
