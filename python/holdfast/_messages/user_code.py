"""Whose code it is: only the user's own is converted and guarded."""

from __future__ import annotations

import functools
import os
import sys
import types
from typing import Any

__all__ = ["is_user_class", "is_user_code", "is_user_file", "is_user_module"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Where Python's own library lies: beside `os`, and in a virtual environment its parts in C. Asking
# `sysconfig` for it would cost a tenth of the time that importing this package takes.
_STDLIB = (
    os.path.join(os.path.dirname(os.__file__), ""),
    os.path.join(
        sys.exec_prefix, sys.platlibdir, f"python{sys.version_info[0]}.{sys.version_info[1]}", ""
    ),
)
# Containers and context managers of the standard library that are written in Python: what is put
# into them, or done on their way, has to be written down as if the user had done it.
_FOLLOWED = tuple(
    os.path.join(path, name)
    for path in _STDLIB
    for name in (
        os.path.join("collections", "__init__.py"),
        "_collections_abc.py",
        "contextlib.py",
        "functools.py",
        "os.py",  # `os.environ`
        "queue.py",
        "weakref.py",
    )
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@functools.lru_cache(maxsize=4096)
def is_user_file(filename: str) -> bool:
    """Whether a file is the user's: not ours, not Python's, not an installed package's."""
    if filename.startswith("<frozen "):
        return filename in ("<frozen _collections_abc>", "<frozen os>")
    if filename in _FOLLOWED:
        return True
    if filename.startswith(_PACKAGE) or any(part in filename for part in _INSTALLED):
        return False
    return not filename.startswith(_STDLIB)


def is_user_code(code: types.CodeType) -> bool:
    """Whether the code is from such a file."""
    return is_user_file(code.co_filename)


def is_user_module(module: types.ModuleType) -> bool:
    """Whether a module is the user's."""
    file = getattr(module, "__file__", None)
    if file is None:
        paths = list(getattr(module, "__path__", ()))
        file = os.path.join(paths[0], "") if paths else ""
    root = module.__name__.partition(".")[0]
    if root in sys.builtin_module_names or root == __name__.partition(".")[0]:
        return False
    return is_user_file(file)


def is_user_class(kind: type[Any]) -> bool:
    """Whether a class was written by the user."""
    if not kind.__flags__ & (1 << 9):  # written in C
        return False
    module = sys.modules.get(kind.__module__)
    if module is None:
        return kind.__module__.partition(".")[0] != __name__.partition(".")[0]
    return is_user_module(module)
