"""Compares signatures: whether a call written for one is understood by another."""

import ast
import inspect

import holdfast as tf
from holdfast._variables.module import snake_case


def parameters(text):
    """The parameters of a signature that was written down, with their defaults as values."""
    arguments = ast.parse(f"def f{text}: pass").body[0].args
    plain = arguments.posonlyargs + arguments.args
    found = []
    for names, defaults, kind in (
        (plain, [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults, "plain"),
        (arguments.kwonlyargs, arguments.kw_defaults, "keyword"),
    ):
        for argument, default in zip(names, defaults, strict=True):
            value = inspect.Parameter.empty if default is None else _value(default)
            found.append((argument.arg, value, kind))
    found = [p for p in found if p[0] != "self"]
    return found, arguments.vararg is not None, arguments.kwarg is not None


def _value(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _default(parameter):
    default = parameter.default
    if default is parameter.empty or not callable(default):
        return default
    return default.__name__


def disagreements(text, called):
    """What keeps a call written for the signature in the text from meaning the same here."""
    wanted, any_place, any_name = parameters(text)
    if any_place and any_name and not wanted:
        return []  # it takes whatever its makers take
    ours = [p for name, p in _parameters_of(called) if name != "self"]
    named = {p.name: p for p in ours}
    positional = [p.name for p in ours if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_all = {p.kind for p in ours}
    found = []
    for i, (name, default, kind) in enumerate(wanted):
        if name not in named:
            if inspect.Parameter.VAR_KEYWORD not in takes_all:
                found.append(f"has no `{name}`")
            continue
        if (
            kind == "plain"
            and (i >= len(positional) or positional[i] != name)
            and inspect.Parameter.VAR_POSITIONAL not in takes_all
        ):
            found.append(f"`{name}` is not number {i}")
        has = _default(named[name])
        if name == "name" and has is None and isinstance(default, str):
            has = made_name(called)  # a name that is left out is made of the class's
        if default is not inspect.Parameter.empty and not same(default, has):
            found.append(f"`{name}` is {has!r} if left out, {default!r} there")
    known = {name for name, _, _ in wanted}
    found += [
        f"wants `{p.name}`"
        for p in ours
        if p.name not in known
        and p.default is p.empty
        and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    return found


def _parameters_of(called):
    try:
        return inspect.signature(called).parameters.items()
    except ValueError:
        if not inspect.isclass(called):
            raise
        return ()  # a class of C++'s that takes nothing


def made_name(called):
    """The name of an object that is made without one; None for what makes no object."""
    return snake_case(called.__name__) if inspect.isclass(called) else None


def same(one, other):
    """Whether two defaults are the same value, however they are spelled."""
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or repr(one) == repr(other) or _same_initializer(one, other)


def _same_initializer(one, other):
    known = vars(tf.keras.initializers)
    return all(
        isinstance(name, str) and (name in known or name == "uniform") for name in (one, other)
    ) and (
        tf.keras.initializers.get(one).get_config() == tf.keras.initializers.get(other).get_config()
    )
