"""What is said of a call that does not fit a function's parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .diagnostics import mark
from .raising import fail, used_here

__all__ = ["called_name", "refuse_call", "refuse_misfit"]

_SHOWN = 8  # parameters; a longer list ends in dots


def called_name() -> str:
    """What the user calls the function that is being called, as typed; "" if not known."""
    here = mark()
    names = here.names() if here is not None else None
    return names.function if names is not None and names.kind == "call" else ""


def refuse_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """E1104 for a call of one of our own functions, if `args` and `kwargs` do not fit it."""
    name = function.__qualname__.replace("Base.", ".")  # C's part of a class that users know
    method = "." in name.rpartition("<locals>.")[2]
    refuse_misfit(inspect.signature(function), args, kwargs, name, method)


def refuse_misfit(
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str,
    method: bool = False,
) -> None:
    """E1104: which argument is missing, unknown, given twice or too many; nothing if all fit.

    `method`: the first parameter is the object, of which users do not speak.
    """
    parameters = list(signature.parameters.values())[1 if method else 0 :]
    given = args[1:] if method else args
    wrong = _wrong(parameters, given, kwargs)
    if not wrong:
        return
    shown = [_shown(each) for each in parameters]
    listed = ", ".join(shown[:_SHOWN] + ["..."] * (len(shown) > _SHOWN))
    near = _near([p.name for p in parameters], kwargs)
    fail(
        "E1104",
        f"`{called_name() or _plain(name)}` {wrong}",
        f"its parameters are `{listed}`" if listed else "it has no parameters",
        **({"fix": f"did you mean `{near}`?"} if near else {}),
        labels=used_here("called here"),
        op=name,
    )


def _near(names: list[str], given: dict[str, Any]) -> str:
    """The parameter that an unknown keyword was meant to be, if one is spelled much like it."""
    import difflib  # few programs misspell

    free = [name for name in names if name not in given]
    found = [difflib.get_close_matches(word, free, 1) for word in given if word not in names]
    return next((each[0] for each in found if each), "")


def _plain(name: str) -> str:
    """A qualified name without what a user does not write."""
    inner = name.rpartition("<locals>.")[2]
    return inner.removesuffix(".__init__").removesuffix(".__call__")


def _shown(parameter: inspect.Parameter) -> str:
    """A parameter as a declaration has it, without its type."""
    text = str(parameter.replace(annotation=inspect.Parameter.empty))
    return text if len(text) <= 30 else f"{parameter.name}=..."


def _quoted(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _wrong(
    parameters: list[inspect.Parameter], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str:
    kinds = inspect.Parameter
    positional = [
        p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    ]
    taken = {p.name for p in positional[: len(args)] if p.kind is kinds.POSITIONAL_OR_KEYWORD}
    named = {
        p.name for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    }
    takes_rest = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    takes_any = any(p.kind is kinds.VAR_KEYWORD for p in parameters)
    unknown = [] if takes_any else [key for key in kwargs if key not in named]
    if unknown:
        return f"has no parameter {_quoted(unknown[:3])}"
    if len(args) > len(positional) and not takes_rest:
        most = len(positional)
        noun = "argument" if most == 1 else "arguments"
        return f"got {len(args)} positional {'argument' if len(args) == 1 else 'arguments'}" + (
            f", expected at most {most}" if most else f", takes no positional {noun}"
        )
    twice = [key for key in kwargs if key in taken]
    if twice:
        return f"got {_quoted(twice[:3])} twice, by position and by name"
    missing = [
        p.name
        for p in [*positional[len(args) :], *parameters]
        if p.default is p.empty
        and p.name not in kwargs
        and (p in positional[len(args) :] or p.kind is kinds.KEYWORD_ONLY)
    ]
    missing = list(dict.fromkeys(missing))
    if missing:
        more = "s" if len(missing) > 1 else ""
        return f"needs the argument{more} {_quoted(missing[:4])}"
    return ""
