"""`tf.io.TFRecordWriter`: the C++ writer, with TensorFlow's options."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

from .. import _holdfast
from ..errors import fail, unsupported

__all__ = ["TFRecordOptions", "TFRecordWriter"]

_TYPES = ("", "GZIP", "ZLIB")


def _type_of(value: Any) -> str:
    if isinstance(value, TFRecordOptions):
        return value.compression_type
    if isinstance(value, int) and not isinstance(value, bool):
        value = TFRecordOptions.compression_type_map.get(value)
    found = "" if value is None else value
    if found not in _TYPES:
        fail(
            "E1103",
            f"the compression of records is {value!r}, expected one of {', '.join(_TYPES[1:])}",
            fix='give "GZIP", "ZLIB", or "" for none',
        )
    return str(found)


class TFRecordOptions:
    """How the records of a file are compressed, in zlib's terms."""

    compression_type_map: ClassVar[dict[int, str]] = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.compression_type = _type_of(compression_type)
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy
        # Z_DEFLATED is the one method that zlib has; sizes of buffers change no byte of the file.
        if compression_method not in (None, 8):
            unsupported(
                f"`compression_method={compression_method}` is not supported", "zlib has 8 alone"
            )
        if flush_mode not in (None, 0):
            unsupported(
                f"`flush_mode={flush_mode}` is not supported",
                "what is written is handed over by `flush` and `close`",
                fix="call `flush` where it has to be there",
            )

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """ "", "GZIP" or "ZLIB"."""
        return _type_of(options)


class TFRecordWriter:
    """Writes a file of records. To be closed, or used in a `with` statement."""

    def __init__(self, path: Any, options: Any = None) -> None:
        o = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
        self._writer = _holdfast.RecordWriter(
            os.fsdecode(path),
            o.compression_type,
            -1 if o.compression_level is None else o.compression_level,
            15 if o.window_bits is None else o.window_bits,
            9 if o.mem_level is None else o.mem_level,
            0 if o.compression_strategy is None else o.compression_strategy,
        )

    def write(self, record: Any) -> None:
        """Adds a record."""
        value = record.numpy() if isinstance(record, _holdfast.Tensor) else record
        if isinstance(value, str):
            value = value.encode()
        if not isinstance(value, (bytes, bytearray, memoryview)):
            fail(
                "E1104",
                f"a record is {type(record).__name__}, expected bytes",
                fix="write `example.SerializeToString()`",
            )
        self._writer.write(bytes(value))

    def flush(self) -> None:
        """Hands over what was written to the system."""
        self._writer.flush()

    def close(self) -> None:
        """Ends the file."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
