"""Every public Python function has a C++ twin of the same signature, or a reason why it has none.

Signatures are read from the headers and from Python, and compared: names, order, defaults. That twins
do the same is what `test_twin_cases.py` and `tests/twins` test, with tables that both languages run.
"""

import inspect
import re
import types

from cpp_headers import HEADERS, Headers

import holdfast as tf

DECLARED = "\n".join(p.read_text() for p in sorted(HEADERS.rglob("*.h")))
CPP = Headers()

# Python's name -> the C++ function, where that has another name; of a class, its options.
OTHER_NAMES = {
    "case": "case_of",  # `case` is a keyword
    "get_current_name_scope": "current_name_scope",
    "GradientTape": "TapeOptions",
    "nn.all_candidate_sampler": "random.all_candidate_sampler",  # with its kin
    "nn.experimental.stateless_dropout": "nn.stateless_dropout",
    "nn.experimental.general_dropout": "nn.general_dropout",
    **{f"sparse.segment_{how}": f"sparse_segment_{how}" for how in ("sum", "mean", "sqrt_n")},
}
# Parameters of TensorFlow that are hints or names, and change no result: C++ has none of them.
HINTS = {"name", "parallel_iterations", "swap_memory", "strict", "example_names"}
# Function -> Python's parameter -> C++'s; None: it has none. With the reason.
RENAMED = {
    "case": {"default": "default_fn"},  # a keyword
    "switch_case": {"default": "default_fn"},
    "map_fn": {"dtype": None},  # the old name of `fn_output_signature`
    "slice": {"input_": "input"},  # `input` is a function of Python's, `input_` a member in C++
    "strided_slice": {"input_": "input"},
    "debugging.assert_shapes": {"data": None, "summarize": None},  # nothing is shown but shapes
}
# C++ function -> what only C++ has.
CPP_ONLY = {
    "GradientTape": {"paused", "sees_itself"},  # Python's `with` starts it; for tapes of our own
    "while_loop": {"names"},  # what messages call its parts
}
# Written otherwise in both languages, for a reason.
UNLIKE = {
    "debugging.assert_none_equal": "TensorFlow has `summarize` before `message` here, C++ one struct",
    "cond": "Python's `true_fn` and `false_fn` may be left out, to be refused in words",
    "io.decode_csv": "a comma between quotes is a default, which the reader of headers takes apart",
    "io.gfile.join": "paths, not strings: C++ has `std::filesystem`",
    "meshgrid": "`*args` in Python is a list in C++",
    "experimental.dlpack.from_dlpack": "a capsule in Python, the struct in it in C++",
    "experimental.dlpack.to_dlpack": "a capsule in Python, the struct in it in C++",
}

