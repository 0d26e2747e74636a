"""`tf.debugging`: checks that stop the program with the values that failed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from . import _holdfast
from ._flow.checks import Assert, name_of, passed, refuse_data, require
from ._graphs.control import after, newest
from ._graphs.name_scope import named_ops
from ._messages.diagnostics import name_in_frame
from ._tensors import registry
from ._tensors.composite import Composite
from ._tensors.dtypes import DType, as_dtype, float32
from ._tensors.tensor import Tensor, convert_to_tensor
from ._variables.variable import Variable
from .errors import fail, unsupported

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "check_numerics",
    "disable_check_numerics",
    "disable_traceback_filtering",
    "enable_check_numerics",
    "enable_traceback_filtering",
    "get_log_device_placement",
    "is_numeric_tensor",
    "is_traceback_filtering_enabled",
    "set_log_device_placement",
]


# Elements against each other.


def _compare(check: str, x: Any, y: Any, message: str | None, summarize: int | None) -> Any:
    a, b = _pair(x, y)
    return require(check, ((x, "x", a), (y, "y", b)), message, summarize)


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Both as tensors; a number or a list takes the dtype of the other."""
    if isinstance(x, (Tensor, Variable)):
        return convert_to_tensor(x), _holdfast.convert(y, x.dtype, False)
    if isinstance(y, (Tensor, Variable)):
        return _holdfast.convert(x, y.dtype, False), convert_to_tensor(y)
    a = convert_to_tensor(x)
    return a, _holdfast.convert(y, a.dtype, False)


@named_ops
def assert_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless `x == y` everywhere."""
    return _compare("assert_equal", x, y, message, summarize)


@named_ops
def assert_none_equal(
    x: Any,
    y: Any,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless `x != y` everywhere."""
    return _compare("assert_none_equal", x, y, message, summarize)


