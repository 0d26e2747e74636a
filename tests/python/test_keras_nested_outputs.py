"""Losses and metrics of outputs that lie in lists and dicts inside of each other."""

import numpy as np
import pytest

import holdfast as tf

X = np.arange(12).reshape(4, 3).astype("float32") / 7
A = np.ones((4, 1), "float32")
B = np.arange(8).reshape(4, 2).astype("float32") / 5
C = B * 2
# What the three outputs below are off by: mean squared and mean absolute, as Keras 3.15 prints them.
A_MSE, A_MAE = 3.9082, 1.6429
B_MSE, B_MAE = 3.7367, 1.6571
C_MSE, C_MAE = 1.251, 0.9571

FORMS = {
    "dict_list": lambda a, b, c: {"p": a, "q": [b, c]},
    "list_list": lambda a, b, c: [a, [b, c]],
    "tuples": lambda a, b, c: (a, (b, c)),
    "dict_dict": lambda a, b, c: {"p": a, "q": {"r": b, "s": c}},
}


def _functional(form):
    x = tf.keras.Input((3,))
    outputs = [
        tf.keras.layers.Dense(n, kernel_initializer="ones", name=name)(x)
        for n, name in ((1, "aa"), (2, "bb"), (2, "cc"))
    ]
    return tf.keras.Model(x, FORMS[form](*outputs))


class _Own(tf.keras.Model):
    def __init__(self, form):
        super().__init__()
        self.form = FORMS[form]
        self.heads = [tf.keras.layers.Dense(n, kernel_initializer="ones") for n in (1, 2, 2)]

    def call(self, x):
        return self.form(*(head(x) for head in self.heads))


def _evaluated(model, form, y=None, **options):
    model.compile("sgd", **options)
    y = FORMS[form](A, B, C) if y is None else y
    numbers = model.evaluate(X, y, verbose=0, return_dict=True)
    return {name: round(float(value), 4) for name, value in numbers.items()}


@pytest.mark.parametrize("form", FORMS)
def test_one_loss_for_all(form):
    wanted = round(A_MSE + B_MSE + C_MSE, 4)
    for model in (_functional(form), _Own(form)):
        assert _evaluated(model, form, loss="mse")["loss"] == pytest.approx(wanted, abs=2e-4)


@pytest.mark.parametrize(
    ("form", "loss", "names"),
    [
        ("dict_list", {"p": "mse", "q": ["mae", "mse"]}, ["p", "q/bb", "q/cc"]),
        ("dict_list", ["mse", "mae", "mse"], ["p", "q/bb", "q/cc"]),
        ("list_list", ["mse", ["mae", "mse"]], ["aa", "1/bb", "1/cc"]),
        ("tuples", ("mse", ("mae", "mse")), ["aa", "1/bb", "1/cc"]),
        ("dict_dict", {"p": "mse", "q": {"r": "mae", "s": "mse"}}, ["p", "q/r", "q/s"]),
    ],
)
def test_losses_in_the_form_of_the_outputs(form, loss, names):
    numbers = _evaluated(_functional(form), form, loss=loss)
    assert numbers.pop("loss") == pytest.approx(A_MSE + B_MAE + C_MSE, abs=2e-4)
    assert numbers == {
        f"{name}_loss": value for name, value in zip(names, (A_MSE, B_MAE, C_MSE), strict=True)
    }
    assert _evaluated(_Own(form), form, loss=loss)["loss"] == pytest.approx(
        A_MSE + B_MAE + C_MSE, abs=2e-4
    )


B_AND_C_MSE = round((B_MSE + C_MSE) / 2, 4)


@pytest.mark.parametrize("form", ["dict_list", "dict_dict"])
def test_one_loss_for_what_holds_several_outputs_is_given_all_of_them(form):
    # Parts of one shape are one tensor for a loss of Keras' own, so this is a mean, not a sum.
    for model in (_functional(form), _Own(form)):
        numbers = _evaluated(model, form, loss={"p": "mse", "q": "mse"})
        assert numbers == {
            "loss": pytest.approx(A_MSE + B_AND_C_MSE, abs=2e-4),
            "p_loss": A_MSE,
            "q_loss": pytest.approx(B_AND_C_MSE, abs=1e-4),
        }


