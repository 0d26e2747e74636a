"""The names of `tf.compat.v1` that version 2 has under another name or signature, or not at all.

All other names of `tf.compat.v1` are those of version 2; see `_names/namespace.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._devices.spec import DeviceSpecV1
from .._flow import queues
from .._graphs import session_options, watch
from .._graphs.control import graph_for, grouped
from .._graphs.default_session import get_default_session
from .._graphs.eager import executing_eagerly
from .._graphs.function_graph import default_graph
from .._graphs.graph import (
    Graph,
    GraphKeys,
    eager_outside_functions,
    get_default_graph,
    reset_default_graph,
    set_eager_execution,
)
from .._graphs.graph_def import GraphDef, NodeDef
from .._graphs.name_scope import name_scope
from .._graphs.operation import Operation
from .._graphs.server import Server
from .._graphs.session import InteractiveSession, Session
from .._names import signatures
from .._tensors import registry
from .._tensors.dtypes import (
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float32,
    float64,
    int32,
    int64,
)
from .._tensors.indexed_slices import IndexedSlicesValue
from .._tensors.shape import Dimension, as_shape
from .._tensors.tensor import constant, convert_to_tensor
from .._variables import creators
from .._variables.variable import Variable
from ..errors import unsupported
from . import (
    composites,
    functions,
    image,
    initializers,
    losses,
    nn,
    partition,
    scopes,
    store,
    template,
    train,
    wrap,
)
from .name_scope import v1_name_scope
from .signatures import NAMES as SIGNATURES

__all__ = ["NAMES"]


# Placeholders.


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor whose value each run is given. In eager code it joins the default graph."""
    return get_default_graph()._placeholder(as_dtype(dtype), _dims(shape), name or "Placeholder")


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor whose value a run may be given; `input` where it is not, as always in eager code."""
    graph = _holdfast.current_graph()
    if graph is None:
        return registry.function("identity")(convert_to_tensor(input), name=name)
    with graph.as_default():
        given = convert_to_tensor(input)
        title = name or "PlaceholderWithDefault"
        return graph._placeholder_with_default(given, _dims(shape), title)


def _dims(shape: Any) -> Any:
    known = as_shape(shape)
    return None if known.rank is None else tuple(known.as_list())


# Switches.


def disable_eager_execution() -> None:
    """From now on ops go to the program's own graph, and a session runs them."""
    set_eager_execution(False)


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """From now on ops run as they are called, as they do when a program begins."""
    set_eager_execution(True)


def _kept() -> None:
    """Accepted: what this switches has one setting here."""


def _already() -> None:
    """What this switches on is always on."""


# Variables by collection.


def _collection(key: str) -> Callable[..., list[Any]]:
    def held(scope: str | None = None) -> list[Any]:
        """The variables of that kind, in the order they were made."""
        return get_default_graph().get_collection(key, scope)

    return held


def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """An operation that gives variables their initial values."""
    flat = list(var_list)
    graph = graph_for([v.initializer for v in flat if v.initializer is not None])
    if graph is None:
        return None  # eager variables are made with their values
    return grouped(graph, [v.initializer for v in flat], name)


def _initializer(key: str) -> Callable[..., Any]:
    def initialise(name: str = "init") -> Any:
        """An operation that gives all variables of that kind their initial values."""
        if _holdfast.current_graph() is None and not get_default_graph().version:
            return None
        graph = get_default_graph()
        return grouped(graph, [v.initializer for v in graph.get_collection(key)], name)

    return initialise


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Any:
    """The names of variables that have no value yet; reading one gives it its initial value."""
    graph = get_default_graph()
    if var_list is None:
        var_list = [
            *graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
            *graph.get_collection(GraphKeys.LOCAL_VARIABLES),
        ]
    if not var_list:
        return constant([], "string", name=name)
    with name_scope(name):
        known = registry.function("stack")([v.is_initialized() for v in var_list])
        names = constant([v.name.removesuffix(":0") for v in var_list])
        return registry.function("boolean_mask")(
            names, registry.function("math.logical_not")(known)
        )


