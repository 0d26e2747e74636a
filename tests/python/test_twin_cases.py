"""What exists in C++ and in Python does the same: `tests/twins/twins_test.cpp` runs these tables too."""

import json
import pathlib

import pytest

import holdfast as tf

TABLES = pathlib.Path(__file__).resolve().parents[1] / "twins"


def cases(name):
    found = json.loads((TABLES / f"{name}.json").read_text())
    return [pytest.param(each, id=str(each.get("it") or each)) for each in found]


def refusal(run):
    """What `run` gives, and the code of what it was refused with."""
    try:
        return run(), None
    except tf.errors.DiagnosticError as error:
        return None, error.code


FNS = {
    "double": lambda row: row * 2,
    "total": lambda row: tf.reduce_sum(row),
    "twice": lambda row: tf.concat([row, row], 0),
    "add": lambda value, row: value + row,
    "subtract": lambda value, row: value - row,
}


def giving(value):
    return lambda: tf.identity(tf.constant(value, tf.float32))


def functional(case, x):
    name = case["function"]
    given = {key: case[key] for key in ("back_prop", "infer_shape", "reverse") if key in case}
    if "initializer" in case:
        given["initializer"] = tf.constant(case["initializer"], tf.float32)
    if name in ("map_fn", "vectorized_map", "foldl", "foldr", "scan"):
        return getattr(tf, name)(FNS[case["fn"]], x, **given)
    default = giving(case["default"]) if "default" in case else None
    branches = [giving(value) for value in case.get("branches", ())]
    if name == "switch_case":
        return tf.switch_case(tf.cast(x, tf.int32), branches, default)
    if name == "case":
        pairs = [(tf.not_equal(x[i], 0), branch) for i, branch in enumerate(branches)]
        return tf.case(pairs, default, exclusive=case.get("exclusive", False))
    if "maximum_iterations" in case:
        given["maximum_iterations"] = case["maximum_iterations"]
    return tf.while_loop(lambda v: v < case["below"], lambda v: [v * 2], [x], **given)[0]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("case", cases("functional"))
def test_functions_over_rows_and_choices(case, traced):
    given = next(case[key] for key in ("elems", "index", "predicates", "start") if key in case)
    x = tf.constant(given, tf.float32)
    run = tf.function(lambda x: functional(case, x)) if traced else lambda x: functional(case, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, code = refusal(lambda: run(x))
    assert code == case.get("refused")
    if code is None:
        assert y.numpy().tolist() == case["gives"]
        if not case.get("back_prop", True):
            slope = tape.gradient(y, x)
            assert slope is None or not slope.numpy().any()


def run_check(case, x, y):
    check = getattr(tf.debugging, case["check"])
    if case["check"] == "assert_shapes":
        return check([(x, case["shapes"][0]), (y, case["shapes"][1])])
    if case["check"] in ("check_numerics", "assert_all_finite"):
        return check(x, "here")
    if case["check"] == "Assert":
        return check(x, [])
    if "ranks" in case:
        return check(x, case["ranks"] if case["check"] == "assert_rank_in" else case["ranks"][0])
    tolerances = {key: case[key] for key in ("rtol", "atol") if key in case}
    return check(*((x,) if y is None else (x, y)), **tolerances)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("case", cases("checks"))
def test_checks(case, traced):
    dtype = case.get("dtype", "float32")
    x = tf.constant(case["x"], dtype)
    y = tf.constant(case["y"], dtype) if "y" in case else None
    if "over" in case:
        x = x / tf.constant(case["over"], dtype)

    def run(x):
        run_check(case, x, y)
        return x

    assert refusal(lambda: (tf.function(run) if traced else run)(x))[1] == case.get("refused")


@pytest.mark.parametrize("case", cases("lists"))
def test_lists(case):
    def run():
        made = tf.TensorArray(
            tf.float32,
            size=case["size"],
            dynamic_size=case.get("grows", False),
            element_shape=case.get("shape", []),
        )
        given = None
        for what, *arguments in case["steps"]:
            if what in ("write", "unstack"):
                made = getattr(made, what)(*arguments)
            else:
                given = getattr(made, what)(*arguments)
        return given

    given, code = refusal(run)
    assert code == case.get("refused")
    if "gives" in case:
        assert given.numpy().tolist() == case["gives"]


@pytest.mark.parametrize("case", cases("tape"))
def test_the_rules_of_the_tape(case):
    x, count = tf.constant(3.0), tf.constant(3)
    v, other, frozen = tf.Variable(2.0), tf.Variable(5.0), tf.Variable(4.0, trainable=False)
    things = {"x": x, "v": v, "frozen": frozen, "count": count, "other": other}
    options = {key: case[key] for key in ("persistent", "watch_accessed_variables") if key in case}
    with tf.GradientTape(**options) as tape:
        for name in case.get("watch", ()):
            tape.watch(things[name])
        y = x * v.read_value() + frozen.read_value() + tf.cast(count, tf.float32)
        if case.get("through") == "cast":
            y = tf.cast(tf.cast(y, tf.int32), tf.float32)
        other.read_value()
    for name, want in zip(case["asks"], case["gives"], strict=True):
        zero = {"unconnected_gradients": "zero"} if case.get("zero") else {}
        found, code = refusal(lambda name=name, zero=zero: tape.gradient(y, things[name], **zero))
        if isinstance(want, str):
            assert code == want
            continue
        assert code is None and (found if found is None else float(found)) == want
        if "why" in case:
            assert tape._why_none(y, things[name]) == case["why"]
