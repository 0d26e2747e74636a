"""What is installed is the C++ library alone, whole, and of use to programs outside the tree.

`HOLDFAST_CXX` names the compiler of those programs: `./test --clang` comes here with clang's.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESET = os.environ.get("HOLDFAST_PRESET", "release")
BUILD = ROOT / "build" / PRESET
CXX = os.environ.get("HOLDFAST_CXX", "g++")
CAREFUL = shlex.split("-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror")
SLOPE = ["4", "2", "10", "5"]  # what the README's program prints

pytestmark = pytest.mark.skipif(
    PRESET != "release", reason="the package is built without sanitizers"
)

# Headers that documentation speaks of, besides all of `ops/*.h`; the others are installed because these include them.
PUBLIC = [
    "fwd.h",
    *("autodiff/forward.h", "autodiff/graph_gradient.h", "autodiff/tape.h"),
    *("base/config.h", "base/diagnostic.h", "base/parallel.h"),
    *("device/device.h", "device/dlpack.h", "device/named.h", "device/wrap.h"),
    *(
        "exec/bound.h",
        "exec/control.h",
        "exec/custom_gradient.h",
        "exec/flow.h",
        "exec/function.h",
        "exec/functional.h",
        "exec/init_scope.h",
        "exec/keep.h",
        "exec/module.h",
        "exec/printing.h",
        "exec/saving.h",
        "exec/session.h",
        "exec/vectorized_map.h",
    ),
    "graph/name_scope.h",
    "data/dataset.h",
    *("data/files.h", "io/example.h", "io/records.h"),
    *("keras/activations.h", "keras/constraints.h", "keras/initializers.h", "keras/regularizers.h"),
    *("keras/callbacks.h", "keras/models/clone.h", "keras/models/plot.h"),
    "keras/models/summary.h",
    *("keras/functional.h", "keras/layers.h", "keras/losses.h", "keras/metrics.h"),
    *("keras/optimizers.h", "keras/saving/model_files.h", "keras/sequential.h"),
    *("keras/model_handle.h", "keras/training.h"),
    *("op/context.h", "op/observer.h", "op/variable.h"),
    "tensor/live.h",
]


def run(*command, **options):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{command[0]}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A plain install, of everything that is installed where nobody asks for a component."""
    prefix = tmp_path_factory.mktemp("installed") / "prefix"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    text = (ROOT / "README.md").read_text()
    path = tmp_path_factory.mktemp("program") / "main.cpp"
    path.write_text(re.search(r"```cpp\n(.*?)```", text, re.DOTALL)[1])
    return path


def test_a_plain_install_is_the_cpp_library_and_nothing_of_python(prefix):
    files = files_below(prefix)
    assert not [f for f in files if re.search(r"\.py|_holdfast|python", f)]
    others = [f for f in files if not f.startswith("include/holdfast/")]
    places = r"lib(/[\w-]+)?/(lib(holdfast|holdfast_cuda|dnnl)\.so[.\d]*|pkgconfig/holdfast\.pc|cmake/holdfast/holdfast-\S+\.cmake)"
    assert not [f for f in others if not re.fullmatch(places, f)]


def test_the_component_of_the_library_is_all_that_a_plain_install_has(prefix, tmp_path):
    run("cmake", "--install", BUILD, "--component", "holdfast", "--prefix", tmp_path / "prefix")
    assert files_below(tmp_path / "prefix") == files_below(prefix)


def test_the_cuda_plugin_lies_beside_the_library(prefix):
    if not (BUILD / "libholdfast_cuda.so").exists():
        pytest.skip("built without the CUDA toolkit")
    (plugin,) = prefix.rglob("libholdfast_cuda.so")
    assert (plugin.parent / "libholdfast.so").exists()


def test_the_headers_that_are_installed_are_those_a_program_reads(prefix, tmp_path):
    """The compiler says which ones that are."""
    include = prefix / "include"
    (tmp_path / "all.cpp").write_text("#include <holdfast/holdfast.h>\n#include <holdfast/fwd.h>\n")
    words = run("g++", "-std=c++20", "-MM", "-I", include, tmp_path / "all.cpp").split()
    read = {os.path.relpath(word, include) for word in words if word.startswith(str(include))}
    assert read == files_below(include)


