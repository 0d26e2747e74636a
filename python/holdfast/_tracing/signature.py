"""Arguments of a traced function: bound to its parameters, flattened, and keyed by kind."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import _holdfast
from .._messages.calls import refuse_misfit
from .._messages.provenance import type_text
from .._structures import nesting
from .._tensors import registry
from .._tensors.composite import Composite
from .._tensors.dtypes import DType
from .._tensors.plain import is_nan
from .._tensors.shape import TensorSpec
from .._tensors.symbols import is_symbol
from ..errors import fail

__all__ = ["Call", "IdentityKey", "Signature", "is_plain", "is_type"]

_VALUES = (int, float, complex, str, bytes, bool, type(None))
Tensor = _holdfast.Tensor


class Call:
    """One call: the structure of its arguments, their leaves, and what tells traces apart."""

    __slots__ = (
        "args",
        "awaited",
        "key",
        "kwargs",
        "labels",
        "leaves",
        "names",
        "symbolic",
        "tensors",
        "types",
    )

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> None:
        self.args, self.kwargs, self.names = args, kwargs, names
        self.leaves: list[Any] = []
        self.tensors: list[Any] = []
        # What a trace sees of the tensors; an input signature may know less of them.
        self.types: list[tuple[Any, Any]] = []
        self.symbolic = self.awaited = False
        key: list[Any] = []
        self._flatten((args, kwargs), key)
        if self.awaited:
            self.args, self.kwargs = nesting.map_structure(_awaited, (args, kwargs))
        self.key = tuple(key)
        # Names that specifications give them; where none does, they are called by the argument.
        self.labels: list[str | None] = [
            t.name if isinstance(t, TensorSpec) else None for t in self.tensors
        ]

    def _flatten(self, value: Any, key: list[Any]) -> None:
        kind = type(value)
        if kind is Tensor:
            self._tensor(value, key)
        elif kind is tuple or kind is list:
            key.append((kind, len(value)))
            for part in value:
                self._flatten(part, key)
        elif isinstance(value, _VALUES):
            # 0 and False, 1 and 1.0 are equal, and mean different things to a trace.
            key.append((kind, _told_apart(value)))
            self.leaves.append(value)
        elif _is_future(value):
            self.awaited = True
            self._flatten(value.result(), key)
        elif isinstance(value, (np.ndarray, np.generic)):
            self._tensor(_holdfast.convert(value), key)
        elif isinstance(value, TensorSpec):
            self._tensor(value, key)
        elif isinstance(value, _holdfast.VariableBase):
            key.append(("variable", IdentityKey(value)))
            self.leaves.append(value)
        elif hasattr(value, "__tf_tracing_type__"):
            key.append(("traced as", value.__tf_tracing_type__(None)))
            self.leaves.append(value)
        elif nesting.is_nested(value):
            parts = list(nesting.children(value))
            if isinstance(value, Mapping):
                key.append((kind, tuple(sorted(value))))
            elif nesting.is_custom(kind):
                facts = value.__tf_flatten__()[0]
                key.append((nesting.value_type(value), len(parts), facts))
            else:
                key.append((kind, len(parts)))
            first = len(key)
            for part in parts:
                self._flatten(part, key)
            if isinstance(value, Composite):
                self._relax(value, key, first)
        else:
            key.append(("object", IdentityKey(value)))
            self.leaves.append(value)

    def _tensor(self, tensor: Any, key: list[Any]) -> None:
        self.types.append((tensor.dtype, _dims(tensor.shape)))
        key.append(self.types[-1])
        self.symbolic = self.symbolic or is_symbol(tensor)
        self.tensors.append(tensor)
        self.leaves.append(tensor)

    def _relax(self, value: Composite, key: list[Any], first: int) -> None:
        """Sizes that differ from one composite to the next are not part of what is traced for."""
        types = [(spec.dtype, _dims(spec.shape)) for spec in value._type_spec._component_specs]
        self.types[-len(types) :] = key[first:] = types

    def path(self, index: int) -> str:
        """What the user calls the part of the arguments that an entry of the key is about."""
        found = _paths((self.args, self.kwargs), self.names)
        return found[index] if index < len(found) else "arguments"


def _told_apart(value: Any) -> Any:
    """A plain value as part of a key: zeros have a sign, and one NaN is like another."""
    if is_nan(value):
        return "nan"
    signed = type(value) is complex or (type(value) is float and not value)
    return repr(value) if signed else value


def _paths(structure: tuple[tuple[Any, ...], dict[str, Any]], names: list[str]) -> list[str]:
    args, kwargs = structure
    out = ["arguments", "arguments"]
    for i, value in enumerate(args):
        _walk_paths(value, names[i] if i < len(names) else f"argument {i}", out)
    out.append("keywords")
    for key in sorted(kwargs):
        _walk_paths(kwargs[key], key, out)
    return out


def _walk_paths(value: Any, path: str, out: list[str]) -> None:
    out.append(path)
    if type(value) is Tensor or not nesting.is_nested(value):
        return
    keys = (
        sorted(value) if isinstance(value, Mapping) else range(len(list(nesting.children(value))))
    )
    for key, child in zip(keys, nesting.children(value), strict=False):
        _walk_paths(child, f"{path}[{key!r}]", out)


def _dims(shape: Any) -> Any:
    return None if shape.rank is None else tuple(shape.as_list())


def _is_future(value: Any) -> bool:
    """Whether it is one of `concurrent.futures`, which only programs that have one need to load."""
    futures = sys.modules.get("concurrent.futures")
    return futures is not None and isinstance(value, futures.Future)


def _awaited(leaf: Any) -> Any:
    """What an argument is when it has come."""
    return _awaited(leaf.result()) if _is_future(leaf) else leaf


class IdentityKey:
    """An object as part of a key: equal to itself only, and not kept alive."""

    __slots__ = ("_hash", "_ref")

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        try:
            self._ref: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self._ref = lambda: value

    def get(self) -> Any:
        """The object; None if it is gone."""
        return self._ref()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdentityKey):
            return NotImplemented
        mine = self._ref()
        return mine is not None and mine is other._ref()


class Signature:
    """How the arguments of a Python function are bound."""

    def __init__(self, function: Callable[..., Any], given: Any, name: str) -> None:
        self.given = given
        self.name = name
        self.specs = None if given is None else tuple(given)
        self._parameters: inspect.Signature | None
        try:
            self._parameters = inspect.signature(function)
        except (TypeError, ValueError):
            self._parameters = None
        known = list(self._parameters.parameters.values()) if self._parameters else []
        self._names = [p.name for p in known]
        self._any_number = next((p.name for p in known if p.kind is p.VAR_POSITIONAL), None)
        self._named = self._names.index(self._any_number) if self._any_number else len(known)
        # Names that a keyword may have nevertheless, where the function takes any keyword.
        self._any_keyword = next((p.name for p in known if p.kind is p.VAR_KEYWORD), None)
        only_positional = {p.name for p in known if p.kind is p.POSITIONAL_ONLY}
        self._nameless = only_positional if self._any_keyword else set()
        self._check_specs()
        self._unsaid = self._left_out()

    def parameters(self) -> tuple[Any, ...]:
        """The same for C: names, how many of them are only positional, keywords, defaults."""
        empty = inspect.Parameter.empty
        if self._parameters is None:
            return (), 0, (), (), empty, True, True
        all_of = [p for p in self._parameters.parameters.values()]
        by_kind = {
            kind: [p for p in all_of if p.kind is kind]
            for kind in (
                inspect.Parameter.POSITIONAL_ONLY,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                inspect.Parameter.VAR_POSITIONAL,
                inspect.Parameter.KEYWORD_ONLY,
                inspect.Parameter.VAR_KEYWORD,
            )
        }
        nameless, named, any_positional, keywords, any_keyword = by_kind.values()
        positional = nameless + named
        return (
            tuple(p.name for p in positional),
            len(nameless),
            tuple(p.name for p in keywords),
            tuple(p.default for p in positional + keywords),
            empty,
            bool(any_positional),
            bool(any_keyword),
        )

    def _check_specs(self) -> None:
        for leaf in nesting.flatten(self.specs or ()):
            if isinstance(leaf, (*_VALUES, Tensor)) and leaf is not None:
                fail(
                    "E1104",
                    f"`{self.name}`: `input_signature` holds {leaf!r} of type "
                    f"{type(leaf).__name__}, expected specifications",
                    "an input signature says of each argument which dtype and shape it has",
                    fix="write `TensorSpec(shape, dtype)`",
                )

    def _left_out(self) -> list[str]:
        """Parameters that neither the input signature nor a default says anything of."""
        if self.specs is None or self._parameters is None:
            return []
        return [
            p.name
            for i, p in enumerate(self._parameters.parameters.values())
            if (i >= len(self.specs) or p.kind is p.KEYWORD_ONLY)
            and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
            and p.default is p.empty
        ]

    def completed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with specifications of the input signature for those left out."""
        specs = self.specs or ()
        if self._any_number is not None and not kwargs:
            return (*args, *specs[len(args) :]), kwargs
        for name, spec in zip(self._names[len(args) :], specs[len(args) :], strict=False):
            if name not in kwargs and self._is_named(name):
                kwargs = kwargs | {name: spec}
        if not kwargs and len(args) < len(specs):
            args = (*args, *specs[len(args) :])  # of a function that takes any number
        return args, kwargs

    def _is_named(self, name: str) -> bool:
        assert self._parameters is not None
        p = self._parameters.parameters[name]
        return p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)

    def names_of(self, count: int) -> list[str]:
        """What the first `count` positional arguments are called: those of `*xs` `xs_0`, ..."""
        if self._any_number is None:
            return self._names[:count]
        named = self._names[: min(count, self._named)]
        return [*named, *(f"{self._any_number}_{i}" for i in range(count - len(named)))]

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The call, with defaults filled in and keywords where they belong."""
        if self._parameters is None:
            bound_args, bound_kwargs = args, kwargs
        else:
            named = {k: v for k, v in kwargs.items() if k not in self._nameless}
            try:
                bound = self._parameters.bind(*args, **named)
            except TypeError:
                refuse_misfit(self._parameters, args, kwargs, self.name)
                raise
            bound.apply_defaults()
            rest = self._any_keyword
            if rest and len(named) < len(kwargs):  # Python's own `bind` refuses what calls take
                known = {*bound.arguments[rest], *self._nameless}
                bound.arguments[rest] = {k: v for k, v in kwargs.items() if k in known}
            bound_args, bound_kwargs = bound.args, bound.kwargs
        names = self.names_of(len(bound_args))
        if self.specs is None:
            return Call(bound_args, bound_kwargs, names)
        if self._unsaid and self._parameters is not None:
            name = self._unsaid[0]
            by_keyword = self._parameters.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
            add = (
                "let it stand before the `*`" if by_keyword else f"add a `TensorSpec` for `{name}`"
            )
            fail(
                "E1104",
                f"`{self.name}`: `input_signature` says nothing of `{name}`, which has no default",
                "a function with an input signature is traced once, for what that says"
                + (" of parameters by their position" if by_keyword else ""),
                fix=f"{add}, or give it a default",
            )
        call = Call(self._fitted(bound_args), bound_kwargs, names)
        specs = [s for s in nesting.flatten(self.specs) if isinstance(s, TensorSpec)]
        call.types[: len(specs)] = [(s.dtype, _dims(s.shape)) for s in specs]
        call.labels[: len(specs)] = [s.name for s in specs]
        call.key = tuple(_without_tensors(call.key))
        return call

    def _fitted(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments as tensors of the dtypes and shapes that were asked for."""
        assert self.specs is not None
        if len(args) < len(self.specs):
            fail("E1104", f"`{self.name}` got {len(args)} arguments, expected {len(self.specs)}")
        out = list(args)
        for i, spec in enumerate(self.specs):
            fit = functools.partial(self._fit, i)
            out[i] = (
                nesting.map_structure(fit, spec, args[i])
                if nesting.is_nested(spec)
                else fit(spec, args[i])
            )
        return tuple(out)

    def _fit(self, position: int, spec: Any, value: Any) -> Any:
        if not isinstance(spec, TensorSpec):
            return value
        given = isinstance(value, (Tensor, TensorSpec))
        tensor = value if given else _holdfast.convert(value, spec.dtype)
        if tensor.dtype == spec.dtype and spec.shape.is_compatible_with(tensor.shape):
            return _narrowed(tensor, spec)
        name = self._names[position] if position < len(self._names) else str(position)
        fail(
            "E1104",
            f"`{self.name}`: argument `{name}` is {type_text(tensor)}, expected {type_text(spec)}",
            "the input signature says which dtypes and shapes are taken",
            op=self.name,
        )


def _narrowed(tensor: Any, spec: TensorSpec) -> Any:
    """An argument inside a trace, of which a signature knows more than the trace does."""
    if not isinstance(tensor, Tensor) or not is_symbol(tensor):
        return tensor
    known = tensor.shape.merge_with(spec.shape)
    narrower = known.rank is not None and known.as_list() != (
        None if tensor.shape.rank is None else tensor.shape.as_list()
    )
    return registry.function("ensure_shape")(tensor, known) if narrower else tensor


def is_plain(leaf: Any) -> bool:
    """Whether an argument is part of a key by its value."""
    return isinstance(leaf, _VALUES)


def is_type(entry: Any) -> bool:
    """Whether an entry of a key is a tensor's dtype and dimensions."""
    return isinstance(entry[0], DType)


def _without_tensors(key: tuple[Any, ...]) -> Iterator[Any]:
    for entry in key:
        yield ("tensor",) if is_type(entry) else entry
