"""`tf.train.ClusterSpec`: which processes a cluster has, as a program says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import fail, unsupported

__all__ = ["ClusterSpec"]


class ClusterSpec:
    """Jobs by name, each with the addresses of its tasks: a list, or a dict by number."""

    _jobs: dict[str, dict[int, str]]

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster._jobs
        if not isinstance(cluster, Mapping):
            fail(
                "E1104",
                f"`cluster` of a ClusterSpec is a {type(cluster).__name__}, expected a dict",
                "it names jobs, each with the addresses of its tasks",
            )
        self._jobs = {_text(name, "a job's name"): _tasks(name, x) for name, x in cluster.items()}

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def _job(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"no job {job_name!r} in this cluster, which has {self.jobs}")
        return self._jobs[job_name]

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of a job's tasks, in order."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Where a task is."""
        job = self._job(job_name)
        if task_index not in job:
            raise ValueError(f"no task {task_index!r} in job {job_name!r}, which has {sorted(job)}")
        return job[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Where each task of a job is, by its number; None where there is none."""
        job = self._job(job_name)
        return [job.get(i) for i in range(max(job, default=-1) + 1)]

    def as_dict(self) -> dict[str, Any]:
        """The same as a dict: of lists where no number is left out, else of dicts."""
        found: dict[str, Any] = {}
        for name, job in self._jobs.items():
            whole = job and len(job) == max(job) + 1
            found[name] = self.job_tasks(name) if whole else dict(sorted(job.items()))
        return found

    def as_cluster_def(self) -> Any:
        """Refused: there are no messages of TensorFlow's kind."""
        unsupported(
            "`ClusterSpec.as_cluster_def` is not supported",
            "it gives a message of TensorFlow's, which Holdfast does not have",
            fix="use `as_dict()`",
        )

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ClusterSpec):
            return self._jobs == other._jobs
        return self._jobs == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        said = self.as_dict()
        return f"ClusterSpec({{{', '.join(f'{k!r}: {said[k]!r}' for k in sorted(said))}}})"


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        value = value.decode()
    if not isinstance(value, str):
        fail("E1104", f"{what} in a ClusterSpec is {value!r}, expected a text")
    return value


def _tasks(name: Any, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, Mapping):
        kind = type(tasks).__name__
        fail("E1104", f"the tasks of job {name!r} are a {kind}, expected a list or a dict")
    return {int(i): _text(where, "an address") for i, where in tasks.items()}
