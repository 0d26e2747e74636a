"""`tf.compat.v1`: graphs, sessions and the old names; all other names are those of version 2."""

from .. import _namespace, _v1_names

__path__: list[str] = []  # it has parts, `train` and others, which `fill` makes

_namespace.fill(_v1_names.NAMES)
_namespace.fill_registered("compat.v1")
