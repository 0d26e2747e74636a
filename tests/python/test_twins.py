"""Every public Python function has a C++ twin, or a reason why it is Python's alone.

Functions of the registry are C++ functions, so they have one by construction. What is written in Python is
listed here: with the C++ declaration that does the same, or with the reason, or as still open.
"""

import pathlib
import re
import types

import holdfast as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = "\n".join(p.read_text() for p in sorted((ROOT / "holdfast").rglob("*.h")))

# Python's name (a pattern) -> what a header must declare.
TWINS = {
    r"(dtypes\.)?DType|(dtypes\.)?as_dtype": "dtype_named",
    r"(autodiff\.)?GradientTape": "class HOLDFAST_API GradientTape",
    r"IndexedSlices": "struct IndexedSlices",
    r"Tensor|constant|convert_to_tensor": "class HOLDFAST_API Tensor",
    r"TensorShape": "class HOLDFAST_API Shape",
    r"UnconnectedGradients": "enum class Unconnected",
    r"Variable": "class HOLDFAST_API Variable",
    r"device": "class HOLDFAST_API DeviceScope",
    r"Graph": "class HOLDFAST_API OpenGraph",
    r"Operation": "class HOLDFAST_API Node",
    r"gradients": "gradients_in(",
    r"control_dependencies": "push_control(",
    r"group|no_op": "Ref<Node> group(",
    r"function|ConcreteFunction": "class Function",
    r"cond": "Tensors cond(",
    r"while_loop": "Tensors while_loop(",
    r"case": "Tensors case_of(",
    r"switch_case": "Tensors switch_case(",
    r"map_fn": "Tensor map_fn(",
    r"foldl": "Tensor foldl(",
    r"foldr": "Tensor foldr(",
    r"scan": "Tensor scan(",
    r"peek": "Tensor peek(",
    r"TensorArray": "Tensor list_reserve(",
    r"einsum|linalg\.einsum": "Tensor einsum(",
    r"linalg\.svd": "svd(",
    r"nn\.embedding_lookup": "Tensor embedding_lookup(",
    r"nn\.ctc_loss": "Tensor ctc_loss(",
    r"nn\.experimental\.general_dropout": "Tensor general_dropout(",
    r"nn\.fractional_(max|avg)_pool": "fractional_max_pool(",
    r"meshgrid": "meshgrid(",
    r"clip_by_value": "clip_by_value(",
    r"clip_by_norm": "clip_by_norm(",
    r"clip_by_global_norm": "clip_by_global_norm(",
    r"linalg\.global_norm": "global_norm(",
    r"linalg\.eigh_tridiagonal": "eigh_tridiagonal(",
    r"linalg\.tridiagonal_matmul": "tridiagonal_matmul(",
    r"linalg\.tridiagonal_solve": "tridiagonal_solve(",
    r"broadcast_static_shape": "broadcast_static_shape",
    r"custom_gradient": "record_custom",
    r"explain": "const std::vector<CodeInfo>& all_codes()",
    r"live_tensors|LiveTensors": "live_tensors(GroupBy",
    r"random\.(experimental\.)?(Generator|Algorithm|create_rng_state|[gs]et_global_generator)": "class HOLDFAST_API Generator",
    r"test\.(is_gpu_available|gpu_device_name)": "const std::vector<Device*>& devices()",
    r"config\.(experimental\.)?list_(logical|physical)_devices": "const std::vector<Device*>& devices()",
    r"config\.(experimental\.)?(set|get)_(logical|virtual)_device_configuration": "set_logical_cpus",
    r"config\.experimental\.(get_memory_info|get_memory_usage|reset_memory_stats)": "struct MemoryStats",
    r"config\.experimental\.[gs]et_device_policy": "set_device_policy",
    r"config\.experimental\.enable_op_determinism": "set_deterministic",
    r"config\.threading\.\w+": "set_num_threads",
    r"errors\.\w+Error": "class HOLDFAST_API Error",
    r"errors\.Diagnostic": "struct HOLDFAST_API Diagnostic",
    r"(math\.)?scalar_mul": "Tensor scalar_mul(",
    r"(debugging\.)?Assert": "void Assert(",
    **{
        rf"(debugging\.)?{check}": f" {check}("
        for check in (
            "assert_all_finite",
            "assert_equal",
            "assert_greater",
            "assert_greater_equal",
            "assert_integer",
            "assert_less",
            "assert_less_equal",
            "assert_near",
            "assert_negative",
            "assert_non_negative",
            "assert_non_positive",
            "assert_none_equal",
            "assert_positive",
            "assert_rank",
            "assert_rank_at_least",
            "assert_rank_in",
            "assert_scalar",
            "assert_shapes",
            "check_numerics",
        )
    },
    r"print": "void print(",
    r"Module": "class HOLDFAST_API Module",
    r"name_scope": "class HOLDFAST_API NameScope",
    r"get_current_name_scope": "std::string current_name_scope()",
    r"autodiff\.ForwardAccumulator": "class HOLDFAST_API ForwardAccumulator",
}
# Python's name (a pattern) -> why C++ has none.
PYTHON_ONLY = {
    r"nest\.\w+": "walks Python's lists, tuples and dicts; C++ has types for structure",
    r"py_function|numpy_function": "wraps a Python function",
    r"autograph\..*": "rewrites Python source",
    r"keep": "for tensors that leave a function by Python's stores; C++ code returns what it hands out",
    r"vectorized_map": "map_fn that traces its Python function first; a C++ function is traced by `function`",
    r"types\..*": "how Python objects tell what they are traced as",
    r"compat\..*": "bridges spellings of Python and of TensorFlow 1",
    r"install_as_tensorflow": "is about Python's import system",
    r"get_logger": "is Python's logging",
    r"distribute\.Server": "SharedVariables, which sessions of C++ share without a name for it",
    r"is_tensor|is_symbolic_tensor|type_spec_from_value|TensorSpec": "asks for the type of an untyped value",
    r"executing_eagerly|init_scope|inside_function|tuple": "asks of Python's code where it runs",
    r"hessians": "gradients of gradients, in a Python loop",
    r"experimental\.dlpack\.\w+": "hands out Python capsules",
    r"VariableAggregation|VariableSynchronization": "options of strategies, which do not exist yet",
    r"config\.(Logical|Physical)Device(Configuration)?|config\.experimental\.VirtualDeviceConfiguration": "records that name what C++ passes as arguments",
    r"config\.(experimental\.)?[gs]et_(visible_devices|soft_device_placement|memory_growth|synchronous_execution)|config\.experimental\.get_device_details": "switches that have one setting here",
    r"config\.optimizer\.\w+|config\.(experimental_)?(run_functions_eagerly|functions_run_eagerly)|config\.experimental_run_functions_eagerly|config\.experimental\.(enable_)?tensor_float_32_execution(_enabled)?": "speaks of graphs or GPUs, whose issue is open",
    r"debugging\.(enable|disable|is)_\w+|debugging\.[gs]et_log_device_placement": "switches of Python's tracebacks and logs",
    r"debugging\.(assert_proper_iterable|is_numeric_tensor|assert_type|assert_same_float_dtype)": "checks untyped Python values",
    r"get_static_value|timestamp": "a read of the value, and a clock: C++ has both in the language",
    r"recompute_grad|grad_pass_through": "decorators",
    r"\w+_initializer": "objects that hold the arguments of a call for later; C++ has lambdas",
    r"register_tensor_conversion_function": "converts untyped Python values",
    r"DeviceSpec": "takes a name apart; C++ passes a DeviceKind and an index",
    r"train\.ExponentialMovingAverage": "keeps variables by the Python objects they stand beside; a step is one assign_sub",
    r"IndexedSlicesSpec": "how a Python value of this kind is traced; C++ passes its three tensors",
    r"RegisterGradient|no_gradient": "names gradients for ops that Python adds to a graph by type",
    r"make_ndarray|make_tensor_proto": "turns NumPy arrays into messages of TensorFlow's and back",
    r"variable_creator_scope": "wraps the calls by which Python makes Variables",
    r"AggregationMethod": "hints of TensorFlow 1 that change no result",
    r"test\.is_built_with_\w+": "asks what was installed beside the Python package",
}  # fmt: skip
# Should have a twin and has none yet. Only ever shrinks.
OPEN: set[str] = set()


def written_in_python():
    """Names of public functions and classes that are not the registry's."""
    found = set()

    def walk(module, path):
        public = getattr(module, "__all__", None)
        for name in public if public is not None else dir(module):
            value = getattr(module, name, None)
            if name.startswith("_") or value is None or name == "raw_ops":
                continue
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("holdfast."):
                    walk(value, f"{path}{name}.")
            elif isinstance(value, type(tf.add)) or not callable(value):
                continue
            elif getattr(value, "__module__", "").startswith("holdfast"):
                found.add(path + name)

    walk(tf, "")
    return found


def matches(table, name):
    return next((table[pattern] for pattern in table if re.fullmatch(pattern, name)), None)


def test_every_public_function_has_a_cpp_twin_or_a_reason():
    left = {n for n in written_in_python() if not matches(TWINS, n) and not matches(PYTHON_ONLY, n)}
    assert left <= OPEN, f"no C++ twin and no reason: {sorted(left - OPEN)}"


def test_the_twins_are_declared():
    missing = [declaration for declaration in TWINS.values() if declaration not in HEADERS]
    assert not missing


def test_what_is_open_is_public():
    assert OPEN <= written_in_python(), sorted(OPEN - written_in_python())
