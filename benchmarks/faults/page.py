"""The figures of the campaign as a table, and within `docs/reliability.md`."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

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
    lines = [
        "| fuzzed | cases | read | refused | foreign errors | over 5 s | wrongly read | slowest |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, s in fuzzed.items():
        counts = " | ".join(
            f"{s[key]:,}" for key in ("cases", "read", "refused", "foreign", "hangs", "wrong")
        )
        lines.append(f"| {name} | {counts} | {s['slowest']:.2f} s |")
    whole = {key: sum(s[key] for s in fuzzed.values()) for key in ("cases", "bad")}
    lines.append(
        f"| **all** | **{whole['cases']:,}** | | | bad in all: **{whole['bad']:,}** | | | |"
    )
    lines += [
        "",
        "| killed at work | kills | old result whole | new result whole | mixed, torn or lost |",
        "|---|---|---|---|---|",
    ]
    for name, s in killed.items():
        lines.append(f"| {name} | {s['kills']} | {s['old']} | {s['new']} | {s['bad']} |")
    lines.append(f"| **all** | **{sum(s['kills'] for s in killed.values())}** | | | "
                 f"**{sum(s['bad'] for s in killed.values())}** |")  # fmt: skip
    return "\n".join(lines)


def write_page(rows: list[dict[str, Any]], page: Path) -> None:
    """Put the figures between the two marks of the page."""
    text = page.read_text(encoding="utf-8")
    if not _BETWEEN.search(text):
        raise SystemExit(f"{page} has no marks <!-- figures --> and <!-- end -->")
    new = _BETWEEN.sub(lambda match: f"{match[1]}\n{table(rows)}\n\n{match[2]}", text)
    page.write_text(new, encoding="utf-8")
