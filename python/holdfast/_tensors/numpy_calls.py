"""NumPy functions called with tensors: on values NumPy's own, on symbols ours."""

from __future__ import annotations

import ast
import copy
import dis
import operator
import os
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .. import _holdfast
from .._messages.diagnostics import Mark, born_loc, module_alias, same_tensor, user_frame
from .._messages.provenance import type_text, words_of
from .._messages.source import enclosing
from .._messages.visible import visible_name
from ..errors import fail
from . import registry
from .symbols import is_symbol

__all__ = ["array_ufunc", "refuse"]

Tensor = _holdfast.Tensor

# Our function for each of NumPy's; those called the same are not listed.
_OURS = {
    "absolute": "abs",
    "fabs": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "bitwise_and": "bitwise.bitwise_and",
    "bitwise_or": "bitwise.bitwise_or",
    "bitwise_xor": "bitwise.bitwise_xor",
    "invert": "bitwise.invert",
    "left_shift": "bitwise.left_shift",
    "right_shift": "bitwise.right_shift",
    "ceil": "math.ceil",
    "conjugate": "math.conj",
    "divide": "truediv",
    "expm1": "math.expm1",
    "floor_divide": "math.floordiv",
    "isfinite": "math.is_finite",
    "isinf": "math.is_inf",
    "isnan": "math.is_nan",
    "log": "math.log",
    "log1p": "math.log1p",
    "logical_xor": "math.logical_xor",
    "positive": "identity",
    "power": "pow",
    "reciprocal": "math.reciprocal",
    "remainder": "math.floormod",
    "rint": "round",
}
_SAME = frozenset({
    *("add", "subtract", "multiply", "negative", "sign", "exp", "sqrt", "square", "floor"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "maximum", "minimum", "matmul"),
    *("greater", "greater_equal", "less", "less_equal", "equal", "not_equal"),
    *("logical_and", "logical_or", "logical_not"),
})  # fmt: skip

# What an operator between an array and a tensor means: the tensor's method for it.
_REFLECTED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "remainder": "__rmod__",
    "power": "__rpow__",
    "matmul": "__rmatmul__",
    "bitwise_and": "__rand__",
    "bitwise_or": "__ror__",
    "bitwise_xor": "__rxor__",
    "greater": "__lt__",
    "greater_equal": "__le__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "equal": "__eq__",
    "not_equal": "__ne__",
}
_OPERATORS = {dis.opmap["BINARY_OP"], dis.opmap["COMPARE_OP"]}

# What to write for functions of arrays.
_INSTEAD = {
    "amax": "reduce_max",
    "amin": "reduce_min",
    "all": "reduce_all",
    "any": "reduce_any",
    "array": "convert_to_tensor",
    "asarray": "convert_to_tensor",
    "clip": "clip_by_value",
    "concatenate": "concat",
    "cumsum": "cumsum",
    "dot": "matmul",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "min": "reduce_min",
    "prod": "reduce_prod",
    "std": "math.reduce_std",
    "sum": "reduce_sum",
    "var": "math.reduce_variance",
    "vstack": "concat",
}
# What to write for the methods of functions.
_INSTEAD |= {
    f"{name}.reduce": ours
    for name, ours in (
        ("add", "reduce_sum"),
        ("multiply", "reduce_prod"),
        ("maximum", "reduce_max"),
        ("minimum", "reduce_min"),
        ("logaddexp", "reduce_logsumexp"),
    )
} | {
    "add.accumulate": "cumsum",
    "add.at": "tensor_scatter_nd_add",
    "add.reduceat": "math.segment_sum",
    "maximum.at": "tensor_scatter_nd_max",
    "maximum.reduceat": "math.segment_max",
    "minimum.at": "tensor_scatter_nd_min",
    "minimum.reduceat": "math.segment_min",
    "multiply.accumulate": "math.cumprod",
    "multiply.reduceat": "math.segment_prod",
    "subtract.at": "tensor_scatter_nd_sub",
}

