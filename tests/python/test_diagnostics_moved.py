"""A program that fails says the same wherever it stands: code, lines and names stay right."""

import ast
import io
import json
import pathlib
import re
import subprocess
import sys
import tokenize

import pytest

PROGRAMS = sorted((pathlib.Path(__file__).parents[1] / "diagnostics").glob("*.py"))

# Runs each program as the plan says, in a fork of its own: some of them set up devices. Prints what each said.
CHILD = """
import importlib, json, linecache, os, pathlib, sys
os.environ["HOLDFAST_DIAG_JSON"] = "warned.json"
log = pathlib.Path("warned.json")
import holdfast

def shown(data):
    spans = [(s["file"].rpartition("/")[2], s["line"], s["role"]) for s in data["spans"]]
    return {"code": data["code"], "message": data["message"], "spans": sorted(spans)}

def run(name, how, file, source):
    log.write_text("")
    said = []
    out, sys.stdout = sys.stdout, open("/dev/null", "w")
    try:
        if how == "import":
            importlib.import_module(file)
        else:
            if how == "cached":
                lines = source.splitlines(keepends=True)
                linecache.cache[file] = (len(source), None, lines, file)
            exec(compile(source, file, "exec"), {"__name__": "moved"})
        said = [json.loads(line) for line in log.read_text().splitlines()]
    except Exception as error:
        found = getattr(error, "diagnostic", None)
        if found is None and how != "bare":
            raise
        if found is not None:
            said = [json.loads(found.to_json())]
    sys.stdout = out
    print(json.dumps([name, shown(said[-1]) if said else None]), flush=True)

for plan in json.load(open(sys.argv[1])):
    child = os.fork()
    if not child:
        run(*plan)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{plan[0]} ended otherwise")
"""


def indented(source, by):
    return "".join(" " * by + line if line.strip() else line for line in source.splitlines(True))


def in_function(source):
    return f"def moved():\n{indented(source, 4)}\n\nmoved()\n", 1


def in_method(source):
    return f"class Moved:\n    def run(self):\n{indented(source, 8)}\n\nMoved().run()\n", 2


def in_lambda(source):
    return f"def moved():\n{indented(source, 4)}\n\nbegin = lambda: moved()\nbegin()\n", 1


def in_static_method(source):
    head = "class Moved:\n    class Inner:\n        @staticmethod\n        def run():\n"
    return f"{head}{indented(source, 12)}\n\nMoved.Inner.run()\n", 4


def in_generator(source):
    return f"def moved():\n{indented(source, 4)}\n    yield\n\nlist(moved())\n", 1


def in_thread(source):
    tail = "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(1) as pool:\n    pool.submit(moved).result()\n"
    return f"def moved():\n{indented(source, 4)}\n\n{tail}", 1


def below(source):
    return "# one\n\n\n" + source, 3


def own_names(tree):
    """The names that a program gives to things, and the name it has for the package."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.alias(asname=str(name))
            ):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def renamed(text, names):
    # A word in quotes is a text of the program, and stays.
    return re.sub(
        r'(?<![\w<"])[A-Za-z_]\w*', lambda m: f"{m[0]}_2" if m[0] in names else m[0], text
    )


def with_other_names(source):
    names = {
        name for name in own_names(ast.parse(source)) if not name.startswith("__") and name != "np"
    }
    out, rows = [], source.splitlines(True)
    tokens = [
        t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.NAME
    ]
    for number, row in enumerate(rows, 1):
        for token in reversed([t for t in tokens if t.start[0] == number and t.string in names]):
            row = row[: token.start[1]] + token.string + "_2" + row[token.end[1] :]
        out.append(row)
    return "".join(out), names


def said_by(plans, folder):
    (folder / "plans.json").write_text(json.dumps(plans))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, "plans.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


def quoted(message):
    """The program's own names in a headline. A place that is a global in a module is not in a function."""
    return re.findall(r"`([^`]*)`", message)


