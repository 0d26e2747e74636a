"""What the C++ library tells a C++ program is C++: no Python stands in the words of its messages.

Pieces of code that messages advise stand in the one table of `op/advice.cpp`, in both languages. This
reads that table, and all other literals of the library.
"""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [p for p in sorted((ROOT / "holdfast").rglob("*")) if p.suffix in (".cpp", ".h")]
ADVICE = ROOT / "holdfast" / "op" / "advice.cpp"

PYTHON = re.compile(
    r"\btf\.|\$tf|`with |as_default|\bfeed_dict\b|py_function|\.numpy\(|\bnumpy\b|NumPy|\blambda\b"
    r"|super\(\)|__\w+__|\bself\.|@\w|sess\.run|Session\(graph|\w=(True|False|None)\b|\w=\{|\bdel "
    r"|`\w+=[\w\"'-]+`|\[tf|\bis None\b"
)
CPP = re.compile(r"holdfast::|\{\.\w|;`?$|::\w|->")

# Parts of an op's definition that are Python by what they are: names, docs, samples, references.
OF_PYTHON = ("python", "doc", "samples", "reference", "options", "HOLDFAST_NUMPY")
# What stands in a text form of ours, in CUDA's, or is said of a raw op's attribute in its own words.
OF_OTHERS = {
    "holdfast/cuda/source.cpp",  # the source of kernels: `__restrict__`
    "holdfast/cuda/statements.cpp",  # likewise: `__device__`
    "holdfast/ops/nn/numpy_reference.h",  # what samples are compared with
}
ALLOWED = {
    (
        "brackets take NumPy's basic slicing; lists, masks and index arrays have functions of "
        "their own"
    ),
    "Truncate=True",
    "rounding to the nearest, Truncate=False",
    "fast=True is written with other ops, in `linalg.lstsq`",
    "__metadata__",  # a key of the safetensors format
    # Words of Keras' configs.
    "__numpy__",
    "__tensor__",
    "__slice__",
    "__ellipsis__",
    "keras.src.ops.numpy",
    "__keras_tensor__",  # words of Keras' configs
    "__tuple__",
}


def without_calls(text, names):
    """The text without the calls `.name(...)`."""
    out, at = [], 0
    for found in re.finditer(rf"\.(?:{'|'.join(names)})(?:<[^;]*?>)?\(", text):
        if found.start() < at:
            continue
        out.append(text[at : found.start()])
        at, depth, quoted = found.end(), 1, False
        while depth and at < len(text):
            c = text[at]
            if quoted:
                at += c == "\\"
                quoted = c != '"'
            elif c == '"':
                quoted = True
            else:
                depth += (c == "(") - (c == ")")
            at += 1
    return "".join([*out, text[at:]])


# Samples and references that macros of several ops share.
SAMPLE = re.compile(r"np\.|^uniform\(|^\(lambda ")


def literals(path):
    text = re.sub(r"(?m)^\s*#(include|error)[^\n]*|//[^\n]*", "", path.read_text())
    text = re.sub(r'"\s*\n\s*"', "", without_calls(text, OF_PYTHON))  # of several lines, one
    found = re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)
    return [each for each in found if not SAMPLE.search(each)]


def forms():
    """The table of advice: enumerator, C++, Python."""
    text = re.sub(r'"\s*\n\s*"', "", ADVICE.read_text())
    piece = r'"((?:[^"\\]|\\.)*)"'
    return re.findall(rf"\{{Advice::(\w+),\s*{piece},\s*{piece}\}}", text)


def test_every_advice_is_written_in_both_languages():
    header = (ROOT / "holdfast" / "op" / "advice.h").read_text()
    body = re.search(r"enum class Advice[^{]*\{(.*?)\};", header, re.DOTALL)[1]
    named = re.findall(r"\bk[A-Z]\w+", re.sub(r"//[^\n]*", "", body))
    assert [name for name, _, _ in forms()] == named and len(named) > 20


