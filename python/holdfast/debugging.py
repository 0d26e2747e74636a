"""`tf.debugging`: checks that stop the program with the values that failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from . import _holdfast, _registry
from ._diagnostics import born_loc, mark, name_in_frame
from ._dtypes import DType, as_dtype, float32
from ._tensor import Tensor, convert_to_tensor
from ._variable import Variable
from .errors import fail, unsupported, used_here

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


# What failed, in the program's own words.


def _name(value: Any, position: int, keyword: str) -> str:
    """What the user typed for an argument of the executing check, if it is short."""
    used = mark()
    if used is not None:
        names = used.names()
        text = names.keywords.get(keyword)
        if text is None and position < len(names.operands):
            text = names.operands[position]
        if text is not None and re.fullmatch(r"[\w.]+(\[[\w'\"]+\])?", text.text):
            return str(text.text)
    return (name_in_frame(value) if isinstance(value, Tensor) else "") or keyword


def _births(*things: tuple[Any, str]) -> list[dict[str, Any]]:
    labels = []
    for thing, name in things:
        loc = born_loc(thing) if isinstance(thing, (Tensor, Variable)) else None
        if loc is not None:
            sizes = ",".join("?" if size is None else str(size) for size in thing.shape)
            made = f" from {thing._op}" if isinstance(thing, Tensor) and thing._op else ""
            kind = "" if isinstance(thing, Tensor) else "Variable "
            text = f"born here: {kind}`{name}`, {thing.dtype.name}[{sizes}]{made}"
            labels.append({"role": "born", "loc": loc, "text": text, "primary": False})
    return labels


def _refuse(
    check: str, found: str, why: str, message: str | None, *things: tuple[Any, str]
) -> NoReturn:
    labels = _births(*things)
    where = f", in line {labels[0]['loc']['line']}" if labels else ""
    first = things[0][1] if things else ""
    fail(
        "E1106",
        f"`{check}` failed: {found}",
        f"{message}: {why}" if message else why,
        fix=f"check where `{first}` comes from{where}" if first else "",
        labels=[*labels, *used_here("checked here")],
        op=check,
    )


def _element(name: str, index: Sequence[int]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if len(index) else name


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (bytes, str)) else str(value)


def _failed(holds: Any) -> tuple[np.ndarray[Any, Any], int]:
    """Where a condition does not hold, and how many elements it was asked of."""
    truth = np.asarray(holds.numpy())
    return np.argwhere(~truth), truth.size


def _of(count: int, total: int) -> str:
    return f"{count} of {total} {'is' if count == 1 else 'are'} not"


# Elements against each other.


def _compare(
    check: str, path: str, words: str, x: Any, y: Any, message: str | None, summarize: int | None
) -> None:
    a, b = _pair(x, y)
    holds = _registry.function(path)(a, b)
    where, total = _failed(holds)
    if not len(where):
        return
    names = _name(x, 0, "x"), _name(y, 1, "y")
    shape = tuple(holds.shape)
    mine, theirs = (np.broadcast_to(np.asarray(t.numpy()), shape) for t in (a, b))
    more = [
        f"`{_element(names[0], i)}` is {_shown(mine[tuple(i)])} and `{_element(names[1], i)}` is "
        f"{_shown(theirs[tuple(i)])}"
        for i in where[: max(1, 3 if summarize is None else summarize)]
    ]
    _refuse(
        check,
        more[0],
        f"every element of `{names[0]}` must {words} that of `{names[1]}`, and "
        f"{_of(len(where), total)}" + (": " + "; ".join(more) if len(more) > 1 else "") + ".",
        message,
        (x, names[0]),
        (y, names[1]),
    )


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Both as tensors; a number or a list takes the dtype of the other."""
    if isinstance(x, (Tensor, Variable)):
        return convert_to_tensor(x), _holdfast.convert(y, x.dtype, False)
    if isinstance(y, (Tensor, Variable)):
        return _holdfast.convert(x, y.dtype, False), convert_to_tensor(y)
    a = convert_to_tensor(x)
    return a, _holdfast.convert(y, a.dtype, False)


def assert_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Stops unless `x == y` everywhere."""
    _compare("assert_equal", "equal", "equal", x, y, message, summarize)


def assert_none_equal(
    x: Any,
    y: Any,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Stops unless `x != y` everywhere."""
    _compare("assert_none_equal", "not_equal", "differ from", x, y, message, summarize)


