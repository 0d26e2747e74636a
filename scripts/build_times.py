"""What a build spent: build_times.py BUILD_DIR [--by-target]: the whole, and the slowest files.

The log of ninja says when each file was begun and ended. It runs more of them at once than there
are processors: at each moment those that run share the processors, so that what is counted is the
time of processors. It holds for a machine that did nothing else meanwhile.
"""

import argparse
import bisect
import collections
import itertools
import os
import pathlib

FILE_BUDGET = 12.0  # seconds; a file above it wants fewer instantiations, or two files
BUILD_BUDGET = 1800.0


def last_of_each(log: pathlib.Path) -> dict[str, tuple[int, int]]:
    """When each output was made last, in milliseconds.

    Lines come as outputs end, and each build begins at 0 again.
    """
    made = {}
    start = latest = last = 0  # of this build; of all; of the line before
    for line in log.read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        if int(end) < last:
            start = latest
        last = int(end)
        latest = max(latest, start + last)
        made[output] = (start + int(begin), start + last)
    return made


def processor_time(made: dict[str, tuple[int, int]], processors: int) -> dict[str, float]:
    """Seconds of a processor that each output took."""
    changes: collections.Counter[int] = collections.Counter()
    for begin, end in made.values():
        changes[begin] += 1
        changes[end] -= 1
    moments = sorted(changes)
    shares = [0.0]  # what one job had got up to each moment, had it run from the first one on
    running = 0
    for now, after in itertools.pairwise(moments):
        running += changes[now]
        share = min(1.0, processors / running) if running else 0.0
        shares.append(shares[-1] + share * (after - now) / 1000)

    def until(moment: int) -> float:
        return shares[bisect.bisect_left(moments, moment)]

    return {output: until(end) - until(begin) for output, (begin, end) in made.items()}


def target_of(output: str) -> str:
    """The target that an object belongs to; programs that are examples are one."""
    target = output.partition(".dir/")[0].rpartition("/")[2]
    return "examples" if target.startswith("example_") else target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--by-target", action="store_true", help="what each target took")
    parser.add_argument("--processors", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    spent = processor_time(last_of_each(asked.folder / ".ninja_log"), asked.processors)
    compiled = {output: s for output, s in spent.items() if output.endswith((".o", ".gch"))}
    whole = sum(compiled.values())
    print(f"Compiled {len(compiled)} files in {whole:.0f} s (budget, quiet: {BUILD_BUDGET:.0f} s)")
    if asked.by_target:
        targets: collections.Counter[str] = collections.Counter()
        for output, seconds in compiled.items():
            targets[target_of(output)] += seconds
        for target, seconds in targets.most_common():
            print(f"  {seconds:6.1f} s  {target}")
    slowest = sorted(compiled.items(), key=lambda item: -item[1])
    for output, seconds in slowest[:5]:
        over = "  over the budget of a file" if seconds > FILE_BUDGET else ""
        print(f"  {seconds:5.1f} s  {output.partition('.dir/')[2] or output}{over}")


if __name__ == "__main__":
    main()
