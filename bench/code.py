"""The table of machine code: code.py --python NAME=PYTHON ... [--threads 1,2] [--rounds N] [--before PYTHON]

NAME is ours, torch, jax, tf or xla; what cannot be started is left out and named. Beside `ours` stands `loops`, the same
with HOLDFAST_JIT=off, and with --before the package of an older tree, which the goals "of before" need. All take turns,
row by row. Prints the processor, and for each number of threads a table with the minima, ratios and goals.
"""

import argparse
import os
import pathlib
import platform
import shutil
import sys

import code_rows
from run import Peer, shown


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    told = {k.strip(): v.strip() for k, v in told.items()}
    wide = "AVX-512" if "avx512f" in told.get("flags", "").split() else "no AVX-512"
    return f"{told.get('model name', '?')} ({wide}), {os.cpu_count()} logical processors"


def started(args, threads):
    kinds = dict(p.split("=", 1) for p in args.python)
    if "ours" in kinds:
        kinds["loops"] = kinds["ours"]
    if args.before:
        kinds["before"] = args.before
    out = []
    for name, python in kinds.items():
        env = {"HOLDFAST_JIT": "off"} if name == "loops" else {}
        try:
            out.append(Peer(name, python, threads, ["code", str(args.seconds)], **env))
        except SystemExit as why:
            print(f"(left out: {why})", file=sys.stderr)
    return out


def best_of(peers, row, rounds):
    best = {}
    for _ in range(rounds):
        for p in peers:
            if row in p.rows:
                best[p.name] = min(best.get(p.name, 1e30), p.time(row))
    return best


def judged(row, best, memory, read):
    """What a row is to reach, and whether it does; nothing of it where what it is compared to was not measured."""
    said, holds = held_to(row, best, memory)
    if row in code_rows.FOLDS and read:
        said += f"; {best['ours'] / read:.2f}x of reading alone"
    return said, holds


def held_to(row, best, memory):
    ours, before = best["ours"], best.get("before")
    others = [v for k, v in best.items() if k not in code_rows.OURS]
    goal = code_rows.GOALS.get(row)
    if goal is None:
        return "", None
    if goal[0] == "seconds":
        return f"at most {shown(goal[1])}", ours <= goal[1]
    if goal[0] == code_rows.MEMORY:
        if not memory:
            return "no compiler for the loop", None
        return f"{ours / memory:.2f}x of the memory's, at most {goal[1]}x", ours <= goal[1] * memory
    if goal[0] in ("xla", "before"):
        to = best.get(goal[0], best.get("jax") if goal[0] == "xla" else None)
        said = f"at most {goal[1]}x of {goal[0]}"
        return (said, None) if to is None else (f"{ours / to:.2f}x, {said}", ours <= goal[1] * to)
    if not others:
        return "", None
    _, to_peer, to_before = goal
    said, holds = f"at most {to_peer}x of the best peer", ours <= to_peer * min(others)
    if before is not None and before <= to_peer * min(others):
        said, holds = f"{said} (held before: {to_before}x of before)", ours <= to_before * before
    return said, holds


def table(args, threads):
    peers = started(args, threads)
    names = [p.name for p in peers]
    mine = next((p for p in peers if p.name == "ours"), None)
    if mine is None:
        sys.exit("`ours` did not start: give --python ours=PYTHON, one that has the package")
    print(f"\n{threads} thread(s)\n")
    print(f"| row | {' | '.join(names)} | to best peer | to loops | to before | goal | holds |")
    print("|---" * (len(names) + 6) + "|")
    bare = {code_rows.MEMORY: None, code_rows.READ: None}
    for row in sorted(mine.rows, key=lambda r: r not in bare):  # loops before what they are held to
        best = best_of(peers, row, args.rounds)
        if row in bare:
            bare[row] = best["ours"]

        def ratio(to, best=best):
            return f"{best['ours'] / to:.2f}x" if to else ""

        others = [v for k, v in best.items() if k not in code_rows.OURS]
        cells = [shown(best[n]) if n in best else "" for n in names]
        cells += [
            ratio(min(others, default=None)),
            ratio(best.get("loops")),
            ratio(best.get("before")),
        ]
        said, holds = ("", None) if row in bare else judged(row, best, *bare.values())
        cells += [said, "" if holds is None else "yes" if holds else "**no**"]
        print(f"| {row} | {' | '.join(cells)} |", flush=True)
    for p in peers:
        p.process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--before", metavar="PYTHON")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.08, help="of one visit to a row")
    parser.add_argument("--loop", metavar="FILE", help="only build the loops over plain memory")
    args = parser.parse_args()
    if args.loop:
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            sys.exit("no C compiler was found")
        code_rows.build_loop(compiler, args.loop)
        return
    print(processor())
    for threads in args.threads.split(","):
        table(args, int(threads))


if __name__ == "__main__":
    main()
