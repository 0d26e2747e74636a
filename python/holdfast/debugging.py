"""`tf.debugging`: checks that stop the program with the values that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from . import _holdfast, _registry
from ._checks import Place, births, name_of, run_check
from ._diagnostics import name_in_frame
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
    place = Place(check, (x, "x"), (y, "y"))

    def run(a: Any, b: Any) -> None:
        holds = _registry.function(path)(a, b)
        where, total = _failed(holds)
        if not len(where):
            return
        names, shape = place.names, tuple(holds.shape)
        mine, theirs = (np.broadcast_to(np.asarray(t.numpy()), shape) for t in (a, b))
        more = [
            f"`{_element(names[0], i)}` is {_shown(mine[tuple(i)])} and `{_element(names[1], i)}` "
            f"is {_shown(theirs[tuple(i)])}"
            for i in where[: max(1, 3 if summarize is None else summarize)]
        ]
        place.refuse(
            more[0],
            f"every element of `{names[0]}` must {words} that of `{names[1]}`, and "
            f"{_of(len(where), total)}" + (": " + "; ".join(more) if len(more) > 1 else "") + ".",
            message,
        )

    run_check(place, run, *_pair(x, y))


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
    first, second = _pair(x, y)
    real = first.dtype.real_dtype
    eps = float.fromhex("0x1p-7") if real.name == "bfloat16" else np.finfo(real.as_numpy_dtype).eps
    near = 10 * float(eps)
    place = Place("assert_near", (x, "x"), (y, "y"))

    def run(a: Any, b: Any, *bounds: Any) -> None:
        bound = bounds[0] * abs(b) + bounds[1]
        where, total = _failed(_registry.function("less_equal")(abs(a - b), bound))
        if not len(where):
            return
        names, index = place.names, tuple(where[0])
        mine, theirs = np.broadcast_arrays(a.numpy(), b.numpy())
        place.refuse(
            f"`{_element(names[0], index)}` is {mine[index]} and `{_element(names[1], index)}` is "
            f"{theirs[index]}",
            f"`{names[0]}` and `{names[1]}` must be near each other everywhere, and "
            f"{_of(len(where), total)}.",
            message,
        )

    bounds = (_holdfast.convert(near if v is None else v, real, False) for v in (rtol, atol))
    run_check(place, run, first, second, *bounds)


# Elements against zero.


def _sign(check: str, path: str, words: str, x: Any, message: str | None) -> None:
    place = Place(check, (x, "x"))

    def run(a: Any) -> None:
        where, total = _failed(_registry.function(path)(a, 0))
        if not len(where):
            return
        name, value = place.names[0], np.asarray(a.numpy())[tuple(where[0])]
        place.refuse(
            f"`{_element(name, where[0])}` is {_shown(value)}",
            f"every element of `{name}` must be {words}, and {_of(len(where), total)}.",
            message,
        )

    run_check(place, run, x)


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
    place = Place("Assert", (condition, "condition"))

    def run(holds: Any, *shown: Any) -> None:
        if not bool(holds):
            values = "; ".join(_shown(part.numpy()) for part in shown)
            place.refuse(f"{place.names[0]} is false", f"the data is {values}.", None)

    run_check(place, run, condition, *data)


# Finite numbers.


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """`tensor`; stops if it holds an Inf or a NaN."""
    return _finite("check_numerics", tensor, message, "tensor")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """`x`; stops if it holds an Inf or a NaN."""
    return _finite("assert_all_finite", x, message, "x")


def _finite(check: str, x: Any, message: str, keyword: str) -> Any:
    given = convert_to_tensor(x)
    if not given.dtype.is_floating:
        fail("E1101", f"`{check}` got {given.dtype.name}, expected a floating dtype", op=check)
    place = Place(check, (x, keyword))

    def run(a: Any) -> None:
        value = np.asarray(a.numpy(), np.float64)
        where = np.argwhere(~np.isfinite(value))
        if not len(where):
            return
        found = {"Inf": np.isinf(value), "NaN": np.isnan(value)}
        kinds = [word for word, hits in found.items() if hits.any()]
        words = place.names[0]
        place.refuse(
            f"Tensor had {' and '.join(kinds)} values: `{_element(words, where[0])}` is "
            f"{value[tuple(where[0])]}",
            f"every element of `{words}` must be finite, and {_of(len(where), value.size)}.",
            message,
        )

    run_check(place, run, given)
    return given


# Dtypes.


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers."""
    return isinstance(tensor, Tensor) and bool(tensor.dtype.is_numeric)


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """TypeError unless `x` has an integer dtype."""
    a = convert_to_tensor(x)
    if not a.dtype.is_integer:
        words = name_of(x, 0, "x")
        _wrong_type("assert_integer", words, f"an integer dtype, and is {a.dtype.name}", message, x)


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """TypeError unless `tensor` has the dtype `tf_type`."""
    a, wanted = convert_to_tensor(tensor), as_dtype(tf_type)
    if a.dtype != wanted:
        words = name_of(tensor, 0, "tensor")
        _wrong_type("assert_type", words, f"{wanted.name}, and is {a.dtype.name}", message, tensor)


