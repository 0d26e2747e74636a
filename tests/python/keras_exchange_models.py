"""Models that are made by the same words here and by the real Keras: `MODELS[name](keras)`.

Each gives a model and its inputs. Weights are given their values by rule, so both sides agree.
"""

import numpy as np

MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


def numbers(*shape, k=1):
    i = np.arange(int(np.prod(shape)))
    return (((i * 377 + 97 * k) % 1009) / 504.5 - 1).astype(np.float32).reshape(shape)


def ids(*shape, below):
    i = np.arange(int(np.prod(shape)))
    return ((i * 7 + 3) % below).astype(np.int32).reshape(shape)


def fill(made):
    """Gives each weight its values: small, no two weights alike, variances positive."""
    for k, weight in enumerate(made.weights):
        shape = tuple(weight.shape)
        value = 0.4 * numbers(*shape, k=k + 1)
        if "variance" in weight.path:
            value = np.abs(value) + 0.5
        if "int" in str(weight.dtype):
            continue
        weight.assign(value)
    return made


def custom(keras):
    """A layer and a function of the program, registered; made once for each `keras`."""
    made = getattr(keras, "exchange_classes", None)
    if made is not None:
        return made

    @keras.saving.register_keras_serializable("exchange")
    class Scaled(keras.layers.Layer):
        def __init__(self, factor=2.0, inner=None, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor
            self.inner = inner or keras.layers.Dense(3, name="inner")

        def build(self, shape):
            self.shift = self.add_weight(shape=(shape[-1],), initializer="zeros", name="shift")
            if not self.inner.built:  # a file may have built it
                self.inner.build(shape)

        def call(self, x):
            return self.inner(x + self.shift) * self.factor

        def get_config(self):
            inner = keras.saving.serialize_keras_object(self.inner)
            return {**super().get_config(), "factor": self.factor, "inner": inner}

        @classmethod
        def from_config(cls, config):
            inner = keras.saving.deserialize_keras_object(config.pop("inner"))
            return cls(inner=inner, **config)

    @keras.saving.register_keras_serializable("exchange")
    def bent(x):
        return x + 0.5 * keras.ops.abs(x)

    keras.exchange_classes = Scaled, bent
    return keras.exchange_classes


@model
def sequential(keras):
    layers = keras.layers
    made = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.DepthwiseConv2D(3),
            layers.Flatten(),
            layers.Dropout(0.4, seed=3),
            layers.Dense(
                5, activation="softmax", kernel_regularizer="l2", kernel_constraint="max_norm"
            ),
        ],
        name="pictures",
    )
    return made, numbers(3, 8, 8, 3)


@model
def several_inputs(keras):
    layers = keras.layers
    a, b = keras.Input((4,), name="a"), keras.Input((6,), name="b")
    shared = layers.Dense(4, name="shared")
    left, right = shared(a), shared(layers.Dense(4)(b))
    joined = layers.Concatenate()([left, right, layers.Multiply()([left, right])])
    outputs = {"sum": layers.Dense(2)(joined), "raw": keras.ops.tanh(left) * 2.0 - right}
    return keras.Model({"a": a, "b": b}, outputs), {"a": numbers(3, 4), "b": numbers(3, 6)}


@model
def nested(keras):
    layers = keras.layers
    tower = keras.Sequential(
        [layers.Dense(6, activation="gelu"), layers.LayerNormalization()], name="tower"
    )
    x = keras.Input((5,))
    y = keras.Model(x, [layers.Dense(3)(tower(x)), tower(x)], name="middle")
    z = keras.Input((5,))
    small, wide = y(z)
    return keras.Model(
        z, layers.Dense(2)(layers.Concatenate()([small, wide])), name="whole"
    ), numbers(4, 5)


@model
def registered(keras):
    scaled, bent = custom(keras)
    x = keras.Input((4,))
    y = scaled(factor=3.0, name="first")(x)
    y = keras.layers.Dense(2, activation=bent)(y)
    return keras.Model(x, scaled(0.5, keras.layers.Dense(2, activation="tanh"))(y)), numbers(3, 4)


