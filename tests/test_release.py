"""What is said of a release in several files is the same everywhere."""

import importlib.util
import re
from pathlib import Path

import pytest

import robustfourier

ROOT = Path(__file__).parents[1]
PROJECT = pytest.importorskip("tomllib").loads((ROOT / "pyproject.toml").read_text("utf-8"))
PYTHONS = [
    text.rpartition(" ")[2]
    for text in PROJECT["project"]["classifiers"]
    if re.search(r":: 3\.\d+$", text)
]


def parsed(name):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def test_the_version_stands_in_the_package_and_nowhere_differs():
    version = robustfourier.__version__
    assert "version" in PROJECT["project"]["dynamic"]
    assert parsed("CITATION.cff")["version"] == version
    assert parsed("packaging/conda/meta.yaml")["package"]["version"] == version
    assert f"version = {{{version}}}" in (ROOT / "README.md").read_text("utf-8")


def test_the_conda_recipe_needs_what_the_wheel_needs():
    run = parsed("packaging/conda/meta.yaml")["requirements"]["run"]
    ours = {text.replace(">=", " >=") for text in PROJECT["project"]["dependencies"]}
    assert {text.replace("matplotlib-base", "matplotlib") for text in run} == {
        f"python {PROJECT['project']['requires-python']}",
        *ours,
    }


def test_the_workflow_tries_the_wheel_on_every_python_that_it_names():
    jobs = parsed(".github/workflows/test.yml")["jobs"]
    assert jobs["wheel"]["strategy"]["matrix"]["python"] == PYTHONS
    assert PYTHONS[0] in PROJECT["project"]["requires-python"]


def test_only_the_step_that_publishes_may_ask_for_a_token():
    workflow = parsed(".github/workflows/release.yml")
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    others = [job for name, job in workflow["jobs"].items() if name != "publish"]
    assert len(others) == 3
    assert not any("permissions" in job for job in others)


def test_wheels_are_built_for_every_python_that_the_package_names():
    minors = ",".join(version.partition(".")[2] for version in PYTHONS)
    assert PROJECT["tool"]["cibuildwheel"]["build"] == f"cp3{{{minors}}}-*"
    assert "wheels" in parsed(".github/workflows/release.yml")["jobs"]["check"]["needs"]


def test_the_description_on_an_index_has_no_link_or_picture_that_leads_nowhere():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    readme = (ROOT / "README.md").read_text("utf-8")
    for source in ("", "https://example.org/robustfourier"):
        targets = re.findall(r"\]\(([^)\s]+)\)", module.description(readme, source))
        assert [t for t in targets if not t.startswith(("https://", "#"))] == []
    assert "Five lines of Python" in module.description(readme)
    linked = module.description(readme, "https://example.org/robustfourier/")
    assert "(https://example.org/robustfourier/raw/HEAD/docs/figures/report.png)" in linked
    assert "(https://example.org/robustfourier/blob/HEAD/docs/theory.md)" in linked
