"""Python lists of a trace whose elements are in a list of the graph, since a staged loop grows it.

The loop's own names get the list of the graph. Other names, containers and objects may hold the
Python list, and nobody can find them all: so the list itself says what became of it. Its only
element is a mark, which whoever looks into the list meets. Journals take the mark back, as they do
with anything that is put into a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import fail, used_here
from .journal import Journal, journal

__all__ = [
    "Moved",
    "current",
    "is_moved",
    "move",
    "move_perhaps",
    "parts_of",
    "refuse_moved",
]

At = Callable[[], Any] | None


class Moved:
    """Where the elements of a Python list are. `staged` is None if only some path moved them."""

    __slots__ = ("loc", "name", "staged")

    def __init__(self, staged: Any, name: str, loc: Any) -> None:
        self.staged, self.name, self.loc = staged, name, loc

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        refuse_moved(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse_moved(self)

    def __leaves_trace__(self) -> Any:
        refuse_moved(self)

    def __repr__(self) -> str:
        return "<what a staged loop appended>"


def move(container: list[Any], mark: Moved) -> None:
    """Leaves a mark in a list in place of its elements, until the journal takes it back."""
    now = journal()
    if now is not None:
        now.keep(container)
        now.moved.append((container, mark))
    container[:] = [mark]


def move_perhaps(inner: Journal) -> None:
    """After one side of a branch: the lists that it moved, if it ran, have nobody for them."""
    for container, mark in inner.moved:
        if not inner.made(container):
            move(container, Moved(None, mark.name, mark.loc))


def is_moved(value: Any) -> bool:
    """Whether a value is a list whose elements are elsewhere."""
    return type(value) is list and len(value) > 0 and Moved in (type(value[0]), type(value[-1]))


def current(value: Any, at: At = None) -> Any:
    """What stands for a value by now: for a list that a staged loop grows, that of the graph.

    `at` tells where the program reads it, if that is not the line that is executing.
    """
    if not is_moved(value):
        return value
    mark = value[0]
    if len(value) > 1 or mark.staged is None:
        refuse_moved(mark if type(mark) is Moved else value[-1], at)
    return mark.staged


def parts_of(structure: Any) -> list[Any]:
    """All parts of a nested value, and itself."""
    found: list[Any] = []
    seen: set[int] = set()
    todo = [structure]
    while todo:
        part = todo.pop()
        if isinstance(part, (list, tuple, dict)):
            if id(part) in seen:
                continue
            seen.add(id(part))
            todo += part.values() if isinstance(part, dict) else part
        found.append(part)
    return found


def refuse_moved(mark: Moved, at: At = None) -> NoReturn:
    """E0901: a list is read where nothing can take its place."""
    name = f"`{mark.name}`" if mark.name else "a list"
    labels = used_here("the list is read here, under another name")
    loc = at() if at is not None else None
    if loc is not None:
        text = "the list is returned here, under another name"
        labels = [{"role": "used", "loc": loc, "text": text, "primary": True}]
    if mark.loc is not None:
        text = f"{name} grows in this loop, which is staged"
        labels.insert(0, {"role": "placed", "loc": mark.loc, "text": text, "primary": not labels})
    some = mark.staged is None
    fail(
        "E0901",
        f"{name} grew in a staged loop"
        + (", on one side of a branch," if some else "")
        + " and is read under another name",
        "in the graph it is a list of tensors, which has the place of the Python list under the "
        "names that the loop uses; what else holds the Python list does not see what was appended.",
        fix=_ANYWAY if some else _SAME_NAME,
        labels=labels,
        subject={"name": mark.name or "list"},
        op="for",
    )


_ANYWAY = (
    "let the loop run on either side, over nothing where there is nothing to append: "
    "`for i in tf.range(n if condition else 0)`"
)
_SAME_NAME = (
    "read it by the name that the loop appends to; a function that appends can return the list: "
    "`values = add(values, n)`"
)
