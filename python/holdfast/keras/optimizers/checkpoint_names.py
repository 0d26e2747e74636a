"""What checkpoints call what an optimizer keeps."""

from __future__ import annotations

from typing import Any

from ... import _holdfast

__all__ = ["kept_by", "rate_of", "slot_of"]

# Where the list of a role has a name of its own in Keras; else it is the role's plural.
_LISTS = {
    "average": "_model_variables_moving_average",
    "gradient_accumulator": "_accumulated_gradients",
    "norm": "_u",
}
# What slots of optimizers before Keras 3 were called.
_SLOTS = {
    "m": "momentum",
    "v": "velocity",
    "vhat": "velocity_hat",
    "rms": "velocity",
    "mg": "average_gradient",
    "accum_grad": "accumulated_grad",
    "accum_var": "accumulated_delta_var",
    "average": "average",
}


def rate_of(optimizer: Any) -> Any:
    """The variable of the rate; None where a schedule says it."""
    return next((v for v in _own(optimizer) if _plain(v) == "learning_rate"), None)


def _own(optimizer: Any) -> list[Any]:
    """Its variables without those of an optimizer inside it."""
    _ = optimizer.iterations  # made, if it was not there
    inside = {
        id(variable)
        for _, part in _holdfast.keras_parts(optimizer)
        for variable in getattr(part, "variables", ())
    }
    return [variable for variable in optimizer.variables if id(variable) not in inside]


def _plain(variable: Any) -> str:
    return str(variable.name).rpartition("/")[2].removesuffix(":0")


def _by_role(optimizer: Any) -> dict[str, dict[int, Any]]:
    """What is kept for variables: by its role, then by the number of the variable."""
    trained = _holdfast.trained_variables(optimizer)
    begins = [str(v._full_name).removesuffix(":0").replace("/", "_") + "_" for v in trained]
    out: dict[str, dict[int, Any]] = {}
    for kept in _own(optimizer):
        name = _plain(kept)
        fitting = [i for i, begin in enumerate(begins) if name.startswith(begin)]
        # Of `dense_` and `dense_kernel_` the longer is meant; of equal ones the first without it.
        fitting.sort(key=lambda i: -len(begins[i]))
        for i in fitting:
            role = out.setdefault(name[len(begins[i]) :], {})
            if i not in role:
                role[i] = kept
                break
    return out


def kept_by(optimizer: Any) -> dict[str, Any]:
    """What an optimizer holds, under the names of Keras 3."""
    variables = _own(optimizer)
    trained = list(_holdfast.trained_variables(optimizer))
    out: dict[str, Any] = {"_variables": variables, "_trainable_variables": trained}
    named = {_plain(v): v for v in variables}
    counter, rate = named.get("iteration"), named.get("learning_rate")
    for name, variable in (("_iterations", counter), ("_learning_rate", rate)):
        if variable is not None:
            out[name] = variable
    for name, part in _holdfast.keras_parts(optimizer):
        out[name] = part
    roles = _by_role(optimizer)
    for role, slots in roles.items():
        plural = f"{role[:-1]}ies" if role.endswith("y") else f"{role}s"
        listed = [slots[i] for i in sorted(slots)]
        for name in [_LISTS[role]] if role in _LISTS else [plural, f"_{plural}"]:
            out[name] = listed
        if role == "momentum" and "norm" in roles:
            out["_m"] = listed
    known = {id(v) for slots in roles.values() for v in slots.values()} | {id(counter), id(rate)}
    for variable in variables:
        if id(variable) not in known:
            name = _plain(variable)
            out["_u_product" if name == "product" else name] = variable
    return out


def slot_of(optimizer: Any, variable: Any, name: str) -> Any:
    """What is kept for a variable, by the name of a slot of older optimizers; None if nothing."""
    trained = _holdfast.trained_variables(optimizer)
    number = next((i for i, v in enumerate(trained) if v is variable), None)
    if number is None:
        return None
    return _by_role(optimizer).get(_SLOTS.get(name, name), {}).get(number)
