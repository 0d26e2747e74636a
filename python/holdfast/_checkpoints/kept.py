"""The last few checkpoints of a folder, and which of them are to go."""

from __future__ import annotations

import glob
import math
import os
import re
import time

from . import files

__all__ = ["Kept", "delete"]


class Kept:
    """Checkpoints in the order in which they were saved; the oldest go, but one in some hours."""

    def __init__(self, most: int | None, hours: float | None) -> None:
        self._most, self._hours = most, hours
        self.latest: str | None = None
        self.paths: list[str] = []
        self.stamps: list[float] = []
        self._preserved = time.time() - 1  # when one was last kept for good

    def take_over(self, folder: str) -> None:
        """Goes on where whoever saved to the folder before has ended."""
        state, now = files.get_checkpoint_state(folder), time.time()
        self.latest = None if state is None else state.model_checkpoint_path
        self._preserved = now - 1 if state is None else min(now, state.last_preserved_timestamp)
        paths = [] if state is None else list(state.all_model_checkpoint_paths)
        stamps = [] if state is None else state.all_model_checkpoint_timestamps
        known = dict(zip(paths, (stamps + [now] * len(paths))[: len(paths)], strict=True))
        self.paths, self.stamps = list(known), list(known.values())

    def add(self, path: str, folder: str, filename: str = "checkpoint", note: bool = True) -> None:
        """The latest one is there: says so in the folder, and deletes the oldest."""
        if path in self.paths:
            at = self.paths.index(path)
            del self.paths[at], self.stamps[at]
        self.paths.append(path)
        self.stamps.append(time.time())
        self.latest = path
        gone = self._sweep()
        # The list comes first: who is killed in between finds what it names.
        if note:
            files.write_state(folder, path, self.paths, self.stamps, self._preserved, filename)
        for old in gone:
            delete(old)

    def _sweep(self) -> list[str]:
        """Lets go of the oldest ones; gives those that are to be deleted."""
        gone: list[str] = []
        while self._most and len(self.paths) > self._most:
            old, stamp = self.paths.pop(0), self.stamps.pop(0)
            if self._hours and stamp - self._hours * 3600 >= self._preserved:
                # This one stays, and is no longer ours. One of unknown age has an endless stamp.
                span = self._hours * 3600
                self._preserved = stamp if math.isfinite(stamp) else self._preserved + span
            else:
                gone.append(old)
        return gone


def delete(prefix: str) -> None:
    """Deletes the files of a checkpoint."""
    data = re.compile(re.escape(prefix) + r"\.data-\d{5}-of-\d{5}")
    parts = [path for path in glob.glob(glob.escape(prefix) + ".data-*") if data.fullmatch(path)]
    for path in [f"{prefix}.index", *parts]:
        if os.path.exists(path):
            os.remove(path)