def is_variable_initialized(variable: Any) -> Any:
    """Whether a variable has a value; reading one gives it its initial value."""
    return variable.is_initialized()


def assert_variables_initialized(var_list: Any = None) -> Any:
    """None, or an operation that reads the variables: reading one gives it its initial value."""
    graph = get_default_graph()
    if var_list is None:
        var_list = [
            *graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
            *graph.get_collection(GraphKeys.LOCAL_VARIABLES),
        ]
    if not var_list:
        return None
    return grouped(graph, [v.read() for v in var_list], "assert_variables_initialized")


def _change(method: str) -> Callable[..., Any]:
    def change(
        ref: Any,
        value: Any,
        validate_shape: bool | None = None,
        use_locking: Any = None,
        name: str | None = None,
    ) -> Any:
        """The value of `ref` after the change."""
        return getattr(ref, method)(value, name=name)

    change.__name__ = method
    return change


# Collections of the default graph.


def add_to_collection(name: Any, value: Any) -> None:
    """Appends to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Appends to several."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """What a collection of the default graph holds."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """The collection itself."""
    return get_default_graph().get_collection_ref(key)


def set_random_seed(seed: int | None) -> None:
    """The seed of ops that name none: of the default graph's from now on, or of eager ones."""
    registry.function("random.set_seed")(seed)


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds that an op with this seed of its own gets here; None where nobody set one."""
    first, second = _holdfast.op_seeds(op_seed)
    return first, second


# Functions under their old names.


def _arg(name: str) -> Callable[..., Any]:
    find = registry.function(name)

    def found(
        input: Any,
        axis: Any = None,
        name: str | None = None,
        dimension: Any = None,
        output_type: Any = int64,
    ) -> Any:
        axis = axis if axis is not None else dimension
        return find(input, 0 if axis is None else axis, output_type, name=name)

    found.__name__, found.__doc__ = name, find.__doc__
    return found


def _to(dtype: Any) -> Callable[..., Any]:
    def cast(x: Any, name: str | None = None) -> Any:
        """`x` of another dtype."""
        return registry.function("cast")(x, dtype, name=name)

    return cast


def _random(path: str) -> Callable[..., Any]:
    def draw(shape: Any, *args: Any, **kwargs: Any) -> Any:
        return registry.function(path)(shape, *args, **kwargs)

    draw.__doc__ = f"`tf.{path}`."
    return draw


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: Any = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """Sets elements to zero at random; `rate` of them, or all but `keep_prob`."""
    if (keep_prob is None) == (rate is None):
        raise ValueError("Exactly one of `keep_prob` and `rate` must be given.")
    if rate is None:
        rate = 1 - (keep_prob if isinstance(keep_prob, float) else convert_to_tensor(keep_prob))
    return registry.function("nn.dropout")(x, rate, noise_shape, seed, name=name)


def _refused(path: str, why: str, fix: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        unsupported(f"`tf.compat.v1.{path}` is not supported", why, fix=fix)

    refuse.__name__ = path.rpartition(".")[2]
    refuse.__doc__ = "Not supported."
    return refuse


# What version 2 has under another name.
_OLD = """
log=math.log log1p=math.log1p mod=math.floormod floordiv=math.floordiv floor_div=math.floordiv
erf=math.erf lgamma=math.lgamma digamma=math.digamma is_nan=math.is_nan is_inf=math.is_inf
is_finite=math.is_finite rsqrt=math.rsqrt reciprocal=math.reciprocal cumprod=math.cumprod
diag=linalg.tensor_diag diag_part=linalg.tensor_diag_part matrix_inverse=linalg.inv
matrix_determinant=linalg.det cholesky=linalg.cholesky trace=linalg.trace
matrix_band_part=linalg.band_part self_adjoint_eig=linalg.eigh svd=linalg.svd
segment_sum=math.segment_sum unsorted_segment_sum=math.unsorted_segment_sum
squared_difference=math.squared_difference invert_permutation=math.invert_permutation
ceil=math.ceil conj=math.conj real=math.real imag=math.imag angle=math.angle polyval=math.polyval
bincount=math.bincount top_k=math.top_k logical_xor=math.logical_xor igamma=math.igamma
lbeta=math.lbeta expm1=math.expm1 accumulate_n=math.accumulate_n manip.roll=roll
string_join=strings.join regex_replace=strings.regex_replace betainc=math.betainc
cholesky_solve=linalg.cholesky_solve cross=linalg.cross div_no_nan=math.divide_no_nan
erfc=math.erfc floormod=math.floormod igammac=math.igammac
is_non_decreasing=math.is_non_decreasing is_strictly_increasing=math.is_strictly_increasing
log_sigmoid=math.log_sigmoid matrix_solve=linalg.solve matrix_solve_ls=linalg.lstsq
matrix_triangular_solve=linalg.triangular_solve matrix_square_root=linalg.sqrtm
polygamma=math.polygamma qr=linalg.qr reverse_v2=reverse rint=math.rint
segment_max=math.segment_max segment_mean=math.segment_mean segment_min=math.segment_min
segment_prod=math.segment_prod self_adjoint_eigvals=linalg.eigvalsh
tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_sub=tensor_scatter_nd_sub
tensor_scatter_update=tensor_scatter_nd_update unsorted_segment_max=math.unsorted_segment_max
unsorted_segment_mean=math.unsorted_segment_mean unsorted_segment_min=math.unsorted_segment_min
unsorted_segment_prod=math.unsorted_segment_prod
unsorted_segment_sqrt_n=math.unsorted_segment_sqrt_n where_v2=where zeta=math.zeta
random_gamma=random.gamma
"""

# What is to come: names, why they are not there, and what does their work meanwhile.
_LATER = {
    "layers": (
        "dense conv2d flatten max_pooling2d dropout batch_normalization",
        "there are no Keras layers yet",
        "write it with `tf.compat.v1.get_variable` and ops of `tf.nn`",
    ),
    "summary": (
        (
            "scalar histogram image audio text tensor_summary merge merge_all initialize "
            "FileWriter FileWriterCache Summary SummaryDescription Event SessionLog "
            "TaggedRunMetadata all_v2_summary_ops get_summary_description"
        ),
        "there are no event files yet",
        "fetch the value with `sess.run`, and write it down with `csv` or `logging`",
    ),
}


def _old() -> dict[str, Any]:
    pairs = (pair.partition("=") for pair in _OLD.split())
    known = registry.BY_PATH | signatures.adaptors()
    return {name: known[path] for name, _, path in pairs if path in known}


def _later() -> dict[str, Any]:
    return {
        f"{holder}.{name}": _refused(f"{holder}.{name}", why, fix)
        for holder, (names, why, fix) in _LATER.items()
        for name in names.split()
    }


def _casts() -> dict[str, Any]:
    kinds = {"float": float32, "double": float64, "int32": int32, "int64": int64}
    kinds |= {"bfloat16": bfloat16, "complex64": complex64, "complex128": complex128}
    return {f"to_{name}": _to(dtype) for name, dtype in kinds.items()}


def _random_functions() -> dict[str, Any]:
    paths = {f"random_{name}": f"random.{name}" for name in ("normal", "uniform", "shuffle")}
    paths["truncated_normal"] = "random.truncated_normal"
    return {name: _random(path) for name, path in paths.items() if path in registry.BY_PATH}


NAMES: dict[str, Any] = {f"compat.v1.{name}": value for name, value in {
    "placeholder": placeholder,
    "placeholder_with_default": placeholder_with_default,
    "disable_eager_execution": disable_eager_execution,
    "disable_v2_behavior": disable_eager_execution,
    "enable_eager_execution": enable_eager_execution,
    "enable_v2_behavior": enable_eager_execution,
    "enable_resource_variables": _already,
    "enable_v2_tensorshape": _already,
    "disable_resource_variables": _kept,
    "disable_v2_tensorshape": _kept,
    "disable_tensor_equality": _kept,
    "enable_tensor_equality": _kept,
    "disable_control_flow_v2": _kept,
    "enable_control_flow_v2": _kept,
    "control_flow_v2_enabled": lambda: True,
    "resource_variables_enabled": lambda: True,
    "executing_eagerly_outside_functions": eager_outside_functions,
    "executing_eagerly": executing_eagerly,
    "Dimension": Dimension,
    "DeviceSpec": DeviceSpecV1,
    "Graph": Graph,
    "GraphKeys": GraphKeys,
    "GraphDef": GraphDef,
    "NodeDef": NodeDef,
    "Operation": Operation,
    "Variable": Variable,
    "get_default_graph": default_graph,
    "reset_default_graph": reset_default_graph,
    "Session": Session,
    "InteractiveSession": InteractiveSession,
    "get_default_session": get_default_session,
    **{name: getattr(session_options, name) for name in session_options.__all__},
    **{name: getattr(scopes, name) for name in scopes.__all__},
    "EagerVariableStore": store.EagerVariableStore,
    "create_partitioned_variables": store.create_partitioned_variables,
    "get_variable": store.get_variable,
    "get_local_variable": store.get_local_variable,
    "fixed_size_partitioner": partition.fixed_size_partitioner,
    "min_max_variable_partitioner": partition.min_max_variable_partitioner,
    "variable_axis_size_partitioner": partition.variable_axis_size_partitioner,
    "variable_creator_scope": creators.variable_creator_scope,
    "RegisterGradient": watch.RegisterGradient,
    "NoGradient": watch.no_gradient,
    "NotDifferentiable": watch.no_gradient,
    "no_gradient": watch.no_gradient,
    "colocate_with": watch.colocate_with,
    "container": watch.container,
    "make_template": template.make_template,
    "wrap_function": wrap.wrap_function,
    "assert_variables_initialized": assert_variables_initialized,
    "IndexedSlicesValue": IndexedSlicesValue,
    **composites.NAMES,
    **{path.removeprefix("queue."): kind for path, kind in queues.NAMES.items()},
    "no_regularizer": lambda _: None,
    "global_variables": _collection(GraphKeys.GLOBAL_VARIABLES),
    "all_variables": _collection(GraphKeys.GLOBAL_VARIABLES),
    "trainable_variables": _collection(GraphKeys.TRAINABLE_VARIABLES),
    "local_variables": _collection(GraphKeys.LOCAL_VARIABLES),
    "model_variables": _collection(GraphKeys.MODEL_VARIABLES),
    "moving_average_variables": _collection(GraphKeys.MOVING_AVERAGE_VARIABLES),
    "global_variables_initializer": _initializer(GraphKeys.GLOBAL_VARIABLES),
    "initialize_all_variables": _initializer(GraphKeys.GLOBAL_VARIABLES),
    "initialize_local_variables": _initializer(GraphKeys.LOCAL_VARIABLES),
    "initialize_variables": variables_initializer,
    "VERSION": _holdfast.VERSION,
    "GIT_VERSION": _holdfast.VERSION,
    "local_variables_initializer": _initializer(GraphKeys.LOCAL_VARIABLES),
    "tables_initializer": _initializer(GraphKeys.TABLE_INITIALIZERS),
    "variables_initializer": variables_initializer,
    "report_uninitialized_variables": report_uninitialized_variables,
    "is_variable_initialized": is_variable_initialized,
    "assign": _change("assign"),
    "assign_add": _change("assign_add"),
    "assign_sub": _change("assign_sub"),
    "add_to_collection": add_to_collection,
    "add_to_collections": add_to_collections,
    "get_collection": get_collection,
    "get_collection_ref": get_collection_ref,
    "set_random_seed": set_random_seed,
    "random.set_random_seed": set_random_seed,
    "get_seed": get_seed,
    "random.get_seed": get_seed,
    "name_scope": v1_name_scope,
    "nn.dropout": dropout,
    **{f"{in_}{name}": _arg(name) for name in ("argmax", "argmin") for in_ in ("", "math.")},
    **_old(),
    **_casts(),
    **_random_functions(),
    **_later(),
    "train.Server": Server,
    "distribute.Server": Server,
    **functions.NAMES,
}.items()}  # fmt: skip
NAMES |= SIGNATURES | image.NAMES | initializers.NAMES | losses.NAMES | train.NAMES | nn.NAMES