def test_a_loss_of_the_programs_own_is_given_lists_and_dicts_as_they_are():
    seen = set()

    def both(y, p):
        seen.add((type(y), type(p), len(p)))
        return tf.reduce_mean(abs(y[0] - p[0])) + tf.reduce_mean(tf.square(y[1] - p[1]))

    class Both(tf.keras.losses.Loss):
        def call(self, y, p):
            return both(y, p)

    class Whole(tf.keras.losses.Loss):
        def __call__(self, y_true, y_pred, sample_weight=None):
            return both(y_true, y_pred)

    for loss in (both, Both(), Whole()):
        numbers = _evaluated(
            _functional("dict_list"), "dict_list", loss={"p": "mse", "q": loss}, loss_weights=None
        )
        assert numbers["q_loss"] == pytest.approx(B_MAE + C_MSE, abs=2e-4)
        assert seen == {(list, list, 2)}, loss
        seen.clear()


def test_one_loss_for_parts_that_are_not_alike_is_refused():
    with pytest.raises(ValueError, match="one shape"):
        _evaluated(_functional("dict_list"), "dict_list", {"p": A, "q": [B, A]}, loss={"q": "mse"})
    model = _functional("dict_list")
    model.compile("sgd", loss={"p": "mse", "q": "mse"})
    weights = {"p": np.ones(4, "f"), "q": [np.ones(4, "f"), np.ones(4, "f")]}
    with pytest.raises((TypeError, ValueError), match="sample_weight"):
        model.evaluate(X, {"p": A, "q": [B, C]}, sample_weight=weights, verbose=0)
    one = {"p": np.zeros(4, "f"), "q": np.full(4, 2.0, "f")}
    told = model.evaluate(X, {"p": A, "q": [B, C]}, sample_weight=one, verbose=0, return_dict=True)
    assert told["loss"] == pytest.approx(2 * B_AND_C_MSE, abs=1e-3)


def test_weights_of_losses_have_their_form():
    loss = {"p": "mse", "q": ["mae", "mse"]}
    for weights in ({"p": 2.0, "q": [3.0, 0.5]}, [2.0, 3.0, 0.5]):
        numbers = _evaluated(_functional("dict_list"), "dict_list", loss=loss, loss_weights=weights)
        assert numbers["loss"] == pytest.approx(2 * A_MSE + 3 * B_MAE + 0.5 * C_MSE, abs=2e-4)
        assert numbers["q/bb_loss"] == B_MAE  # told without its weight


def test_outputs_without_a_loss_need_no_targets():
    assert _evaluated(_functional("dict_dict"), "dict_dict", loss={"q": {"s": "mse"}}) == {
        "loss": C_MSE
    }
    only = {"q": {"s": C}}
    assert _evaluated(_functional("dict_dict"), "dict_dict", only, loss={"q": {"s": "mse"}}) == {
        "loss": C_MSE
    }


def test_several_losses_of_one_output_add_up():
    numbers = _evaluated(
        _functional("dict_list"), "dict_list", loss={"p": ["mse", "mae"], "q": ["mae", "mse"]}
    )
    assert numbers["loss"] == pytest.approx(A_MSE + A_MAE + B_MAE + C_MSE, abs=2e-4)
    assert numbers["p_loss"] == A_MAE


