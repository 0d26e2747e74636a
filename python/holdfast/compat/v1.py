"""`tf.compat.v1`: graphs, sessions and the old names; all other names are those of version 2."""

from .._names import boundary, namespace
from .._v1 import names
from ..data.graph_iterators import NAMES as _OF_DATA

__path__: list[str] = []  # it has parts, `train` and others, which `fill` makes

namespace.fill(names.NAMES)
namespace.fill(_OF_DATA)
namespace.fill_registered("compat.v1")
boundary.close("compat.v1")
