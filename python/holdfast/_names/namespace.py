"""The modules of the package: built from the registry, and honest about what is not there.

`holdfast.math`, `holdfast.nn`, ... are real modules, so that `from holdfast.math import erf` works.
A name that TensorFlow has and we have not raises E1105, which is an AttributeError too; any other
unknown name is a plain AttributeError.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _holdfast
from .._graphs.control import newest
from .._tensors import registry
from ..errors import unsupported, used_here

PACKAGE = "holdfast"

# What to do instead, for names that many programs ask for.
_INSTEAD = {
    "lite": "export with `tf.saved_model.save` and convert the result elsewhere",
    "experimental.numpy": "use NumPy for arrays, and `tf` functions for tensors",
    "compat.v1": "use the TensorFlow 2 name",
    "raw_ops.TemporaryVariable": "make a `tf.Variable`, or a handle by `raw_ops.VarHandleOp`",
    "raw_ops.DestroyTemporaryVariable": "let go of the `tf.Variable` that does its work",
}


# Parts of the package that are loaded when they are first asked for: few programs need them.
_LATE = (
    "autograph",
    "compat.v1",
    "data",
    "distribute",
    "keras",
    "keras.backend",
    "keras.datasets",
    "keras.ops",
    "keras.preprocessing",
    "keras.random",
)

# Modules that TensorFlow has under two names: ours at the top is the one of Keras.
_OF_KERAS = ("initializers", "losses", "metrics", "optimizers")


def here(module: types.ModuleType, name: str) -> Any:
    """What a module of ours has under a name, loaded if it has to be; None if there is nothing."""
    found = vars(module).get(name)
    if found is not None:
        return found
    full = f"{module.__name__}.{name}"
    return importlib.import_module(full) if full.partition(".")[2] in _LATE else None


class Namespace(types.ModuleType):
    """A module without a file, filled from the registry."""

    def __getattr__(self, name: str) -> Any:
        return missing(self, name)


def _of_version_2(path: str, name: str) -> Any:
    """What a name of `tf.compat.v1` means where version 2 has the same one; None if it has none."""
    holder: Any = sys.modules[PACKAGE]
    for part in path.split(".") if path else ():
        holder = here(holder, part)
        if not isinstance(holder, types.ModuleType):
            return None
    return here(holder, name)


def missing(module: types.ModuleType, name: str) -> Any:
    """What an unknown attribute of one of our modules means, or the error that it deserves."""
    path = module.__name__.partition(".")[2]
    if not name.startswith("_"):
        late = here(module, name)
        if late is not None:
            return late
        if not path and name in _OF_KERAS:
            return getattr(here(module, "keras"), name)
        if path == "compat.v1" or path.startswith("compat.v1."):
            found = _of_version_2(path.removeprefix("compat.v1").lstrip("."), name)
            if found is not None:
                return found
        full = f"{path}.{name}" if path else name
        if _in_tensorflow(path, name):
            unsupported(
                f"`tf.{full}` is not part of Holdfast",
                "Holdfast knows the name from TensorFlow, and has nothing that does its work.",
                fix=_INSTEAD.get(full, ""),
                labels=used_here("used here"),
            )
    raise AttributeError(
        f"module {module.__name__!r} has no attribute {name!r}{_meant(module, name)}",
        name=name,
        obj=module,
    )


def _meant(module: types.ModuleType, name: str) -> str:
    if name.startswith("_"):
        return ""
    import difflib

    public = [known for known in vars(module) if not known.startswith("_")]
    close = difflib.get_close_matches(name, public, 1)
    return f". Did you mean: {close[0]!r}?" if close else ""


def _in_tensorflow(path: str, name: str) -> bool:
    """Whether TensorFlow has a member of that name there; what version 2 has, version 1 has too."""
    known = _tensorflow_names()
    paths = {path, f"{path}.".removeprefix("compat.v1.").rstrip(".")}
    return any(name in known.get(p, ()) or f"{p}.{name}".lstrip(".") in known for p in paths)


@functools.cache
def _tensorflow_names() -> dict[str, frozenset[str]]:
    from . import tensorflow

    return tensorflow.namespaces()


def module(path: str) -> types.ModuleType:
    """The module at a dotted path below the package: a file of ours, or made on the spot."""
    full = f"{PACKAGE}.{path}"
    parent, _, leaf = path.rpartition(".")
    known = sys.modules.get(full)
    if known is None and not parent and importlib.util.find_spec(full) is not None:
        known = importlib.import_module(full)
    if known is not None:
        if not isinstance(known, Namespace):
            found = functools.partial(missing, known)
            known.__dict__.setdefault("__getattr__", _holdfast.PublicFunction(found))
        return known
    holder = module(parent) if parent else sys.modules[PACKAGE]
    made = Namespace(full, f"`tf.{path}`.")
    made.__package__ = full
    made.__path__ = []  # so that its own parts can be imported
    sys.modules[full] = made
    setattr(holder, leaf, made)
    return made


def put(path: str, value: Any) -> None:
    """Gives `value` the dotted name `path`, unless something stands there already."""
    parent, _, leaf = path.rpartition(".")
    holder = module(parent) if parent else sys.modules[PACKAGE]
    holder.__dict__.setdefault(leaf, value)


def fill(names: Mapping[str, Any]) -> None:
    """Puts many."""
    for path, value in names.items():
        put(path, value)


def fill_registered(late: str) -> None:
    """Puts the functions of the registry that belong into a part that is loaded late."""
    for path, function in registry.BY_PATH.items():
        if path.startswith(f"{late}."):
            put(path, function)


class RawOp:
    """One op of the registry, called with keywords as TensorFlow's raw ops are."""

    __slots__ = ("__name__", "_record")

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._record: dict[str, Any] | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What the registry says of the op."""
        if self._record is None:
            self._record = _holdfast.raw_op_record(self.__name__)
        return self._record

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return str(self.record["doc"])

    def __call__(self, **arguments: Any) -> Any:
        found = _holdfast.raw_op(self.__name__, **arguments)
        if found is not None or _holdfast.current_graph() is None:
            return found
        return newest(())  # an op that only changes state is the operation itself

    def __repr__(self) -> str:
        return f"<raw op {self.__name__}>"


def build(adaptors: Mapping[str, Any], python_only: Iterable[Mapping[str, Any]]) -> None:
    """Fills the package: what is Python only, then adaptors, then the whole registry."""
    for path in ("compat", "config", "debugging", "errors", "nest", "random"):
        module(path)
    for names in python_only:
        fill(names)
    for path, function in registry.BY_PATH.items():
        if not path.startswith(_LATE):
            put(path, adaptors.get(path, function))
    raw = module("raw_ops")
    for name in registry.RAW_OPS:
        raw.__dict__.setdefault(name, RawOp(name))  # some are functions, as they take two lists
