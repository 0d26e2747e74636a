"""What the README says is true, and the tree is laid out as it says; the C++ package has a file of its own."""

import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLOPE = ["4", "2", "10", "5"]


def readme(language):
    return re.search(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def test_the_python_program_of_the_readme_prints_the_slope(tmp_path):
    (tmp_path / "app.py").write_text(readme("python"))
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert re.findall(r"\d+", done.stdout) == SLOPE


def test_the_folders_include_only_what_the_design_allows():
    """holdfast/X may include the folders it stands on, and theirs."""
    below = {
        "base": [],
        "tensor": ["base"],
        "device": ["tensor"],
        "op": ["device"],
        "expr": ["op"],
        "io": ["device"],
        "ops": ["expr", "io"],
        "graph": ["ops"],
        "autodiff": ["graph", "ops"],
        "passes": ["graph"],
        "exec": ["passes", "autodiff"],
        "data": ["exec", "io"],
        "keras": ["exec", "data", "io"],
        "cuda": ["op", "expr"],
    }

    def allowed(folder):
        found = {folder}
        for other in below[folder]:
            found |= allowed(other)
        return found

    wrong = []
    for path in sorted((ROOT / "holdfast").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".cu", ".def") or path.parent == ROOT / "holdfast":
            continue
        folder = path.relative_to(ROOT / "holdfast").parts[0]
        for line in path.read_text().splitlines():
            found = re.match(r'#include [<"](holdfast/(\w+)/\S+)[">]', line)
            if found and found[2] not in allowed(folder):
                wrong.append(f"{path.relative_to(ROOT)} includes {found[1]}")
    assert not wrong, "\n".join(wrong)


# The rooms of the Python package, the lowest first; `python/holdfast/README.md` tells what they hold.
# A room imports those before it and nothing after it, also where it imports late, inside a function.
ROOMS = [
    *("_structures", "nest", "_messages", "errors", "_devices", "_tensors", "_graphs"),
    *("_variables", "_checkpoints", "_records", "_gradients", "_tracing", "_flow"),
    *("_composites", "config", "debugging", "random", "_names", "_autograph", "autograph"),
    *("data", "distribute", "keras", "_v1", "compat", "", "__main__"),
]
SOURCES = ROOT / "python" / "holdfast"


def python_modules():
    """The package's modules by their names below it, each with the package it is in and its tree."""
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        around = name if is_package else ".".join(parts[:-1])
        found[name] = around, ast.parse(path.read_text())
    return found


def imports(tree):
    """Every import of a module, inside functions too; not those that only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        yield from imports(node)


def imported_modules():
    """Which module imports which, both by their names below the package."""
    modules = python_modules()
    edges = {name: set() for name in modules}
    for name, (around, tree) in modules.items():
        for node in imports(tree):
            if isinstance(node, ast.Import):
                absolute = [(each.name, "") for each in node.names]
            elif not node.level:
                absolute = [(node.module, each.name) for each in node.names]
            else:
                above = around.split(".") if around else []
                above = above[: len(above) - node.level + 1]
                base = ".".join(["holdfast", *above, *filter(None, [node.module])])
                absolute = [(base, each.name) for each in node.names]
            for base, leaf in absolute:
                if base.partition(".")[0] != "holdfast":
                    continue
                below = base.partition(".")[2]
                inner = f"{below}.{leaf}".strip(".")
                if inner.partition(".")[0] != "_holdfast":  # the binding, below everything
                    edges[name].add(inner if inner in modules else below)
    return edges


def test_no_python_module_imports_itself_by_any_way_round():
    edges, done = imported_modules(), set()

    def visit(module, path):
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in done:
            for other in sorted(edges[module]):
                visit(other, [*path, module])
            done.add(module)

    for module in edges:
        visit(module, [])


def test_the_rooms_of_the_python_package_stand_on_those_below():
    wrong = [
        f"{module} imports {other}"
        for module, others in imported_modules().items()
        for other in others
        if ROOMS.index(other.partition(".")[0]) > ROOMS.index(module.partition(".")[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_the_readme_of_the_package_has_the_rooms_in_their_order():
    rows = re.findall(r"^\| `(\w+)` \|", (SOURCES / "README.md").read_text(), re.MULTILINE)
    assert rows == [room for room in ROOMS if room.startswith("_") and room != "__main__"]


def test_no_underscore_inside_an_underscored_folder():
    hidden = [
        path.relative_to(SOURCES)
        for path in SOURCES.rglob("*.py")
        if any(part.startswith("_") for part in path.relative_to(SOURCES).parts[:-1])
        if path.name.startswith("_") and path.name != "__init__.py"
    ]
    assert not hidden


def test_generated_code_has_names_of_our_own():
    theirs = [
        path.relative_to(SOURCES) for path in SOURCES.rglob("*.py") if "ag__" in path.read_text()
    ]
    assert not theirs


def test_importing_the_package_prints_nothing():
    command = [sys.executable, "-c", "import holdfast"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
