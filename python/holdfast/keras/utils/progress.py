"""`Progbar`: a line that says how far a loop of the program's own is."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import fail

__all__ = ["Progbar"]

_BOLD, _GREEN, _WHITE, _PLAIN = "\x1b[1m", "\x1b[32m", "\x1b[37m", "\x1b[0m"


def _duration(seconds: float, unit: str) -> str:
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.0f}s/{unit}"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.0f}ms/{unit}"
    return f"{seconds * 1e6:.0f}us/{unit}"


def _left(seconds: float) -> str:
    whole = int(seconds)
    if whole > 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if whole > 60 else f"{whole}s"


class Progbar:
    """Counts steps up to `target` and averages what it is told of each.

    `stateful_metrics` are shown as they come, all others as their average; or the other way round
    with `stateless_metrics`. On a terminal the line is redrawn; into a pipe each is one of its own.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 20,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
        stateless_metrics: Iterable[str] | None = None,
        unit_name: str = "step",
    ) -> None:
        if stateful_metrics is not None and stateless_metrics is not None:
            fail("E1104", "`Progbar` takes `stateful_metrics` or `stateless_metrics`, not both")
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = (
            None if stateless_metrics is not None else set(stateful_metrics or ())
        )
        self.stateless_metrics = None if stateless_metrics is None else set(stateless_metrics)
        self._seen = 0
        self._sums: dict[str, tuple[Any, int]] = {}
        self._start = time.time()
        self._after_first: float | None = None
        self._last_shown = 0.0
        self._shown_width = 0

    def add(self, n: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """Counts `n` steps more."""
        self.update(self._seen + n, values)

    def update(
        self,
        current: int,
        values: Iterable[tuple[str, Any]] | None = None,
        finalize: bool | None = None,
    ) -> None:
        """Says that `current` steps are done, and `(name, value)` of the last."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for name, value in values or ():
            self._note(name, value, current, finalize)
        self._seen = current
        now = time.time()
        per_step = self._per_step(current, now)
        if self.verbose == 1:
            if now - self._last_shown < self.interval and not finalize:
                return
            self._show(self._bar(current), self._facts(current, now, per_step, finalize), finalize)
        elif self.verbose == 2 and finalize and self.target:
            text = f"{self._count(current)} - {now - self._start:.0f}s - "
            text += _duration(per_step, self.unit_name) + self._metrics()
            print(text, flush=True)
        self._last_shown = now

    def _note(self, name: str, value: Any, current: int, finalize: bool) -> None:
        if self.stateful_metrics is not None:
            averaged = name not in self.stateful_metrics
        else:
            averaged = name in (self.stateless_metrics or ())
        if not averaged or finalize:
            self._sums[name] = (value, 1)
            return
        weight = max(current - self._seen, 1)
        total, count = self._sums.get(name, (0, 0))
        self._sums[name] = (total + value * weight, count + weight)

    def _per_step(self, current: int, now: float) -> float:
        """Seconds of a step. The first tells nothing: it is the one that traces."""
        if not current:
            return 0.0
        if self._after_first is not None and current > 1:
            seconds = (now - self._after_first) / (current - 1)
        else:
            seconds = (now - self._start) / current
        if current == 1:
            self._after_first = now
        return seconds

    def _count(self, current: int) -> str:
        return f"{current:{len(str(self.target))}d}/{self.target}"

    def _metrics(self) -> str:
        out = ""
        for name, (total, count) in self._sums.items():
            mean = float(np.mean(total)) / max(1, count)
            out += f" - {name}: {mean:.4f}" if abs(mean) > 1e-3 else f" - {name}: {mean:.4e}"
        return out

    def _bar(self, current: int) -> str:
        if not self.target:
            return f"{current:7d}/Unknown"
        done = min(int(self.width * current / self.target), self.width)
        bar = f"{_BOLD}{self._count(current)}{_PLAIN} "
        bar += f"{_GREEN}{'━' * done}{_PLAIN}" if done else ""
        return bar + f"{_WHITE}{'━' * (self.width - done)}{_PLAIN}"

    def _facts(self, current: int, now: float, per_step: float, finalize: bool) -> str:
        if self.target and not finalize:
            when = _left(per_step * (self.target - current))
        else:
            when = f"{now - self._start:.0f}s"
        return f" {_BOLD}{when}{_PLAIN} {_duration(per_step, self.unit_name)}{self._metrics()}"

    def _show(self, bar: str, facts: str, finalize: bool) -> None:
        line = bar + facts
        redrawn = sys.stdout.isatty() or "ipykernel" in sys.modules
        if not redrawn:  # a pipe: plain lines
            for mark in (_BOLD, _GREEN, _WHITE, _PLAIN):
                line = line.replace(mark, "")
            print(line, flush=True)
            return
        width = len(line)
        for mark in (_BOLD, _GREEN, _WHITE, _PLAIN):
            width -= line.count(mark) * len(mark)
        padding = " " * max(self._shown_width - width, 0)
        print("\r" + line + padding, end="\n" if finalize else "", flush=True)
        self._shown_width = width
