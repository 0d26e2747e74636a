"""`tf.train.Coordinator`: threads that stop together, and tell what stopped them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from .._messages.contexts import contextmanager
from ..errors import OutOfRangeError

__all__ = ["NAMES", "Coordinator"]

_LOOK_UP = 0.2  # seconds between looks, so that an interrupt is seen


class Coordinator:
    """One of several threads asks all to stop; `join` waits, and raises what went wrong."""

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        clean = clean_stop_exception_types
        self._clean = (OutOfRangeError,) if clean is None else tuple(clean)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._threads: list[threading.Thread] = []

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop. The first exception that is given is raised by `join`."""
        error = ex[1] if isinstance(ex, tuple) else ex
        if error is not None and not isinstance(error, BaseException):
            kind = type(ex).__name__
            raise TypeError(f"`ex` is of type {kind}, expected an exception or `sys.exc_info()`")
        with self._lock:
            clean = isinstance(error, self._clean)
            if error is not None and not clean and self._joined:
                raise error  # nobody will ask for it any more
            if not self._stop.is_set():
                self._error = None if clean else error
                self._stop.set()

    def clear_stop(self) -> None:
        """Forgets that anybody asked, and what was raised."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether somebody asked."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until somebody asks; whether somebody has."""
        return self._stop.wait(timeout)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A block whose exceptions ask all threads to stop."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001 (`join` raises it, whatever it is)
            self.request_stop(error)

    def register_thread(self, thread: threading.Thread) -> None:
        """Remembers a thread that `join` waits for."""
        with self._lock:
            self._threads.append(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the threads; once somebody asked to stop, so long at most."""
        with self._lock:
            waiting = [*self._threads, *(threads or ())]
        while any(thread.is_alive() for thread in waiting) and not self._stop.wait(_LOOK_UP):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            while thread.is_alive() and time.monotonic() < end:
                thread.join(_LOOK_UP)
        with self._lock:
            self._joined, self._threads = True, []
            if self._error is not None:
                raise self._error
        alive = [thread.name for thread in waiting if thread.is_alive()]
        if alive and not ignore_live_threads:
            raise RuntimeError(f"these threads have not stopped: {', '.join(alive)}")

    @property
    def joined(self) -> bool:
        """Whether `join` has waited for all."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises what a thread gave to `request_stop`."""
        with self._lock:
            if self._error is not None:
                raise self._error


NAMES = {"train.Coordinator": Coordinator}
