"""A Datalog program evaluated from scratch by clingo, its symbols replaced by numbers and back."""

from __future__ import annotations

import re
from itertools import chain

import clingo
import numpy as np

from graphtide.datalog.bind import bind


def ground(text: str, facts: dict[str, np.ndarray], outputs: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The relations asked for, as lines of Python values."""
    numbers: dict[object, int] = {}

    def number(value: object) -> int:
        # Numbers of the program stand for themselves, symbols for numbers that none of them has.
        return value if isinstance(value, int) else numbers.setdefault(value, -len(numbers) - 1)

    written = "\n".join(map(str, bind(text).rules))
    written = re.sub(r'"([^"]*)"', lambda found: str(number(found[1])), written)
    written = re.sub(r"\b([A-Z]\w+)\(", r"r_\1(", written).replace("!r_", "not r_")
    given = (
        f"r_{name}({','.join([str(number(value)) for value in row])})."
        for name, rows in facts.items()
        for row in rows.tolist()
    )
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join(chain([written], given)))
    control.ground([("base", [])])
    names = {value: key for key, value in numbers.items()}
    found: dict[str, list[tuple[object, ...]]] = {name: [] for name in outputs}
    for atom in control.symbolic_atoms:
        name = atom.symbol.name.removeprefix("r_")
        if name in found:
            values = (each.number for each in atom.symbol.arguments)
            found[name].append(tuple(names.get(value, value) for value in values))
    return {name: np.array(rows, object) for name, rows in found.items()}
