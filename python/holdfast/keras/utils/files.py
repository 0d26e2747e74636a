"""`get_file`: files of Keras' cache. Nothing is fetched; what is missing is named."""

from __future__ import annotations

import hashlib
import os
import pathlib
import tarfile
import zipfile
from typing import Any
from urllib.parse import urlsplit

from ...errors import fail, unsupported

__all__ = ["cache_folder", "get_file"]


def cache_folder(cache_dir: Any = None) -> pathlib.Path:
    """Where Keras keeps files: `KERAS_HOME`, or `~/.keras`."""
    return pathlib.Path(cache_dir or os.environ.get("KERAS_HOME") or "~/.keras").expanduser()


def _hash_of(path: pathlib.Path, algorithm: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def _check_hash(path: pathlib.Path, wanted: str, algorithm: str) -> None:
    if algorithm == "auto":
        algorithm = "sha256" if len(wanted) == 64 else "md5"
    if algorithm not in {"md5", "sha256"}:
        fail("E1104", f'`hash_algorithm` is {algorithm!r}, expected "auto", "md5" or "sha256"')
    found = _hash_of(path, algorithm)
    if found != wanted.lower():
        fail(
            "E1104",
            f"the file `{path.name}` is not the one that is wanted",
            f"the {algorithm} of {path} is {found}, expected {wanted}",
            fix="remove it and put the right one there",
        )


def _within(folder: pathlib.Path, name: str) -> bool:
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _extract(archive: pathlib.Path, into: pathlib.Path, formats: Any) -> None:
    kinds = (
        ["tar", "zip"] if formats == "auto" else [formats] if isinstance(formats, str) else formats
    )
    if "tar" in (kinds or ()) and tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            tar.extractall(
                into, filter="data"
            )  # which refuses what lies outside, links and devices
        return
    if "zip" in (kinds or ()) and zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for name in packed.namelist():
                if not _within(into, name):
                    fail("E1104", "an archive has a file outside of itself", f"{archive}: {name!r}")
            packed.extractall(into)
        return
    fail("E1104", f"`{archive.name}` is no archive of the kinds {kinds}", str(archive))


def get_file(
    fname: Any = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: Any = None,
    force_download: bool = False,
) -> str:
    """The path of a file in the cache, checked and unpacked. It has to be there."""
    if origin is None:
        fail("E1104", "`get_file` needs `origin`, the address that the file comes from")
    if force_download:
        unsupported(
            "`get_file` with `force_download` is not supported", "Holdfast fetches no files"
        )
    name = os.fspath(fname) if fname else pathlib.PurePosixPath(urlsplit(origin).path).name
    if not name:
        fail("E1104", f"`get_file` finds no name of a file in `origin` {origin!r}; give `fname`")
    folder = cache_folder(cache_dir) / cache_subdir
    wanted, algorithm = (file_hash, hash_algorithm) if file_hash else (md5_hash, "md5")
    if not (extract or untar):
        path = folder / name
        if not path.is_file():
            _missing(path, origin)
        if wanted:
            _check_hash(path, wanted, algorithm)
        return str(path)
    unpacked, archive = _places(folder, name, origin)
    if unpacked.exists():
        return str(unpacked)
    if not archive.is_file():
        _missing(archive, origin)
    if wanted:
        _check_hash(archive, wanted, algorithm)
    _extract(archive, unpacked, archive_format)
    return str(unpacked)


def _places(folder: pathlib.Path, name: str, origin: str) -> tuple[pathlib.Path, pathlib.Path]:
    """Where an archive is unpacked, and where it lies: under its own name, or that of `origin`."""
    stem = name
    for ending in (".tar.gz", ".tar.bz2", ".tgz", ".tar", ".zip"):
        stem = stem.removesuffix(ending)
    if stem != name:
        return folder / f"{stem}_extracted", folder / name
    own = pathlib.PurePosixPath(urlsplit(origin).path).name
    for candidate in (f"{name}_archive", own):
        if (folder / candidate).is_file():
            return folder / name, folder / candidate
    return folder / name, folder / own


def _missing(path: pathlib.Path, origin: str) -> None:
    fail(
        "E1104",
        f"the file `{path.name}` is wanted and is not there",
        f"it is looked for at {path}; Holdfast reads files of Keras' cache and fetches none",
        fix=f"get {origin} and save it as {path}",
    )
