"""`tf.autograph`: Python's own statements over tensors.

`tf.function` converts what it traces: `if`, `while`, `for`, `and`, conditional expressions and the
rest decide while tracing whether Python runs them or the graph does. Begin reading with
`_statements.py`, which shows what a statement becomes; `_branch.py` and `_loop.py` are what runs.
"""

from __future__ import annotations

from . import experimental
from ._conversion import convert
from ._demand import on_demand
from ._features import check_features
from ._public import to_code, to_graph, trace
from ._verbosity import set_verbosity

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
