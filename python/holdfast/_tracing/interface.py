"""What a trace takes and gives, in the words of the function: how a concrete function is called."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Mapping
from typing import Any, Literal, NoReturn

import numpy as np

from .. import _holdfast
from .._messages.provenance import type_text
from .._structures import nesting
from .._tensors.shape import TensorShape, TensorSpec
from ..errors import fail
from .perhaps import PerhapsSlot
from .signature import Call, IdentityKey, is_plain
from .slots import Slot, filled
from .trace import TENSOR, Trace

__all__ = ["Interface"]

Tensor = _holdfast.Tensor


class Interface:
    """The arguments and the result of a trace."""

    def __init__(self, trace: Trace, labels: list[str | None]) -> None:
        self._trace = trace
        self._labels = labels  # what specifications call the tensors

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """A call with tensors for the arguments that were tensors; the others may be left out."""
        given = self._tensors_among(args, kwargs)
        if len(given) != len(self._trace.types):
            fail(
                "E1104",
                f"`{self._trace.name}` takes {len(self._trace.types)} tensors, got {len(given)}",
                op=self._trace.name,
            )
        names = self.input_names()
        tensors = []
        for value, (dtype, dims), name in zip(given, self._trace.types, names, strict=True):
            tensor = _holdfast.convert(value, None if isinstance(value, Tensor) else dtype)
            if tensor.dtype != dtype or not TensorShape(dims).is_compatible_with(tensor.shape):
                fail(
                    "E1101" if tensor.dtype != dtype else "E1102",
                    f"`{self._trace.name}`: argument `{name}` is {type_text(tensor)}, expected "
                    f"{type_text(TensorSpec(dims, dtype))}",
                    "a concrete function is one graph, for one kind of arguments",
                    op=self._trace.name,
                )
            tensors.append(tensor)
        return Call(tuple(tensors), {}, names)

    def _tensors_among(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What is given for the tensors of the trace. Its own plain values may be repeated."""
        order = {
            **dict(zip(self._trace.names, self._trace.arguments, strict=False)),
            **self._trace.keywords,
        }
        open_names = [
            n for n, was in order.items() if any(x is TENSOR for x in nesting.flatten(was))
        ]
        flat = self.input_names()
        unknown = [name for name in kwargs if name not in order]
        loose = all(_is_tensor_like(leaf) for leaf in nesting.flatten(args))
        if unknown and set(kwargs) <= set(flat):
            by_flat_name = {**dict(zip(flat, nesting.flatten(args), strict=False)), **kwargs}
            self._need_all(flat, by_flat_name)
            return [by_flat_name[name] for name in flat]
        if unknown:
            taken = ", ".join(f"`{name}`" for name in order) or "none"
            self._refuse_call(f"has no argument `{unknown[0]}`; it has {taken}")
        # Positional arguments are all of them; tensors may be those that the trace left open.
        whole = not loose or len(args) + len(kwargs) >= len(order) or len(args) > len(open_names)
        positional = self._trace.names[: len(self._trace.arguments)] if whole else open_names
        if len(args) > len(positional):
            if loose and len(nesting.flatten([args, kwargs])) == len(flat):
                return nesting.flatten([args, kwargs])  # called by the tensors alone, in order
            self._refuse_call(f"got {len(args)} positional arguments, expected {len(positional)}")
        twice = next((name for name in positional[: len(args)] if name in kwargs), None)
        if twice is not None:
            self._refuse_call(f"got two values for `{twice}`")
        by_name = {**dict(zip(positional, args, strict=False)), **kwargs}
        self._need_all(open_names, by_name)
        given: list[Any] = []
        for name, was in order.items():
            if name not in by_name:
                continue
            now = by_name[name]
            if name in open_names:
                given += self._tensors_of(name, was, now)
            elif not _same_argument(was, now):
                fail(
                    "E1104",
                    f"`{self._trace.name}` was traced for `{name}={_unwrapped(was)!r}`, and "
                    f"can't be called with {now!r}",
                    "a concrete function is one graph, and plain values are part of it",
                    fix="call the function itself, or make another concrete function",
                    op=self._trace.name,
                )
        return given

    def _tensors_of(self, name: str, was: Any, now: Any) -> list[Any]:
        """What is given for the tensors of one argument, which is nested as it was."""
        if was is TENSOR:
            return [now]
        try:
            nesting.assert_same_structure(was, now)
        except (TypeError, ValueError) as error:
            found = str(error).splitlines()[0].partition(": ")[2]
            fail(
                "E1104",
                f"`{self._trace.name}`: argument `{name}` is nested in another way than it was "
                "traced for",
                found,
                op=self._trace.name,
            )
        both = zip(nesting.flatten(was), nesting.flatten(now), strict=True)
        return [value for leaf, value in both if leaf is TENSOR]

    def _need_all(self, names: list[str], given: Mapping[str, Any]) -> None:
        missing = next((name for name in names if name not in given), None)
        if missing is not None:
            self._refuse_call(f"needs the argument `{missing}`")

    def _refuse_call(self, what: str) -> NoReturn:
        fail("E1104", f"`{self._trace.name}` {what}", op=self._trace.name)

    def input_names(self) -> list[str]:
        """Names of the arguments that are tensors."""
        known = self._trace.concrete.input_names()[: len(self._trace.types)]
        return [label or str(name) for label, name in zip(self._labels, known, strict=True)]

    def signature_text(self, verbose: bool) -> str:
        """`f(x, y=2)`, and if `verbose` what each argument and the result is."""
        shown = []
        specs = iter(self.specs())
        for name, entry in zip(self._trace.names, self._trace.arguments, strict=False):
            is_tensor = nesting.is_nested(entry) or entry is TENSOR
            shown.append(name if is_tensor else f"{name}={_unwrapped(entry)!r}")
        head = f"{self._trace.name}({', '.join(shown)})"
        if not verbose:
            return head
        lines = [head, "  Args:"]
        lines += [
            f"    {name}: {spec}" for name, spec in zip(self.input_names(), specs, strict=False)
        ]
        lines += ["  Returns:", f"    {nesting.map_structure(_spec_text, self.output_specs())}"]
        return "\n".join(lines)

    def function_type(self) -> inspect.Signature:
        """The arguments as parameters annotated with what is known of them."""
        positional, keywords = nesting.map_structure(_annotation, self.input_specs())
        parameters = {
            name: inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=spec)
            for name, spec in zip(self._trace.names, positional, strict=False)
        }
        for key, spec in keywords.items():
            name = re.sub(r"\W", "_", key)  # `**{"a/b": x}` is a call too
            while name in parameters:
                name += "_"
            parameters[name] = inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=spec
            )
        return inspect.Signature(list(parameters.values()), return_annotation=self.output_specs())

    def output_symbols(self) -> list[Any]:
        """Its outputs as symbols, without those that only stores take."""
        return list(self._trace.concrete.symbols()[1][: self._trace.outputs])

    def structured(self, outputs: list[Any]) -> Any:
        """The result, with `outputs` for its tensors."""
        return filled(self._trace.result, outputs)

    def specs(self) -> list[TensorSpec]:
        """What is known of the tensors among the arguments."""
        names = self.input_names()
        return [
            TensorSpec(dims, dtype, name)
            for (dtype, dims), name in zip(self._trace.types, names, strict=True)
        ]

    def output_specs(self) -> Any:
        """The result, with specifications for tensors."""
        known = self._trace.concrete.output_types()
        make = functools.partial(_spec_of, known)
        return (
            nesting.map_structure(make, self._trace.result)
            if nesting.is_nested(self._trace.result)
            else make(self._trace.result)
        )

    def input_specs(self) -> tuple[Any, dict[str, Any]]:
        """The arguments, with specifications for tensors: positional ones, and keywords."""
        specs = iter(self.specs())
        both = (self._trace.arguments, self._trace.keywords)
        found: tuple[Any, dict[str, Any]] = nesting.map_structure(
            lambda x: next(specs) if x is TENSOR else _live(x), both
        )
        return found