def assert_less(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Stops unless `x < y` everywhere."""
    _compare("assert_less", "less", "be less than", x, y, message, summarize)


def assert_less_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Stops unless `x <= y` everywhere."""
    _compare("assert_less_equal", "less_equal", "be at most", x, y, message, summarize)


def assert_greater(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Stops unless `x > y` everywhere."""
    _compare("assert_greater", "greater", "be greater than", x, y, message, summarize)


def assert_greater_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Stops unless `x >= y` everywhere."""
    _compare("assert_greater_equal", "greater_equal", "be at least", x, y, message, summarize)


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Stops unless `|x - y| <= atol + rtol * |y|` everywhere; 10 epsilons by default."""
    a, b = _pair(x, y)
    real = a.dtype.real_dtype
    eps = float.fromhex("0x1p-7") if real.name == "bfloat16" else np.finfo(real.as_numpy_dtype).eps
    near = 10 * float(eps)
    bound = (near if rtol is None else rtol) * abs(b) + (near if atol is None else atol)
    where, total = _failed(_registry.function("less_equal")(abs(a - b), bound))
    if not len(where):
        return
    names = _name(x, 0, "x"), _name(y, 1, "y")
    index = tuple(where[0])
    mine, theirs = np.broadcast_arrays(a.numpy(), b.numpy())
    _refuse(
        "assert_near",
        f"`{_element(names[0], index)}` is {mine[index]} and `{_element(names[1], index)}` is "
        f"{theirs[index]}",
        f"`{names[0]}` and `{names[1]}` must be near each other everywhere, and "
        f"{_of(len(where), total)}.",
        message,
        (x, names[0]),
        (y, names[1]),
    )


# Elements against zero.


def _sign(check: str, path: str, words: str, x: Any, message: str | None) -> None:
    a = convert_to_tensor(x)
    where, total = _failed(_registry.function(path)(a, 0))
    if not len(where):
        return
    name = _name(x, 0, "x")
    value = np.asarray(a.numpy())[tuple(where[0])]
    _refuse(
        check,
        f"`{_element(name, where[0])}` is {_shown(value)}",
        f"every element of `{name}` must be {words}, and {_of(len(where), total)}.",
        message,
        (x, name),
    )


def assert_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Stops unless `x > 0` everywhere."""
    _sign("assert_positive", "greater", "greater than 0", x, message)


def assert_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Stops unless `x < 0` everywhere."""
    _sign("assert_negative", "less", "less than 0", x, message)


def assert_non_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Stops unless `x >= 0` everywhere."""
    _sign("assert_non_negative", "greater_equal", "at least 0", x, message)


def assert_non_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Stops unless `x <= 0` everywhere."""
    _sign("assert_non_positive", "less_equal", "at most 0", x, message)


def Assert(
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> None:
    """Stops, showing `data`, unless `condition` is true."""
    if not bool(condition):
        shown = "; ".join(_shown(convert_to_tensor(part).numpy()) for part in data)
        what = _name(condition, 0, "condition")
        _refuse("Assert", f"{what} is false", f"the data is {shown}.", None)


# Finite numbers.


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """`tensor`; stops if it holds an Inf or a NaN."""
    return _finite("check_numerics", tensor, message, "tensor")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """`x`; stops if it holds an Inf or a NaN."""
    return _finite("assert_all_finite", x, message, "x")


def _finite(check: str, x: Any, message: str, keyword: str) -> Any:
    a = convert_to_tensor(x)
    if not a.dtype.is_floating:
        fail("E1101", f"`{check}` got {a.dtype.name}, expected a floating dtype", op=check)
    value = np.asarray(a.numpy(), np.float64)
    where = np.argwhere(~np.isfinite(value))
    if not len(where):
        return a
    found = {"Inf": np.isinf(value), "NaN": np.isnan(value)}
    kinds = [word for word, hits in found.items() if hits.any()]
    words = _name(x, 0, keyword)
    _refuse(
        check,
        f"Tensor had {' and '.join(kinds)} values: `{_element(words, where[0])}` is "
        f"{value[tuple(where[0])]}",
        f"every element of `{words}` must be finite, and {_of(len(where), value.size)}.",
        message,
        (x, words),
    )


# Dtypes.


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers."""
    return isinstance(tensor, Tensor) and bool(tensor.dtype.is_numeric)


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """TypeError unless `x` has an integer dtype."""
    a = convert_to_tensor(x)
    if not a.dtype.is_integer:
        words = _name(x, 0, "x")
        _wrong_type("assert_integer", words, f"an integer dtype, and is {a.dtype.name}", message, x)


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """TypeError unless `tensor` has the dtype `tf_type`."""
    a, wanted = convert_to_tensor(tensor), as_dtype(tf_type)
    if a.dtype != wanted:
        words = _name(tensor, 0, "tensor")
        _wrong_type("assert_type", words, f"{wanted.name}, and is {a.dtype.name}", message, tensor)


def _wrong_type(check: str, name: str, said: str, message: str | None, thing: Any) -> NoReturn:
    prefix = f"{message}: " if message else ""
    fail(
        "E1104",
        f"`{check}` failed: `{name}` must have {said}",
        f"{prefix}the check asks for the dtype of `{name}`.",
        labels=[*_births((thing, name)), *used_here("checked here")],
        op=check,
    )


def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: Any = None) -> DType:
    """The floating dtype that all `tensors` have; ValueError if they do not."""
    wanted: DType | None = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        found: DType = tensor.dtype
        if wanted is not None and found != wanted:
            raise ValueError(f"{tensor}, type={found}, must be of the same type ({wanted}).")
        wanted = found
    if wanted is None:
        return float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


def assert_proper_iterable(values: Any) -> None:
    """TypeError unless `values` is an iterable that is not itself a tensor, an array or a text."""
    if isinstance(values, (Tensor, Variable, np.ndarray, str, bytes)):
        raise TypeError(
            'Expected argument "values" to be a "proper" iterable.  Found: ' + str(type(values))
        )
    if not hasattr(values, "__iter__"):
        raise TypeError('Expected argument "values" to be iterable.  Found: ' + str(type(values)))


# Ranks and shapes.


def _wrong_shape(check: str, name: str, rule: str, thing: Any, message: str | None) -> NoReturn:
    shape = convert_to_tensor(thing).shape
    prefix = f"{message}: " if message else ""
    fail(
        "E1106",
        f"`{check}` failed: `{name}` has shape {shape}",
        f"{prefix}`{name}` must have {rule}, and has rank {shape.rank}.",
        labels=[*_births((thing, name)), *used_here("checked here")],
        op=check,
    )


def _scalar_rank(rank: Any) -> int:
    if isinstance(rank, (list, tuple)) or bool(getattr(rank, "ndim", 0)):
        raise ValueError("Rank must be a scalar.")
    return int(rank)


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Stops unless `x` has `rank` dimensions."""
    wanted = _scalar_rank(rank)
    if convert_to_tensor(x).ndim != wanted:
        _wrong_shape("assert_rank", _name(x, 0, "x"), f"rank {wanted}", x, message)


def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> None:
    """Stops unless `x` has `rank` or more dimensions."""
    wanted = _scalar_rank(rank)
    if convert_to_tensor(x).ndim < wanted:
        rule = f"rank at least {wanted}"
        _wrong_shape("assert_rank_at_least", _name(x, 0, "x"), rule, x, message)


def assert_rank_in(
    x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None
) -> None:
    """Stops unless the number of dimensions of `x` is one of `ranks`."""
    wanted = [_scalar_rank(rank) for rank in ranks]
    if convert_to_tensor(x).ndim not in wanted:
        rule = f"a rank in {tuple(wanted)}"
        _wrong_shape("assert_rank_in", _name(x, 0, "x"), rule, x, message)


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Any:
    """`tensor`; stops unless it is a single value."""
    a = convert_to_tensor(tensor)
    if a.ndim != 0:
        _wrong_shape("assert_scalar", _name(tensor, 0, "tensor"), "no dimensions", tensor, message)
    return a


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Stops unless tensors have shapes that fit: numbers, None for any size, names that must agree.

    `shapes` pairs tensors with shapes such as `("N", 3)`; `...` or "*" first stands for any number
    of leading dimensions.
    """
    sizes: dict[Any, tuple[int, str]] = {}
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    for number, (thing, wanted) in enumerate(pairs):
        if hasattr(thing, "deref"):
            thing = thing.deref()
        a = convert_to_tensor(thing)
        who = (name_in_frame(a) if isinstance(thing, Tensor) else "") or f"tensor {number}"
        symbols = list(wanted) if isinstance(wanted, (list, tuple, str)) else [wanted]
        have = list(a.shape)
        if symbols and symbols[0] in (..., "*"):
            symbols = symbols[1:]
            if len(have) < len(symbols):
                _wrong_shape("assert_shapes", who, f"rank at least {len(symbols)}", thing, message)
            have = have[len(have) - len(symbols) :]
        elif len(have) != len(symbols):
            _wrong_shape("assert_shapes", who, f"rank {len(symbols)}", thing, message)
        for axis, (symbol, size) in enumerate(zip(symbols, have, strict=True)):
            if symbol is None or symbol == ".":
                continue
            fixed = isinstance(symbol, int) or (isinstance(symbol, str) and symbol.isdigit())
            if fixed:
                known = int(symbol), "the check"
            else:
                known = sizes.setdefault(symbol, (size, f"`{who}`"))
            if known[0] != size:
                _refuse(
                    "assert_shapes",
                    f"dimension {axis} of `{who}` has size {size}",
                    f"it must have size {known[0]}, as {known[1]} says"
                    + ("." if fixed else f" for {symbol!r}."),
                    message,
                    (thing, who),
                )


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
    """On is how it always is: messages name the user's lines only."""


def disable_traceback_filtering() -> None:
    """Not supported: set HOLDFAST_DIAG=full before the program starts."""
    unsupported(
        "`disable_traceback_filtering` is not supported",
        "what messages show is chosen when the program starts",
        fix="set the environment variable `HOLDFAST_DIAG=full`",
    )


def is_traceback_filtering_enabled() -> bool:
    """True: messages name the user's lines only."""
    return True
