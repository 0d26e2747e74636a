"""`tf.autograph`: Python's own statements over tensors.

`tf.function` converts what it traces: `if`, `while`, `for`, `and`, conditional expressions and the
rest decide while tracing whether Python runs them or the graph does. Begin reading with
`_statements.py`, which shows what a statement becomes; `_branch.py` and `_loop.py` are what runs.
"""

from __future__ import annotations

from .._autograph.conversion import convert
from .._autograph.demand import on_demand
from .._autograph.features import check_features
from .._autograph.public import to_code, to_graph, trace
from .._autograph.verbosity import set_verbosity
from . import experimental

__all__ = [
    "check_features",
    "convert",
    "experimental",
    "on_demand",
    "set_verbosity",
    "to_code",
    "to_graph",
    "trace",
]
