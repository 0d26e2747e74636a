"""Elements in files, and what tells one pipeline from another."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._devices.device import device as placed
from .._tensors.dtypes import uint64
from ..errors import fail, need_callable, unsupported
from .functions import Traced, traced
from .spec import DatasetSpec
from .stored_spec import read_spec, written_spec
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
        """Writes the elements into a folder, for `Dataset.load`.

        What it held stays until all is there. `shard_func` gives the number of the file that an
        element goes to; `compression` is "GZIP" or None.
        """
        _refuse(checkpoint_args, "checkpoint_args", "save", "a folder is written in one go")
        shard = Traced(None, [], None)
        if shard_func is not None:
            shard = traced(shard_func, self, "save")
        folder = path_text(path, "`path`")
        about = written_spec(self.element_spec) if self._template is not None else ""
        _holdfast.data_save(self, folder, about, compression or "", *shard)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Any:
        """What `save` wrote into a folder. `reader_func` gets a dataset of the datasets in it.

        The files say themselves how they are compressed. Without a `reader_func`, elements of
        several files come in turn.
        """
        if compression not in (None, "", "NONE", "GZIP", "SNAPPY"):
            fail("E1103", f'`compression` of `load` is {compression!r}, expected "GZIP" or None')
        if wait:
            unsupported("`wait` of `load` is not supported", "a folder is there, or it is not")
        folder = path_text(path, "`path`")
        made: Any = _holdfast.data_load(folder)
        about = _holdfast.data_stored_about(folder)
        known = read_spec(about, folder) if element_spec is None else element_spec
        if known is not None:
            made._template = template_of(known)
        if element_spec is not None and made.element_spec != element_spec:
            fail(
                "E1103",
                "the elements in the folder are not those of `element_spec`",
                f"they are {made.element_spec!r}, expected {element_spec!r}",
            )
        if reader_func is None:
            return made
        parts: Any = _holdfast.data_load_parts(folder)
        parts._template = template_of(DatasetSpec(made.element_spec))
        return reader_func(parts)

    def snapshot(
        self: Any,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Keeps the elements of the first whole iteration in a folder, and reads them there.

        `shard_func` gives the number of the file that an element goes to; `reader_func` gets a
        dataset of the datasets of these files. Without one, they are read in turn.
        """
        packed = "" if compression in (None, "AUTO") else compression
        folder = path_text(path, "`path`")
        shard = Traced(None, [], None)
        if shard_func is not None:
            shard = traced(shard_func, self, "snapshot")
        reader = None
        if reader_func is not None:
            need_callable(reader_func, "Dataset.snapshot")
            inner = template_of(DatasetSpec(self.element_spec))

            def reader(parts: Any) -> Any:
                parts._template = inner
                made = reader_func(parts)
                if not isinstance(made, _holdfast.DatasetBase):
                    found = type(made).__name__
                    fail("E1104", f"`reader_func` of `snapshot` gave {found}, expected a dataset")
                return made

        return self._same(_holdfast.data_snapshot(self, folder, packed, *shard, reader))

    def fingerprint(self: Any) -> Any:
        """A number that pipelines share which are made in the same way, as a uint64 scalar.

        It does not look at seeds, nor at what objects hold that functions use.
        """
        return _holdfast.convert(_holdfast.data_fingerprint(self), uint64)

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


def _refuse(given: Any, argument: str, stage: str, why: str) -> None:
    if given is not None:
        unsupported(f"`{argument}` of `{stage}` is not supported", why, fix="leave it out")
