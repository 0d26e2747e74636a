"""`tf.init_scope`: out of whatever is being traced."""

from __future__ import annotations

import contextlib
from typing import Any

from .. import _holdfast

__all__ = ["init_scope"]


class init_scope:
    """Leaves whatever is being traced: ops inside run at once, and once only.

    In a graph that is written by hand they join that graph, whatever is written inside of it, and
    wait for nothing.
    """

    def __init__(self) -> None:
        self._entered: list[contextlib.ExitStack] = []

    def __enter__(self) -> None:
        with contextlib.ExitStack() as stack:
            graph = _holdfast.root_graph()
            if graph is None or graph._lifts_variables:
                lifted = _holdfast.Lifted()
                lifted.enter()
                stack.callback(lifted.exit)
            else:
                self._stay(graph, stack)
            self._entered.append(stack.pop_all())

    @staticmethod
    def _stay(graph: Any, stack: contextlib.ExitStack) -> None:
        names = _holdfast.get_name_scope()
        stack.enter_context(graph.as_default())
        stack.callback(_holdfast.set_name_scope, names)
        _holdfast.set_name_scope(names)
        graph._push_control([], True)
        stack.callback(graph._pop_control)

    def __exit__(self, *_: object) -> None:
        self._entered.pop().close()
