"""The command line: `holdfast run | explain | graph | describe | doctor`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence


def _run(arguments: argparse.Namespace) -> int:
    """Runs a script with this package under the name `tensorflow`."""
    import runpy

    import holdfast

    script = arguments.script
    if not os.path.exists(script):
        print(f"holdfast run: there is no file {script}", file=sys.stderr)
        return 2
    holdfast.install_as_tensorflow()
    sys.argv = [script, *arguments.args]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return 0


def _explain(arguments: argparse.Namespace) -> int:
    """Prints the page of a code, or the list of codes."""
    from ._messages.explain import explain

    try:
        print(explain(arguments.code), end="")
    except LookupError as unknown:
        print(unknown.args[0], file=sys.stderr, end="")
        return 2
    return 0


def _describe(arguments: argparse.Namespace) -> int:
    """Prints, or writes, what the library offers."""
    from ._names import describe as _describe

    if arguments.stubs is not None:
        _describe.write_stubs(arguments.stubs)
    elif arguments.markdown:
        print(_describe.markdown(), end="")
    else:
        print(_describe.json_text())
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    """Prints what this installation is and sees."""
    from ._names import describe as _describe

    print(_describe.doctor(), end="")
    return 0


def _graph(arguments: argparse.Namespace) -> int:
    """Runs a script and prints the graphs it ran."""
    from ._names import graph_command

    return graph_command.main(arguments.script, arguments.function, arguments.args)


def _later(arguments: argparse.Namespace) -> int:
    print(
        f"error[E1105]: `holdfast {arguments.command}` is not supported yet; there are run, "
        "explain, graph, describe and doctor",
        file=sys.stderr,
    )
    return 2


def _parser() -> argparse.ArgumentParser:
    from . import __version__

    parser = argparse.ArgumentParser(prog="holdfast", description="Holdfast's command line.")
    parser.add_argument("--version", action="version", version=f"holdfast {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a script that imports tensorflow")
    run.add_argument("script")
    run.add_argument("args", nargs=argparse.REMAINDER)
    run.set_defaults(act=_run)

    explain = commands.add_parser("explain", help="print the page of a diagnostic code")
    explain.add_argument("code", nargs="?")
    explain.set_defaults(act=_explain)

    describe = commands.add_parser("describe", help="print every function, as JSON")
    describe.add_argument("--markdown", action="store_true", help="as Markdown instead")
    describe.add_argument("--stubs", metavar="DIR", help="write .pyi files there instead")
    describe.set_defaults(act=_describe)

    graph = commands.add_parser("graph", help="run a script and print the graphs of its functions")
    graph.add_argument("script")
    graph.add_argument("--function", metavar="NAME", help="only of this one, and of its gradient")
    graph.add_argument("args", nargs="*", help="what the script is given, after a --")
    graph.set_defaults(act=_graph)

    doctor = commands.add_parser("doctor", help="print what this installation sees")
    doctor.set_defaults(act=_doctor)
    for name in ("bench", "board"):
        later = commands.add_parser(name, help="not supported yet")
        later.add_argument("args", nargs=argparse.REMAINDER)
        later.set_defaults(act=_later)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    arguments = _parser().parse_args(argv)
    code: int = arguments.act(arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