def test_everything_public_is_in_holdfast_h(prefix):
    text = (prefix / "include/holdfast/holdfast.h").read_text()
    included = set(re.findall(r'#include "holdfast/(\S+)"', text))
    ops = {f"ops/{path.name}" for path in (ROOT / "holdfast/ops").glob("*.h")}
    assert included - {"base/api.h"} == {*PUBLIC, *ops}


HEAVY = "algorithm chrono complex functional iostream map memory ostream ranges regex sstream thread unordered_map"


def test_programs_read_no_heavy_standard_header_because_of_us(tmp_path):
    """Each of these costs a program more than a tenth of a second; `bench/compile_time.py` says what the whole costs."""
    (tmp_path / "all.cpp").write_text("#include <holdfast/holdfast.h>\n")
    words = run("g++", "-std=c++20", "-M", "-I", ROOT, tmp_path / "all.cpp").split()
    read = {pathlib.Path(word).name for word in words if "/c++/" in word}
    assert "string" in read
    assert not read & set(HEAVY.split())


def test_programs_read_few_lines(tmp_path):
    """Lines stand for time, which no test measures: 1.4 s of CPU beyond the standard headers, for these."""
    (tmp_path / "all.cpp").write_text("#include <holdfast/holdfast.h>\n")
    text = run("g++", "-std=c++20", "-E", "-I", ROOT, tmp_path / "all.cpp")
    ours, origin = 0, ""
    for line in text.splitlines():
        if mark := re.match(r'# \d+ "([^"]*)"', line):
            origin = mark[1]
        elif line.strip():
            ours += f"{ROOT}/holdfast/" in origin
    assert 10_000 < ours < 14_500
    assert sum(1 for line in text.splitlines() if line.strip() and line[0] != "#") < 50_000


def test_no_macro_of_ours_lacks_our_name(tmp_path):
    """A program may call its own macros and functions as it likes."""
    ours, theirs = tmp_path / "ours.cpp", tmp_path / "theirs.cpp"
    ours.write_text("#include <holdfast/holdfast.h>\n")
    words = run("g++", "-std=c++20", "-M", "-I", ROOT, ours).split()
    names = {pathlib.Path(word).name for word in words if "/c++/" in word}
    theirs.write_text(
        "".join(
            f"#include <{name}>\n" for name in sorted(names) if "." not in name and "/" not in name
        )
    )
    macros = [
        set(re.findall(r"#define (\w+)", run("g++", "-std=c++20", "-dM", "-E", "-I", ROOT, path)))
        for path in (ours, theirs)
    ]
    assert not {name for name in macros[0] - macros[1] if not name.startswith("HOLDFAST_")}


def test_every_name_of_the_forward_declarations_is_one_of_ours(tmp_path):
    """A name that was changed elsewhere would stay here, declared and never defined."""
    text = (ROOT / "holdfast/fwd.h").read_text()
    text = re.sub(r"template <.*>\n.*", "", text)
    scope, lines = [], []
    for line in text.splitlines():
        if found := re.match(r"namespace (\w+) {", line):
            scope.append(found[1])
        elif line.startswith("}"):
            scope.pop()
        elif found := re.match(r"(?:class|struct|enum class) (\w+)", line):
            name = "::".join([*scope, found[1]])
            lines.append(f"static_assert(sizeof({name}) > 0);")
    assert len(lines) > 20
    includes = "#include <holdfast/fwd.h>\n#include <holdfast/holdfast.h>\n"
    (tmp_path / "names.cpp").write_text(includes + "\n".join(lines))
    run(CXX, "-std=c++20", "-fsyntax-only", "-I", ROOT, tmp_path / "names.cpp")


def test_each_installed_header_stands_alone_without_a_warning():
    """The target of the build compiles each by itself, and keeps what it found for the next time."""
    build = BUILD if CXX == "g++" else ROOT / "build/clang"
    run("ninja", "-C", build, "holdfast_headers_verify_interface_header_sets")


