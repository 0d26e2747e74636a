"""Functions of single elements: done to the innermost values of ragged tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.composite import handles
from ...errors import DiagnosticError
from .broadcasting import broadcast, map_flat
from .gathering import coordinates
from .tensor import RaggedTensor, is_ragged

__all__ = ["operators"]

# Of one tensor, which comes first; the other arguments stay.
_UNARY = """abs acos acosh angle asin asinh atan atanh bitcast bitwise.invert cast ceil
check_numerics clip_by_value conj cos cosh debugging.check_numerics digamma erf erfc exp expm1
floor identity imag is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not negative
nn.dropout nn.elu nn.gelu nn.leaky_relu nn.relu nn.relu6 nn.selu nn.sigmoid nn.silu nn.softplus
nn.softsign nn.tanh ones_like real reciprocal rint round rsqrt saturate_cast sigmoid sign sin sinh
sqrt square stop_gradient strings.as_string strings.length strings.lower strings.upper
strings.regex_full_match strings.regex_replace strings.strip strings.substr strings.to_hash_bucket
strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.to_number strings.unicode_script
tan tanh zeros_like io.decode_base64 io.encode_base64 math.bessel_i0e math.bessel_i1e math.erfinv
math.ndtri image.convert_image_dtype math.erfcinv nn.swish"""
# Of two tensors, which come first.
_BINARY = """add atan2 bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor
bitwise.left_shift bitwise.right_shift complex math.divide divide math.divide_no_nan equal floordiv
floormod math.floordiv math.floormod math.mod math.truediv truediv greater greater_equal less
less_equal logical_and logical_or math.logical_xor maximum minimum math.multiply_no_nan multiply
not_equal pow realdiv squared_difference subtract truncatediv truncatemod mod math.zeta math.igamma
math.polygamma math.xdivy math.xlogy math.nextafter nn.sigmoid_cross_entropy_with_logits"""


def _each_alias(paths: str) -> list[Any]:
    """The functions of these paths, also under `math.`, each once."""
    found = []
    for path in paths.split():
        for name in (path, f"math.{path}"):
            function = registry.BY_PATH.get(name)
            if function is not None and function not in found:
                found.append(function)
    return found


def _unary(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    first = next(iter(function.record["params"]))["name"]  # type: ignore[attr-defined]
    if not args:
        args = (kwargs.pop(first),)
    ragged, *rest = args
    if not is_ragged(ragged):
        return NotImplemented
    return ragged.with_flat_values(function(ragged.flat_values, *rest, **kwargs))


def _binary(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    names = [p["name"] for p in function.record["params"][:2]]  # type: ignore[attr-defined]
    for name in names[len(args) :]:
        args = (*args, kwargs.pop(name))
    x, y, *rest = args
    return map_flat(lambda a, b: function(a, b, *rest, **kwargs), x, y)


for _function in _each_alias(_UNARY):
    handles(_function, RaggedTensor)(functools.partial(_unary, _function))
for _function in _each_alias(_BINARY):
    handles(_function, RaggedTensor)(functools.partial(_binary, _function))


@handles(registry.function("add_n"), RaggedTensor)
@named_ops
def _add_n(inputs: Any, name: str | None = None) -> Any:
    return map_flat(lambda *flat: registry.function("add_n")(list(flat)), *inputs)


@handles(registry.function("strings.join"), RaggedTensor)
@named_ops
def _join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    join = registry.function("strings.join")
    return map_flat(lambda *flat: join(list(flat), separator), *inputs)


@handles(registry.function("where"), RaggedTensor)
@named_ops
def _where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    where = registry.function("where")
    if x is None and y is None:
        return coordinates(condition)
    # A number has the dtype of the other side, not of the condition.
    beside = next((each for each in (x, y) if hasattr(each, "dtype")), None)
    if beside is None:
        beside = _holdfast.convert(1.0 if isinstance(x, float) or isinstance(y, float) else x)
    x, y = (e if is_ragged(e) else _holdfast.convert(e, _wanted(e, beside)) for e in (x, y))
    alike = broadcast([condition, x, y])
    first = next(each for each in alike if is_ragged(each))
    flat = [each.flat_values if is_ragged(each) else each for each in alike]
    return first.with_flat_values(where(*flat))


def _wanted(value: Any, beside: Any) -> Any:
    return None if hasattr(value, "dtype") else beside.dtype


_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "truediv",
    "floordiv": "math.floordiv",
    "mod": "math.floormod",
    "pow": "pow",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "math.logical_xor",
}
_COMPARED = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
_BITS = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}


def _operator(name: str, path: str, swapped: bool) -> Callable[[Any, Any], Any]:
    def run(self: Any, other: Any) -> Any:
        if other is None or isinstance(other, (str, bytes)) and path != "add":
            if name in ("eq", "ne"):
                return name == "ne"
            return NotImplemented
        bits = name in _BITS and self.dtype.name != "bool"
        function = registry.function(f"bitwise.{_BITS[name]}" if bits else path)
        try:
            return _binary(function, *((other, self) if swapped else (self, other)))
        except DiagnosticError as error:  # rows or values that do not fit are not equal
            if name not in ("eq", "ne") or error.code not in ("E1102", "E1103"):
                raise
            return name == "ne"

    return run


def operators() -> dict[str, Callable[..., Any]]:
    """The methods of the operators, by their names."""
    found: dict[str, Callable[..., Any]] = {}
    for name, path in _OPERATORS.items():
        found[f"__{name}__"] = _operator(name, path, swapped=False)
        found[f"__r{name}__"] = _operator(name, path, swapped=True)
    for name, path in _COMPARED.items():
        found[f"__{name}__"] = _operator(name, path, swapped=False)
    for name, path in (("neg", "negative"), ("abs", "abs"), ("invert", "logical_not")):
        found[f"__{name}__"] = functools.partial(_unary_operator, registry.function(path))
    return {
        name: method if not isinstance(method, functools.partial) else _method(method)
        for name, method in found.items()
    }


def _unary_operator(function: Callable[..., Any], self: Any) -> Any:
    return _unary(function, self)


def _method(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: run(self)