# Python's name (a pattern) -> what a header must declare, of what is no function of one name.
TWINS = {
    r"(dtypes\.)?DType|(dtypes\.)?as_dtype": "dtype_named",
    r"IndexedSlices": "struct IndexedSlices",
    r"io\.TFRecordWriter": "class HOLDFAST_API RecordWriter",
    r"io\.TFRecordOptions": "struct RecordOptions",
    r"train\.(Example|Feature|Features|BytesList|FloatList|Int64List)": "struct Example",
    r"train\.(SequenceExample|FeatureLists?)": "struct SequenceExample",
    r"io\.(FixedLen|FixedLenSequence|VarLen|Ragged|Sparse)Feature": "struct FeatureRule",
    r"io\.decode_csv": "Tensors decode_csv(",
    r"io\.parse_(single_)?example": "ParsedFeatures parse_example(",
    r"io\.parse_(single_)?sequence_example": "parse_sequence_example(",
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
    r"init_scope": "class HOLDFAST_API InitScope",
    r"TensorArray": "Tensor list_reserve(",
    r"custom_gradient": "auto custom_gradient(",
    r"recompute_grad": "auto recompute_grad(",
    r"vectorized_map": "auto vectorized_map(",
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
    r"print": "void print(",
    r"Module": "class HOLDFAST_API Module",
    r"name_scope": "class HOLDFAST_API NameScope",
    r"autodiff\.ForwardAccumulator": "class HOLDFAST_API ForwardAccumulator",
}
# Python's name (a pattern) -> why C++ has none.
PYTHON_ONLY = {
    r"io\.gfile\.\w+": "files and folders, for which C++ has `std::filesystem`",
    r"nest\.\w+": "walks Python's lists, tuples and dicts; C++ has types for structure",
    r"py_function|numpy_function": "wraps a Python function",
    r"signal\.(inverse_)?(stft(_window_fn)?|mdct)": "takes a window as a Python function; in C++ it is a "
    "product with `signal::frame` before `rfft` or `dct`",
    r"autograph\..*": "rewrites Python source",
    r"types\..*": "how Python objects tell what they are traced as",
    r"compat\..*": "bridges spellings of Python and of TensorFlow 1",
    r"install_as_tensorflow": "is about Python's import system",
    r"get_logger": "is Python's logging",
    r"distribute\.Server": "SharedVariables, which sessions of C++ share without a name for it",
    r"is_tensor|is_symbolic_tensor|type_spec_from_value|TensorSpec": "asks for the type of an untyped value",
    r"executing_eagerly|inside_function|tuple": "asks of Python's code where it runs",
    r"hessians": "gradients of gradients, in a Python loop",
    r"VariableAggregation|VariableSynchronization": "options of strategies, which do not exist yet",
    r"config\.(Logical|Physical)Device(Configuration)?|config\.experimental\.VirtualDeviceConfiguration": "records that name what C++ passes as arguments",
    r"config\.(experimental\.)?[gs]et_(visible_devices|soft_device_placement|memory_growth|synchronous_execution)|config\.experimental\.get_device_details": "switches that have one setting here",
    r"config\.optimizer\.\w+|config\.(experimental_)?(run_functions_eagerly|functions_run_eagerly)|config\.experimental_run_functions_eagerly|config\.experimental\.(enable_)?tensor_float_32_execution(_enabled)?": "speaks of graphs or GPUs, whose issue is open",
    r"debugging\.(enable|disable|is)_\w+|debugging\.[gs]et_log_device_placement": "switches of Python's tracebacks and logs",
    r"debugging\.(assert_proper_iterable|is_numeric_tensor|assert_type|assert_same_float_dtype)": "checks untyped Python values",
    r"get_static_value|timestamp": "a read of the value, and a clock: C++ has both in the language",
    r"grad_pass_through": "a custom_gradient whose gradient is the identity",
    r"\w+_initializer": "objects that hold the arguments of a call for later; C++ has lambdas",
    r"register_tensor_conversion_function": "converts untyped Python values",
    r"DeviceSpec": "takes a name apart; C++ passes a DeviceKind and an index",
    r"train\.(Checkpoint|CheckpointManager)": "finds variables by the attributes of Python objects; C++ writes and reads named tensors with `io/tensor_bundle.h`",
    r"train\.(get_checkpoint_state|latest_checkpoint)": "what a CheckpointManager of Python keeps in a folder",
    r"train\.(list_variables|load_checkpoint|load_variable)": "a face of `io::BundleReader`, which has its own words",
    r"queue\.\w+|train\.Coordinator": "hands values and stops between Python's threads; C++ has `std::mutex`, `std::condition_variable` and `std::stop_token`",
    r"train\.ExponentialMovingAverage": "keeps variables by the Python objects they stand beside; a step is one assign_sub",
    r"(experimental\.)?Optional(Spec)?": "a value that may not be there, for which C++ has `std::optional`",
    r"IndexedSlicesSpec": "how a Python value of this kind is traced; C++ passes its three tensors",
    r"(Ragged|Sparse)TensorSpec|TypeSpec": "how a Python value of this kind is traced; C++ passes its tensors",
    r"(sparse\.)?(Ragged|Sparse)Tensor|experimental\.(DynamicRaggedShape|RowPartition)": "a class of Python's over functions of tensors, which both have",
    r"strings\.(split|bytes_split|ngrams|unicode_(encode|(decode|split)(_with_offsets)?))": "gives or takes ragged tensors: written with ops, which both have; C++ types to come",
    r"image\.ResizeMethod": "names for texts, which C++ writes as they are",
    r"strings\.format": "a template for tensors of any kind; C++ streams them",
    r"sets\.\w+": "give sparse tensors; C++ types to come",
    r"train\.ClusterSpec": "holds what a program says of a cluster, of which there is none",
    r"(ragged|sparse)\.(?!segment_(sum|mean|sqrt_n)$)\w+|nn\.(safe_)?embedding_lookup_sparse|nn\.ctc_\w+_decoder|edit_distance": "written with functions of tensors, which both have; C++ types to come",
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


def registered():
    """The registry's functions, with all the names they have."""
    found = {}

    def walk(module, path):
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name, None)
            if name.startswith("_") or value is None or name in ("raw_ops", "compat"):
                continue
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("holdfast."):
                    walk(value, f"{path}{name}.")
            elif isinstance(value, type(tf.add)):
                found.setdefault(id(value), (value, []))[1].append(path + name)

    walk(tf, "")
    return list(found.values())


