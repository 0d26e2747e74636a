"""`tf.autograph`: Python's own statements over tensors.

`tf.function` converts what it traces: `if`, `while`, `for`, `and`, conditional expressions and the
rest decide while tracing whether Python runs them or the graph does. Begin reading with
`_autograph/statements.py`, which shows what a statement becomes; `branch.py` and `loop.py` beside
it are what runs.
"""

from __future__ import annotations

from .._autograph import convert
from .._autograph.public import to_code, to_graph, trace
from .._autograph.verbosity import set_verbosity
from .._names import boundary
from . import experimental

__all__ = [
    "convert",
    "experimental",
    "set_verbosity",
    "to_code",
    "to_graph",
    "trace",
]

boundary.close("autograph")
