"""Messages in programs of many shapes: each names the lines and words that its program marks.

A program of `tests/diagnostics/shapes` begins with `=== CODE what it is about`. `#@` at the end of a
line says what the message holds: `#@` alone that it shows this line, `#@ says: NAME` these words, and
`#@ fix: WORDS` that a fix has them. A fix marked `tested` is carried out, and the program runs then.
"""

import linecache
import pathlib
import re
import sys

import pytest

import holdfast as tf

FOLDER = pathlib.Path(__file__).parents[1] / "diagnostics" / "shapes"
MARK = re.compile(r"#@(?: (says|fix): ([^#]*[^#\s]))?")


def programs():
    for path in sorted(FOLDER.glob("*.txt")):
        for part in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
            head, _, source = part.partition("\n")
            yield pytest.param(head.split()[0], source, id=head.replace(" ", "_"))


def run(source, file):
    """Runs a program as a notebook does; what ended it, or None."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        exec(compile(source, file, "exec"), {"__name__": "shape"})
    except tf.errors.DiagnosticError as error:
        return error
    return None


def without_source(text):
    """A message without the lines it shows: what it says in its own words, on one line."""
    return " ".join(re.sub(r"^\s*\d+ \|.*", "", text, flags=re.MULTILINE).split())


@pytest.mark.parametrize(("code", "source"), list(programs()))
def test_a_message_has_what_its_program_marks(code, source, request, capsys):
    file = f"<{request.node.callspec.id}>"
    error = run(source, file)
    text = str(error)
    if code[0] == "W":
        assert error is None, text
        text = capsys.readouterr().err
    assert f"[{code}]: " in text
    first, *rest = text.splitlines()
    assert len(first) <= 100 and not first.endswith("…") and len(rest) < 25, text
    own = without_source(text)
    for number, line in enumerate(source.splitlines(), 1):
        for kind, words in MARK.findall(line):
            if not kind:
                assert re.search(rf"^\s*{number} \|", text, re.MULTILINE), (number, text)
            else:
                assert words in (own.partition("fix:")[2] if kind == "fix" else own), (words, text)
    fixes = error.diagnostic.fixes if error is not None else ()
    for i, fix in enumerate(each for each in fixes if each.applicability == "tested"):
        lines = source.split("\n")
        for edit in sorted(fix.edits, key=lambda e: (e.line, e.col), reverse=True):
            at = edit.line - 1
            new = lines[at].replace(edit.old, edit.new, 1) if edit.old else edit.new + lines[at]
            lines[at] = new
        assert run("\n".join(lines), f"{file}{i}") is None, fix


REBUILT = """import holdfast as tf
class Net(tf.Module):
    def __init__(self):
        self.parts = {"a": tf.Variable([1.0]), "b": tf.Variable([2.0])}
    def decay(self):
        self.parts = {k: v - 0.1 for k, v in self.parts.items()}
net = Net()
net.decay()
with tf.GradientTape() as tape:
    y = net.parts["a"] + net.parts["b"]
found = tape.gradient(y, list(net.parts.values()))
assert None not in found
"""


def test_a_dict_of_variables_that_a_method_rebuilds(capsys):
    """Its message shows the method's line, and the edit that it gives makes the program right."""
    with pytest.raises(AssertionError):
        run(REBUILT, "<rebuilt>")
    text = capsys.readouterr().err
    assert "[W0502]" in text and "rebound here: from now on `self.parts` holds tensors" in text
    edit = "for k, v in self.parts.items(): v.assign_sub(0.1)"
    assert f"+         {edit}\n" in text
    old = "self.parts = {k: v - 0.1 for k, v in self.parts.items()}"
    assert run(REBUILT.replace(old, edit), "<mended>") is None


UNBOUND = """import holdfast as tf
counter = tf.{}
@tf.function
def bump():
    counter += 1
    return counter
bump()
"""