def golden(path):
    """Code, headline and cited lines of the program where it stands, by its golden text."""
    text = path.with_suffix(".txt").read_text()
    head = re.match(r"\w+\[(\w+)\]: (.*)", text)
    lines = [int(line) for line in re.findall(r"^ *(\d+) \|", text.split(" why:")[0], re.MULTILINE)]
    return head[1], head[2], lines


def check(path, said, file, shift, names=()):
    code, message, lines = golden(path)
    assert said is not None, "nothing was said"
    assert said["code"] == code
    assert quoted(said["message"]) == quoted(renamed(message, names))
    assert sorted({line for _, line, _ in said["spans"]}) == [line + shift for line in lines]
    assert {name for name, _, _ in said["spans"]} == {file}


MOVES = {
    "a function": in_function,
    "a method": in_method,
    "a static method of an inner class": in_static_method,
    "a function that a lambda calls": in_lambda,
    "a generator": in_generator,
    "a thread": in_thread,
    "further down": below,
}


@pytest.mark.parametrize("move", MOVES)
def test_in(move, tmp_path):
    plans, shifts = [], {}
    for path in PROGRAMS:
        source, shifts[path.stem] = MOVES[move](path.read_text())
        (tmp_path / f"moved_{path.stem}.py").write_text(source)
        plans.append((path.stem, "import", f"moved_{path.stem}", source))
    said = said_by(plans, tmp_path)
    for path in PROGRAMS:
        check(path, said[path.stem], f"moved_{path.stem}.py", shifts[path.stem])


def test_with_other_names(tmp_path):
    plans, names = [], {}
    for path in PROGRAMS:
        source, names[path.stem] = with_other_names(path.read_text())
        (tmp_path / f"moved_{path.stem}.py").write_text(source)
        plans.append((path.stem, "import", f"moved_{path.stem}", source))
    said = said_by(plans, tmp_path)
    for path in PROGRAMS:
        check(path, said[path.stem], f"moved_{path.stem}.py", 0, names[path.stem])


def test_in_a_notebook_cell(tmp_path):
    files = {path.stem: f"<ipython-input-{i}-0a1b2c3d>" for i, path in enumerate(PROGRAMS, 1)}
    said = said_by([(p.stem, "cached", files[p.stem], p.read_text()) for p in PROGRAMS], tmp_path)
    for i, path in enumerate(PROGRAMS, 1):
        check(path, said[path.stem], f"In[{i}]", 0)


def test_in_code_whose_source_only_python_knows(tmp_path):
    files = {path.stem: f"<cell {path.stem}>" for path in PROGRAMS}
    said = said_by([(p.stem, "cached", files[p.stem], p.read_text()) for p in PROGRAMS], tmp_path)
    for path in PROGRAMS:
        check(path, said[path.stem], files[path.stem], 0)


# What these say needs the source: it was to be converted, or an edit is made in it.
NEED_SOURCE = (
    "E0901",
    "E0902",
    "E0104_one_side",
    "W0602",
    "W0604",
    "E0101_never_called",
    "E0404",
    "E0503_inner",
)


def test_in_code_without_source_lines_stay_right(tmp_path):
    files = {path.stem: f"<string {path.stem}>" for path in PROGRAMS}
    said = said_by([(p.stem, "bare", files[p.stem], p.read_text()) for p in PROGRAMS], tmp_path)
    for path in PROGRAMS:
        code, _, lines = golden(path)
        one = said[path.stem]
        if path.stem.startswith(NEED_SOURCE):
            assert one is None or re.fullmatch(r"[EW]\d{4}", one["code"])
            continue
        assert one is not None and one["code"] == code, path.stem
        # A function is then where its first decorator is, the line above in these programs.
        known = {*lines, *(line - 1 for line in lines)}
        assert {line for _, line, _ in one["spans"]} <= known, path.stem
        assert {name for name, _, _ in one["spans"]} <= {files[path.stem]}