def test_metrics_in_the_form_of_the_outputs():
    wanted = {"aa_mae": A_MAE, "bb_mse": B_MSE, "cc_mae": C_MAE}
    for form, metrics in (
        ("dict_list", {"p": ["mae"], "q": [["mse"], ["mae"]]}),
        ("dict_list", {"p": "mae", "q": ["mse", "mae"]}),
        ("list_list", [["mae"], [["mse"], ["mae"]]]),
        ("dict_dict", {"p": ["mae"], "q": {"r": ["mse"], "s": ["mae"]}}),
    ):
        numbers = _evaluated(_functional(form), form, loss="mse", metrics=metrics)
        assert wanted.items() <= numbers.items(), form
    own = _evaluated(
        _Own("dict_list"), "dict_list", loss="mse", metrics={"p": ["mae"], "q": [["mse"], ["mae"]]}
    )
    assert {"mae": A_MAE, "mse": B_MSE, "mae_1": C_MAE}.items() <= own.items()


def test_targets_and_weights_may_have_another_form_with_as_many_parts():
    model = _functional("dict_list")
    model.compile("sgd", loss="mse")
    flat = model.evaluate(X, [A, B, C], verbose=0, return_dict=True)
    assert flat["q/cc_loss"] == pytest.approx(C_MSE, abs=1e-4)
    weights = {"p": np.zeros(4, "float32"), "q": [np.ones(4, "float32"), np.zeros(4, "float32")]}
    weighted = model.evaluate(
        X, {"p": A, "q": [B, C]}, sample_weight=weights, verbose=0, return_dict=True
    )
    assert weighted["loss"] == pytest.approx(B_MSE, abs=1e-4)


def test_training_moves_all_of_them():
    model = _functional("dict_list")
    model.compile("sgd", loss={"p": "mse", "q": ["mae", "mse"]}, metrics={"p": ["mae"]})
    before = [w.copy() for w in model.get_weights()]
    history = model.fit(X, {"p": A, "q": [B, C]}, epochs=2, verbose=0).history
    assert history["loss"][1] < history["loss"][0]
    assert all((a != b).any() for a, b in zip(before, model.get_weights(), strict=True))


def test_a_name_that_is_no_output_is_refused():
    with pytest.raises(ValueError, match="q/t"):
        _evaluated(_functional("dict_dict"), "dict_dict", loss={"p": "mse", "q": {"t": "mse"}})
    with pytest.raises(ValueError, match="nothing for"):
        _evaluated(_functional("dict_dict"), "dict_dict", {"p": A}, loss="mse")


def test_what_compile_was_told_is_written_in_its_form_and_read_again(tmp_path):
    loss = {"p": "mse", "q": ["mae", "mse"]}
    metrics = {"p": ["mae"], "q": [["mse"], ["mae"]]}
    model = _functional("dict_list")
    numbers = _evaluated(model, "dict_list", loss=loss, metrics=metrics)
    written = model.get_compile_config()
    assert list(written["loss"]) == ["p", "q"]
    assert len(written["loss"]["q"]) == 2
    assert [len(one) for one in written["metrics"]["q"]] == [1, 1]
    model.save(tmp_path / "m.keras")
    again = tf.keras.models.load_model(tmp_path / "m.keras")
    told = again.evaluate(X, {"p": A, "q": [B, C]}, verbose=0, return_dict=True)
    assert {name: round(float(value), 4) for name, value in told.items()} == numbers


keras = tf.keras


def test_a_list_of_losses_for_one_of_several_outputs_adds_up():
    inputs = keras.Input((3,))
    x, y = np.ones((4, 3), "f"), np.ones((4, 2), "f")

    def loss_of(losses):
        keras.utils.set_random_seed(2)
        heads = [keras.layers.Dense(2, name=n)(inputs) for n in ("a", "b")]
        model = keras.Model(inputs, heads)
        model.compile("sgd", losses)
        return model.evaluate(x, [y, 2 * y], verbose=0, return_dict=True)

    plain, listed = loss_of(["mse", "mae"]), loss_of(["mse", ["mae"]])
    assert listed == pytest.approx(plain)
    both = loss_of(["mse", ["mae", "mse"]])
    alone = loss_of(["mse", "mse"])
    a_loss = plain["a_loss"]
    wanted = a_loss + (plain["loss"] - a_loss) + (alone["loss"] - a_loss)
    assert both["loss"] == pytest.approx(wanted)


