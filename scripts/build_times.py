"""What a build spent: build_times.py BUILD_DIR prints the whole and the slowest files.

Times are those of ninja's log, so they hold for a machine that did nothing else meanwhile.
"""

import pathlib
import sys

FILE_BUDGET = 12.0  # seconds; a file above it wants fewer instantiations, or two files
BUILD_BUDGET = 1800.0


def main(folder: str) -> None:
    spent: dict[str, float] = {}
    for line in (pathlib.Path(folder) / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        if output.endswith((".o", ".gch")):
            spent[output] = (int(end) - int(begin)) / 1000
    slowest = sorted(spent.items(), key=lambda item: -item[1])
    whole = sum(spent.values())
    print(f"Compiled {len(spent)} files in {whole:.0f} s (budget, quiet: {BUILD_BUDGET:.0f} s)")
    for output, seconds in slowest[:5]:
        over = "  over the budget of a file" if seconds > FILE_BUDGET else ""
        print(f"  {seconds:5.1f} s  {output.partition('.dir/')[2] or output}{over}")


if __name__ == "__main__":
    main(sys.argv[1])