# What `reduce`, `accumulate` and `outer` of a function mean, where a function of ours does it.
_REDUCTIONS = {
    "add": "reduce_sum",
    "multiply": "reduce_prod",
    "maximum": "reduce_max",
    "minimum": "reduce_min",
    "logical_and": "reduce_all",
    "logical_or": "reduce_any",
}
_CUMULATIVE = {"add": "cumsum", "multiply": "math.cumprod"}
_NUMPY = os.path.dirname(np.__file__)


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy asks here before it applies `ufunc` to a tensor."""
    name = ufunc.__name__
    plain = method == "__call__" and not kwargs
    if any(map(is_symbol, inputs)):
        path = _OURS.get(name, name if name in _SAME else None)
        if plain and path is not None:
            return registry.function(path)(*inputs)
        staged = _METHODS.get(method)
        found = staged(name, path, *inputs, **kwargs) if staged is not None else NotImplemented
        if found is not NotImplemented:
            return found
        symbol = next(filter(is_symbol, inputs))
        refuse(symbol, name if method == "__call__" else f"{name}.{method}")
    # `array + tensor` is a tensor, as `tensor + array` is; `np.add(array, tensor)` is an array.
    if plain and name in _REFLECTED and len(inputs) == 2 and isinstance(inputs[1], Tensor):
        frame = user_frame()
        if frame is not None and frame.f_code.co_code[frame.f_lasti] in _OPERATORS:
            return getattr(inputs[1], _REFLECTED[name])(inputs[0])
    values = [np.asarray(value) if isinstance(value, Tensor) else value for value in inputs]
    return getattr(ufunc, method)(*values, **kwargs)


def _cast(tensor: Any, dtype: Any) -> Any:
    return tensor if dtype is None else registry.function("cast")(tensor, dtype)


def _summed_in(name: str, array: Any) -> str | None:
    """What NumPy adds and multiplies small integers in; None: their own dtype."""
    dtype = array.dtype
    if name not in _CUMULATIVE or not (dtype.is_integer or dtype.name == "bool"):
        return None
    return "uint64" if dtype.name.startswith("u") else "int64"


def _reduce(
    name: str,
    path: str | None,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    **others: Any,
) -> Any:
    """`ufunc.reduce`: NumPy reduces the first axis unless it is told otherwise."""
    if name not in _REDUCTIONS or not is_symbol(array) or _given(out) or _asked(others):
        return NotImplemented
    array = _cast(array, _summed_in(name, array) if dtype is None else dtype)
    if name in ("logical_and", "logical_or") and array.dtype.name != "bool":
        array = registry.function("cast")(array, "bool")
    return registry.function(_REDUCTIONS[name])(array, axis=axis, keepdims=bool(keepdims))


def _accumulate(
    name: str, path: str | None, array: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:
    if not is_symbol(array) or _given(out):
        return NotImplemented
    if name in _CUMULATIVE:
        wide = _summed_in(name, array) if dtype is None else dtype
        return registry.function(_CUMULATIVE[name])(_cast(array, wide), axis=axis)
    if name not in ("maximum", "minimum"):
        return NotImplemented
    return _running(_REDUCTIONS[name], _cast(array, dtype), axis)


def _running(reduction: str, array: Any, axis: int) -> Any:
    """The largest or smallest so far: a row for each end, without what comes after it."""
    size, rank = array.shape[axis], array.shape.rank
    if size is None or rank is None or size == 0:
        return NotImplemented
    axis %= rank
    pick, reduce = registry.function("gather"), registry.function(reduction)
    rows = [reduce(pick(array, list(range(end + 1)), axis=axis), axis=axis) for end in range(size)]
    return registry.function("stack")(rows, axis=axis)


def _outer(name: str, path: str | None, a: Any, b: Any, **kwargs: Any) -> Any:
    """`ufunc.outer`: each element of the first with each of the second."""
    if path is None or kwargs:
        return NotImplemented
    symbol = a if is_symbol(a) else b
    first, second = (_tensor_like(each, symbol) for each in (a, b))
    ranks = [each.shape.rank for each in (first, second)]
    if None in ranks or not all(each.shape.is_fully_defined() for each in (first, second)):
        return NotImplemented
    reshape = registry.function("reshape")
    wide = reshape(first, [*first.shape, *[1] * ranks[1]])
    return registry.function(path)(wide, second)


def _tensor_like(value: Any, symbol: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    return registry.function("cast")(value, symbol.dtype)


def _given(out: Any) -> bool:
    """Whether the result is to go into an array."""
    return any(each is not None for each in (out if isinstance(out, tuple) else (out,)))


def _asked(others: dict[str, Any]) -> bool:
    """Whether there are further arguments that change something."""
    plain = {"initial": (None, np._NoValue), "where": (True, np._NoValue)}
    return any(
        not any(value is each for each in plain.get(key, ())) for key, value in others.items()
    )


_METHODS: dict[str, Callable[..., Any]] = {
    "reduce": _reduce,
    "accumulate": _accumulate,
    "outer": _outer,
}


def _caller() -> types.FrameType | None:
    """The frame that called NumPy, or whoever asked for an array."""
    frame: types.FrameType | None = sys._getframe(1)
    package = os.path.dirname(os.path.dirname(__file__))
    while frame is not None and frame.f_code.co_filename.startswith((package, _NUMPY)):
        frame = frame.f_back
    return frame


def _called(frame: types.FrameType | None) -> ast.Call | None:
    """The call of a NumPy function that `frame` is at, as it is written: `np.mean(x)`."""
    for node in () if frame is None else enclosing(frame.f_code, frame.f_lasti):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
            return node
    return None


def _as_function(call: ast.Call | None, called: str, name: str) -> str:
    """A function of `name` that makes the call, with its other arguments."""
    if call is None or len(call.args) + len(call.keywords) < 2:
        return called
    if name.isidentifier():
        return f"lambda {name}: {ast.unparse(call)}"
    own = {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}
    value = next(each for each in ("value", "value_", "value__") if each not in own)
    whole = _Replaced(_as_unparsed(name), value)
    return f"lambda {value}: {ast.unparse(whole.visit(copy.deepcopy(call)))}"


class _Replaced(ast.NodeTransformer):
    """Puts a name in the place of an expression."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and ast.unparse(node) == self._text:
            return ast.Name(self._name, ast.Load())
        return self.generic_visit(node)


