"""Elements that wait to be taken: who adds waits for room, who takes waits for elements."""

from __future__ import annotations

import collections
import heapq
import threading
from collections.abc import Callable
from typing import Any

from ..errors import CancelledError, OutOfRangeError

__all__ = ["Fifo", "Priority", "Shuffled", "WaitingLine"]

_LOOK_UP = 0.2  # seconds between looks, so that an interrupt is seen
Element = tuple[Any, ...]


class Fifo:
    """Elements in the order in which they came."""

    kept = 0  # so many stay until no more can come

    def __init__(self) -> None:
        self._elements: collections.deque[Element] = collections.deque()

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element) -> None:
        self._elements.append(element)

    def take(self) -> Element:
        return self._elements.popleft()

    def give_back(self, elements: list[Element]) -> None:
        self._elements.extendleft(reversed(elements))


class Shuffled:
    """Elements in any order; some stay for the choice to be a good one."""

    def __init__(self, kept: int, seeds: tuple[int | None, int | None]) -> None:
        import random  # which few programs need

        self.kept = kept
        self._draw = random.Random(None if None in seeds else f"{seeds[0]} {seeds[1]}")
        self._elements: list[Element] = []

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element) -> None:
        self._elements.append(element)

    def take(self) -> Element:
        at = self._draw.randrange(len(self._elements))
        self._elements[at], self._elements[-1] = self._elements[-1], self._elements[at]
        return self._elements.pop()

    def give_back(self, elements: list[Element]) -> None:
        self._elements += elements


class Priority:
    """Elements by their first part, the smallest first; equal ones in the order they came."""

    kept = 0

    def __init__(self) -> None:
        self._elements: list[tuple[int, int, Element]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element) -> None:
        self._count += 1
        heapq.heappush(self._elements, (int(element[0]), self._count, element))

    def take(self) -> Element:
        return heapq.heappop(self._elements)[2]

    def give_back(self, elements: list[Element]) -> None:
        for element in elements:
            self.put(element)


class WaitingLine:
    """A bounded store that threads share. Each side is served in the order in which it asked."""

    def __init__(self, name: str, capacity: int, elements: Fifo | Shuffled | Priority) -> None:
        self.name, self.closed = name, False
        self._capacity, self._elements = capacity, elements
        self._changed = threading.Condition()
        self._adding: collections.deque[object] = collections.deque()
        self._taking: collections.deque[object] = collections.deque()
        self._cancelled: set[object] = set()

    def __len__(self) -> int:
        with self._changed:
            return len(self._elements)

    def add(self, elements: list[Element]) -> None:
        """Adds all elements, one after the other, as there is room."""
        with self._changed:
            turn = self._wait_turn(self._adding)
            try:
                if self.closed:
                    raise CancelledError(
                        None,
                        None,
                        f"`enqueue`: queue `{self.name}` is closed; add elements before `close`",
                    )
                for element in elements:
                    self._wait(lambda: len(self._elements) < self._capacity, turn)
                    self._elements.put(element)
                    self._changed.notify_all()
            finally:
                self._leave(self._adding, turn)

    def take(self, count: int, fewer: bool = False) -> list[Element]:
        """So many elements; `fewer`, but one at least, if it is closed and has not as many."""
        found: list[Element] = []
        with self._changed:
            turn = self._wait_turn(self._taking)
            try:
                self._fill(found, count, turn)
                if len(found) < count and not (fewer and found):
                    raise OutOfRangeError(
                        None,
                        None,
                        f"`dequeue`: queue `{self.name}` is closed and has "
                        f"{len(self._elements) + len(found)} elements, {count} were asked for; "
                        "`dequeue_up_to` takes what is left",
                    )
            except BaseException:  # an interrupt too: nobody got them
                self._elements.give_back(found)
                raise
            finally:
                self._leave(self._taking, turn)
        return found

    def _fill(self, found: list[Element], count: int, turn: object) -> None:
        """Moves elements to `found` until there are as many, or no more can come."""
        while len(found) < count:
            self._wait(lambda: self._ready() or self.closed, turn)
            if not self._ready():
                return
            found.append(self._elements.take())
            self._changed.notify_all()

    def close(self, cancel: bool) -> None:
        """Takes no more elements. Who waits to add is served before, or `cancel`led."""
        with self._changed:
            if cancel:
                self._cancelled.update(self._adding)
                self._changed.notify_all()
            turn = self._wait_turn(self._adding)
            again, self.closed = self.closed, True
            self._leave(self._adding, turn)
            if again and not cancel:
                raise CancelledError(
                    None,
                    None,
                    f"`close`: queue `{self.name}` is closed already; `is_closed` tells",
                )

    def _ready(self) -> bool:
        kept = 0 if self.closed else self._elements.kept
        return len(self._elements) > kept

    def _wait_turn(self, line: collections.deque[object]) -> object:
        turn = object()
        line.append(turn)
        try:
            self._wait(lambda: line[0] is turn, turn)
        except BaseException:
            self._leave(line, turn)
            raise
        return turn

    def _wait(self, ready: Callable[[], bool], turn: object) -> None:
        while not ready():
            if turn in self._cancelled:
                raise CancelledError(
                    None,
                    None,
                    f"`enqueue`: queue `{self.name}` was closed while this waited for room; "
                    "`close` without `cancel_pending_enqueues` lets it finish",
                )
            self._changed.wait(_LOOK_UP)

    def _leave(self, line: collections.deque[object], turn: object) -> None:
        line.remove(turn)
        self._cancelled.discard(turn)
        self._changed.notify_all()