def _annotation(part: Any) -> Any:
    """What is known of a part of the arguments, as types are written down."""
    if isinstance(part, TensorSpec):
        return TensorSpec(part.shape, part.dtype)
    return Literal[part] if is_plain(part) else part


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, (Tensor, _holdfast.VariableBase, np.ndarray, np.generic))


def _spec_text(spec: Any) -> str:
    return (
        f"{spec.dtype.name} Tensor, shape={spec.shape}"
        if isinstance(spec, TensorSpec)
        else repr(spec)
    )


def _spec_of(known: list[tuple[Any, Any]], leaf: Any) -> Any:
    if type(leaf) not in (Slot, PerhapsSlot):
        return leaf
    dtype, shape = known[leaf.index]
    return TensorSpec(shape, dtype)


def _live(leaf: Any) -> Any:
    return leaf.get() if isinstance(leaf, IdentityKey) else leaf


def _unwrapped(argument: Any) -> Any:
    """An argument with the user's objects in place; None for those that are gone."""
    return (
        nesting.map_structure(_live, argument) if nesting.is_nested(argument) else _live(argument)
    )


def _same_argument(was: Any, now: Any) -> bool:
    """Whether an argument without tensors is what the trace was made for."""
    if nesting.is_nested(was):
        parts, given = nesting.flatten(was), nesting.flatten(now)
        same_kind = type(now) is type(was) and len(parts) == len(given)
        if isinstance(was, Mapping):
            same_kind = same_kind and was.keys() == now.keys()
        return same_kind and all(map(_same_argument, parts, given))
    if isinstance(was, IdentityKey):
        return was.get() is now
    return type(now) is type(was) and bool(now == was)
