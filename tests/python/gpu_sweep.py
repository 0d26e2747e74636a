"""Every sample on GPU:0, eager and traced, against the CPU: `python tests/python/gpu_sweep.py [NAME...]`.

For machines that have one; elsewhere `test_probe.py` sweeps a device that is none.
"""

import concurrent.futures
import os
import pathlib
import sys

import children
import samples

import holdfast as tf

CHILD = pathlib.Path(__file__).with_name("probe_child.py")
PROCESSES = max((os.cpu_count() or 2) // 2, 1)  # compiling kernels takes most of the time


def main(names):
    if not tf.config.list_physical_devices("GPU"):
        print("skipped: no GPU")
        return 77
    known = [f.record["name"] for f in samples.FUNCTIONS if f.record["reference"]]
    if names:
        known = [name for name in known if name.rsplit("::", 1)[-1] in names]
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        parts = [known[i::PROCESSES] for i in range(PROCESSES)]
        found_by = pool.map(lambda part: children.run(CHILD, part, "close", timeout=3600), parts)
        wrong = [found for part in found_by for found in part]
    for found in wrong:
        print(found)
    print(f"{len(known)} functions, {len(wrong)} failures")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
