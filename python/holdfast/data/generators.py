"""`Dataset.from_generator`: what a Python generator gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._tensors.composite import Composite, CompositeSpec
from .._tensors.dtypes import as_dtype
from .._tensors.shape import TensorSpec, as_shape
from .._tensors.symbols import is_symbol
from ..errors import fail, need_callable
from .probing import is_probing, need_values
from .structure import holds_parts, is_own, map_leaves, own_parts, template_of

__all__ = ["from_generator", "paired_spec"]


def from_generator(
    generator: Callable[..., Any],
    output_types: Any,
    output_shapes: Any,
    args: tuple[Any, ...] | None,
    output_signature: Any,
) -> tuple[Any, Any]:
    """The dataset, and the named tuples of its elements."""
    need_callable(generator, "Dataset.from_generator")
    spec = _spec(output_types, output_shapes, output_signature)
    if is_probing() and any(map(is_symbol, args or ())):
        return _holdfast.data_promised(spec), template_of(spec)
    need_values(*(args or ()))
    given = tuple(_holdfast.convert(each).numpy() for each in args or ())

    def begin() -> Any:
        made = generator(*given)
        if not hasattr(made, "__iter__"):
            fail(
                "E1104",
                f"the generator gave {type(made).__name__}, expected something to iterate over",
                fix="write `yield` in it, or return an iterable",
            )
        return iter(made) if not opens else (_opened(spec, each) for each in made)

    template = template_of(spec)
    opens = holds_parts(template)
    return _holdfast.data_from_generator(begin, spec), template


def _opened(spec: Any, value: Any) -> Any:
    """What a generator gave, with ragged and sparse tensors as tuples of their parts."""
    if isinstance(spec, CompositeSpec):
        if not spec.is_compatible_with(value) and (
            isinstance(value, Composite) or _has_parts(spec)
        ):
            fail(
                "E1401",
                f"a generator gave {value!r}",
                f"its signature says that this is {spec!r}",
            )
        return value._tensors() if isinstance(value, Composite) else (value,)
    if is_own(spec) and type(value) is type(spec):
        return tuple(map(_opened, own_parts(spec), own_parts(value)))
    if isinstance(spec, dict) and isinstance(value, dict):
        return {key: _opened(spec.get(key), each) for key, each in value.items()}
    if isinstance(spec, tuple) and isinstance(value, (tuple, list)) and len(spec) == len(value):
        return tuple(_opened(s, v) for s, v in zip(spec, value, strict=True))
    return value  # C++ says what is wrong with it


def _has_parts(spec: CompositeSpec) -> bool:
    """Whether such values are of several tensors: a ragged one without splits is a tensor."""
    return len(spec._component_specs) > 1


def _spec(types: Any, shapes: Any, signature: Any) -> Any:
    if signature is not None:
        if types is not None or shapes is not None:
            fail(
                "E1104",
                "`from_generator` got `output_signature` beside `output_types` or `output_shapes`",
                "the signature says both",
                fix="leave `output_types` and `output_shapes` out",
            )
        return map_leaves(_checked, signature)
    if types is None:
        fail(
            "E1104",
            "`from_generator` needs to know what the generator gives",
            "a dataset knows its elements' dtypes and shapes before there are any",
            fix="give `output_signature=tf.TensorSpec(shape=..., dtype=...)`",
        )
    map_leaves(_need_dtype, types)
    return paired_spec(types, shapes)


def _need_dtype(given: Any) -> None:
    if isinstance(given, list):
        fail(
            "E1104",
            f"`output_types` of `from_generator` has the list {given!r}, expected a dtype",
            "a list is a tensor in elements; several of them stand in a tuple",
            fix="write a tuple in place of the list",
        )


def _checked(spec: Any) -> Any:
    if not isinstance(spec, (TensorSpec, CompositeSpec)):
        fail("E1104", f"`output_signature` has {spec!r}, expected a tf.TensorSpec")
    return spec


def paired_spec(types: Any, shapes: Any) -> Any:
    """Specs of a structure of dtypes and one of shapes, which may say less."""
    if isinstance(types, (tuple, list)):
        inner = [None] * len(types) if shapes is None else list(shapes)
        items = [paired_spec(t, s) for t, s in zip(types, inner, strict=True)]
        return type(types)(*items) if hasattr(types, "_fields") else tuple(items)
    if isinstance(types, dict):
        return {key: paired_spec(t, shapes and shapes[key]) for key, t in types.items()}
    return TensorSpec(as_shape(shapes), as_dtype(types))
