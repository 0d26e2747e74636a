"""Python's own statements over tensors: what the rest of the package asks of AutoGraph.

`_tracing/converter.py` is the door through which it is asked, and which loads this.
"""

from __future__ import annotations

from . import hooks
from .conversion import convert, set_hooks
from .demand import on_demand
from .features import check_features
from .operators import convert_operators
from .public import refuse_untraceable
from .stored import cond, while_loop

__all__ = [
    "check_features",
    "cond",
    "convert",
    "convert_operators",
    "on_demand",
    "refuse_untraceable",
    "while_loop",
]

set_hooks(hooks)
