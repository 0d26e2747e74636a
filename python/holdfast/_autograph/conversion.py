"""`convert`: a callable whose conditions may be tensors that have no value yet."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar

from .._messages.user_code import is_user_code
from .._tracing.recorder import recording
from .compiling import Converted, compile_converted, is_converted
from .identity import ByIdentity
from .lookups import note_special
from .verbosity import tell

__all__ = ["convert", "converted_callee", "converted_form", "keep_plain"]

_PLAIN = "__holdfast_plain__"  # on functions that are to run as they are

_hooks: Any = None  # what converted code calls

_forms: ByIdentity[tuple[Converted | None]] = ByIdentity()

_F = TypeVar("_F", bound=Callable[..., Any])


def keep_plain(function: _F) -> _F:
    """Marks a function: it is never converted."""
    setattr(function, _PLAIN, True)
    return function


def is_plain(function: Any) -> bool:
    """Whether a function is marked so."""
    return bool(getattr(function, _PLAIN, False))


def set_hooks(hooks: Any) -> None:
    """Says what converted code calls. The hooks convert in turn, so they come from above."""
    global _hooks
    _hooks = hooks


def converted_form(code: types.CodeType, space: dict[str, Any]) -> Converted | None:
    """The converted form of `code`, made once; None without source, or nested beyond measure."""
    known = _forms.get(code)
    if known is None:
        try:
            form = compile_converted(code, space, _hooks)
        except RecursionError:  # hundreds of nested statements
            form = None
        known = _forms[code] = (form,)
        _tell(code, form)
    return known[0]


def _tell(code: types.CodeType, form: Converted | None) -> None:
    where = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
    if form is None:
        tell(
            2, f"AutoGraph: {where} stays as it is: it has no source, or none that can be converted"
        )
        return
    tell(1, f"AutoGraph: converted {where}")
    tell(3, form.source)


def _convert_function(function: types.FunctionType) -> types.FunctionType:
    code = function.__code__
    if is_converted(code) or is_plain(function):
        return function
    form = converted_form(code, function.__globals__)
    if form is None:
        return function
    recorder = recording()
    if recorder is not None:
        recorder.note_defaults(function)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    new = types.FunctionType(
        form.code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in form.code.co_freevars),
    )
    new.__kwdefaults__ = function.__kwdefaults__
    new.__annotations__ = function.__annotations__
    new.__qualname__, new.__module__ = function.__qualname__, function.__module__
    new.__doc__ = function.__doc__
    new.__dict__.update(function.__dict__)
    return new


def convert(function: Any) -> Any:
    """A callable that does what `function` does, also where conditions are symbolic.

    Functions, lambdas, methods, partials and objects with a `__call__` of their own are converted;
    what has no source comes back as it is.
    """
    if isinstance(function, types.FunctionType):
        return _convert_function(function)
    if isinstance(function, types.MethodType):
        inner = convert(function.__func__)
        if inner is function.__func__:
            return function
        return types.MethodType(inner, function.__self__)
    if isinstance(function, functools.partial):
        inner = convert(function.func)
        if inner is function.func:
            return function
        return functools.partial(inner, *function.args, **function.keywords)
    return _convert_object(function)


def _convert_object(thing: Any) -> Any:
    called = getattr(type(thing), "__call__", None)  # noqa: B004 (the function itself is wanted)
    if isinstance(thing, type) or not isinstance(called, types.FunctionType):
        return thing
    inner = _convert_function(called)
    return thing if inner is called else types.MethodType(inner, thing)


def converted_callee(function: Any) -> Any:
    """The same for something that converted code calls: only the user's own code is converted."""
    target = function
    while True:
        if isinstance(target, types.MethodType):
            target = target.__func__
        elif isinstance(target, functools.partial):
            target = target.func
        else:
            break
    if not isinstance(target, types.FunctionType):
        if isinstance(target, type):
            return function
        note_special(target, "__call__")
        target = getattr(type(target), "__call__", None)  # noqa: B004
        if not isinstance(target, types.FunctionType):
            return function
    return convert(function) if is_user_code(target.__code__) else function