@named_ops
def assert_less(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless `x < y` everywhere."""
    return _compare("assert_less", x, y, message, summarize)


@named_ops
def assert_less_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless `x <= y` everywhere."""
    return _compare("assert_less_equal", x, y, message, summarize)


@named_ops
def assert_greater(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless `x > y` everywhere."""
    return _compare("assert_greater", x, y, message, summarize)


@named_ops
def assert_greater_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless `x >= y` everywhere."""
    return _compare("assert_greater_equal", x, y, message, summarize)


@named_ops
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless `|x - y| <= atol + rtol * |y|` everywhere; 10 epsilons by default."""
    first, second = _pair(x, y)
    real = first.dtype.real_dtype
    bounds = [None if v is None else _holdfast.convert(v, real, False) for v in (rtol, atol)]
    operands = ((x, "x", first), (y, "y", second))
    return require("assert_near", operands, message, summarize, *bounds)


# Elements against zero.


def _each(
    check: str, x: Any, message: str | None, summarize: int | None, keyword: str = "x"
) -> tuple[Any, Any]:
    """What the check gives, and `x` as a tensor."""
    given = convert_to_tensor(x)
    return require(check, ((x, keyword, given),), message, summarize), given


@named_ops
def assert_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Stops unless `x > 0` everywhere."""
    return _each("assert_positive", x, message, summarize)[0]


@named_ops
def assert_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Stops unless `x < 0` everywhere."""
    return _each("assert_negative", x, message, summarize)[0]


@named_ops
def assert_non_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Stops unless `x >= 0` everywhere."""
    return _each("assert_non_negative", x, message, summarize)[0]


@named_ops
def assert_non_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Stops unless `x <= 0` everywhere."""
    return _each("assert_non_positive", x, message, summarize)[0]


# Finite numbers.


@named_ops
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """`tensor`; stops if it holds an Inf or a NaN."""
    return after(*_each("check_numerics", tensor, message, None, "tensor"))


@named_ops
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """`x`; stops if it holds an Inf or a NaN."""
    return after(*_each("assert_all_finite", x, message, None))


# Dtypes.


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers."""
    return isinstance(tensor, Tensor) and bool(tensor.dtype.is_numeric)


@named_ops
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """TypeError unless `x` has an integer dtype."""
    a = convert_to_tensor(x)
    if not a.dtype.is_integer:
        words = name_of(x, 0, "x")
        _holdfast.wrong_dtype("assert_integer", a, words, "an integer dtype", message or "")


@named_ops
def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """TypeError unless `tensor` has the dtype `tf_type`."""
    given = tensor._gradient_part() if isinstance(tensor, Composite) else tensor
    a, wanted = convert_to_tensor(given), as_dtype(tf_type)
    if a.dtype != wanted:
        words = name_of(tensor, 0, "tensor")
        _holdfast.wrong_dtype("assert_type", a, words, wanted.name, message or "")


def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: Any = None) -> DType:
    """The floating dtype that all `tensors` have; ValueError if they do not."""
    wanted: DType | None = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        if tensor is None:
            continue
        found: DType = tensor.dtype
        if wanted is not None and found != wanted:
            fail(
                "E1101",
                f"`assert_same_float_dtype` met {found.name} after {wanted.name}",
                op="assert_same_float_dtype",
            )
        wanted = found
    if wanted is None:
        return float32
    if not wanted.is_floating:
        fail(
            "E1101",
            f"`assert_same_float_dtype` met {wanted.name}, expected a floating dtype",
            op="assert_same_float_dtype",
        )
    return wanted


def assert_proper_iterable(values: Any) -> None:
    """TypeError unless `values` is an iterable that is not itself a tensor, an array or a text."""
    if isinstance(values, (Tensor, Variable, np.ndarray, str, bytes)):
        fail(
            "E1104",
            f"`values` is of type {type(values).__name__}, expected a list or the like",
            op="assert_proper_iterable",
        )
    if not hasattr(values, "__iter__"):
        fail(
            "E1104",
            f"`values` is of type {type(values).__name__}, which holds no others",
            op="assert_proper_iterable",
        )


# Ranks and shapes.


def _scalar_rank(rank: Any) -> int:
    if isinstance(rank, (list, tuple)) or bool(getattr(rank, "ndim", 0)):
        fail("E1104", "a rank is one number, got several")
    kind = getattr(rank, "dtype", None)
    whole = kind.is_integer if isinstance(kind, DType) else isinstance(rank, SupportsIndex)
    if not whole:
        fail("E1104", f"a rank is an integer, got {rank!r}")
    return int(rank)


def _ranked(check: str, x: Any, keyword: str, ranks: list[int], message: Any) -> Any:
    """A rule for a rank: checked now where the rank is known, else when the program runs."""
    given = convert_to_tensor(x)
    rank = given.shape.rank
    if rank is not None and _holdfast.rank_fits(check, rank, ranks):
        return passed()
    words, said = [name_of(x, 0, keyword)], message or ""
    registry.raw_op("AssertRank", x=given, check=check, words=words, message=said, ranks=ranks)
    return newest([given])


@named_ops
def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Stops unless `x` has `rank` dimensions."""
    return _ranked("assert_rank", x, "x", [_scalar_rank(rank)], message)


@named_ops
def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> Any:
    """Stops unless `x` has `rank` or more dimensions."""
    return _ranked("assert_rank_at_least", x, "x", [_scalar_rank(rank)], message)


@named_ops
def assert_rank_in(
    x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None
) -> Any:
    """Stops unless the number of dimensions of `x` is one of `ranks`."""
    wanted = [_scalar_rank(rank) for rank in ranks]
    return _ranked("assert_rank_in", x, "x", wanted, message)


@named_ops
def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Any:
    """`tensor`; stops unless it is a single value."""
    given = convert_to_tensor(tensor)
    checked = _ranked("assert_scalar", given, "tensor", [0], message)
    return after(checked, given)


@named_ops
def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless tensors have shapes that fit: numbers, None for any size, names that must agree.

    `shapes` pairs tensors with shapes such as `("N", 3)`; `...` or "*" first stands for any number
    of leading dimensions. There is no `data` to show, and so nothing to `summarize`.
    """
    refuse_data("debugging.assert_shapes", data)
    tensors, words, counts = [], [], []
    symbols: list[Any] = []
    for number, (thing, rule) in enumerate(shapes.items() if isinstance(shapes, dict) else shapes):
        thing = thing.deref() if hasattr(thing, "deref") else thing
        extent = thing._extent() if isinstance(thing, Composite) else None
        a = thing if extent is not None else convert_to_tensor(thing)
        words.append((name_in_frame(a) if isinstance(thing, Tensor) else "") or f"tensor {number}")
        sizes = _sizes(rule, words[-1])
        if extent is not None:
            a, sizes = _stand_in(thing, extent, sizes)
        symbols += map(_symbol, sizes)
        counts.append(len(sizes))
        tensors.append(a)
    _holdfast.assert_shapes(tensors, words, symbols, counts, message or "")
    known = all(tensor.shape.is_fully_defined() for tensor in tensors)
    return passed() if known else newest(tensors)


def _stand_in(thing: Any, extent: Any, sizes: list[Any]) -> tuple[Any, list[Any]]:
    """A tensor of no elements in place of one whose shape is given, and the rule that it fits."""
    rank = thing.shape.rank
    free = bool(sizes) and sizes[0] in (..., "*")
    if rank is not None and (rank < len(sizes) - 1 if free else rank != len(sizes)):
        return registry.function("zeros")([0] * rank), sizes  # refused for its rank alone
    concat, zeros = registry.function("concat"), registry.function("zeros")
    made = zeros(concat([extent, convert_to_tensor([0], extent.dtype)], 0))
    made.set_shape(thing.shape.concatenate([0]))
    return made, [*sizes, None]


def _sizes(rule: Any, word: str) -> list[Any]:
    """The dimensions of a rule; None stands for any shape."""
    if rule is None or isinstance(rule, Iterable):
        return [...] if rule is None else list(rule)
    return fail(
        "E1104",
        f"`assert_shapes`: the shape of `{word}` is {rule!r}, expected an iterable of sizes",
        fix='write the sizes as a tuple, such as `("N", 3)`',
        op="assert_shapes",
    )


def _symbol(size: Any) -> str:
    """A dimension as the library reads it: "." for any size, "..." for any number of them."""
    return "." if size is None else "..." if size in (..., "*") else str(size)


# Switches.

_log_placement = False


def set_log_device_placement(enabled: bool) -> None:
    """Not supported, except to switch it off: `tensor.device` tells where an op ran."""
    if enabled:
        unsupported(
            "`set_log_device_placement(True)` is not supported",
            "no log of placements is kept; every tensor knows its device",
            fix="print `tensor.device`",
        )


def get_log_device_placement() -> bool:
    """Whether placements are logged: never."""
    return _log_placement


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> NoReturn:
    """Not supported yet."""
    unsupported(
        "`enable_check_numerics` is not supported",
        "no check runs after every op",
        fix="check where it matters: `tf.debugging.check_numerics(tensor, message)`",
    )


def disable_check_numerics() -> None:
    """Off is how it always is."""


def enable_traceback_filtering() -> None:
    """Tracebacks end in the program's lines, which is so from the start."""
    words = [w for w in os.environ.get("HOLDFAST_DIAG", "").split(",") if w and w != "full"]
    os.environ["HOLDFAST_DIAG"] = ",".join(words)


def disable_traceback_filtering() -> None:
    """Tracebacks show Holdfast's own frames too, and messages everything they know.

    The same as the word `full` in the environment variable `HOLDFAST_DIAG`.
    """
    if is_traceback_filtering_enabled():
        others = os.environ.get("HOLDFAST_DIAG", "")
        os.environ["HOLDFAST_DIAG"] = f"{others},full" if others else "full"


def is_traceback_filtering_enabled() -> bool:
    """Whether tracebacks end in the program's lines."""
    return "full" not in os.environ.get("HOLDFAST_DIAG", "").split(",")
