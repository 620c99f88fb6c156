"""Controls of the app for how a file is read."""

import json

import numpy as np
import pytest


def test_a_file_is_read_as_the_controls_say(server, tmp_path):
    noise = np.random.default_rng(0).normal(size=300)
    waves = np.cos(2 * np.pi * np.arange(300) / 12.7) + 0.2 * noise
    rows = "".join(f"{wave:.4f}\t{i % 3}\n" for i, wave in enumerate(waves))
    (tmp_path / "signal.txt").write_text(f"a,b,c\nax\tay\n{rows}")
    asked = {"skip": 1, "delimiter": "tab", "rate": 50, "value": "ax"}
    fit = server.fit(server.upload(tmp_path / "signal.txt"), reading=asked)
    assert server.wait(fit)["state"] == "done"
    story = server.story(fit)
    assert "rows taken as 50 samples per second" in json.dumps(story)
    found = [p["exact"] for frame in story for p in frame.get("patterns", ()) if "exact" in p]
    assert found[-1] == pytest.approx(12.7 / 50, abs=1e-3)
