"""What may be asked of AutoGraph: features, how much it tells, what is shown while tracing."""

import logging

import pytest

import holdfast as tf

Feature = tf.autograph.experimental.Feature


@pytest.fixture
def quiet_again():
    yield
    tf.autograph.set_verbosity(0)


def double(x):
    return x * 2 if x > 0 else x


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        Feature.ALL,
        Feature.EQUALITY_OPERATORS,
        [Feature.LISTS, Feature.BUILTIN_FUNCTIONS],
        Feature.all(),
        Feature.all_but(Feature.NAME_SCOPES),
    ],
)
def test_features_that_are_on_may_be_asked_for(wanted):
    f = tf.function(double, experimental_autograph_options=wanted)
    assert float(f(tf.constant(2.0))) == 4.0
    assert tf.autograph.to_graph(double, experimental_optional_features=wanted)(2) == 4
    assert "hf__" in tf.autograph.to_code(double, experimental_optional_features=wanted)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Feature.NAME_SCOPES, "with `Feature.NAME_SCOPES`"),
        (Feature.all_but([Feature.LISTS, Feature.ASSERT_STATEMENTS]), "without `ASSERT_STATEMENTS`, `LISTS`"),
    ],
)  # fmt: skip
def test_features_that_nothing_can_switch_are_refused(wanted, said):
    for ask in (
        lambda: tf.function(double, experimental_autograph_options=wanted),
        lambda: tf.autograph.to_graph(double, experimental_optional_features=wanted),
        lambda: tf.autograph.to_code(double, experimental_optional_features=wanted),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match=said) as caught:
            ask()
        assert caught.value.code == "E1105"


@pytest.mark.parametrize("wanted", ["LISTS", 3, [Feature.LISTS, "ALL"]])
def test_what_is_no_feature_is_refused(wanted):
    with pytest.raises(TypeError, match="expected a `Feature`"):
        tf.function(double, experimental_autograph_options=wanted)


def test_a_conversion_is_not_recursive_by_halves():
    for ask in (tf.autograph.to_graph, tf.autograph.to_code):
        with pytest.raises(tf.errors.UnimplementedError, match="recursive=False"):
            ask(double, recursive=False)


def told(level, caplog, function, **options):
    tf.autograph.set_verbosity(level, **options)
    with caplog.at_level(logging.INFO, logger=tf.get_logger().name):
        caplog.clear()
        tf.autograph.convert(function)
    return [record.getMessage() for record in caplog.records]


def test_conversions_are_told_as_far_as_one_asks(caplog, capsys, quiet_again):
    space = {}
    exec("def unread(x):\n    return x if x else 0", space)
    # fmt: off
    first, second, third = (lambda x: x + 1 if x else 0), (lambda x: x + 2 if x else 0), (lambda x: x + 3 if x else 0)
    # fmt: on
    assert told(0, caplog, first) == []
    (one,) = told(1, caplog, second)
    assert "converted" in one and "<lambda>" in one and "test_autograph_options.py" in one
    (no_source,) = told(2, caplog, space["unread"])
    assert "unread" in no_source and "no source" in no_source
    assert capsys.readouterr().out == ""
    whole = told(3, caplog, third, alsologtostdout=True)
    assert "hf__" in whole[1]
    assert capsys.readouterr().out == "".join(f"{text}\n" for text in whole)
    with pytest.raises(TypeError):
        tf.autograph.set_verbosity("loud")


def test_trace_shows_what_is_there_while_tracing(capsys):
    @tf.function
    def f(x):
        tf.autograph.trace("seen", 7)
        return x

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    assert capsys.readouterr().out == "seen 7\n"
