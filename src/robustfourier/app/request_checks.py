"""What a request may ask for, checked before anything is begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustfourier.app.reading_controls import CONTROLS, Control
from robustfourier.errors import (
    InputError,
    require_choice,
    require_number,
    require_text,
    require_texts,
)
from robustfourier.fit_config import FitConfig, delimiter_called


def checked_fit(body: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a fit, of known names and kinds, without what is left at its default.

    ``reading`` are options of `read_samples`, ``asked`` are fields of `FitConfig`, ``forecast`` is
    how far to look ahead, such as "30d", ``magnitudes`` says that values are magnitudes, and
    ``rhythm`` are known periods to be tested in every series of the file, instead of a fit.
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
        settings["forecast"] = require_text("forecast", body["forecast"])
    if "rhythm" in body:
        settings["rhythm"] = _rhythm(_part(body, "rhythm"))
    return settings


def _rhythm(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked of `analyse_rhythm`."""
    columns = {name: asked[name] for name in ("by", "group", "subject") if asked.get(name)}
    periods = require_texts("Period", asked.get("periods", []))
    if not periods:
        raise InputError("“Period” is missing; give at least one, such as 24h")
    return {
        "periods": periods,
        **{name: require_text(name, column) for name, column in columns.items()},
        "harmonics": int(require_number("Harmonics", asked.get("harmonics", 1), 1, 50)),
        "noise": _one_of("Noise", asked.get("noise", "auto"), ("auto", "white", "replicates")),
    }


def _read(control: Control, value: Any) -> Any:
    """The value of one option of reading, as its control takes it."""
    name = control.words
    if control.kind == "list":
        return require_texts(name, value)
    if control.kind == "count":
        return int(require_number(name, value, 0, 1_000_000))
    if control.kind == "number":
        return require_number(name, value, 1e-9, 1e12)
    if control.option == "delimiter":
        return delimiter_called(name, value if value in (" ", "\t") else require_text(name, value))
    if control.kind == "choice":
        return _one_of(name, value, tuple(choice for choice, _ in control.choices if choice))
    return require_text(name, value)


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
    return {
        "example": example,
        "components": [_checked(_COMPONENT | {"link": tuple(LINKS)}, _object(one)) for one in own],
        **_checked(_TRAINING, body),
        "networks": [
            {**_checked(_NETWORK, _object(one)), "diagonal": bool(one.get("diagonal", True))}
            for one in networks
        ],
    }


# Settings of the laboratory: default, least and most of a number, or the words to choose from.
_COMPONENT: dict[str, tuple[Any, ...]] = {
    "mode": (None, 1.0, 90.0),
    "link": (),
    "kind": ("cos", "sin"),
    "amplitude": (1.0, -10.0, 10.0),
}
_TRAINING = {"noise": (0.4, 0.0, 5.0), "seed": (0, 0, 2**31), "steps": (40_000, 100, 400_000)}
_NETWORK = {
    "layers": (0, 0, 3),
    "training": ("joint", "layerwise"),
    "init": ("symmetric", "glorot", "antisymmetric", "theory"),
    "modes": (100, 1, 200),
    "width": (100, 1, 300),
    "rate": (2e-3, 1e-6, 10.0),
    "ridge": (0.0, 0.0, 10.0),
    "batch": (201, 1, 5000),
}


def _checked(settings: Mapping[str, tuple[Any, ...]], given: dict[str, Any]) -> dict[str, Any]:
    """What was given of some settings, or their defaults; the first word is one."""
    found: dict[str, Any] = {}
    for name, known in settings.items():
        value = given.get(name, known[0])
        if isinstance(known[0], str):
            found[name] = _one_of(name, value, known)
        else:
            found[name] = type(known[1])(require_number(name, value, *known[1:]))
    return found


def _part(body: dict[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name, {})
    if not isinstance(value, dict):
        raise InputError(f"{name} must be an object")
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{value!r} must be an object")
    return value


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    require_choice(name, value, allowed)
    return str(value)
