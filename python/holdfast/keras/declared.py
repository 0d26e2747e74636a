"""Python's classes of what C++ declares: layers, initializers and the rest."""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from ..errors import fail, unsupported

__all__ = ["base_type", "class_of", "classes", "configure", "export", "make_class", "register"]

Info = dict[str, Any]

# What Keras's classes take and ours do only as None: low-rank and quantized kernels, values that
# are given before there are weights. At Keras's places, behind what is given by position.
_UNSET = {
    "layers.Bidirectional": ("weights",),
    "layers.Dense": ("lora_rank", "lora_alpha", "quantization_config"),
    "layers.EinsumDense": (
        *("lora_rank", "lora_alpha", "gptq_unpacked_column_size", "quantization_config"),
    ),
    "layers.Embedding": ("weights", "lora_rank", "lora_alpha", "quantization_config"),
}
# Where they stand among the others, if not behind them.
_PLACES = {"layers.Bidirectional": 2}
# Options of earlier versions that Keras takes still: what they are called now, or why there is
# nothing left to say.
_EARLIER: dict[str, dict[str, Any]] = {
    "callbacks.ReduceLROnPlateau": {"epsilon": "min_delta"},
    "layers.Embedding": {"input_length": (None, "lengths are those of what it is given")},
    "layers.LeakyReLU": {"alpha": "negative_slope"},
    "optimizers.LossScaleOptimizer": {"dynamic": (True, "the scale always follows the gradients")},
}
_OF_OPTIMIZERS = {"decay": (None, "it changes nothing; a schedule as the rate makes it smaller")}


def _with_unset(info: Info) -> Info:
    known = {name for name, _, _ in info["options"]}
    wanted = _UNSET.get(info["path"], ())
    more = [(name, None, False) for name in wanted]
    by_position = info["by_position"]
    place = _PLACES.get(info["path"], by_position)
    # What C++ takes by name only stands at Keras's place as well.
    rest = [option for option in info["options"][place:] if option[0] not in wanted]
    options = [*info["options"][:place], *more, *rest]
    unset = frozenset(wanted) - known
    return {**info, "options": options, "by_position": by_position + len(more), "unset": unset}


_INFOS: dict[str, Info] = {info["path"]: _with_unset(info) for info in _holdfast.keras_classes()}
_CLASSES: dict[str, type] = {}


def classes(folder: str) -> list[Info]:
    """What C++ declares below a folder, bases first."""
    return [info for path, info in _INFOS.items() if path.rpartition(".")[0] == folder]


def class_of(path: str) -> type:
    """The Python class of a declared one."""
    return _CLASSES[path]


def base_type(path: str) -> Any:
    """The type of C++'s that a Python class of a declared one derives from."""
    return _INFOS[path]["type"]


def _frozen(value: Any) -> Any:
    """Sizes and axes as tuples, as Keras shows them."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _as_it_is(value: Any) -> Any:
    return value


def _parameters(info: Info) -> list[inspect.Parameter]:
    out = []
    for i, (name, default, required) in enumerate(info["options"]):
        by_place = i < info["by_position"]
        out.append(
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD
                if by_place
                else inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if required else _frozen(default),
            )
        )
    return out


def _without_earlier(kind: str, info: Info, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The options by the names of today, with a warning for those of earlier versions."""
    path = info.get("path", "")
    earlier = _EARLIER.get(path, {})
    if path.startswith("optimizers.") and ".schedules" not in path:
        earlier = earlier | _OF_OPTIMIZERS
    out = {}
    for name, value in kwargs.items():
        now = earlier.get(name)
        if now is None:
            out[name] = value
        elif isinstance(now, str):
            warnings.warn(f"`{name}` of {kind} is called `{now}` now", stacklevel=4)
            out[now] = value
        else:
            only, why = now
            if only is not None and value != only:
                unsupported(f"`{kind}` with `{name}={value!r}` is not supported", why)
            warnings.warn(f"`{name}` of {kind} is not needed: {why}", stacklevel=4)
    return out


