"""`holdfast explain`: the page of a code, or the list of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _holdfast

if TYPE_CHECKING:
    import pathlib

__all__ = ["explain", "index"]


def _pages() -> list[pathlib.Path]:
    """Where pages may be: in the installed package, or in the tree it was built from."""
    import pathlib

    here = pathlib.Path(__file__).resolve().parents[1]
    return [here / "errors", here.parents[1] / "docs" / "errors"]


def explain(code: str | None = None) -> str:
    """The page of `code`; without one, the list of all codes."""
    if code is None:
        return index()
    name = code.strip().upper()
    for folder in _pages():
        page = folder / f"{name}.md"
        if page.is_file():
            return page.read_text(encoding="utf-8")
    for known in _holdfast.codes():
        if known["name"] == name:
            return f"# {name}: {known['headline']}\n\nThere is no page for this code yet.\n"
    raise LookupError(f"{code!r} is no diagnostic code. The codes are:\n{index()}")


def index() -> str:
    """One line for each code."""
    return "".join(f"{known['name']}  {known['headline']}\n" for known in _holdfast.codes())
