"""How code of ours raises a diagnostic; the exceptions themselves are those of `errors`."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _holdfast
from .diagnostics import user_frame

__all__ = ["fail", "need_callable", "unsupported", "used_here"]


def fail(code: str, headline: str, why: str = "", *, fix: str = "", **fields: Any) -> NoReturn:
    """Raises `code`, used at the line of the user that is executing."""
    fields.setdefault("labels", used_here())
    if fix:
        fields["fixes"] = [{"title": fix, "applicability": "manual", "edits": []}]
    _holdfast.raise_diagnostic({"code": code, "headline": headline, "why": why, **fields})
    raise AssertionError("raise_diagnostic returned")


def need_callable(what: Any, of: str) -> None:
    """Refuses what can't be called where `of` needs a function."""
    if not callable(what):
        fail(
            "E1104",
            f"{of}: `func` is of type {type(what).__name__}, expected a function",
            "what is called later must be callable when it is handed over",
            op=of,
        )


def unsupported(headline: str, why: str, *, fix: str = "", **fields: Any) -> NoReturn:
    """Raises E1105: what was asked, and what is supported."""
    fail("E1105", headline, why, fix=fix, **fields)


def used_here(text: str = "") -> list[dict[str, Any]]:
    """The label for the line of the user that is executing; in eager code, if no text is given."""
    if user_frame() is None:
        return []
    label = {"role": "used", "loc": _holdfast.here(), "text": text, "primary": True}
    return [label if text else label | {"text": "used here", "place": _holdfast.EAGER_CODE}]
