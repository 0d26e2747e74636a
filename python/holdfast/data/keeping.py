"""Elements in files, and what tells one pipeline from another."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._devices.device import device as placed
from .._tensors.dtypes import uint64
from ..errors import fail, unsupported
from .structure import AUTOTUNE, template_of

__all__ = ["Keeping", "path_text"]


class Keeping:
    """What `Dataset` has of them."""

    def save(
        self: Any,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Writes the elements into a folder, for `Dataset.load`."""
        _refuse_compression(compression, "save")
        _refuse(shard_func, "shard_func", "save", "elements stand in one file, in their order")
        _refuse(checkpoint_args, "checkpoint_args", "save", "a folder is written in one go")
        _holdfast.data_save(self, path_text(path, "`path`"))

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Any:
        """What `save` wrote into a folder. `reader_func` gets a dataset of the datasets in it."""
        _refuse_compression(compression, "load")
        if wait:
            unsupported("`wait` of `load` is not supported", "a folder is there, or it is not")
        made: Any = _holdfast.data_load(path_text(path, "`path`"))
        if element_spec is not None:
            made._template = template_of(element_spec)
        if element_spec is not None and made.element_spec != element_spec:
            fail(
                "E1103",
                "the elements in the folder are not those of `element_spec`",
                f"they are {made.element_spec!r}, expected {element_spec!r}",
            )
        return made if reader_func is None else reader_func(type(made).from_tensors(made))

    def snapshot(
        self: Any,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Keeps the elements of the first whole iteration in a folder, and reads them there."""
        if compression not in (None, "AUTO"):
            _refuse_compression(compression, "snapshot")
        _refuse(shard_func, "shard_func", "snapshot", "elements stand in one file, in their order")
        made = self._same(_holdfast.data_kept_in(self, path_text(path, "`path`"), True))
        return made if reader_func is None else reader_func(type(made).from_tensors(made))

    def fingerprint(self: Any) -> Any:
        """A number that pipelines of the same stages, specs and sizes share, as a uint64 scalar.

        It does not look at tensors and functions.
        """
        words = (_holdfast.data_stages(self), self.element_spec, _holdfast.data_cardinality(self))
        digest = hashlib.blake2b(repr(words).encode(), digest_size=8).digest()
        return _holdfast.convert(int.from_bytes(digest, "little"), uint64)

    def prefetch_to_device(
        self: Any, device: str, buffer_size: Any = None, name: str | None = None
    ) -> Any:
        """Elements on a device, copied there ahead of time."""
        ahead = AUTOTUNE if buffer_size is None else buffer_size
        kind, index = placed(device).place()
        made = _holdfast.data_to_device(self, kind or "CPU", index)
        return self._same(made).prefetch(ahead)


def path_text(path: Any, argument: str) -> str:
    """A path as text: a str, bytes, a tensor of text, or what `os.fspath` takes."""
    if isinstance(path, _holdfast.Tensor):
        path = path.numpy()
    if not isinstance(path, (str, bytes, os.PathLike)):
        fail("E1104", f"{argument} is {type(path).__name__}, expected a path")
    return os.fsdecode(path)


def _refuse_compression(compression: str | None, stage: str) -> None:
    if compression not in (None, "", "NONE"):
        unsupported(
            f"`{stage}` with compression {compression!r} is not supported",
            "elements are written as they are",
            fix="leave `compression` out",
        )


def _refuse(given: Any, argument: str, stage: str, why: str) -> None:
    if given is not None:
        unsupported(f"`{argument}` of `{stage}` is not supported", why, fix="leave it out")