def test_metrics_of_several_outputs_stand_where_keras_has_them():
    x = keras.Input((3,))
    heads = {n: keras.layers.Dense(1, kernel_initializer="ones", name=n)(x) for n in ("z", "b")}
    model = keras.Model(x, heads)
    y = {"z": A, "b": A * 2}
    model.compile("sgd", {"z": "mse", "b": "mae"}, metrics={"z": ["mae"], "b": ["mse", "mae"]})
    named = model.evaluate(X, y, verbose=0, return_dict=True)
    assert model.evaluate(X, y, verbose=0) == [
        named[name] for name in ("loss", "z_loss", "b_loss", "b_mae", "b_mse", "z_mae")
    ]
    listed = model.test_on_batch(X, y)
    assert float(listed[3]) == pytest.approx(named["b_mae"])


def _three(**options):
    x = tf.keras.Input((3,))
    outputs = [tf.keras.layers.Dense(2, kernel_initializer="ones", name=name)(x) for name in "abc"]
    model = tf.keras.Model(x, outputs)
    model.compile(tf.keras.optimizers.SGD(0.0), **options)
    return model


def test_labels_may_be_for_the_outputs_that_have_a_loss():
    """As Keras takes them; those of the last were not found."""
    whole = _three(loss=["mse", None, "mae"]).evaluate(X, [B, B, C], verbose=0)
    assert _three(loss=["mse", None, "mae"]).evaluate(X, [B, C], verbose=0) == whole
    assert _three(loss=[None, None, "mae"]).evaluate(X, C, verbose=0) == pytest.approx(whole[2])
    with pytest.raises(ValueError, match="has nothing for the output `c`"):
        _three(loss="mse").evaluate(X, [B, C], verbose=0)


def test_metrics_of_one_output_may_be_called_anything():
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, tf.keras.layers.Dense(2)(x))
    model.compile("sgd", "mse", metrics={"whatever": ["mae"]}, weighted_metrics={"o": "mape"})
    told = model.evaluate(X, B, verbose=0, return_dict=True)
    assert list(told) == ["loss", "mae", "mape"]


def test_what_is_told_by_name_is_sorted():
    model = _three(loss="mse", metrics=[["mae"], ["mae"], ["mae"]])
    told = model.evaluate(X, [B, B, C], verbose=0, return_dict=True)
    assert list(told) == ["a_loss", "a_mae", "b_loss", "b_mae", "c_loss", "c_mae", "loss"]
    assert list(model.test_on_batch(X, [B, B, C], return_dict=True)) == list(told)


def test_what_is_better_goes_by_the_metric_of_an_output():
    """The loss of an output called `accent` was to become large."""
    x = tf.keras.Input((3,))
    heads = [tf.keras.layers.Dense(1, name=name)(x) for name in ("accent", "b")]
    model = tf.keras.Model(x, heads)

    def distance(y, p):
        return tf.abs(y - p)

    mse = tf.keras.metrics.MeanSquaredError
    model.compile(
        "sgd", "mse", metrics=[["mae", distance], [mse(name="accurate"), "accuracy", mse(name="e")]]
    )

    class Grows(tf.keras.callbacks.Callback):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def on_epoch_end(self, epoch, logs=None):
            logs[self.name] = float(epoch)

    def best(name):
        stopping = tf.keras.callbacks.EarlyStopping(monitor=name, patience=9)
        model.fit(X, [A, A], epochs=3, verbose=0, callbacks=[Grows(name), stopping])
        return stopping.best

    for name in ("accent_loss", "b_loss", "accent_mae", "b_accurate", "b_e"):
        assert best(name) == 0, name
    assert best("b_accuracy") == 2
    with pytest.raises(ValueError, match="nothing tells whether"):
        best("accent_distance")
