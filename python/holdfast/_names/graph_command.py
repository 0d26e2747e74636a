"""`holdfast graph`: the graphs that a script runs, before and after the passes."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from .. import _holdfast
from . import alias

__all__ = ["main"]

Record = tuple[str, str, str]  # the graph's name, the pass, the text


def main(script: str, function: str | None, args: Sequence[str]) -> int:
    """Runs `script`, then prints the graphs it ran; of one function, if that is named."""
    if not os.path.exists(script):
        print(f"holdfast graph: there is no file {script}", file=sys.stderr)
        return 2
    _holdfast.record_passes(True)
    try:
        _run(script, args)
    finally:  # also of a script that fails: its graphs may tell why
        _holdfast.record_passes(False)
        sys.stdout.flush()
        records: list[Record] = _holdfast.take_pass_records()
        wanted = [r for r in records if function is None or _belongs(r[0], function)]
        print("\n".join(_section(r) for r in wanted), end="")
    if wanted:
        return 0
    names = ", ".join(sorted({r[0] for r in records})) or "none"
    what = "no function ran as a graph" if function is None else f"no graph of {function} ran"
    print(f"holdfast graph: {what}; graphs: {names}", file=sys.stderr)
    return 1


def _run(script: str, args: Sequence[str]) -> None:
    alias.install_as_tensorflow()
    sys.argv = [script, *args]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")


def _belongs(graph: str, function: str) -> bool:
    """Whether a graph is a function's own, or that of its gradient, of any order."""
    return graph.removeprefix("gradient of ") == function or (
        graph.startswith("gradient of ") and _belongs(graph.removeprefix("gradient of "), function)
    )


def _section(record: Record) -> str:
    graph, after, text = record
    return f"# {graph}, {f'after {after}' if after else 'as traced'}\n{text}"