@model
def recurrent(keras):
    layers = keras.layers
    x = keras.Input((None,), dtype="int32")
    y = layers.Embedding(9, 4, mask_zero=True)(x)
    y = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(y)
    y, state = layers.GRU(4, return_sequences=True, return_state=True)(y)
    y = layers.SimpleRNN(3)(y)
    cells = layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)])
    return keras.Model(x, [y, state, cells(layers.RepeatVector(3)(state))]), ids(2, 5, below=9)


@model
def normalized(keras):
    layers = keras.layers
    x = keras.Input((6, 4))
    y = layers.BatchNormalization(momentum=0.8, axis=1)(x)
    y = layers.GroupNormalization(2)(y)
    y = layers.RMSNormalization()(layers.LayerNormalization(epsilon=1e-5)(y))
    return keras.Model(x, layers.BatchNormalization(scale=False)(y)), numbers(3, 6, 4)


@model
def attention(keras):
    layers = keras.layers
    x, z = keras.Input((5, 8)), keras.Input((4, 8))
    y, scores = layers.MultiHeadAttention(2, 3, value_dim=4)(x, z, return_attention_scores=True)
    y = layers.GroupQueryAttention(3, 4, 2)(y, z)
    y = layers.Attention(use_scale=True)([y, z])
    y = layers.EinsumDense("abc,cd->abd", output_shape=(None, 3), bias_axes="d")(y)
    return keras.Model([x, z], [y, scores]), [numbers(2, 5, 8), numbers(2, 4, 8)]


@model
def convolutions(keras):
    layers = keras.layers
    x = keras.Input((9, 4))
    y = layers.Conv1D(4, 3, strides=2, padding="causal", dilation_rate=1)(x)
    y = layers.SeparableConv1D(3, 2)(y)
    y = layers.Conv1DTranspose(2, 3, strides=2)(y)
    y = layers.UpSampling1D(2)(layers.ZeroPadding1D((1, 2))(y))
    y = layers.TimeDistributed(layers.Dense(3))(layers.Cropping1D(1)(y))
    return keras.Model(x, layers.GlobalAveragePooling1D()(layers.PReLU()(y))), numbers(2, 9, 4)


@model
def mixed(keras):
    layers = keras.layers
    made = keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dense(8, activation="relu", dtype="mixed_bfloat16"),
            layers.Dense(3, dtype=keras.DTypePolicy("mixed_bfloat16")),
            layers.Activation("softmax", dtype="float32"),
        ]
    )
    return made, numbers(4, 6)


@model
def compiled(keras):
    layers = keras.layers
    made = keras.Sequential(
        [keras.Input((4,)), layers.Dense(6, activation="tanh"), layers.Dense(2)]
    )
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    made.compile(
        optimizer=keras.optimizers.Adam(rate, beta_1=0.8, clipnorm=1.0),
        loss=keras.losses.Huber(delta=0.7),
        metrics=["mae", keras.metrics.MeanSquaredError(name="squares")],
    )
    return made, numbers(8, 4)


@model
def compiled_with_momentum(keras):
    layers = keras.layers
    x = keras.Input((4,))
    y = layers.Dense(3, activation="softmax", name="kind")(x)
    made = keras.Model(x, [y, layers.Dense(1, name="size")(x)])
    made.compile(
        optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True, weight_decay=1e-3),
        loss=["sparse_categorical_crossentropy", "mse"],
        loss_weights=[1.0, 0.5],
        metrics=[["accuracy"], ["mae"]],
    )
    return made, numbers(8, 4)


def targets(name):
    """What the compiled models are trained on."""
    if name == "compiled":
        return numbers(8, 2, k=5)
    return [ids(8, below=3), numbers(8, 1, k=7)]


def train(made, name, x, steps):
    """The losses of some steps over one batch."""
    results = [made.train_on_batch(x, targets(name)) for _ in range(steps)]
    return [float(np.ravel(r)[0]) for r in results]


def flat(value):
    """A model's outputs as a list of arrays, in the order of names or places."""
    if isinstance(value, dict):
        return [one for key in sorted(value) for one in flat(value[key])]
    if isinstance(value, list | tuple):
        return [one for part in value for one in flat(part)]
    return [np.asarray(value, np.float32)]
