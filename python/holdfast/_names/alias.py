"""Posing as TensorFlow: `import tensorflow` gives this package."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import Any

from ..errors import unsupported, used_here
from .namespace import PACKAGE, Namespace, here, missing

__all__ = ["TENSORFLOW_VERSION", "install_as_tensorflow"]

TENSORFLOW_VERSION = "2.21.0"
_NAME = "tensorflow"


class _Alias(types.ModuleType):
    """The package under TensorFlow's name: everything but its version is the package's own."""

    def __getattr__(self, name: str) -> Any:
        package = sys.modules[PACKAGE]
        if name in vars(package):
            return vars(package)[name]
        return missing(package, name)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *dir(sys.modules[PACKAGE])})


class _Finder:
    """Answers every import below `tensorflow`, so that the real one is never found.

    A finder and a loader by what it has: `importlib.abc` would load a good part of the library.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != _NAME:
            return None
        loader: Any = self
        return importlib.util.spec_from_loader(fullname, loader)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        path = module.__name__.partition(".")[2]
        sys.modules[module.__name__] = _resolve(path)


def _resolve(path: str) -> types.ModuleType:
    found: Any = _alias
    for i, part in enumerate(path.split(".") if path else ()):
        inner = vars(found).get(part)
        if inner is None:
            inner = here(sys.modules[PACKAGE] if isinstance(found, _Alias) else found, part)
        if inner is None and part == "v2" and i == 1:
            inner = _alias
        if not isinstance(inner, types.ModuleType):
            unsupported(
                f"the module `tensorflow.{path}` is not part of Holdfast",
                "Holdfast stands in for `tensorflow` here, and has no such module.",
                labels=used_here("imported here"),
            )
        found = inner
    module: types.ModuleType = found
    return module


_alias = _Alias(_NAME, "Holdfast under the name of TensorFlow.")


def install_as_tensorflow() -> types.ModuleType:
    """Puts this package under the name `tensorflow`, with all its modules; returns that module."""
    package = sys.modules[PACKAGE]
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name in [n for n in sys.modules if n.partition(".")[0] == _NAME]:
        del sys.modules[name]
    version = Namespace(f"{PACKAGE}.version", "`tf.version`.")
    vars(version).update({k: v for k, v in vars(vars(package)["version"]).items() if k.isupper()})
    vars(version)["VERSION"] = TENSORFLOW_VERSION
    _alias.__dict__.update(
        __version__=TENSORFLOW_VERSION,
        version=version,
        __file__=package.__file__,
        __path__=[],
        __spec__=importlib.machinery.ModuleSpec(_NAME, None, is_package=True),
    )
    sys.modules[_NAME] = _alias
    return _alias
