"""What the README says is true: its programs run, and the installed C++ package serves one outside the tree."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESET = os.environ.get("HOLDFAST_PRESET", "release")
SLOPE = ["4", "2", "10", "5"]


def readme(language):
    return re.search(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def test_the_python_program_of_the_readme_prints_the_slope(tmp_path):
    (tmp_path / "app.py").write_text(readme("python"))
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert re.findall(r"\d+", done.stdout) == SLOPE


@pytest.mark.skipif(PRESET != "release", reason="the package is built without sanitizers")
def test_a_program_outside_the_tree_finds_and_uses_the_package(tmp_path):
    build = ROOT / "build" / PRESET
    prefix = tmp_path / "prefix"

    def run(*command, **options):
        return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout

    (tmp_path / "main.cpp").write_text(readme("cpp"))
    run("cmake", "--install", str(build), "--component", "library", "--prefix", str(prefix))
    run("cmake", "-S", str(ROOT / "tests/package"), "-B", str(tmp_path / "build"), "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPROGRAM={tmp_path / 'main.cpp'}")  # fmt: skip
    run("cmake", "--build", str(tmp_path / "build"))
    assert run(str(tmp_path / "build/consumer")).split() == SLOPE
    assert list(prefix.rglob("holdfast.pc"))


def test_the_folders_include_only_what_the_design_allows():
    """holdfast/X may include the folders it stands on, and theirs."""
    below = {
        "base": [],
        "tensor": ["base"],
        "device": ["tensor"],
        "op": ["device"],
        "expr": ["op"],
        "io": ["tensor"],
        "ops": ["expr", "io"],
        "graph": ["ops"],
        "autodiff": ["graph", "ops"],
        "passes": ["graph"],
        "exec": ["passes", "autodiff"],
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


def test_importing_the_package_prints_nothing():
    command = [sys.executable, "-c", "import holdfast"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
