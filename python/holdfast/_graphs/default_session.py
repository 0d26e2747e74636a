"""The session that `eval` and `run` use where none is given: the innermost one of the thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .session import Session

__all__ = ["get_default_session", "session_for", "stack", "value_of"]


class _Stack(threading.local):
    def __init__(self) -> None:
        self.sessions: list[Session] = []


stack = _Stack()


def get_default_session() -> Session | None:
    """The session of the innermost `with` on this thread, None if there is none."""
    return stack.sessions[-1] if stack.sessions else None


def session_for(session: Session | None, method: str, name: str) -> Session:
    """`session`, or the default one; an error that says how to give one if there is none."""
    found = session if session is not None else get_default_session()
    if found is None:
        raise ValueError(
            f"`{name}.{method}()` has no session: call it as `{method}(session=sess)`, or under "
            "`with sess.as_default():`"
        )
    return found


def value_of(tensor: Any, feed_dict: Any, session: Any) -> Any:
    """What `tensor.eval()` gives."""
    return session_for(session, "eval", "tensor").run(tensor, feed_dict)
