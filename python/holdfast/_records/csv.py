"""`tf.io.decode_csv`: the op is C++; here its defaults are made tensors."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._graphs.name_scope import named_ops
from .._tensors.dtypes import DType, as_dtype, string
from ..errors import fail

__all__ = ["decode_csv", "default_tensor"]


def default_tensor(value: Any) -> Any:
    """What stands for an empty field: a dtype alone says that there is nothing."""
    if isinstance(value, (DType, type)):
        return _holdfast.convert([], as_dtype(value))
    return _holdfast.convert(value)


@named_ops
def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Any]:
    """The columns of lines of a CSV file: a tensor for each default, of its dtype."""
    if not isinstance(record_defaults, (list, tuple)) or not record_defaults:
        fail(
            "E1104",
            f"`record_defaults` is {record_defaults!r}, expected a list with one for each column",
        )
    found = _holdfast.raw_op(
        "DecodeCSV",
        records=_holdfast.convert(records, string),
        record_defaults=[default_tensor(each) for each in record_defaults],
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=[] if select_cols is None else [int(each) for each in select_cols],
    )
    return list(found) if isinstance(found, (list, tuple)) else [found]
