"""`CsvDataset` and `make_csv_dataset`."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import zlib
from typing import Any

import numpy as np

from .. import _holdfast
from .._records import gfile
from .._records.csv import decode_csv, default_tensor
from .._tensors.dtypes import float32, float64, int32, int64, string
from ..errors import fail, unsupported
from .dataset import Dataset
from .files import compression_text, names_of, parallel_reads, size_or
from .structure import AUTOTUNE, whole_number

__all__ = ["CsvDataset", "make_csv_dataset"]


class CsvDataset(Dataset):
    """The records of CSV files: a tuple of scalars, of the dtypes of `record_defaults`."""

    def __new__(
        cls,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> Any:
        kept = None
        if exclude_cols is not None:
            if select_cols is not None:
                fail("E1104", "`CsvDataset` got `select_cols` and `exclude_cols`", fix="give one")
            kept, record_defaults = _all_columns(record_defaults, set(exclude_cols))
        lines = _records(
            filenames,
            header,
            use_quote_delim,
            field_delim,
            compression_type,
            buffer_size,
            None,
            "CsvDataset",
        )
        defaults = [default_tensor(each) for each in record_defaults]

        def columns(line: Any) -> tuple[Any, ...]:
            found = decode_csv(line, defaults, field_delim, use_quote_delim, na_value, select_cols)
            return tuple(found if kept is None else (found[i] for i in kept))

        made = lines.map(columns)
        made.__class__ = cls
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # `__new__` made it


def _all_columns(defaults: Any, left_out: set[int]) -> tuple[list[int], list[Any]]:
    """Which columns are given, and defaults of all: records have no others besides."""
    total = len(defaults) + len(left_out)
    kept = [each for each in range(total) if each not in left_out][: len(defaults)]
    every: list[Any] = [""] * total
    for place, default in zip(kept, defaults, strict=True):
        every[place] = default
    return kept, every


def _records(
    filenames: Any,
    header: bool,
    quotes: bool,
    delim: str,
    compression: Any,
    buffer_size: Any,
    at_once: Any,
    function: str,
) -> Dataset:
    names = names_of(filenames, function)
    if names is None:
        unsupported(
            f"`{function}` in a function that makes datasets is not supported",
            "its columns are told by the files",
            fix="make a dataset of the names, and give it that",
        )
    if buffer_size is not None and whole_number(buffer_size, "`buffer_size`") < 1:
        fail("E1103", f"`buffer_size` of `{function}` is {buffer_size}, expected 1 or more")
    made: Dataset = _holdfast.data_csv_records(
        names,
        bool(header),
        bool(quotes),
        delim,
        compression_text(compression),
        size_or(buffer_size, "`buffer_size`", 0),
        parallel_reads(at_once),
    )
    return made


# -- batches of columns by name


def _files(pattern: Any) -> list[str]:
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    found = gfile.glob([os.fsdecode(each) for each in patterns])  # columns are read from them now
    if not found:
        fail("E1304", "no file was found", f"the pattern is {pattern!r}")
    return sorted(found)


def _rows(path: str, compression: str, encoding: str, delimiter: str, quotes: bool) -> Any:
    with open(path, "rb") as file:
        data = file.read()
    if compression == "GZIP":
        data = gzip.decompress(data)
    elif compression == "ZLIB":
        data = zlib.decompress(data)
    text = io.StringIO(data.decode(encoding), newline="")
    return csv.reader(
        text, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    )


_LADDER = (int32, int64, float32, float64, string)


def _fits(text: str, dtype: Any) -> bool:
    if dtype is string:
        return True
    try:
        if dtype in (int32, int64):
            bits = 31 if dtype is int32 else 63
            return -(1 << bits) <= int(text) < 1 << bits
        value = float(text)
    except ValueError:
        return False
    return bool(dtype is float64) or not math.isfinite(value) or abs(value) <= 3.4e38


def _inferred(
    rows: Any, columns: list[int], na_value: str, count: int | None, width: int
) -> list[Any]:
    at = [0] * len(columns)
    seen = [False] * len(columns)
    for number, row in enumerate(rows):
        if count is not None and number >= count:
            break
        if not row:
            continue
        if len(row) != width:
            fail("E1102", f"a record has {len(row)} fields, expected {width}")
        for i, column in enumerate(columns):
            if row[column] in ("", na_value):
                continue
            seen[i] = True
            while not _fits(row[column], _LADDER[at[i]]):
                at[i] += 1
    # A column in which nothing stands is a text.
    return [_LADDER[a] if s else string for a, s in zip(at, seen, strict=True)]


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of columns by name, and of the label where `label_name` says one."""
    if ignore_errors:
        unsupported(
            "`make_csv_dataset` with `ignore_errors=True` is not supported",
            "a record that does not fit is an error",
        )
    paths = _files(file_pattern)
    compression = compression_text(compression_type)

    def rows() -> Any:
        return _rows(paths[0], compression, encoding, field_delim, use_quote_delim)

    if column_names is None:
        if not header:
            fail("E1104", "`make_csv_dataset` needs `column_names` for files without a header")
        column_names = next(iter(rows()), [])
    names = [str(each) for each in column_names]
    if len(set(names)) != len(names):
        fail("E1104", "columns have one name twice", f"the names are {', '.join(names)}")
    chosen = list(range(len(names)))
    if select_columns is not None:
        chosen = sorted(_column(each, names) for each in select_columns)
    wanted = [names[each] for each in chosen]
    if label_name is not None and label_name not in wanted:
        fail(
            "E1104",
            f"`label_name` is {label_name!r}, which is no column",
            f"the columns are {', '.join(wanted)}",
        )
    if column_defaults is None:
        found = iter(rows())
        if header:
            next(found, None)
        dtypes = _inferred(found, chosen, na_value, num_rows_for_inference, len(names))
        defaults: list[Any] = [np.array([""] if d is string else [0], _numpy(d)) for d in dtypes]
    else:
        given = list(column_defaults)
        if len(given) == len(names) != len(chosen):
            given = [given[each] for each in chosen]
        if len(given) != len(chosen):
            fail("E1104", f"`column_defaults` has {len(given)} entries, expected {len(chosen)}")
        defaults = given

    dataset = Dataset.from_tensor_slices(paths)
    if shuffle:
        dataset = dataset.shuffle(len(paths), shuffle_seed)
    dataset = _records(
        dataset,
        header,
        use_quote_delim,
        field_delim,
        compression,
        None,
        num_parallel_reads,
        "make_csv_dataset",
    )
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    columns = None if len(chosen) == len(names) else chosen

    def parsed(lines: Any) -> Any:
        values = [default_tensor(each) for each in defaults]
        fields = decode_csv(lines, values, field_delim, use_quote_delim, na_value, columns)
        features = dict(zip(wanted, fields, strict=True))
        if label_name is None:
            return features
        return features, features.pop(label_name)

    batches = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(parsed)
    return batches.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _numpy(dtype: Any) -> Any:
    return np.str_ if dtype is string else dtype.as_numpy_dtype


def _column(each: Any, names: list[str]) -> int:
    if isinstance(each, str):
        if each not in names:
            fail("E1104", f"`select_columns` names {each!r}, which is no column")
        return names.index(each)
    if not 0 <= int(each) < len(names):
        fail("E1103", f"`select_columns` has {each}, and there are {len(names)} columns")
    return int(each)
