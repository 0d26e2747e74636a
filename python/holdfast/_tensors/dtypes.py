"""Element types, under TensorFlow's names and numbers."""

from __future__ import annotations

import builtins
import functools
from typing import Any, Final

import numpy as np

__all__ = ["DType", "as_dtype"]


class DType:
    """The type of a tensor's elements, such as `tf.float32`."""

    __slots__ = ("_enum", "_kind", "_name", "_size")
    _enum: int
    _kind: str
    _name: str
    _size: int

    def __init__(self, type_enum: int) -> None:
        known = as_dtype(type_enum)
        _fill(self, known._name, known._enum, known._kind, known._size)

    @property
    def name(self) -> str:
        """The name, as in `"float32"`."""
        return self._name

    @property
    def as_datatype_enum(self) -> int:
        """TensorFlow's number for this type."""
        return self._enum

    @property
    def as_numpy_dtype(self) -> type[Any]:
        """The NumPy scalar type; `object` for strings."""
        found = numpy_type(self._name)
        if found is None:
            raise TypeError(
                f"{self} has no NumPy type"
                + (" here: install ml_dtypes to have one" if self._name == "bfloat16" else "")
            )
        return found

    @property
    def size(self) -> int:
        """Bytes of an element; 0 where it varies."""
        return self._size

    @property
    def is_floating(self) -> builtins.bool:
        """Whether this is a real floating type."""
        return self._kind == "f"

    @property
    def is_integer(self) -> builtins.bool:
        """Whether this is a signed or unsigned integer type."""
        return self._kind in ("i", "u")

    @property
    def is_unsigned(self) -> builtins.bool:
        """Whether this is an unsigned integer type."""
        return self._kind == "u"

    @property
    def is_complex(self) -> builtins.bool:
        """Whether this is a complex type."""
        return self._kind == "c"

    @property
    def is_bool(self) -> builtins.bool:
        """Whether this is `tf.bool`."""
        return self._kind == "b"

    @property
    def is_numeric(self) -> builtins.bool:
        """Whether elements are numbers."""
        return self._kind in ("f", "i", "u", "c")

    @property
    def is_quantized(self) -> builtins.bool:
        """Whether this is a quantised type: never."""
        return False

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        """Whether NumPy can hold such elements."""
        return self._name not in ("resource", "variant")

    @property
    def base_dtype(self) -> DType:
        """This type itself: there are no reference types."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of a complex number's parts, else this type itself."""
        if self._kind != "c":
            return self
        return float32 if self._size == 8 else float64

    @property
    def min(self) -> Any:
        """The least finite value."""
        return self._extreme("min")

    @property
    def max(self) -> Any:
        """The greatest finite value."""
        return self._extreme("max")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of intensities that images of this type have."""
        if self._kind in ("i", "u"):
            return 0, self.max
        if self._name in ("float32", "float64"):
            return 0, 1
        if self._kind == "b":
            return 0, True
        raise ValueError(
            f"{self.name} has no limits: images are of integers, bool, float32 or float64"
        )

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a value of type `other` may stand for one of this type."""
        return self == as_dtype(other)

    def is_subtype_of(self, other: Any) -> builtins.bool:
        """Whether `other` is this type."""
        return isinstance(other, DType) and self == other

    def most_specific_common_supertype(self, types: Any) -> DType | None:
        """This type, if all of `types` are, else None."""
        return self if all(self == other for other in types) else None

    def _extreme(self, which: str) -> Any:
        if self._name == "bfloat16":
            value = float.fromhex("0x1.FEp127") * (1 if which == "max" else -1)
            scalar = numpy_type(self._name)
            return value if scalar is None else scalar(value)
        if self._kind == "f":
            return getattr(np.finfo(self.as_numpy_dtype), which)
        if self._kind in ("i", "u"):
            return getattr(np.iinfo(self.as_numpy_dtype), which)
        raise TypeError(f"{self.name} has no {which}imum, only integers and floats have")

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None:
            return False
        if not isinstance(other, DType):
            try:
                other = as_dtype(other)
            except TypeError:
                return False
        return self._enum == other._enum

    def __hash__(self) -> int:
        return self._enum

    def __repr__(self) -> str:
        return "tf." + self._name

    def __str__(self) -> str:
        return f"<dtype: {self._name!r}>"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self._name,)

    def __copy__(self) -> DType:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> DType:
        return self


def _fill(made: DType, name: str, enum: int, kind: str, size: int) -> DType:
    made._name, made._enum, made._kind, made._size = name, enum, kind, size
    return made


def _new(name: str, enum: int, kind: str, size: int) -> DType:
    return _fill(object.__new__(DType), name, enum, kind, size)


invalid: Final = _new("invalid", 0, "", 0)
bool: Final = _new("bool", 10, "b", 1)
int8: Final = _new("int8", 6, "i", 1)
int16: Final = _new("int16", 5, "i", 2)
int32: Final = _new("int32", 3, "i", 4)
int64: Final = _new("int64", 9, "i", 8)
uint8: Final = _new("uint8", 4, "u", 1)
uint16: Final = _new("uint16", 17, "u", 2)
uint32: Final = _new("uint32", 22, "u", 4)
uint64: Final = _new("uint64", 23, "u", 8)
float16: Final = _new("float16", 19, "f", 2)
bfloat16: Final = _new("bfloat16", 14, "f", 2)
float32: Final = _new("float32", 1, "f", 4)
float64: Final = _new("float64", 2, "f", 8)
complex64: Final = _new("complex64", 8, "c", 8)
complex128: Final = _new("complex128", 18, "c", 16)
string: Final = _new("string", 7, "s", 0)
resource: Final = _new("resource", 20, "r", 0)
variant: Final = _new("variant", 21, "v", 0)

# In the order of the C++ enum.
ALL: Final = (
    *(invalid, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(float16, bfloat16, float32, float64, complex64, complex128, string, resource, variant),
)
PUBLIC: Final = {d.name: d for d in ALL[1:]} | {"half": float16, "double": float64}

_BY_KEY: Final[dict[Any, DType]] = (
    {d.name: d for d in ALL[1:]}
    | {d.as_datatype_enum: d for d in ALL[1:]}
    | {"half": float16, "float": float32, "double": float64}
    | {builtins.float: float32, builtins.bool: bool, builtins.object: string}
    | {np.dtype(d.name).type: d for d in ALL[1:] if d._kind in "biufc" and d is not bfloat16}
)


@functools.cache
def numpy_type(name: str) -> type[Any] | None:
    """The NumPy scalar type of a dtype, None where there is none."""
    if name == "string":
        return object
    if name == "bfloat16":
        try:
            import ml_dtypes  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            return None
        found: type[Any] = ml_dtypes.bfloat16
        return found
    return None if name in ("resource", "variant", "invalid") else np.dtype(name).type


def as_dtype(type_value: Any) -> DType:
    """The DType that `type_value` stands for: a name, a NumPy type, a number or a DType."""
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, np.dtype):
        if type_value.kind in "SUO":
            return string
        # `long` and `long long` may be two types of one size; the name is that of the first.
        scalar = type_value.type if type_value.kind not in "iu" else np.dtype(type_value.name).type
    else:
        scalar = type_value
    try:
        return _BY_KEY[scalar]
    except (KeyError, TypeError):
        if getattr(scalar, "__name__", "") == "bfloat16":
            return bfloat16
        raise TypeError(f"{type_value!r} stands for no dtype") from None