def _wrong_type(check: str, name: str, said: str, message: str | None, thing: Any) -> NoReturn:
    prefix = f"{message}: " if message else ""
    fail(
        "E1104",
        f"`{check}` failed: `{name}` must have {said}",
        f"{prefix}the check asks for the dtype of `{name}`.",
        labels=[*births((thing, name)), *used_here("checked here")],
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


def _scalar_rank(rank: Any) -> int:
    if isinstance(rank, (list, tuple)) or bool(getattr(rank, "ndim", 0)):
        raise ValueError("Rank must be a scalar.")
    return int(rank)


def _ranked(
    check: str, x: Any, keyword: str, fits: Callable[[int], bool], rule: str, message: str | None
) -> Any:
    """A rule for a rank: checked now where the rank is known, else when the program runs."""
    place, given = Place(check, (x, keyword)), convert_to_tensor(x)

    def run(a: Any) -> None:
        if not fits(a.shape.rank):
            place.wrong_shape(0, rule, a.shape, message)

    if given.shape.rank is None:
        run_check(place, run, given)
    else:
        run(given)
    return given


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Stops unless `x` has `rank` dimensions."""
    wanted = _scalar_rank(rank)
    _ranked("assert_rank", x, "x", lambda n: n == wanted, f"rank {wanted}", message)


def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> None:
    """Stops unless `x` has `rank` or more dimensions."""
    wanted, check = _scalar_rank(rank), "assert_rank_at_least"
    _ranked(check, x, "x", lambda n: n >= wanted, f"rank at least {wanted}", message)


def assert_rank_in(
    x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None
) -> None:
    """Stops unless the number of dimensions of `x` is one of `ranks`."""
    wanted = [_scalar_rank(rank) for rank in ranks]
    rule = f"a rank in {tuple(wanted)}"
    _ranked("assert_rank_in", x, "x", lambda n: n in wanted, rule, message)


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Any:
    """`tensor`; stops unless it is a single value."""
    return _ranked("assert_scalar", tensor, "tensor", lambda n: n == 0, "no dimensions", message)


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
    things, rules, words = [], [], []
    for number, (thing, rule) in enumerate(shapes.items() if isinstance(shapes, dict) else shapes):
        thing = thing.deref() if hasattr(thing, "deref") else thing
        a = convert_to_tensor(thing)
        words.append((name_in_frame(a) if isinstance(thing, Tensor) else "") or f"tensor {number}")
        rules.append(list(rule) if isinstance(rule, (list, tuple, str)) else [rule])
        things.append(thing)
    place = Place("assert_shapes", *((thing, "shapes") for thing in things), words=words)

    def run(*tensors: Any) -> None:
        _fit(place, tensors, rules, message)

    given = [convert_to_tensor(thing) for thing in things]
    if all(t.shape.is_fully_defined() for t in given):
        run(*given)
    else:
        run_check(place, run, *given)


def _fit(place: Place, tensors: Sequence[Any], rules: list[list[Any]], message: str | None) -> None:
    sizes: dict[Any, tuple[int, str]] = {}
    for number, (a, rule) in enumerate(zip(tensors, rules, strict=True)):
        symbols, who, have = rule, place.names[number], list(a.shape)
        if symbols and symbols[0] in (..., "*"):
            symbols = symbols[1:]
            if len(have) < len(symbols):
                place.wrong_shape(number, f"rank at least {len(symbols)}", a.shape, message)
            have = have[len(have) - len(symbols) :]
        elif len(have) != len(symbols):
            place.wrong_shape(number, f"rank {len(symbols)}", a.shape, message)
        for axis, (symbol, size) in enumerate(zip(symbols, have, strict=True)):
            if symbol is None or symbol == ".":
                continue
            fixed = isinstance(symbol, int) or (isinstance(symbol, str) and symbol.isdigit())
            if fixed:
                known = int(symbol), "the check"
            else:
                known = sizes.setdefault(symbol, (size, f"`{who}`"))
            if known[0] != size:
                place.refuse(
                    f"dimension {axis} of `{who}` has size {size}",
                    f"it must have size {known[0]}, as {known[1]} says"
                    + ("." if fixed else f" for {symbol!r}."),
                    message,
                    number,
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
