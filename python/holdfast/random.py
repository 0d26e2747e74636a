"""`tf.random`: what of it is Python. The functions themselves are registered in C++."""

from __future__ import annotations

import enum
from typing import Any

from . import _holdfast
from ._graphs.init_scope import init_scope
from ._graphs.name_scope import named_ops
from ._tensors.registry import function
from ._tensors.tensor import convert_to_tensor
from ._variables.variable import Variable

__all__ = [
    "Algorithm",
    "Generator",
    "create_rng_state",
    "get_global_generator",
    "set_global_generator",
]

_WORD = 2**64


class Algorithm(enum.Enum):
    """How a generator makes its bits."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _number(alg: Any) -> int:
    if isinstance(alg, Algorithm):
        return int(alg.value)
    number: int = _holdfast.rng_algorithm(alg)
    return number


def _signed(value: Any) -> Any:
    """Unsigned 64-bit integers, in any nest of lists, as the signed ones with the same bits."""
    if isinstance(value, (list, tuple)):
        return [_signed(v) for v in value]
    if isinstance(value, int) and not isinstance(value, bool) and value >= _WORD // 2:
        return value - _WORD
    return value


def _state(value: Any) -> Any:
    """A state, key or counter: int64, whatever numbers it was given as."""
    value = _signed(value)
    integers = isinstance(value, int) or (
        isinstance(value, list) and all(isinstance(v, int) for v in value)
    )
    tensor = convert_to_tensor(value, "int64" if integers else None)
    return tensor if tensor.dtype.name == "int64" else function("cast")(tensor, "int64")


def create_rng_state(seed: Any, alg: Any) -> Any:
    """The state of a generator that starts from `seed`: an integer of any size, or a vector."""
    number = _number(alg)
    if isinstance(seed, int) and not -_WORD // 2 <= seed < _WORD // 2:
        seed = [seed >> 64 * i & _WORD - 1 for i in range(2 if number == 2 else 3)]
    return _holdfast.rng_state(_state(seed), number)


class Generator:
    """A stream of random numbers whose state is a Variable.

    Every draw moves the state on, so that no two calls give the same numbers; a checkpoint that
    holds the generator restores the stream where it stood.
    """

    def __init__(
        self, copy_from: Generator | None = None, state: Any = None, alg: Any = None
    ) -> None:
        if copy_from is not None:
            if alg is not None or state is not None:
                raise ValueError("`copy_from` excludes `alg` and `state`")
            state, alg = copy_from.state.read_value(), copy_from.algorithm
        elif alg is None or state is None:
            raise ValueError("a generator needs `alg` and `state`, or `copy_from`")
        self._alg = _number(alg)
        if not isinstance(state, Variable):
            state = Variable(_state(state), trainable=False, name="StateVar")
        self._state_var: Variable = state
        self._base = _holdfast.GeneratorBase(state, self._alg)

    def _checkpoint_children(self) -> dict[str, Any]:
        return {"_state_var": self._state_var}

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Continues from `state`; a Variable is shared."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Starts from an integer of any size, or a vector of them."""
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Starts where nobody can predict."""
        number = _number(Algorithm.PHILOX if alg is None else alg)
        with init_scope():
            state = _holdfast.rng_state_unpredictable(number)
        return cls(state=state, alg=number)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Starts from a key and a counter."""
        number = _number(alg)
        return cls(
            state=_holdfast.rng_state_of_key(_state(key), _state(counter), number), alg=number
        )

    @property
    def state(self) -> Variable:
        """The Variable that holds counter and key."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self) -> Any:
        """The key, a part of the state."""
        return self._base.key()

    def reset(self, state: Any) -> None:
        """Continues from `state`."""
        self._state_var.assign(_state(state))

    def reset_from_seed(self, seed: Any) -> None:
        """Starts over from `seed`."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Starts over from a key and a counter."""
        state = _holdfast.rng_state_of_key(_state(key), _state(counter), self._alg)
        self._state_var.assign(state)

    def skip(self, delta: Any) -> Any:
        """Moves on as if `delta` numbers had been drawn; returns the state before."""
        return self._base.skip(delta)

    def make_seeds(self, count: int = 1) -> Any:
        """Seeds for stateless functions, the columns of a [2, count] tensor."""
        return self._base.make_seeds(count)

    def split(self, count: int = 1) -> list[Generator]:
        """Generators independent of this one and of each other."""
        # Generators are made once, also in a function that is traced: so are their states.
        with init_scope():
            states = self._base.split(count)
        return [Generator(state=state, alg=self._alg) for state in states]

    @named_ops
    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = "float32",
        name: str | None = None,
    ) -> Any:
        """Normal with the given mean and standard deviation."""
        return self._base.normal(shape, mean, stddev, dtype)

    @named_ops
    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = "float32",
        name: str | None = None,
    ) -> Any:
        """Normal, values further than two standard deviations from the mean drawn again."""
        return self._base.truncated_normal(shape, mean, stddev, dtype)

    @named_ops
    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = "float32",
        name: str | None = None,
    ) -> Any:
        """Uniform in [minval, maxval); an integer dtype with both None takes any value."""
        return self._base.uniform(shape, minval, maxval, dtype)

    @named_ops
    def uniform_full_int(self, shape: Any, dtype: Any = "uint64", name: str | None = None) -> Any:
        """Any value of the integer dtype."""
        return self._base.uniform_full_int(shape, dtype)

    @named_ops
    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = "int32", name: str | None = None
    ) -> Any:
        """Successes among `counts` trials, each with probability `probs`."""
        return self._base.binomial(shape, counts, probs, dtype)


_global: Generator | None = None


def get_global_generator() -> Generator:
    """The generator of this process; made from the system's randomness unless one was set."""
    if _global is None:
        set_global_generator(Generator.from_non_deterministic_state())
    assert _global is not None
    return _global


def set_global_generator(generator: Generator) -> None:
    """Makes `generator` what `get_global_generator` answers, in Python and in C++."""
    global _global
    _holdfast.set_global_generator(generator._base)
    _global = generator


# Names that TensorFlow keeps under `tf.random.experimental` as well.
EXPERIMENTAL = {
    "Algorithm": Algorithm,
    "Generator": Generator,
    "create_rng_state": create_rng_state,
    "get_global_generator": get_global_generator,
    "set_global_generator": set_global_generator,
}
