"""`tf.train.CheckpointManager`: keeps the last few checkpoints of a folder."""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Callable
from typing import Any

from ..errors import fail, unsupported
from . import files
from .checkpoint import Checkpoint

__all__ = ["CheckpointManager"]


class CheckpointManager:
    """Saves a checkpoint under numbered names, and deletes the old ones."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
    ) -> None:
        if not isinstance(checkpoint, Checkpoint):
            fail(
                "E1104",
                f"`checkpoint` is of type {type(checkpoint).__name__}, expected a Checkpoint",
            )
        if max_to_keep is not None and max_to_keep <= 0:
            fail("E1103", f"`max_to_keep` is {max_to_keep}, expected a positive number or None")
        if checkpoint_interval is not None and step_counter is None:
            fail("E1104", "`checkpoint_interval` is given, and no `step_counter` to count with")
        if keep_checkpoint_every_n_hours is not None:
            unsupported(
                "`keep_checkpoint_every_n_hours` is not supported",
                "the last `max_to_keep` are kept, and no others",
            )
        self._checkpoint, self._keep, self._init = checkpoint, max_to_keep, init_fn
        self._directory = files.path_of(directory, "directory")
        self._name, self._steps, self._interval = checkpoint_name, step_counter, checkpoint_interval
        self._last_step: int | None = None
        state = files.get_checkpoint_state(self._directory)
        self._paths = [] if state is None else list(state.all_model_checkpoint_paths)
        stamps = [] if state is None else state.all_model_checkpoint_timestamps
        now = time.time()
        self._stamps = (stamps + [now] * len(self._paths))[: len(self._paths)]

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What it saves."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps lie between two checkpoints at least."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of those that are kept, the latest last."""
        return list(self._paths)

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the latest one; None where there is none."""
        return self._paths[-1] if self._paths else None

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Saves, unless too few steps have gone by. Gives the prefix."""
        if self._interval is not None and check_interval:
            step = int(self._steps)
            if self._last_step is not None and step - self._last_step < self._interval:
                return None
            self._last_step = step
        prefix = os.path.join(self._directory, self._name)
        if checkpoint_number is None:
            self._checkpoint.save_counter.assign_add(1)
            number = int(self._checkpoint.save_counter.numpy())
        else:
            number = int(checkpoint_number)
        path = self._checkpoint.write(f"{prefix}-{number}", options)
        if path in self._paths:
            at = self._paths.index(path)
            del self._paths[at], self._stamps[at]
        self._paths.append(path)
        self._stamps.append(time.time())
        gone = self._paths[: -self._keep] if self._keep else []
        self._paths, self._stamps = self._paths[len(gone) :], self._stamps[len(gone) :]
        # The list comes first: who is killed in between finds what it names.
        files.write_state(self._directory, path, self._paths, self._stamps)
        for old in gone:
            _delete(old)
        return path

    def restore_or_initialize(self) -> str | None:
        """Restores the latest one; where there is none, calls `init_fn`."""
        if self.latest_checkpoint is not None:
            self._checkpoint.restore(self.latest_checkpoint)
            return self.latest_checkpoint
        if self._init is not None:
            self._init()
        return None


def _delete(prefix: str) -> None:
    data = re.compile(re.escape(prefix) + r"\.data-\d{5}-of-\d{5}")
    parts = [path for path in glob.glob(glob.escape(prefix) + ".data-*") if data.fullmatch(path)]
    for path in [f"{prefix}.index", *parts]:
        if os.path.exists(path):
            os.remove(path)