def configure(obj: Any, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Gives a new object its options, by position and by name."""
    kind = type(obj).__name__
    names = [name for name, _, _ in info["options"]]
    placed = names[: info["by_position"]]
    if len(args) > len(placed):
        fail(
            "E1104",
            f"`{kind}` takes at most {len(placed)} arguments by position, got {len(args)}",
        )
    given = dict(zip(placed, args, strict=False))
    for name, value in _without_earlier(kind, info, kwargs).items():
        if name in given:
            fail("E1104", f"`{kind}` got `{name}` twice, by position and by name")
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            fail(
                "E1104",
                f"`{kind}` got an option that it does not have: `{name}`",
                f"it has {', '.join(f'`{n}`' for n in names)}",
                fix=f"did you mean `{near[0]}`?" if near else "",
            )
        given[name] = value
    for name in info.get("unset", ()):
        if given.pop(name, None) is not None:
            unsupported(
                f"`{kind}` with `{name}` is not supported",
                "kernels are whole and not quantized; weights are made when a layer is built",
                fix=f"leave `{name}` out",
            )
    for name, value in given.items():
        if isinstance(value, _holdfast.Tensor) and _holdfast.is_model_symbol(value):
            fail(
                "E1104",
                f"`{name}` of {kind} is a symbol of a model, expected an option",
                "a layer is made from options first, and called on symbols then",
                fix=f"call what is made: `{kind}(...)(x)`",
            )
    for name, _, required in info["options"]:
        if required and name not in given:
            fail("E1104", f"`{kind}` needs `{name}`", fix=f"give it: `{kind}({name}=...)`")
    _holdfast.keras_configure(obj, given)


def _attribute(name: str, doc: str, shown: Callable[[Any], Any] = _frozen) -> property:
    def get(self: Any) -> Any:
        return shown(_holdfast.keras_attribute(self, name))

    def put(self: Any, value: Any) -> None:
        _holdfast.set_keras_attribute(self, name, value)

    return property(get, put, doc=doc)


def _property(name: str) -> property:
    return property(lambda self: _holdfast.keras_attribute(self, name))


def _action(name: str) -> Any:
    def action(self: Any) -> None:
        _holdfast.keras_action(self, name)

    action.__name__ = action.__qualname__ = name
    return action


def attributes(info: Info, taken: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Properties for the options and weights of a class, and its methods."""
    # Sizes and axes of layers are tuples; thresholds of a metric stay the list that they are.
    shown = _frozen if info["path"].startswith("layers.") else _as_it_is
    out: dict[str, Any] = {
        name: _attribute(name, f"The option `{name}`.", shown)
        for name, _, _ in info["options"]
        if name not in taken and name not in info.get("unset", ())
    }
    for name in info.get("unset", frozenset()) - {"weights"}:
        out[name] = property(lambda self: None, doc=f"The option `{name}`, which is None.")
    for name in info["weights"]:
        out[name] = _attribute(name, f"The weight `{name}`; None while there is none.")
    out.update({name: _property(name) for name in info["properties"]})
    out.update({name: _action(name) for name in info["actions"]})
    return out


def make_class(info: Info, base: type, taken: frozenset[str] = frozenset()) -> type:
    """The Python class of a declared one: its signature, its docstring, its attributes."""

    own = frozenset(name for name, _, _ in info["options"])
    base_alone = info["abstract"] and not own  # has nothing behind it that could be told options

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        prepare = getattr(self, "_prepare_options", None)
        if prepare is not None:
            kwargs = prepare(kwargs, own)
        if args or kwargs or not base_alone:
            configure(self, info, args, kwargs)

    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([self_parameter, *_parameters(info)])
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__doc__ = f"Makes one; {info['doc'][:1].lower()}{info['doc'][1:]}"
    folder = info["path"].rpartition(".")[0]
    body = {
        "__init__": __init__,
        "__doc__": _doc(info),
        "__module__": f"holdfast.keras.{folder}",
        **attributes(info, taken),
    }
    bases = (info["type"], base) if base is not object else (info["type"],)
    made = type(info["name"], bases, body)
    register(info, made)
    return made


def register(info: Info, made: type) -> None:
    """Says which Python class objects of a declared class appear as."""
    _CLASSES[info["path"]] = made
    _holdfast.set_class(info["path"], made)


def _doc(info: Info) -> str:
    lines = [info["doc"], "", "Arguments:"]
    for name, default, required in info["options"]:
        lines.append(f"    {name}: {'required' if required else f'default {_frozen(default)!r}'}")
    return "\n".join(lines)


def export(folder: str, base: type, into: dict[str, Any], taken: frozenset[str]) -> list[str]:
    """Makes all classes below a folder and puts them, and their aliases, into a namespace."""
    names = []
    for info in classes(folder):
        if info["path"] in _CLASSES:
            continue
        parent = _CLASSES.get(info["base"] or "", base)
        made = make_class(info, parent, taken)
        for path in (info["path"], *info["aliases"]):
            name = path.rpartition(".")[2]
            into[name] = made
            names.append(name)
    return names