def test_advice_to_a_cpp_program_is_cpp_and_advice_to_python_is_python():
    for name, cpp, python in forms():
        assert not PYTHON.search(cpp), name
        assert not CPP.search(python), name


def test_no_python_stands_in_the_words_of_the_library():
    found = []
    for path in SOURCES:
        shown = path.relative_to(ROOT).as_posix()
        if path != ADVICE and shown not in OF_OTHERS:
            found += [
                f"{shown}: {t}" for t in literals(path) if PYTHON.search(t) and t not in ALLOWED
            ]
    assert not found


def test_what_is_allowed_is_there():
    there = {text for path in SOURCES for text in literals(path)}
    assert there >= ALLOWED and all((ROOT / path).exists() for path in OF_OTHERS)


# What stands in the places of each form that is code, in the program below.
CODE = {
    "kEnterGraph": ["graph"],
    "kOpenSession": ["graph"],
    "kRunInSession": ["x"],
    "kCloseSession": ["session"],
    "kCast": ["x", "holdfast::float64"],
    "kCopy": ["x"],
    "kOnDevice": ["CPU:0"],
    "kZeros": ["{2, 3}", "holdfast::float32"],
    "kKeep": ["x"],
    "kPersistent": [],
    "kWatch": ["other", "x"],
    "kTraced": [],
    "kSetSeed": [],
    "kDeterministic": [],
    "kNewAxis": ["x"],
    "kSoftmax": [],
    "kOneHot": ["x", "3"],
    "kArgmax": ["x"],
    "kStraightThrough": [],
    "kLastAxis": ["x"],
    "kTranspose": ["x"],
    "kReshape": ["x", "{2, 3}"],
}
# Words, or a piece of what the program has.
WORDS = {
    "kFeed", "kInsideBlock", "kCollect", "kLookAtNumbers", "kNothing", "kOps", "kTakeNoNumbers",
    "kOption", "kFeedInput", "kConstructLayer", "kBuildBase", "kGrows",
}  # fmt: skip
# Methods, and names that stand for the program's own.
NOT_OURS = {"activation", "call", "conv", "defined", "dy", "fields", "if", "layer", "net"}


def advised_names():
    """Functions that the library's words name: `holdfast::f`, or a call of them in a piece of code."""
    for path in SOURCES:
        for text in literals(path):
            if path.suffix == ".cpp" and "cuda" not in path.parts:
                yield from re.findall(r"holdfast::((?:\w+::)*[a-z_]\w*)\b(?!:)", text)
            for code in re.findall(r"`([^`]*)`", text):
                yield from re.findall(r"(?<![\w.:>])([a-z_]\w*)\(", code)


def test_what_a_cpp_program_is_told_to_write_compiles(tmp_path):
    assert CODE.keys() | WORDS == {name for name, _, _ in forms()}
    names = sorted(set(advised_names()) - NOT_OURS)
    assert {"nn::softmax", "cast", "gather"} <= {*names}
    lines = [f"using holdfast::{name};" for name in names]
    for name, cpp, _ in forms():
        if name in CODE:
            code = re.sub(r"\$(\d)", lambda m, name=name: CODE[name][int(m[1])], cpp)
            code = code.replace('\\"', '"').replace("step(x)", "x")
            if re.fullmatch(r"[\w:]+", code):
                continue  # the name of a function, which is among the others
            lines.append(f"void {name}() {{ {code}{'' if code.endswith(';') else ';'} }}")
    program = tmp_path / "advised.cpp"
    program.write_text(
        "#include <holdfast/holdfast.h>\nusing namespace holdfast;\nTensor x;\nGradientTape other;\n"
        'auto graph = make_graph("g");\nSession session(graph);\n' + "\n".join(lines) + "\n"
    )
    done = subprocess.run(
        ["g++", "-std=c++20", "-fsyntax-only", f"-I{ROOT}", str(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
