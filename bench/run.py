"""Times Holdfast beside its peers, interleaved: run.py --python NAME=PYTHON ... [--threads N] [--rounds N]

NAME is ours, torch, tf or numpy; with --functions ours, tf, xla or jax, and the rows are traced functions; with --calls
ours or tf, and the rows are ways to call one; `before`, in each of these, is an older build of ours; with --data ours, tf, torch or numpy, and the rows are input pipelines, with
wall and CPU time (of all threads) of one element. Prints a table: the minimum of each, and ours as a ratio to the best peer, or
to the first row.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class Peer:
    def __init__(self, name, python, threads, rows, **also):
        env = dict(
            os.environ,
            TF_CPP_MIN_LOG_LEVEL="3",
            OMP_NUM_THREADS=str(threads),
            OPENBLAS_NUM_THREADS=str(threads),
            **also,
        )
        self.name = name
        self.process = subprocess.Popen([python, str(HERE / "rows.py"), name, str(threads), *rows], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        self.rows = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended early")
        return json.loads(line)

    def time(self, row):
        print(json.dumps(row), file=self.process.stdin, flush=True)
        return self.answer()


def shown(seconds):
    return (
        f"{seconds * 1e9:.0f} ns"
        if seconds < 1e-5
        else f"{seconds * 1e6:.0f} us"
        if seconds < 1e-3
        else f"{seconds * 1e3:.2f} ms"
    )


def show_calls(args):
    peers = [Peer(*p.split("=", 1), 1, ["calls", str(args.rounds * 20)]) for p in args.python]
    print("| call | " + " | ".join(f"{p.name} | to the first" for p in peers) + " |")
    print("|---" * (2 * len(peers) + 1) + "|")
    for row in peers[0].rows:
        times = [(p.rows[row], p.rows[row] / next(iter(p.rows.values()))) for p in peers]
        print(f"| {row} | " + " | ".join(f"{shown(t)} | {r:.2f}x" for t, r in times) + " |")


def show_data(args):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOLDFAST_BENCH_FILES"] = folder
        peers = [Peer(*p.split("=", 1), args.threads, ["data"]) for p in args.python]
        print(
            "| one element | "
            + " | ".join(f"{p.name}, CPU | wall" for p in peers)
            + " | same values |"
        )
        print("|---" * (2 * len(peers) + 2) + "|")
        for row in peers[0].rows:
            best = {p.name: (1e30, 1e30) for p in peers if row in p.rows}
            for _ in range(args.rounds):
                for p in peers:
                    if row in p.rows:
                        best[p.name] = tuple(map(min, best[p.name], p.time(row)))
            digests = {p.rows[row] for p in peers if p.rows.get(row)}
            same = "" if not digests else "yes" if len(digests) == 1 else "NO"
            cells = (best.get(p.name) for p in peers)
            told = (f"{shown(c[1])} | {shown(c[0])}" if c else " | " for c in cells)
            print(f"| {row} | " + " | ".join(told) + f" | {same} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", required=True, metavar="NAME=PYTHON")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--data", action="store_true")
    args = parser.parse_args()
    if args.calls:
        show_calls(args)
        return
    if args.data:
        show_data(args)
        return
    rows = ["functions"] if args.functions else []
    peers = [Peer(*p.split("=", 1), args.threads, rows) for p in args.python]
    names = [p.name for p in peers]
    print(f"| {args.threads} thread(s) | " + " | ".join(names) + " | ours / best peer |")
    print("|---" * (len(names) + 2) + "|")
    for row in peers[0].rows:
        best = {}
        for _ in range(args.rounds):
            for p in peers:
                if row in p.rows:
                    best[p.name] = min(best.get(p.name, 1e30), p.time(row))
        others = [v for k, v in best.items() if k != "ours"]
        ratio = f"{best['ours'] / min(others):.2f}x" if others and "ours" in best else ""
        print(
            f"| {row} | "
            + " | ".join(shown(best[n]) if n in best else "" for n in names)
            + f" | {ratio} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
