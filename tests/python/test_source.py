"""A message can say where a line is, and calls things what the user calls them."""

from __future__ import annotations

import linecache
import pathlib
import subprocess
import sys
import textwrap
import types
import typing

import pytest

from holdfast._messages import source, source_text


class Probe:
    """Every operation on it notes the frame that asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[types.CodeType, int]] = []

    def _note(self, *_: object, **__: object) -> Probe:
        frame = sys._getframe(1)
        self.calls.append((frame.f_code, frame.f_lasti))
        return self

    __add__ = __radd__ = __sub__ = __matmul__ = __neg__ = __lt__ = __gt__ = __call__ = _note
    __getitem__ = __setitem__ = __iadd__ = __enter__ = method = _note

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> typing.Iterator[Probe]:
        self._note_caller()
        return iter([self, self])

    def __bool__(self) -> bool:
        self._note_caller()
        return True

    def _note_caller(self) -> None:
        frame = sys._getframe(2)
        self.calls.append((frame.f_code, frame.f_lasti))


class Holder:
    pass


@pytest.fixture
def run(tmp_path: pathlib.Path) -> typing.Callable[..., Probe]:
    def run(program: str, **names: object) -> Probe:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(program), encoding="utf-8")
        probe = Probe()
        space = {"p": probe, "q": probe, "self": Holder(), "cache": [], "tf": probe, **names}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
        return probe

    return run


def names_of(probe: Probe, call: int = 0) -> typing.Any:
    return source.operand_names(*probe.calls[call])


def texts(names: typing.Any) -> list[str]:
    return [operand.text for operand in names.operands]


def test_a_place_has_file_line_columns_function_and_text(run: typing.Any) -> None:
    probe = run(
        """
        class Net:
            def call(self):
                return 1, p + q
        Net().call()
        """
    )
    place = source.locate(*probe.calls[0])
    assert place.file.endswith("program.py")
    assert (place.line, place.qualname) == (4, "Net.call")
    assert place.source_line == "        return 1, p + q"
    assert place.source_line[place.col_begin : place.col_end] == "p + q"


def test_columns_are_bytes(run: typing.Any) -> None:
    probe = run("größe, x = 'é', p + q\n")
    place = source.locate(*probe.calls[0])
    assert place.source_line.encode()[place.col_begin : place.col_end] == b"p + q"


def test_an_expression_of_several_lines_is_marked_on_its_first(run: typing.Any) -> None:
    probe = run("x = p(\n    1,\n    name=q,\n)\n")
    place = source.locate(*probe.calls[0])
    assert (place.line, place.source_line[place.col_begin : place.col_end]) == (1, "p(")


def test_a_frame_is_located_where_it_executes() -> None:
    place = source.locate_frame(sys._getframe())
    assert place.source_line.strip() == "place = source.locate_frame(sys._getframe())"
    assert place.qualname == "test_a_frame_is_located_where_it_executes"


def test_a_lambda_is_located(run: typing.Any) -> None:
    probe = run("f = lambda a: a + 1\nf(p)\n")
    place = source.locate(*probe.calls[0])
    assert (place.qualname, place.source_line[place.col_begin : place.col_end]) == (
        "<lambda>",
        "a + 1",
    )


def test_a_string_without_source_has_an_empty_line() -> None:
    probe = Probe()
    exec("x = p + p", {"p": probe})
    place = source.locate(*probe.calls[0])
    assert (place.file, place.line, place.source_line) == ("<string>", 1, "")
    assert names_of(probe) == source.OperandNames()


def test_a_string_that_linecache_knows_is_read() -> None:
    text = "y = p + q\n"
    linecache.cache["<generated 1>"] = (len(text), None, [text], "<generated 1>")
    probe = Probe()
    exec(compile(text, "<generated 1>", "exec"), {"p": probe, "q": probe})
    assert source.locate(*probe.calls[0]).source_line == "y = p + q"
    assert texts(names_of(probe)) == ["p", "q"]


def test_a_notebook_cell_is_called_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "/tmp/ipykernel_4242/1234567.py"
    linecache.cache[name] = (10, None, ["p + q\n"], name)
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map={name: 3}))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    probe = Probe()
    exec(compile("p + q\n", name, "exec"), {"p": probe, "q": probe})
    assert source.locate(*probe.calls[0])[:2] == ("In[3]", 1)
    code = compile("1", "<ipython-input-7-0abc12>", "eval")
    assert source.locate(code, 0).file == "In[7]"


@pytest.mark.parametrize(
    ("line", "kind", "operands"),
    [
        ("p + (q)", "binary", ["p", "q"]),
        ("p - p @ (q + 1)", "binary", ["q", "1"]),
        ("1 + p", "binary", ["1", "p"]),
        ("-p", "unary", ["p"]),
        ("p < q.calls", "compare", ["p", "q.calls"]),
        ("p < 1 < 2", "compare", ["p", "1"]),
        ("1 < 2 < p", "compare", ["2", "p"]),
        ("p[1:2]", "subscript", ["p", "1:2"]),
        ("p[0] = 3", "subscript", ["p", "0"]),
        ("p += 2", "assign", ["p", "2"]),
        ("p(q, *[1], k=2)", "call", ["q", "*[1]"]),
        ("p.method('a b')", "call", ["'a b'"]),
        ("[p(i) for i in range(1)]", "call", ["i"]),
    ],
)
def test_operands_are_what_was_typed(
    run: typing.Any, line: str, kind: str, operands: list[str]
) -> None:
    names = names_of(run(line + "\n"))
    assert (names.kind, texts(names)) == (kind, operands)


@pytest.mark.parametrize(
    "line",
    ["if p: pass", "while p: break", "x = 1 if p else 2", "if not p: pass", "a, b = p", "assert p"],
)
def test_a_value_asked_for_its_truth_or_items_is_no_operation(run: typing.Any, line: str) -> None:
    names = names_of(run(line + "\n"))
    # An instruction may carry the place of a bare name, which is not an operation.
    assert (names.kind, texts(names)) in [("value", ["p"]), ("", [])]
    assert names.targets == ((("a", "b"),) if names.kind and "a, b" in line else ())


def test_a_call_has_a_function_a_receiver_and_keywords(run: typing.Any) -> None:
    names = names_of(run("p.calls.copy(); tf.method(p, axis=-1, **{})\n"))
    assert (names.function, names.receiver.text) == ("tf.method", "tf")
    assert {k: v.text for k, v in names.keywords.items()} == {"axis": "-1"}


def test_spans_can_be_edited(run: typing.Any) -> None:
    text = "å = p(q,\n   name='é', x=q)\n"
    names = names_of(run(text))
    for operand in (*names.operands, *names.keywords.values()):
        row = text.splitlines()[operand.line - 1].encode()
        assert row[operand.col : operand.end_col].decode() == operand.text
    assert names.keywords["x"].line == 2


def test_an_operand_may_span_lines(run: typing.Any) -> None:
    names = names_of(run("x = tf(\n    max(1,\n        2), p)\n"))
    assert texts(names) == ["max(1,\n        2)", "p"]
    assert (names.operands[0].line, names.operands[0].end_line) == (2, 3)


def test_a_chain_of_calls_over_lines_is_told_apart(run: typing.Any) -> None:
    probe = run("x = (\n    p\n    .method(1)\n    .method(2)\n)\n")
    assert [texts(names_of(probe, i)) for i in (0, 1)] == [["1"], ["2"]]
    assert names_of(probe, 1).assigned_names == ("x",)
    assert names_of(probe, 0).assigned_names == ()


def test_two_expressions_on_a_line_are_told_apart(run: typing.Any) -> None:
    probe = run("x = p(1) + p(2)\n")
    assert [texts(names_of(probe, i)) for i in (0, 1, 2)] == [["1"], ["2"], ["p(1)", "p(2)"]]


@pytest.mark.parametrize(
    ("line", "targets", "holder"),
    [
        ("x = p(1)", (("x",),), ""),
        ("x: object = p(1)", (("x",),), ""),
        ("x = y = p(1)", (("x",), ("y",)), ""),
        ("self.h = p(1)", (("self.h",),), ""),
        ("self.h = (p(1))", (("self.h",),), ""),
        ("a, b = p(1)", (("a", "b"),), ""),
        ("a, *b = p(1)", (("a", "*b"),), ""),
        ("a, b = p(1), 2", (("a",),), ""),
        ("d = {}; d['k'] = p(1)", (("d['k']",),), ""),
        ("x = p(1) if 1 else 2", (("x",),), ""),
        ("print((x := p(1)), file=open('/dev/null', 'w'))", (("x",),), ""),
        ("with p(1) as x: pass", (("x",),), ""),
        ("x = id(p(1))", (), ""),
        ("x = id(p(1)) + 1", (), ""),
        ("p(1)", (), ""),
        ("cache.append(p(1))", (), "cache"),
        ("self.c = []; self.c.append(p(1))", (), "self.c"),
        ("x = [p(1), 2]", (), "x"),
        ("x = {'a': [p(1)]}", (), "x"),
        ("x = [p(1) for _ in range(1)]", (), "x"),
    ],
)
def test_a_result_has_the_name_it_was_given(
    run: typing.Any, line: str, targets: object, holder: str
) -> None:
    probe = run(line + "\n")
    names = names_of(probe)
    assert (names.targets, names.holder) == (targets, holder)


def test_an_augmented_assignment_names_its_target(run: typing.Any) -> None:
    assert names_of(run("p += 1\n")).assigned_names == ("p",)


def test_outputs_are_named_by_their_place() -> None:
    names = source.OperandNames("call", targets=(("a", "b", "*rest", "last"),))
    assert [names.name_of_output(i, 5) for i in range(4)] == ["a", "b", "", ""]
    assert source.OperandNames("call", targets=(("x",), ("y",))).name_of_output() == "x"
    assert source.OperandNames("call", targets=(("xs",),)).name_of_output(0, 2) == ""
    assert source.OperandNames().name_of_output() == ""


def test_a_decorator_applied_is_not_the_call_that_made_it(run: typing.Any) -> None:
    probe = run("@p(3)\ndef f(): pass\n@p\ndef g(): pass\n")
    kinds = [(names_of(probe, i).kind, names_of(probe, i).assigned_names) for i in range(3)]
    assert kinds == [("call", ()), ("decorate", ("f",)), ("decorate", ("g",))]


def test_a_file_that_changed_or_vanished_gives_no_wrong_names(
    run: typing.Any, tmp_path: pathlib.Path
) -> None:
    probe = run("x = p + q\n")
    path = tmp_path / "program.py"
    path.write_text("while:\n    not python ][\n")
    assert names_of(probe) == source.OperandNames()
    path.unlink()
    assert source.locate(*probe.calls[0]).source_line == ""
    assert names_of(probe) == source.OperandNames()


@pytest.mark.parametrize("lasti", [-1, 0, 2, 10_000])
@pytest.mark.parametrize(
    "filename", ["", "<stdin>", "no\0file", "/nonexistent/a.py", source.__file__]
)
def test_nothing_is_ever_raised(filename: str, lasti: int) -> None:
    code = compile("a = b + c", filename.replace("\0", ""), "exec").replace(co_filename=filename)
    assert isinstance(source.locate(code, lasti), source.Place)
    assert isinstance(source.operand_names(code, lasti), source.OperandNames)


def test_without_columns_the_line_is_still_known(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "from holdfast._messages import source as s\n"
        "print(s.locate_frame(sys._getframe())[1:])\n"
        "print(s.operand_names(sys._getframe().f_code, 20).kind == '')\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", str(program)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == [
        "(3, -1, -1, '<module>', 'print(s.locate_frame(sys._getframe())[1:])')",
        "True",
    ], done.stderr


def test_few_files_are_remembered(tmp_path: pathlib.Path) -> None:
    most = source_text._REMEMBERED
    for i in range(most + 5):
        path = tmp_path / f"f{i}.py"
        path.write_text("1 + 1\n")
        code = compile("p + p\n", str(path), "exec")
        source.operand_names(code, 4)
    assert len(source._files._known) == most
