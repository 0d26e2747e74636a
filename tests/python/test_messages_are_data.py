"""A message is data until it is shown: who knows more adds facts, and nobody reads its sentences.

What the program calls things is asked before the words are made, so nothing is renamed in them.
"""

import ast
import pathlib
import re

import pytest

import holdfast as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
SENTENCES = {"headline", "why", "text", "title"}


def _looks_into(node, parent):
    """Whether code examines the sentence that `node` is, rather than hand it on."""
    match parent:
        case ast.Attribute(attr=method):  # `rstrip` of a full stop joins two sentences
            return method != "rstrip"
        case ast.Compare() | ast.Subscript():
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module))) if module == "re":
            return True
        case ast.Call(
            func=ast.Attribute(attr="match" | "search" | "sub" | "findall" | "fullmatch")
        ):
            return True
    return False


def _readers(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Load()) if key in SENTENCES:
                if _looks_into(node, parents[node]):
                    yield f"{path.name}:{node.lineno}: {ast.unparse(parents[node])}"


def test_the_walk_finds_a_reader(tmp_path):
    code = tmp_path / "reader.py"
    code.write_text(
        "def f(said):\n"
        "    said['headline'] = said['headline'].replace('a', 'b')\n"
        "    if label['text'].endswith(', in eager code') or 'x' in said['why']:\n"
        "        return re.match('layer', said['headline'])\n"
        "    return said | {'why': said['why']}\n"
    )
    assert len(list(_readers(code))) == 4


def test_no_python_code_reads_the_sentences_of_a_message():
    found = [each for path in (ROOT / "python").rglob("*.py") for each in _readers(path)]
    assert not found


def test_no_code_of_the_library_reads_them():
    reading = re.compile(
        r"\b(?:headline|why|title|label\.text|l\.text)\(?\)?\.(?:find|rfind|starts_with|ends_with|substr|compare)\("
    )
    own = "base/diagnostic.cpp"  # says who speaks, once, when a message is raised
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("holdfast", "python/bind")
        for path in (ROOT / folder).rglob("*.cpp")
        if not path.as_posix().endswith(own)
        for line in path.read_text(encoding="utf-8").splitlines()
        if reading.search(line)
    ]
    assert not found


def said(f, kind=Exception):
    with pytest.raises(kind) as caught:
        f()
    return caught.value


def test_a_number_out_of_range_has_the_nearest_allowed_one_for_its_fix():
    x = tf.constant([[1.0, 2.0, 3.0]])
    cases = {
        "2": lambda: tf.gather(x[0], 7),
        "0": lambda: tf.gather(x[0], -4),
        "1": lambda: tf.repeat(x, 2, axis=5),
        "-2": lambda: tf.unstack(x, axis=-9),
        "3": lambda: tf.reverse_sequence(x, [8], seq_axis=1),
    }
    for nearest, call in cases.items():
        error = said(call)
        assert error.code == "E1103"
        titles = [fix.title for fix in error.diagnostic.fixes]
        assert titles == [f"`{nearest}` is the nearest allowed value"], titles


def test_nothing_is_advised_where_nothing_is_allowed():
    error = said(lambda: tf.gather(tf.zeros([0]), 0))
    assert error.code == "E1103" and not error.diagnostic.fixes


def test_an_element_of_a_list_is_named_by_the_line_that_wants_it():
    rows = tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0])
    error = said(lambda: rows.read(5))
    assert "`rows.read(5)`: index 5, and the list has 2 elements" in str(error)
    assert "`1` is the nearest allowed value" in str(error)


def test_an_inner_op_gives_the_word_to_the_function_that_is_called():
    error = said(lambda: tf.linalg.norm(tf.constant([1, 2])))
    assert error.diagnostic.headline.count("norm") == 1
    by_hand = said(lambda: tf.raw_ops.Reshape(tensor=tf.zeros([6]), shape=[4]))
    assert by_hand.diagnostic.headline.count("Reshape") == 1


def test_what_is_returned_is_named_by_the_words_that_return_it():
    rows = []

    @tf.function(autograph=False)
    def outer(n):
        tf.while_loop(lambda i: i < n, lambda i: (rows.append(i * 2) or i + 1,), [tf.constant(0)])
        return rows[0]

    error = said(lambda: outer(tf.constant(3)))
    assert error.code == "E0103"
    assert error.diagnostic.headline.startswith("`rows[0]` was made in a loop's body")
    used = next(label for label in error.diagnostic.labels if label.primary)
    assert used.text == "returned here, after the loop"
    assert used.loc.source.strip() == "return rows[0]"


def test_a_session_is_named_by_the_line_that_uses_it():
    with tf.Graph().as_default():
        answer = tf.constant(42)
        session = tf.compat.v1.Session()
    session.close()

    def ask(opened):
        return opened.run(answer)

    error = said(lambda: ask(session), RuntimeError)
    assert error.diagnostic.headline == "`opened` is closed, and can't run anything"


def test_feeds_are_written_as_the_program_can_write_them():
    with tf.Graph().as_default():
        known = {"x": tf.compat.v1.placeholder(tf.float32, [], name="left")}
        tf.compat.v1.placeholder(tf.float32, [], name="lonely")
        total = known["x"] + tf.compat.v1.get_default_graph().get_tensor_by_name("lonely:0")
        session = tf.compat.v1.Session()
    error = said(lambda: session.run(total, {known["x"]: 1.0}))
    assert [fix.title for fix in error.diagnostic.fixes] == [
        'feed it: `feed_dict={known["x"]: ..., "lonely:0": ...}`'
    ]
