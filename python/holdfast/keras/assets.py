"""Files that layers keep beside their weights: a vocabulary, say."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

from ..errors import fail
from .own_arguments import says

__all__ = ["give_assets", "own_assets"]


def own_assets(holder: Any) -> list[tuple[str, bytes]] | None:
    """The files that an object keeps by a method of its class; None where it has no such."""
    if not says(type(holder), "save_assets"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        holder.save_assets(folder)
        root = pathlib.Path(folder)
        files = sorted(path for path in root.rglob("*") if path.is_file())
        return [(path.relative_to(root).as_posix(), path.read_bytes()) for path in files]


def give_assets(holder: Any, files: dict[str, bytes]) -> None:
    """Lays files out in a folder, which an object takes what it wants from."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = pathlib.PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\0" in name:
                fail(
                    "E1301",
                    f"the asset `{name}` of a model's file is refused",
                    "its name leads out of the folder that assets are laid out in",
                )
            place = pathlib.Path(folder, path)
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            except OSError as error:  # a name that no folder takes, or another asset's folder
                fail(
                    "E1301",
                    f"the asset `{name}` of a model's file can't be laid out",
                    f"the system says: {error.strerror}",
                )
        holder.load_assets(folder)