@pytest.mark.skipif(CXX == "g++", reason="the C++ tests have it")
def test_lines_are_the_callers_whichever_way_a_compiler_orders_arguments(tmp_path):
    source = ROOT / "tests/diagnostics/cpp/lines_test.cpp"
    libraries = ["-L", BUILD, "-lholdfast", f"-Wl,-rpath,{BUILD}", "-lgtest", "-lgtest_main"]
    run(CXX, "-std=c++20", "-I", ROOT, source, *libraries, "-o", tmp_path / "lines")
    run(tmp_path / "lines", cwd=ROOT)


@pytest.mark.parametrize(
    ("pretended", "needed"),
    [
        (["-std=c++17"], "C++20"),
        (["-std=c++20", "-D__clang__=1", "-D__clang_major__=15"], "clang 16"),
        (["-std=c++20", "-U__GNUC__", "-D__GNUC__=11"], "GCC 12"),
    ],
)
def test_an_older_compiler_is_told_what_is_needed(pretended, needed):
    command = ["g++", "-E", "-x", "c++", *pretended, "-I", str(ROOT), "-"]
    source = "#include <holdfast/holdfast.h>\n"
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert needed in re.search(r"error: (#error .*)", done.stderr)[1]


def test_a_program_finds_the_package_wherever_it_lies(prefix, program, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    build = tmp_path / "build"
    run("cmake", "-S", ROOT / "tests/package", "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={CXX}",
        f"-DCMAKE_PREFIX_PATH={moved}", f"-DPROGRAM={program}")  # fmt: skip
    run("cmake", "--build", build)
    assert run(build / "consumer").split() == SLOPE


def pkg_config(folder, *words):
    env = os.environ | {"PKG_CONFIG_PATH": str(folder / "pkgconfig")}
    return shlex.split(run("pkg-config", *words, "holdfast", env=env))


def test_pkg_config_serves_any_prefix_also_one_that_was_moved(prefix, program, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    for place in (prefix, moved):
        (folder,) = (path.parent for path in place.rglob("libholdfast.so"))
        flags = pkg_config(folder, "--cflags", "--libs")
        if place == moved:
            assert not [flag for flag in flags if str(prefix) in flag]
        made = tmp_path / f"{place.name}.out"
        run(CXX, *CAREFUL, program, *flags, "-o", made)
        assert run(made, env=os.environ | {"LD_LIBRARY_PATH": str(folder)}).split() == SLOPE


@pytest.fixture(scope="module")
def part_of_another(program, tmp_path_factory):
    """The build folder of a project that has this tree inside, configured and no more."""
    build = tmp_path_factory.mktemp("part")
    run("cmake", "-S", ROOT / "tests/package", "-B", build, "-G", "Ninja", f"-DHOLDFAST_SOURCE={ROOT}",
        f"-DPROGRAM={program}", f"-DCMAKE_CXX_COMPILER={CXX}", "-DHOLDFAST_CUDA=OFF",
        "-DHOLDFAST_INSTALL=ON", "-DCMAKE_INSTALL_LIBDIR=lib/deep")  # fmt: skip
    return build


def test_the_tree_serves_as_a_part_of_another_project(part_of_another):
    """The program is compiled and linked as that build would do it. The library would take minutes: the one that is
    built already stands in for it."""
    build = part_of_another
    steps = run("ninja", "-C", build, "-t", "commands", "consumer").splitlines()
    assert not re.search(r"_holdfast|holdfast_tests|example_|gtest", "\n".join(steps))
    (unit,) = (line for line in steps if line.endswith("main.cpp"))
    assert "-Wall" in unit and "-fsyntax-only" not in unit
    for library in BUILD.glob("libholdfast.so*"):
        (build / "holdfast" / library.name).symlink_to(library)
    for step in (unit, steps[-1]):
        run("sh", "-c", step, cwd=build)
    assert run(build / "consumer").split() == SLOPE


def test_pkg_config_goes_up_from_a_folder_of_any_depth(part_of_another, tmp_path):
    folder = tmp_path / "prefix/lib/deep"
    (folder / "pkgconfig").mkdir(parents=True)
    shutil.copy(part_of_another / "holdfast/holdfast.pc", folder / "pkgconfig")
    (found,) = pkg_config(folder, "--variable=includedir")
    assert pathlib.Path(found).resolve() == (tmp_path / "prefix/include").resolve()
    (found,) = pkg_config(folder, "--variable=libdir")
    assert pathlib.Path(found).resolve() == folder.resolve()