@pytest.mark.parametrize(
    ("made", "fix"),
    [("Variable(0)", "`counter.assign_add(1)`"), ("constant(0)", "`global counter`")],
)
def test_a_name_that_an_assignment_makes_local_is_explained(made, fix):
    source, file = UNBOUND.format(made), f"<unbound {made}>"
    with pytest.raises(UnboundLocalError) as raised:
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), {"__name__": "shape"})
    (note,) = raised.value.__notes__
    assert f"{file}:5" in note and f"{file}:2" in note and fix in note


# An expression is named by its source, wherever it stands.

EXPRESSIONS = {
    "x * 3.0": lambda x: tf.reshape(x * 3.0, [4, -1]),
    "tf.nn.softmax(x[:, :2])": lambda x: tf.stack([x[0] + 1.0, tf.nn.softmax(x[:, :2])]),
    "tf.transpose(x)[:, :2]": lambda x: tf.concat([x + 1.0, tf.transpose(x)[:, :2]], axis=0),
    "x[:2] * 2.0": lambda x: tf.add_n([x, x[:2] * 2.0]),
    "x[:2] - 2.0": lambda x: tf.where(x > 1.0, x[:2] - 2.0, x),
    "x[:2] + 1.0": lambda x: tf.matmul(a=x * 2.0, b=x[:2] + 1.0),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_named_as_it_is_written(text, traced):
    f = EXPRESSIONS[text]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        (tf.function(f) if traced else f)(tf.ones([3, 3]))
    assert f"`{text}` is float32" in str(caught.value).splitlines()[0]


def test_a_list_that_becomes_one_tensor_is_not_named_by_its_first_item():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.reshape([tf.ones([3]) + 1.0, tf.ones([3])], [4, -1])
    assert "`tensor` is float32[2,3]" in str(caught.value).splitlines()[0]


STEPS = """import holdfast as tf
def step_all(tape, loss, held):
    grads = tape.gradient(loss, held)
    return [w - 0.1 * g for w, g in zip(held, grads)]
def step_one(tape, loss, w):
    return w - 0.1 * tape.gradient(loss, w)
"""

REPLACED = {
    "list": """import holdfast as tf
import steps_elsewhere
ws = [tf.Variable(1.0), tf.Variable(2.0)]
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = ws[0] * ws[1]
    ws = steps_elsewhere.step_all(tape, loss, ws)
""",
    "name": """import holdfast as tf
from steps_elsewhere import step_one
rate = tf.Variable(1.0)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = rate * rate
    rate = step_one(tape, loss, rate)
""",
    "attribute": """import holdfast as tf
import steps_elsewhere as steps
class Line:
    def __init__(self):
        self.slope = tf.Variable(1.0)
    def fit(self):
        with tf.GradientTape() as tape:
            loss = self.slope * 3.0
        self.slope = steps.step_one(tape, loss, self.slope)
line = Line()
for _ in range(3):
    line.fit()
""",
}


@pytest.mark.parametrize("shape", REPLACED)
def test_a_helper_of_another_module_that_replaces_a_variable_is_found(shape, tmp_path, monkeypatch):
    (tmp_path / "steps_elsewhere.py").write_text(STEPS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "steps_elsewhere", raising=False)
    source = REPLACED[shape]
    error = run(source, f"<replaced {shape}>")
    name = {"list": "ws", "name": "rate", "attribute": "self.slope"}[shape]
    assert error.code == "E0404" and f"`{name}" in str(error).splitlines()[0]
    rebound = next(label for label in error.diagnostic.labels if label.role == "rebound")
    assert f"{name} = step" in source.splitlines()[rebound.loc.line - 1]
    assert any("assign(" in fix.title + str(fix.edits) for fix in error.diagnostic.fixes)
    for fix in error.diagnostic.fixes:
        for edit in fix.edits:
            assert run(source.replace(edit.old, edit.new), f"<mended {shape}>") is None