def matches(table, name):
    return next((table[pattern] for pattern in table if re.fullmatch(pattern, name)), None)


def in_cpp(path):
    """The parameters of the overloads of the twin of `path`, none if there is none."""
    name = OTHER_NAMES.get(path, path)
    if name in CPP.structs:
        return [CPP.structs[name]]
    return [
        [each for each in parameters if each.name]  # one without a name is no option of Python's
        for parameters in CPP.signatures(name)
    ]


def same_default(python, cpp):
    """Whether a default in Python is what the text of one in C++ says."""
    texts = {
        None: {"{}", "nullptr", "std::nullopt"},
        False: {"false"},
        True: {"true"},
        "": {None, "{}", '""'},
    }
    if isinstance(python, (bool, type(None))) or python == "":
        return cpp in texts[python]
    if isinstance(python, str):
        return cpp in (f'"{python}"', f"GroupBy::k{python.title()}")  # a text, or an enum
    if isinstance(python, (int, float)):
        return cpp is not None and re.fullmatch(r"[-\d.e]+", cpp) and float(cpp) == python
    if isinstance(python, (list, tuple)):
        numbers = re.findall(r"-?\d+(?:\.\d+)?", cpp or "")
        return cpp is not None and [float(each) for each in numbers] == list(python)
    return cpp == {"bool": "boolean"}.get(python.name, python.name)


def differences(path, value):
    """What differs between a Python function and its twin; None if it has none."""
    overloads = in_cpp(path)
    if not overloads or path in UNLIKE:
        return [] if overloads else None
    renamed = RENAMED.get(path, {})
    left_out = HINTS | {name for name, other in renamed.items() if other is None}
    parameters = [p for p in inspect.signature(value).parameters.values() if p.name not in left_out]
    names = [renamed.get(p.name, p.name) for p in parameters]
    only = CPP_ONLY.get(path, set())
    overloads = [[each for each in other if each.name not in only] for other in overloads]
    twin = next((other for other in overloads if [each.name for each in other] == names), None)
    if twin is None:
        return [f"{path}{names}, in C++ {[[each.name for each in other] for other in overloads]}"]
    return [
        f"{path}: `{p.name}` is {p.default!r} by default, in C++ {each.default}"
        for p, each in zip(parameters, twin, strict=True)
        if p.default is not p.empty and not same_default(p.default, each.default)
    ]


def value_of(path):
    found = tf
    for part in path.split("."):
        found = getattr(found, part)
    return found


def test_registered_functions_have_the_signature_that_cpp_has():
    found = []
    for value, paths in registered():
        said = [differences(path, value) for path in paths]
        known = [each for each in said if each is not None]
        if not known:
            found.append(f"no C++ function for {paths}")
        elif [] not in known:
            found += known[0]
    assert not found


def test_functions_written_in_python_have_the_signature_that_cpp_has():
    found = []
    for path in sorted(written_in_python()):
        if path.startswith("compat.") or matches(PYTHON_ONLY, path):  # TensorFlow 1's own, or none
            continue
        if not isinstance(value_of(path), type) or path in OTHER_NAMES:
            found += differences(path, value_of(path)) or []
    assert not found


def test_every_exception_is_needed():
    for table in (OTHER_NAMES, RENAMED, CPP_ONLY, UNLIKE):
        assert all(in_cpp(path) for path in table), table


def test_every_public_function_has_a_cpp_twin_or_a_reason():
    names = written_in_python()
    twins = {id(value_of(name)) for name in names if in_cpp(name)}  # also under another name
    left = {
        name
        for name in names
        if id(value_of(name)) not in twins
        and not matches(TWINS, name)
        and not matches(PYTHON_ONLY, name)
    }
    assert left <= OPEN, f"no C++ twin and no reason: {sorted(left - OPEN)}"


def test_the_twins_are_declared():
    missing = [declaration for declaration in TWINS.values() if declaration not in DECLARED]
    assert not missing


def test_what_is_open_is_public():
    assert OPEN <= written_in_python(), sorted(OPEN - written_in_python())
