"""`tf.io.gfile`: files and folders of this machine, under TensorFlow's names."""

from __future__ import annotations

import errno
import glob as _glob
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn, Self

from .. import errors

__all__ = [
    "GFile",
    "copy",
    "exists",
    "get_registered_schemes",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]

_CLASSES: dict[int, Any] = {
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
}


def _refuse(error: OSError, path: str) -> NoReturn:
    if error.errno == errno.ENOENT:
        try:
            errors.fail("E1304", f"`{path}` could not be found", error.strerror or str(error))
        except errors.NotFoundError as missing:
            raise missing from None  # it says all that the system's own error says
    kind = _CLASSES.get(error.errno or 0, errors.UnknownError)
    raise kind(None, None, f"{path}; {error.strerror or error}") from None


def _path(value: Any) -> str:
    found = os.fsdecode(value)
    scheme, marker, rest = found.partition("://")
    if not marker:
        return found
    if scheme != "file":
        raise errors.UnimplementedError(
            None, None, f"File system scheme '{scheme}' not implemented (file: '{found}')"
        )
    return rest


class _Calls:
    """`with _Calls(path)`: errors of the system become TensorFlow's."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            _refuse(error, self._path)


class GFile:
    """A file that is read or written."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        kinds = ("r", "w", "a", "r+", "w+", "a+")
        if mode not in kinds and mode.replace("b", "", 1) not in kinds:
            raise errors.InvalidArgumentError(
                None, None, f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': {mode!r}"
            )
        self._name, self._mode = _path(name), mode
        self._file: Any = None

    @property
    def name(self) -> str:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """How it was opened."""
        return self._mode

    def _opened(self) -> Any:
        # The file is opened when it is first used, as in TensorFlow.
        if self._file is None:
            text = "b" not in self._mode
            with _Calls(self._name):
                self._file = open(  # noqa: SIM115  # closed by `close`
                    self._name,
                    self._mode,
                    encoding="utf-8" if text else None,
                    newline="" if text else None,
                )
        return self._file

    def size(self) -> int:
        """How many bytes it has."""
        return stat(self._name).length

    def read(self, n: int = -1) -> Any:
        """The next `n` characters or bytes; all that are left for -1."""
        with _Calls(self._name):
            return self._opened().read(n)

    def readline(self) -> Any:
        """The next line, with what ends it."""
        return self._opened().readline()

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Adds a text, or bytes."""
        file = self._opened()
        if "b" in self._mode and isinstance(file_content, str):
            file_content = file_content.encode()
        elif "b" not in self._mode and isinstance(file_content, bytes):
            file_content = file_content.decode()
        with _Calls(self._name):
            file.write(file_content)

    def seek(self, offset: int = 0, whence: int = 0) -> None:
        """Goes to a place."""
        self._opened().seek(offset, whence)

    def tell(self) -> int:
        """Where it stands."""
        return int(self._opened().tell())

    def seekable(self) -> bool:
        """Always."""
        return True

    def flush(self) -> None:
        """Hands over what was written."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Ends it. A file that was to be written is there then, also where nothing was."""
        if self._file is None and self._mode[0] == "w":
            self._opened()
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._opened())

    def __next__(self) -> Any:
        return next(self._opened())


class FileStatistics(NamedTuple):
    """What is known of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether there is such a file or folder."""
    return os.path.exists(_path(path))


def isdir(path: Any) -> bool:
    """Whether it is a folder."""
    return os.path.isdir(_path(path))


def glob(pattern: Any) -> list[str]:
    """The names that a pattern, or several, stand for."""
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [name for each in patterns for name in sorted(_glob.glob(_path(each)))]


def join(path: Any, *paths: Any) -> Any:
    """Parts of a path, put together."""
    return os.path.join(path, *paths)


def listdir(path: Any) -> list[str]:
    """The names in a folder."""
    with _Calls(_path(path)):
        if not os.path.isdir(_path(path)):
            raise FileNotFoundError(errno.ENOENT, "Could not find directory", path)
        return os.listdir(_path(path))


def makedirs(path: Any) -> None:
    """Makes a folder, and those that lead to it; one that is there stays."""
    with _Calls(_path(path)):
        os.makedirs(_path(path), exist_ok=True)


def mkdir(path: Any) -> None:
    """Makes a folder."""
    with _Calls(_path(path)):
        os.mkdir(_path(path))


def remove(path: Any) -> None:
    """Removes a file."""
    with _Calls(_path(path)):
        os.remove(_path(path))


def rmtree(path: Any) -> None:
    """Removes a folder and all that is in it."""
    with _Calls(_path(path)):
        shutil.rmtree(_path(path))


def _free(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, f"{path}; file already exists")


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Gives a file another name."""
    _free(_path(dst), overwrite)
    with _Calls(_path(src)):
        os.replace(_path(src), _path(dst))


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file."""
    _free(_path(dst), overwrite)
    with _Calls(_path(src)):
        shutil.copyfile(_path(src), _path(dst))


def stat(path: Any) -> FileStatistics:
    """How long a file is, and when it was changed."""
    with _Calls(_path(path)):
        found = os.stat(_path(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(_path(path)))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders below a folder: the path, the names of folders and the names of files in each."""
    return os.walk(_path(top), topdown, onerror)


def get_registered_schemes() -> list[str]:
    """How paths may begin: nothing, or `file://`."""
    return ["", "file"]
