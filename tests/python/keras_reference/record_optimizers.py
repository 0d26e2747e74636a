"""Records what the real Keras' optimizers and schedules do: writes `optimizers.json`.

Five steps along fixed gradients for each class and option. Needs keras with a backend; never run by
tests, which read the figures alone. The figures of ScheduleFreeAdamW are those of the JAX backend: on
TensorFlow what it keeps as the momentum of before is the variable itself, which has moved by then.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
from figures import Figures, number

figures = Figures("optimizers.json")
STEPS = 5
rng = np.random.default_rng(1)
figures.data(
    matrix=rng.normal(size=(3, 2)).round(3),
    vector=rng.normal(size=(2,)).round(3),
    matrix_gradients=rng.normal(size=(STEPS, 3, 2)).round(3),
    vector_gradients=rng.normal(size=(STEPS, 2)).round(3),
)


def record(which, /, constraint=None, excluded=None, **options):
    config = dict(options)
    if "learning_rate" in options and isinstance(options["learning_rate"], dict):
        said = options["learning_rate"]
        kind = getattr(keras.optimizers.schedules, said["class_name"])
        options["learning_rate"] = kind(**said["config"])
    optimizer = getattr(keras.optimizers, which)(**options)
    rule = keras.constraints.NonNeg() if constraint else None
    matrix = keras.Variable(figures.array("matrix"), name="matrix")
    matrix.constraint = rule
    vector = keras.Variable(figures.array("vector"), name="vector")
    if excluded:
        optimizer.exclude_from_weight_decay(var_names=[excluded])
    values = []
    for step in range(STEPS):
        gradients = [figures.array(n)[step] for n in ("matrix_gradients", "vector_gradients")]
        gradients = [keras.ops.convert_to_tensor(g) for g in gradients]
        optimizer.apply_gradients(zip(gradients, [matrix, vector], strict=True))
        values += [np.asarray(matrix).ravel(), np.asarray(vector).ravel()]
    rate = np.asarray(optimizer.learning_rate)
    shapes = [list(v.shape) for v in optimizer.variables]
    optimizer.finalize_variable_values([matrix, vector])
    said = {"class": which, "config": config, "constraint": constraint, "excluded": excluded}
    figures.case(
        said,
        values=np.concatenate(values),
        final=np.concatenate([np.asarray(matrix).ravel(), np.asarray(vector).ravel()]),
        rate=number(rate),
        shapes=shapes,
        described={
            k: v
            for k, v in optimizer.get_config().items()
            if k not in ("name", "learning_rate") and not isinstance(v, dict)
        },
    )


OWN = {
    "SGD": [{"momentum": 0.9}, {"momentum": 0.8, "nesterov": True}],
    "RMSprop": [
        {"momentum": 0.5},
        {"centered": True},
        {"centered": True, "momentum": 0.3, "rho": 0.7},
    ],
    "Adam": [{"amsgrad": True}, {"beta_1": 0.5, "beta_2": 0.7, "epsilon": 0.01}],
    "AdamW": [{"amsgrad": True}, {"weight_decay": 0.2}],
    "Adamax": [{"beta_1": 0.5, "beta_2": 0.7}],
    "Nadam": [{"beta_1": 0.5, "beta_2": 0.7}],
    "Adagrad": [{"initial_accumulator_value": 0.5, "epsilon": 0.1}],
    "Adadelta": [{"rho": 0.5, "epsilon": 0.01}],
    "Adafactor": [{"relative_step": False}, {"beta_2_decay": -0.5, "clip_threshold": 0.5}],
    "Ftrl": [
        {"l1_regularization_strength": 0.1, "l2_regularization_strength": 0.2},
        {"l2_shrinkage_regularization_strength": 0.3, "beta": 0.4, "learning_rate_power": -0.3},
    ],
    "Lion": [{"beta_1": 0.5, "beta_2": 0.7}],
    "Lamb": [{"beta_1": 0.5, "beta_2": 0.7}],
    "Muon": [{"nesterov": False, "rms_rate": None}, {"exclude_layers": ["mat"]}],
    "ScheduleFreeAdamW": [{"warmup_steps": 3}, {"beta_1": 0.5, "beta_2": 0.7, "epsilon": 0.01}],
}
for name, kinds in OWN.items():
    record(name)
    for options in kinds:
        record(name, learning_rate=0.1, **options)
    record(name, learning_rate=0.1, weight_decay=0.05)
for name in ("SGD", "Adam", "Nadam"):
    rate = 0.1
    record(name, learning_rate=rate, clipnorm=0.5)
    record(name, learning_rate=rate, clipvalue=0.3)
    record(name, learning_rate=rate, global_clipnorm=0.8)
    record(name, learning_rate=rate, use_ema=True, ema_momentum=0.6)
    record(name, learning_rate=rate, use_ema=True, ema_momentum=0.6, ema_overwrite_frequency=2)
    record(name, learning_rate=rate, gradient_accumulation_steps=2)
    record(name, learning_rate=rate, loss_scale_factor=4.0)
    record(name, learning_rate=rate, constraint=True)
    record(name, learning_rate=rate, weight_decay=0.3, excluded="vec")
    schedule = {"initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5}
    record(name, learning_rate={"class_name": "ExponentialDecay", "config": schedule})

AT = [0, 1, 2, 3, 5, 7, 10, 11, 19, 20, 21, 50, 100]


def schedule(which, /, **options):
    made = getattr(keras.optimizers.schedules, which)(**options)
    rates = np.array([float(made(step)) for step in AT])
    figures.case(
        {"schedule": which, "config": options, "at": AT}, rates=rates, described=made.get_config()
    )


START = {"initial_learning_rate": 0.5, "decay_steps": 10}
for staircase in (False, True):
    schedule("ExponentialDecay", **START, decay_rate=0.7, staircase=staircase)
    schedule("InverseTimeDecay", **START, decay_rate=0.7, staircase=staircase)
for cycle in (False, True):
    schedule("PolynomialDecay", **START, end_learning_rate=0.1, power=2.0, cycle=cycle)
schedule("PiecewiseConstantDecay", boundaries=[2, 10, 20], values=[1.0, 0.5, 0.25, 0.1])
schedule("CosineDecay", **START)
schedule("CosineDecay", **START, alpha=0.1)
schedule("CosineDecay", **START, warmup_target=1.0, warmup_steps=5)
schedule("CosineDecayRestarts", initial_learning_rate=0.5, first_decay_steps=10)
schedule(
    "CosineDecayRestarts", initial_learning_rate=0.5, first_decay_steps=7, t_mul=1.0, m_mul=0.9
)
schedule(
    "CosineDecayRestarts",
    initial_learning_rate=0.5,
    first_decay_steps=5,
    t_mul=1.5,
    m_mul=0.8,
    alpha=0.1,
)

figures.write()
