"""What a request may ask for, checked before anything is begun."""

from __future__ import annotations

from typing import Any

from robustfourier.app.controls import CONTROLS, Control
from robustfourier.errors import InputError, require_choice
from robustfourier.fit_config import FitConfig

_MARKS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blanks": " "}
_TEXT = 200  # characters of one setting
_MANY = 50  # entries of one list


def checked_fit(body: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a fit, of known names and kinds, without what is left at its default.

    Parameters
    ----------
    body : dict
        ``reading``: options of `read_samples`; ``asked``: fields of `FitConfig`; ``forecast``:
        how far to look ahead, such as "30d"; ``magnitudes``: whether values are magnitudes;
        ``rhythm``: known periods to be tested in every series of the file, instead of a fit.
    """
    reading, config = _part(body, "reading"), _part(body, "asked")
    taken: dict[str, Any] = {}
    known = {control.option: control for control in CONTROLS if control.kind != "switch"}
    for name, value in reading.items():
        if name not in known:
            raise InputError(f"reading has {name!r}, which is no option here")
        taken[name] = _read(known[name], value)
    asked = FitConfig.of(config)
    if asked.columns and "forecast" in body:
        raise InputError(
            f"“Forecast, how far” needs {', '.join(asked.columns)} after the record; leave it "
            "empty, then robustfourier predict FOLDER --at FILE with these columns"
        )
    settings: dict[str, Any] = {"reading": taken, "asked": config}
    if body.get("magnitudes"):
        settings["magnitudes"] = True
    if "forecast" in body:
        settings["forecast"] = _text("forecast", body["forecast"])
    if "rhythm" in body:
        settings["rhythm"] = _rhythm(_part(body, "rhythm"))
    return settings


def _rhythm(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked of `analyse_rhythm`."""
    columns = {name: asked[name] for name in ("by", "group", "subject") if asked.get(name)}
    periods = _texts("Period", asked.get("periods", []))
    if not periods:
        raise InputError("“Period” is missing; give at least one, such as 24h")
    return {
        "periods": periods,
        **{name: _text(name, column) for name, column in columns.items()},
        "harmonics": int(_number("Harmonics", asked.get("harmonics", 1), 1, 50)),
        "noise": _one_of("Noise", asked.get("noise", "auto"), ("auto", "white", "replicates")),
    }


def _read(control: Control, value: Any) -> Any:
    """The value of one option of reading, as its control takes it."""
    name = control.words
    if control.kind == "list":
        return _texts(name, value)
    if control.kind == "count":
        return int(_number(name, value, 0, 1_000_000))
    if control.kind == "number":
        return _number(name, value, 1e-9, 1e12)
    if control.option == "delimiter":
        mark = value if value in _MARKS.values() else _text(name, value).strip()
        return _MARKS.get(mark, mark)
    if control.kind == "choice":
        return _one_of(name, value, tuple(choice for choice, _ in control.choices if choice))
    return _text(name, value)


def checked_laboratory(body: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a training, within what a laptop trains while one looks."""
    from robustfourier.synthetic import LINKS

    networks = body.get("networks")
    if not isinstance(networks, list) or len(networks) != 2:
        raise InputError("networks must be a list of two")
    example = _one_of("example", body.get("example", "1"), ("1", "2", "3", "4", "own"))
    own = body.get("components", []) if example == "own" else []
    if not isinstance(own, list) or len(own) > 8 or (example == "own" and not own):
        raise InputError("components must be a list of one to eight")
    components = [
        {
            "mode": _number("mode", _part_of(one).get("mode"), 1, 90),
            "link": _one_of("link", one.get("link", "identity"), tuple(LINKS)),
            "kind": _one_of("kind", one.get("kind", "cos"), ("cos", "sin")),
            "amplitude": _number("amplitude", one.get("amplitude", 1), -10, 10),
        }
        for one in own
    ]
    return {
        "example": example,
        "components": components,
        "noise": _number("noise", body.get("noise", 0.4), 0, 5),
        "seed": int(_number("seed", body.get("seed", 0), 0, 2**31)),
        "steps": int(_number("steps", body.get("steps", 40_000), 100, 400_000)),
        "networks": [_network(_part_of(one)) for one in networks],
    }


def _network(one: dict[str, Any]) -> dict[str, Any]:
    inits = ("glorot", "symmetric", "antisymmetric", "theory")
    return {
        "layers": int(_number("layers", one.get("layers", 0), 0, 3)),
        "diagonal": bool(one.get("diagonal", True)),
        "training": _one_of("training", one.get("training", "joint"), ("joint", "layerwise")),
        "init": _one_of("init", one.get("init", "symmetric"), inits),
        "modes": int(_number("modes", one.get("modes", 100), 1, 200)),
        "width": int(_number("width", one.get("width", 100), 1, 300)),
        "rate": _number("rate", one.get("rate", 2e-3), 1e-6, 10),
        "ridge": _number("ridge", one.get("ridge", 0), 0, 10),
        "batch": int(_number("batch", one.get("batch", 201), 1, 5000)),
    }


def _part(body: dict[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name, {})
    if not isinstance(value, dict):
        raise InputError(f"{name} must be an object")
    return value


def _part_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{value!r} must be an object")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _TEXT:
        raise InputError(f"{name}={value!r} must be a short text")
    return value


def _texts(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > _MANY:
        raise InputError(f"{name}={value!r} must be a list of short texts")
    return [_text(name, one) for one in value]


def _number(name: str, value: Any, low: float, high: float) -> float:
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (good and low <= value <= high):
        raise InputError(f"{name}={value!r} must be a number from {low:g} to {high:g}")
    return float(value)


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    require_choice(name, value, allowed)
    return str(value)
