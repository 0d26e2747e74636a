"""Servers that sessions of this process connect to: what they share is the values of variables."""

from __future__ import annotations

import itertools
import weakref
from typing import Any, NoReturn

from .. import _holdfast
from ..errors import unsupported

__all__ = ["Server", "server_at"]

_numbers = itertools.count()
_known: weakref.WeakValueDictionary[str, Server] = weakref.WeakValueDictionary()


class Server:
    """What sessions with its `target` share: variables, by name. It serves this process only.

    Made by `Server.create_local_server()`. It lives as long as somebody holds it or such a session.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        _refuse(
            "a `Server` of a cluster is not supported",
            "a server listens to sessions of its own process, and to no network",
            "make one for this process: `Server.create_local_server()`",
        )

    @classmethod
    def create_local_server(cls, config: Any = None, start: bool = True) -> Server:
        """A server for the sessions of this process."""
        if config is not None:
            _refuse(
                "`create_local_server(config=...)` is not supported",
                "a server runs nothing itself: each session has its own configuration",
                "give the `config` to the sessions",
            )
        made = cls.__new__(cls)
        made._target = f"holdfast://this-process/{next(_numbers)}"
        made._started = False
        made._variables = _holdfast.SharedVariables()
        if start:
            made.start()
        return made

    _target: str
    _started: bool
    _variables: Any

    @property
    def target(self) -> str:
        """What a session takes to connect to it."""
        return self._target

    def start(self) -> None:
        """Lets sessions connect."""
        self._started = True
        _known[self._target] = self

    def join(self) -> None:
        """Refused: nothing would ever end the wait."""
        _refuse(
            "`Server.join` is not supported",
            "it waits for a server to end, and one of this process ends with the process",
            "leave `join` out",
        )

    def __repr__(self) -> str:
        state = "" if self._started else ", not started"
        return f"<tf.distribute.Server {self._target}{state}>"


def _refuse(what: str, why: str, fix: str) -> NoReturn:
    unsupported(what, why, fix=fix)


def server_at(target: str) -> Server:
    """The server of this process with that target; others are refused."""
    found = _known.get(target)
    if found is None:
        _refuse(
            f"a Session with the target {target!r} is not supported",
            "no server of this process has that target, and sessions reach no other process",
            "leave `target` out, or use that of a `Server.create_local_server()`",
        )
    return found
