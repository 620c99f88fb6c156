"""The figures of the campaign as a table, and within `docs/reliability.md`."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.verdicts import markdown

_BETWEEN = re.compile(r"(<!-- figures -->\n).*?(<!-- end -->)", re.DOTALL)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the sums over all pieces of each target and of each kind of kill."""
    sums: dict[str, dict[str, Any]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        for key, value in row.items():
            if key == "slowest":
                sums[row["name"]][key] = max(sums[row["name"]][key], value)
            elif isinstance(value, int) and key not in ("seed", "index"):
                sums[row["name"]][key] += value
    fuzzed = {name: s for name, s in sums.items() if not s["kills"]}
    killed = {name: s for name, s in sums.items() if s["kills"]}
    keys = ("cases", "read", "refused", "foreign", "hangs", "wrong")
    body = [
        (name, *(f"{s[key]:,}" for key in keys), f"{s['slowest']:.2f} s")
        for name, s in fuzzed.items()
    ]
    whole = {key: sum(s[key] for s in fuzzed.values()) for key in ("cases", "bad")}
    bad = f"bad in all: **{whole['bad']:,}**"
    body.append(("**all**", f"**{whole['cases']:,}**", "", "", bad, "", "", ""))
    head = ("fuzzed", "cases", "read", "refused", "foreign errors", "over 5 s", "wrongly read",
            "slowest")  # fmt: skip
    kills = [(name, s["kills"], s["old"], s["new"], s["bad"]) for name, s in killed.items()]
    totals = [sum(s[key] for s in killed.values()) for key in ("kills", "bad")]
    kills.append(("**all**", f"**{totals[0]}**", "", "", f"**{totals[1]}**"))
    places = ("killed at work", "kills", "old result whole", "new result whole",
              "mixed, torn or lost")  # fmt: skip
    return markdown(head, body) + "\n\n" + markdown(places, kills)


def write_page(rows: list[dict[str, Any]], page: Path) -> None:
    """Put the figures between the two marks of the page."""
    text = page.read_text(encoding="utf-8")
    if not _BETWEEN.search(text):
        raise SystemExit(f"{page} has no marks <!-- figures --> and <!-- end -->")
    new = _BETWEEN.sub(lambda match: f"{match[1]}\n{table(rows)}\n\n{match[2]}", text)
    page.write_text(new, encoding="utf-8")
