"""Exceptions: TensorFlow's classes, and one class per diagnostic code that is also one of them.

Every exception of ours carries `diagnostic`, `code` and the whole message as its text; its bases
are those that TensorFlow programs already catch.
"""

from __future__ import annotations

import builtins
import errno
from collections.abc import Mapping
from typing import Any, ClassVar

from . import _holdfast
from ._messages.diagnostics import Diagnostic
from ._messages.enrich import enrich
from ._messages.holders import place_use
from ._messages.literals import add_other_operand
from ._messages.raising import fail as fail  # noqa: PLC0414
from ._messages.raising import need_callable as need_callable  # noqa: PLC0414
from ._messages.raising import unsupported as unsupported  # noqa: PLC0414
from ._messages.raising import used_here as used_here  # noqa: PLC0414

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "Diagnostic",
    "DiagnosticError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """What TensorFlow raises when an op fails."""

    _code: ClassVar[int] = UNKNOWN

    _node_def: Any = None
    _op: Any = None
    _message: str = ""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any) -> None:
        super().__init__(message, *args)
        self._node_def, self._op, self._message = node_def, op, message
        self._error_code = error_code

    @property
    def message(self) -> str:
        """The text."""
        return self._message

    @property
    def op(self) -> Any:
        """The op that failed: its name, or None."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The node that failed; None in eager code."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The number of the canonical status."""
        return getattr(self, "_error_code", self._code)

    @property
    def experimental_payloads(self) -> dict[str, Any]:
        """Always empty."""
        return {}

    def __str__(self) -> str:
        return self._message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._node_def, self._op, self._message)


class _StatusError(OpError):
    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, self._code, *args)


class CancelledError(_StatusError):
    """The operation was cancelled."""

    _code = CANCELLED


class UnknownError(_StatusError):
    """An error of no known kind."""

    _code = UNKNOWN


class InvalidArgumentError(_StatusError):
    """An argument does not fit."""

    _code = INVALID_ARGUMENT


class DeadlineExceededError(_StatusError):
    """There was no answer in time."""

    _code = DEADLINE_EXCEEDED


class NotFoundError(_StatusError):
    """Something asked for does not exist."""

    _code = NOT_FOUND


class AlreadyExistsError(_StatusError):
    """Something to be made exists already."""

    _code = ALREADY_EXISTS


class PermissionDeniedError(_StatusError):
    """The caller may not do this."""

    _code = PERMISSION_DENIED


class UnauthenticatedError(_StatusError):
    """The caller is not known."""

    _code = UNAUTHENTICATED


class ResourceExhaustedError(_StatusError):
    """Memory or another resource ran out."""

    _code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_StatusError):
    """The system is not in the state this needs."""

    _code = FAILED_PRECONDITION


class AbortedError(_StatusError):
    """The operation was given up."""

    _code = ABORTED


class OutOfRangeError(_StatusError):
    """Beyond the end."""

    _code = OUT_OF_RANGE


class UnimplementedError(_StatusError):
    """This is not supported."""

    _code = UNIMPLEMENTED


class InternalError(_StatusError):
    """A broken invariant of the framework."""

    _code = INTERNAL


class UnavailableError(_StatusError):
    """A service cannot be reached now."""

    _code = UNAVAILABLE


class DataLossError(_StatusError):
    """A file is damaged."""

    _code = DATA_LOSS


class OperatorNotAllowedInGraphError(TypeError):
    """A Python value was asked of a tensor that has none yet."""


class InaccessibleTensorError(TypeError, ValueError):
    """A traced value is used where it has no value."""


class SymbolicAttributeError(AttributeError):
    """An attribute that only tensors with a value have."""


class DiagnosticError(Exception):
    """Every exception of ours: one cause, one code, the whole story as its text."""

    _said: Mapping[str, Any]
    _text: str
    _data: Diagnostic | None

    @property
    def diagnostic(self) -> Diagnostic:
        """What the message says, as data."""
        if self._data is None:
            self._data = Diagnostic.from_dict(self._said, self._text)
        return self._data

    @property
    def code(self) -> str:
        """The code, such as "E1101"."""
        return str(self._said["code"])

    @property
    def message(self) -> str:
        """The text."""
        return self._text

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return _told_again, (dict(self._said), self._text)


_classes: dict[str, type[DiagnosticError]] = {}
# What TensorFlow raises where the same mistake has another form: `variable -= x`.
_MORE_BASES: dict[str, tuple[type, ...]] = {
    "E0404": (RuntimeError,),
    "E1106 of TerminateOnNaN": (RuntimeError,),
}
# Whose errors are of another class there.
_STATUS_OF: dict[tuple[str, str], str] = {
    ("E1103", "IteratorGetNext"): "FailedPreconditionError",
    ("E1106", "TerminateOnNaN"): "InvalidArgumentError",
}


def _class_of(code: str, status: str, bases: str, op: str = "") -> type[DiagnosticError]:
    """The class of a code: DiagnosticError, TensorFlow's class and the Python classes it names."""
    other = _STATUS_OF.get((code, op))
    status, key = (status, code) if other is None else (other, f"{code} of {op}")
    known = _classes.get(key)
    if known is not None:
        return known
    parents: list[type] = [DiagnosticError]
    if status:
        parents.append(globals()[status])
    for base in bases.split(",") if bases else ():
        parents.append(globals().get(base) or getattr(builtins, base))
    parents.extend(_MORE_BASES.get(key, ()))
    name = parents[1].__name__ if len(parents) > 1 else "DiagnosticError"
    made = type(name, tuple(parents), {"__module__": __name__, "__doc__": f"Raised as {code}."})
    _classes[key] = made
    return made


def from_diagnostic(
    said: dict[str, Any], text: str, status: str, bases: str, code: str
) -> DiagnosticError:
    """The exception for a diagnostic; every error of the binding is made here."""
    added = place_use(said), add_other_operand(said), enrich(said)
    if any(added):
        text = _holdfast.render(said)
    return _made(_class_of(code, status, bases, said.get("op") or ""), said, text)


def _told_again(said: dict[str, Any], text: str) -> DiagnosticError:
    """An error that was pickled: what surrounds it now has nothing to do with it."""
    return _made(_class_of(said["code"], "", "", said.get("op") or ""), said, text)


def _made(kind: type[DiagnosticError], said: dict[str, Any], text: str) -> DiagnosticError:
    made = kind.__new__(kind, text)
    made._said, made._text, made._data = said, text, None
    if isinstance(made, FileNotFoundError):
        made.errno = errno.ENOENT  # programs that catch OSError look at it
    if isinstance(made, OpError):
        made._op, made._message = said.get("op") or None, text
    return made


for _known in _holdfast.codes():
    _class_of(_known["name"], _known["status"], _known["bases"])
del _known