def _as_unparsed(text: str) -> str:
    try:
        return ast.unparse(ast.parse(text, mode="eval"))
    except SyntaxError:
        return text


def _name(tensor: Any, frame: types.FrameType | None) -> str:
    held = {} if frame is None else frame.f_locals
    name = next((name for name, value in held.items() if same_tensor(value, tensor)), "")
    return name or visible_name(lambda value: same_tensor(value, tensor)) or words_of(tensor)


def refuse(tensor: Any, function: str = "") -> NoReturn:
    """Raises E0204: a NumPy function needs the value of a symbol."""
    frame = _caller()
    written = _called(frame)
    called = f"np.{function or 'asarray'}" if written is None else ast.unparse(written.func)
    function = function or called.rsplit(".", 1)[-1]
    scope, tf = _holdfast.scope_of(tensor), module_alias()
    name, traced = _name(tensor, frame) or scope["node"], scope["name"]
    known = _INSTEAD.get(function) or (None if "." in function else _counterpart(called, function))
    body = _as_function(written, called, name)
    call = f"{tf}.py_function({body}, [{name}], {tf}.{tensor.dtype.name})"
    fix = f"`{tf}.{known}` is part of the graph" if known else f"run it at each call: `{call}`"
    around = [] if frame is None else enclosing(frame.f_code, frame.f_lasti)
    match around[0] if around else None:
        case ast.Subscript(value=array, ctx=ast.Load()) as item:
            called = ast.unparse(item)
            fix = f"`{tf}.gather({ast.unparse(array)}, {name})` is part of the graph"
        case ast.AugAssign(target=target, op=op, value=value):
            new = ast.unparse(ast.BinOp(target, op, value))
            called = ast.unparse(around[0])
            fix = f"`{ast.unparse(target)} = {new}` makes a tensor; an array takes none in place"
    labels = []
    if born := born_loc(tensor):
        given = tensor._op == "Placeholder" and scope["kind"] != "graph"
        made = f", an argument of {traced}" if given else f" from {tensor._op}, in {traced}"
        text = f"born here: {type_text(tensor)}{made}"
        labels.append({"role": "born", "loc": born, "text": text, "primary": False})
    if frame is not None:
        loc = Mark(frame.f_code, frame.f_lasti).loc()
        used = {"role": "used", "loc": loc, "text": "NumPy needs its value here", "primary": True}
        labels.append(used)
    fail(
        "E0204",
        f"`{called}` needs the value of `{name}`, which has none while `{traced}` is traced",
        f"NumPy works on numbers, and while tracing `{traced}` the symbol `{name}` is a recipe",
        fix=fix,
        labels=labels,
    )


_FAMILIES = {"linalg": "linalg", "fft": "signal"}  # of NumPy's functions, and where ours are


def _counterpart(called: str, function: str) -> str | None:
    """Our function for one of NumPy's, by the path that the program calls it by."""
    family = _FAMILIES.get(called.rpartition(".")[0].rpartition(".")[2])
    return (_ours_for(f"{family}.{function}") if family else None) or _ours_for(function)


def _ours_for(function: str) -> str | None:
    """Our function of the same name, if there is one."""
    try:
        operator.attrgetter(function)(sys.modules[__package__.partition(".")[0]])
    except AttributeError:
        return None
    return function
