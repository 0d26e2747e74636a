"""Functions of `tf.compat.v1` that are those of version 2 under another signature.

Arguments stand in another order, or have other names as well. A line of the table says
`names = function: parameters`, the parameters in version 1's order:

- `dim>axis` is another name of `axis`,
- `-optimize` is a hint that changes no result,
- `name` is the op's name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensors import registry

__all__ = ["NAMES"]

_REDUCED = "axis keepdims name reduction_indices>axis keep_dims>keepdims"

_TABLE = """
expand_dims = expand_dims: input axis name dim>axis
squeeze = squeeze: input axis name squeeze_dims>axis
transpose = transpose: a perm name conjugate
matrix_transpose linalg.transpose = linalg.matrix_transpose: a name conjugate
pad = pad: tensor paddings mode name constant_values
gather = gather: params indices validate_indices name axis batch_dims
gather_nd manip.gather_nd = gather_nd: params indices name batch_dims bad_indices_policy
boolean_mask = boolean_mask: tensor mask name axis
shape = shape: input name out_type
size = size: input name out_type
zeros_like = zeros_like: tensor>input dtype name -optimize
ones_like = ones_like: tensor>input dtype name -optimize
reverse_sequence = reverse_sequence: \
    input seq_lengths seq_axis batch_axis name seq_dim>seq_axis batch_dim>batch_axis
batch_to_space = batch_to_space: input crops block_size>block_shape name block_shape
space_to_batch nn.space_to_batch = space_to_batch: \
    input paddings block_size>block_shape name block_shape
space_to_depth nn.space_to_depth = nn.space_to_depth: input block_size name data_format
depth_to_space nn.depth_to_space = nn.depth_to_space: input block_size name data_format
norm linalg.norm = norm: tensor ord axis keepdims name keep_dims>keepdims
lin_space linspace = linspace: start stop num name axis
matrix_diag = linalg.diag: diagonal name k num_rows num_cols padding_value align
matrix_diag_part = linalg.diag_part: input name k padding_value align
matrix_set_diag = linalg.set_diag: input diagonal name k align
confusion_matrix math.confusion_matrix = math.confusion_matrix: \
    labels predictions num_classes dtype name weights
count_nonzero math.count_nonzero = math.count_nonzero: \
    input_tensor>input axis keepdims dtype name reduction_indices>axis keep_dims>keepdims input
nn.in_top_k math.in_top_k = math.in_top_k: predictions targets k name
nn.softmax math.softmax = nn.softmax: logits axis name dim>axis
nn.log_softmax math.log_softmax = nn.log_softmax: logits axis name dim>axis
nn.l2_normalize math.l2_normalize linalg.l2_normalize = math.l2_normalize: \
    x axis epsilon name dim>axis
nn.moments = nn.moments: x axes shift name keep_dims>keepdims keepdims
nn.weighted_moments = nn.weighted_moments: \
    x axes frequency_weights name keep_dims>keepdims keepdims
nn.sufficient_statistics = nn.sufficient_statistics: \
    x axes shift keep_dims>keepdims name keepdims
nn.crelu = nn.crelu: features name axis
strings.length = strings.length: input name unit
strings.substr substr = strings.substr: input pos len name unit
strings.to_number string_to_number = strings.to_number: string_tensor>input out_type name input
strings.reduce_join reduce_join = strings.reduce_join: \
    inputs axis keep_dims>keepdims separator name reduction_indices>axis keepdims
"""
for _how in ["sum", "mean", "max", "min", "prod", "all", "any", "logsumexp"]:
    _TABLE += f"reduce_{_how} math.reduce_{_how} = reduce_{_how}: input_tensor {_REDUCED}\n"


def _moved(path: str, parameters: list[str]) -> Callable[..., Any]:
    """The registered function behind version 1's parameters."""
    function = registry.BY_PATH[path]
    names = [p.partition(">")[0].lstrip("-") for p in parameters]
    means = {p.partition(">")[0]: p.partition(">")[2] for p in parameters if ">" in p}
    hints = {p[1:] for p in parameters if p.startswith("-")}

    def moved(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            raise TypeError(f"`{path}` takes {len(names)} arguments, and got {len(args)}")
        given = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in names:
                raise TypeError(f"`{path}` has no argument `{key}`; it has {', '.join(names)}")
            if key in given:
                raise TypeError(f"`{path}` got the argument `{key}` twice")
            given[key] = value
        meant: dict[str, Any] = {}
        for key, value in given.items():
            target = means.get(key, key)
            if value is None or key in hints:
                continue
            if target in meant:
                raise ValueError(f"`{path}`: `{key}` is another name of `{target}`, give one")
            meant[target] = value
        return function(**meant)

    moved.__name__, moved.__doc__ = path.rpartition(".")[2], function.__doc__
    return moved


def _read() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for line in _TABLE.strip().splitlines():
        names, _, said = line.partition(" = ")
        path, _, parameters = said.partition(": ")
        if path in registry.BY_PATH:
            function = _moved(path, parameters.split())
            made |= {f"compat.v1.{name}": function for name in names.split()}
    return made


NAMES: dict[str, Any] = _read()
