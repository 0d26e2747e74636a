"""What is said when a symbol is asked for a Python value."""

from __future__ import annotations

import ast
import re
from typing import Any, NoReturn

import numpy as np

from .. import _holdfast
from .diagnostics import (
    born_loc,
    mark,
    module_alias,
    name_in_frame,
    name_operand,
    resolve,
    same_tensor,
    user_frame,
)
from .provenance import type_text, words_of
from .raising import fail, used_here
from .source import enclosing
from .visible import visible_name

__all__ = ["refuse"]


def refuse(tensor: Any, asked: str, scope: dict[str, Any]) -> NoReturn:
    """Raises the diagnostic: whose the symbol is, why it has no value, what to write instead."""
    scope = scope | {"name": _owner(scope)}
    name = _called(tensor) or name_in_frame(tensor) or _receiver(asked)
    name = name or words_of(tensor) or scope["node"]
    if _holdfast.is_model_symbol(tensor):
        _of_a_model(tensor, name, asked, scope)
    by_hand = scope["kind"] == "graph" and asked in ("numpy", "buffer")
    if not scope["open"] or by_hand or _holdfast.is_lifted():
        _holdfast.value(tensor, name)  # it says why not
    if asked in ("numpy", "buffer"):
        _numpy(tensor, name, scope)
    if asked in ("int", "float", "index", "bool") and scope["kind"] == "graph":
        _of_a_graph(tensor, name, asked, scope)
    if asked == "format":
        _format(tensor, name, scope)
    if asked in ("iter", "len"):
        _iterate(tensor, name, asked, scope)
    _python_value(tensor, name, asked, scope)


def _called(tensor: Any) -> str:
    """What the program calls a symbol where it is asked; "" for what Python's own code asks.

    `list(filter(f, rows))` asks what `f` gave, and not for `filter(f, rows)`.
    """
    text, frame = name_operand(tensor, 0)[0], user_frame()
    around = _around()
    held = None if frame is None or not text else resolve(frame, text)
    if held is not None and not isinstance(held, (_holdfast.Tensor, _holdfast.VariableBase, list)):
        return words_of(tensor) or text  # an object, which asked a tensor of its own
    if not text or frame is None or not around or not isinstance(around[0], ast.Call):
        return text
    inner = _calls_in(around[0])
    if not inner & {"filter", "map", "range", "sorted", "min", "max"}:
        return text
    named = same_tensor(resolve(frame, text), tensor)
    return text if named else name_in_frame(tensor) or words_of(tensor) or text


def _calls_in(node: ast.AST) -> set[str]:
    """The functions that an expression calls by plain names."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return {each.id for each in calls if isinstance(each, ast.Name)}


def _of_a_model(tensor: Any, name: str, asked: str, scope: dict[str, Any]) -> NoReturn:
    """Refuses a symbol that models are made of: code around them runs once, and is not staged."""
    tf, inputs = module_alias(), _holdfast.inputs_behind(tensor)
    labels = used_here(f"asked for {_WANTED.get(asked, 'its value')} here")
    of_layer = f"born here: {type_text(tensor)}, a symbol for models to be made of"
    if all(root._id != tensor._id for root in inputs) and (born := born_loc(tensor)):
        labels.insert(0, {"role": "born", "loc": born, "text": of_layer, "primary": False})
        labels = [*_operands_born(tensor, name), *labels]
    for root in inputs[:3]:
        born = born_loc(root)
        if born:
            text = f"born here: {type_text(root)}, an Input"
            labels.insert(0, {"role": "born", "loc": born, "text": text, "primary": False})
    of = [
        visible_name(lambda value, root=root: same_tensor(value, root))  # type: ignore[misc]
        or words_of(root)
        or "an Input"
        for root in inputs[:3]
    ]
    origin = f"`{name}` is computed from " + ", ".join(f"`{word}`" for word in of)
    if of == [name]:
        origin = f"`{name}` is an Input"
    fixes = {
        "numpy": f"give a model values: `{tf}.keras.Model({', '.join(of)}, {name})(...)`",
        "iter": f"`{tf}.map_fn(lambda row: ..., {name})` runs a function for each row",
        "len": f"the length as a tensor: `{tf}.shape({name})[0]`",
    }
    fix = fixes.get("numpy" if asked in ("buffer", "int", "float") else asked) or _way_out(
        tensor, name, asked, models=True
    )
    codes = {"numpy": "E0203", "buffer": "E0203", "iter": "E0202", "len": "E0202"}
    fail(
        codes.get(asked, "E0201"),
        f"`{name}` is a symbol of a model"
        + (
            ": it has no value that Python could go by" * (len(name) <= _SHORT)
            or ": it has no value"
        ),
        f"{origin}: it gets a value whenever a model is called, and this line runs once, before",
        fix=fix,
        labels=labels,
        subject=_subject(tensor, name, scope)
        | {"owner": {"kind": "keras_build", "name": ", ".join(of)}},
    )


def _of_a_graph(tensor: Any, name: str, asked: str, scope: dict[str, Any]) -> NoReturn:
    """Refuses a tensor of a graph that is written by hand: a session alone computes it."""
    tf, graph = module_alias(), visible_name(lambda value: _is_of(value, tensor))
    owner = graph or scope["name"]
    path = f"{name}.graph" if re.fullmatch(r"[\w.\[\]]+", name) else ""
    given = f"graph={graph or path}" if graph or path else ""
    ways = [f"run it in a session: `{tf}.compat.v1.Session({given}).run({name})`"]
    if asked == "bool":
        ways.insert(0, _way_out(tensor, name, asked))
    fail(
        "E0201",
        f"`{name}` is asked for {_WANTED[asked]}, and is part of the graph `{owner}`",
        "a graph writes ops down, and a session computes them; Python wants a value now",
        fixes=[{"title": way, "applicability": "manual", "edits": []} for way in ways],
        labels=_labels(tensor, _born_text(tensor, scope), f"asked for {_WANTED[asked]} here"),
        subject=_subject(tensor, name, scope),
    )


_SHORT = 18  # a name beside which the headline has room for all it says


def _is_of(value: Any, tensor: Any) -> bool:
    found = getattr(type(value), "_stands_for", None)
    return found is not None and value is _holdfast.graph_of(tensor)


def _receiver(asked: str) -> str:
    """What stands before the `.numpy` that is executing."""
    here = mark()
    names = here.names() if here is not None and asked == "numpy" else None
    return " ".join(names.receiver.text.split()) if names is not None and names.receiver else ""


def _labels(tensor: Any, text: str, used: str, name: str = "") -> list[dict[str, Any]]:
    born = born_loc(tensor)
    labels = used_here(used)
    if born:
        labels.insert(0, {"role": "born", "loc": born, "text": text, "primary": False})
    return [*_operands_born(tensor, name), *labels]


_SHOWN_OPERANDS = 2


def _operands_born(tensor: Any, name: str) -> list[dict[str, Any]]:
    """Where the symbols were born that stand in an expression under their names."""
    frame = user_frame()
    try:
        tree = ast.parse(name, mode="eval")
    except (SyntaxError, ValueError):
        return []
    if frame is None or isinstance(tree.body, (ast.Name, ast.Attribute)):
        return []
    found: dict[str, dict[str, Any]] = {}
    own = (born_loc(tensor) or {}).get("line")
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            continue
        text = ast.unparse(node)
        value = resolve(frame, text)
        symbolic = isinstance(value, _holdfast.Tensor) and value._symbolic
        born = born_loc(value) if symbolic else None
        if born and born["line"] != own and value._op != "Placeholder":
            said = f"`{text}` born here: {type_text(value)} from {value._op}"
            found[text] = {"role": "born", "loc": born, "text": said, "primary": False}
    return list(found.values())[:_SHOWN_OPERANDS]


def _born_text(tensor: Any, scope: dict[str, Any]) -> str:
    if tensor._op == "Placeholder" and scope["kind"] in ("loop", "branch"):
        return f"born here: {type_text(tensor)}, in {scope['name']}"
    if tensor._op == "Placeholder" and scope["kind"] != "graph":
        return f"born here: {type_text(tensor)}, an argument of {scope['name']}"
    owner = scope["name"]
    function = str((born_loc(tensor) or {}).get("qualname", "")).rpartition(".")[2]
    called = scope["kind"] == "function" and function.isidentifier() and function != owner
    within = f"{function}, traced with {owner}" if called else owner
    return f"born here: {type_text(tensor)} from {tensor._op}, in {within}"


def _subject(tensor: Any, name: str, scope: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "op": tensor._op,
        "dtype": tensor.dtype.name,
        "shape": str(tensor.shape),
        "born": born_loc(tensor) or {},
        "owner": {"kind": scope["kind"], "name": scope["name"], "trace_no": scope["trace_no"]},
    }


def _numpy(tensor: Any, name: str, scope: dict[str, Any]) -> NoReturn:
    tf, dtype, function = module_alias(), tensor.dtype.name, scope["name"]
    new = f"{tf}.py_function(lambda value: value.numpy(), [{name}], {tf}.{dtype})"
    asked = f"{name}.numpy()" if re.fullmatch(r"[\w.\[\]]+", name) else f"({name}).numpy()"
    fixes = [_edited("have Python called whenever it runs: `py_function`", asked, new)]
    if _goes_on_in_python():
        call = f"{tf}.py_function(lambda value: ..., [{name}], {tf}.{dtype})"
        title = f"have Python called whenever it runs, for all that needs numbers: `{call}`"
        fixes = [{"title": title, "applicability": "manual", "edits": []}]
    frame = user_frame()
    own = frame is not None and frame.f_code.co_name == function
    if own and any(isinstance(node, ast.Return) for node in _around()):
        title = f"or return `{name}` as it is, and call `.numpy()` on what `{function}` gives"
        fixes.append({"title": title, "applicability": "manual", "edits": []})
    fail(
        "E0203",
        f"`{asked}`: `{name}` has no value while `{function}` is traced",
        f"this runs once, while tracing `{function}`, when `{name}` is a recipe and not a number",
        fixes=fixes,
        labels=_labels(tensor, _born_text(tensor, scope), "asked for its value here"),
        subject=_subject(tensor, name, scope),
    )


_TAKES_NUMBERS = {"bool", "float", "int", "len", "list", "range", "round", "str", "tuple"}


def _goes_on_in_python() -> bool:
    """Whether what `x.numpy()` gives is used as what no tensor of a graph can be."""
    around = _around()
    asked = around[0] if around else None
    for node in around[1:]:
        if isinstance(node, ast.Attribute) and node.value is asked:
            return True
        if isinstance(node, (ast.For, ast.comprehension)) and node.iter is asked:
            return True
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)) and any(
            part.iter is asked for part in node.generators
        ):
            return True
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in _TAKES_NUMBERS:
            return True
    return False


def _format(tensor: Any, name: str, scope: dict[str, Any]) -> NoReturn:
    tf, function = module_alias(), scope["name"]
    if any(_is_call(node, "print") for node in _around()):
        fix = f"print it whenever it runs: `{tf}.print({name})`"
    else:
        call = f"{tf}.py_function(lambda value: format(value.numpy(), ...), [{name}], {tf}.string)"
        fix = f"have Python called whenever it runs: `{call}`"
    fail(
        "E0203",
        f"`{name}` has no value to be formatted while `{function}` is traced",
        f"this runs once, while tracing `{function}`, when `{name}` is a recipe and not a number",
        fix=fix,
        labels=_labels(tensor, _born_text(tensor, scope), "formatted here"),
        subject=_subject(tensor, name, scope),
    )


def _edited(title: str, old: str, new: str) -> dict[str, Any]:
    """A fix that writes `new` for `old` in the expression that is executing, where it stands."""
    here = mark()
    loc = here.loc() if here is not None else {}
    line = loc.get("source", "").encode()
    at = line.find(old.encode(), max(loc.get("col_begin", 0), 0))
    if at < 0 or line.count(old.encode()) != 1:
        return {"title": f"{title}: `{new}`", "applicability": "manual", "edits": []}
    edit = {"file": loc["file"], "line": loc["line"], "col": at, "old": old, "new": new}
    return {"title": title, "applicability": "maybe", "edits": [edit]}


def _around() -> list[ast.expr | ast.stmt]:
    here = mark()
    return enclosing(here.code, here.lasti) if here is not None else []


_UNNAMED = re.compile(r"(loop|condition|if|else) (in|of) line \d+")


def _owner(scope: dict[str, Any]) -> str:
    """Whose a symbol is: of a statement's side or body, the function that the statement is in."""
    here = mark() if _UNNAMED.fullmatch(scope["name"]) else None
    function = "" if here is None else str(here.loc()["qualname"]).rpartition(".")[2]
    return function if function.isidentifier() else str(scope["name"])


def _origin(tensor: Any, name: str, scope: dict[str, Any]) -> str:
    if scope["kind"] == "loop":
        return f"`{name}` is another one in each iteration of a staged loop"
    if scope["kind"] == "branch":
        return f"`{name}` is made on one side of a staged branch"
    roots = _holdfast.roots_of(tensor)
    if roots == [name]:
        return f"`{name}` is an argument of `{scope['name']}`"
    if not roots or scope["kind"] == "graph":
        return f"`{name}` is computed when `{scope['name']}` runs"
    names = ", ".join(f"`{r}`" for r in roots[:3])
    plural = "s" if len(roots) > 1 else ""
    return f"`{name}` depends on the argument{plural} {names} of `{scope['name']}`"


def _iterate(tensor: Any, name: str, asked: str, scope: dict[str, Any]) -> NoReturn:
    tf = module_alias()
    loops = (ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred)
    iterated = asked == "iter" or any(isinstance(node, loops) for node in _around())
    what = "iterated over" if iterated else "asked for its length"
    instead = f"`{tf}.map_fn(lambda row: ..., {name})` runs a function for each row"
    fail(
        "E0202",
        f"`{name}` is {what} while `{scope['name']}` is traced; its number of rows is unknown",
        f"{_origin(tensor, name, scope)} and is {type_text(tensor)}: `?` is a size that each call "
        "decides",
        fix=instead if iterated else f"the length as a tensor: `{tf}.shape({name})[0]`; {instead}",
        labels=_labels(tensor, _born_text(tensor, scope), f"{what} here"),
        subject=_subject(tensor, name, scope),
    )


_WANTED = {
    "bool": "its truth",
    "int": "an int",
    "float": "a float",
    "index": "an int",
    "iter": "its rows",
    "len": "its length",
    "key": "a key",
    "format": "a text",
}


def _python_value(tensor: Any, name: str, asked: str, scope: dict[str, Any]) -> NoReturn:
    fail(
        "E0201",
        f"`{name}` is asked for {_WANTED[asked]} while `{scope['name']}` is traced",
        f"{_origin(tensor, name, scope)}: it gets a value when the graph runs, and Python wants "
        "one now",
        fix=_way_out(tensor, name, asked),
        labels=_labels(tensor, _born_text(tensor, scope), f"asked for {_WANTED[asked]} here", name),
        subject=_subject(tensor, name, scope),
    )


def _way_out(tensor: Any, name: str, asked: str, models: bool = False) -> str:
    """The function of ours that does what the statement around means."""
    tf = module_alias()
    place = name if tensor.dtype.is_integer else f"{tf}.cast({name}, {tf}.int32)"
    around = _around()
    for inner, node in zip([None, *around], around, strict=False):
        match node:
            case ast.If() | ast.While() | ast.IfExp() if inner is not node.test:
                continue  # what it decides about
            case ast.Subscript(value=value, ctx=ast.Store()):
                return _kept(ast.unparse(value), name, asked)
            case ast.Subscript(value=value, slice=ast.Slice()):
                return _cut(ast.unparse(value), name)
            case ast.Subscript(value=value) if not isinstance(value, (ast.Call, ast.ListComp)):
                return _choice(ast.unparse(value), name, tensor)
            case ast.Call(func=ast.Attribute(value=value, attr="get")) if asked in _AS_KEYS:
                return _choice(ast.unparse(value), name, tensor)
            case ast.comprehension() | ast.ListComp() | ast.GeneratorExp() if asked == "bool" and (
                isinstance(node, ast.comprehension) or any(part.ifs for part in node.generators)
            ):
                mask = f"{tf}.boolean_mask(values, mask)"
                return f"keep those for which it holds, in the graph: `{mask}`"
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[among]):
                return _is_among(ast.unparse(left), among)
            case ast.BinOp(left=ast.List() as row, op=ast.Mult()) if asked in _AS_KEYS:
                return f"repeat in the graph: `{tf}.repeat({ast.unparse(row)}, {place})`"
            case ast.Call() if asked == "bool" and "filter" in _calls_in(node):
                mask = f"{tf}.boolean_mask(values, mask)"
                return f"keep those for which it holds, in the graph: `{mask}`"
            case ast.Call() if asked in _AS_KEYS and "range" in _calls_in(node):
                return _counted(place)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if any(
                _is_call(part.iter, "range") for part in node.generators
            ):
                return _counted(place)
            case ast.Subscript(value=ast.Call() as value) if _is_call(value, "sorted"):
                return _sorted_fix(value)
            case ast.Call() if _is_call(node, "sorted"):
                return _sorted_fix(node)
            case ast.Call() if _is_call(node, "max") or _is_call(node, "min"):
                found = "argmax" if _is_call(node, "max") else "argmin"
                most = f"reduce_{found[3:]}"
                if any(each.arg == "key" for each in node.keywords):
                    given = f"{tf}.stack({ast.unparse(node.args[0])})" if node.args else "..."
                    picked = f"{tf}.gather({given}, {tf}.{found}(keys))"
                    return f"choose in the graph, with `keys` as one tensor: `{picked}`"
                return (
                    f"compare in the graph: `{tf}.{most}({tf}.stack([...]))` is the value, "
                    f"`{tf}.{found}` its place"
                )
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=attr)) if (
                attr in _MATH
            ):
                return f"compute it in the graph: `{tf}.math.{_MATH[attr]}({name})`"
            case ast.If() if models:
                return f"compute both and choose: `{tf}.where({name}, ..., ...)`"
            case ast.While():
                return f"loop in the graph: `{tf}.while_loop(lambda ...: {name}, ...)`"
            case ast.If():
                return f"branch in the graph: `{tf}.cond({name}, lambda: ..., lambda: ...)`"
            case ast.IfExp() | ast.BoolOp():
                return f"choose in the graph: `{tf}.where({name}, ..., ...)`"
    if asked == "bool":
        return f"`{tf}.where({name}, ..., ...)` for values, `{tf}.cond({name}, ...)` for code"
    if asked == "key":
        return f"`{tf}.switch_case({name}, [...])` goes by the value; `{name}.ref()` is a key"
    if asked == "index":
        return f"`{tf}.gather(..., {place})`, or `{tf}.switch_case({place}, [...])`"
    dtype = "float32" if asked == "float" else "int32"
    return f"stay in the graph: `{tf}.cast({name}, {tf}.{dtype})` is a tensor of that kind"


_AS_KEYS = ("int", "index", "key")


def _kept(container: str, name: str, asked: str) -> str:
    """A store by a tensor: of one into an array, or at a place that only the graph knows."""
    tf, frame = module_alias(), user_frame()
    found = resolve(frame, container) if frame is not None else None
    if asked in ("int", "index", "key"):
        return (
            f"let a tensor stand for `{container}`: "
            f"`{tf}.tensor_scatter_nd_update(..., [[{name}]], [...])` gives one with that place set"
        )
    if isinstance(found, np.ndarray) and _is_local(container):
        return f"collect tensors in a list, in place of `{container}`, and `{tf}.stack` it"
    return f"keep it in a `{tf}.Variable`: `{container}[...].assign({name})`"


def _is_local(name: str) -> bool:
    """Whether a name is set in the function around, so that what it leads to ends with the call."""
    for node in _around():
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            names = (n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name)
            return any(isinstance(n.ctx, ast.Store) for n in names)
    return False


def _is_call(node: ast.AST, name: str) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == name


def _counted(name: str) -> str:
    return f"count in the graph: `{module_alias()}.range({name})`"


def _sorted_fix(call: ast.Call) -> str:
    tf = module_alias()
    given = f"{tf}.stack({ast.unparse(call.args[0]) if call.args else '...'})"
    options = {each.arg: each.value for each in call.keywords}
    reverse = options.get("reverse")
    turned = isinstance(reverse, ast.Constant) and reverse.value
    down = ', direction="DESCENDING"' if turned else ""
    if "key" in options:
        order = f"{tf}.gather({given}, {tf}.argsort(keys{down}))"
        return f"sort in the graph, with `keys` as one tensor: `{order}`"
    return f"sort in the graph: `{tf}.sort({given}{down})`"


def _is_among(name: str, among: ast.expr) -> str:
    """`name in among`, of keys or elements that are numbers."""
    tf = module_alias()
    keys = among.keys if isinstance(among, ast.Dict) else getattr(among, "elts", [])
    literal = bool(keys) and all(isinstance(key, ast.Constant) for key in keys)
    listed = ", ".join(ast.unparse(key) for key in keys if key is not None)
    rows = f"[{listed}]" if literal else f"list({ast.unparse(among)})"
    return f"compare in the graph: `{tf}.reduce_any({tf}.equal({name}, {rows}))`"


def _cut(container: str, name: str) -> str:
    """A part of a Python container, of a length that is known when the graph runs."""
    tf, frame = module_alias(), user_frame()
    found = resolve(frame, container) if frame is not None else None
    if isinstance(found, (list, tuple)) and not any(map(callable, found)):
        return f"cut in the graph: `{tf}.stack({container})[...]` takes tensors as bounds"
    return (
        f"walk over all of `{container}`, the `i`-th under `{tf}.cond(i < {name}, ...)`; "
        f"or give `{name}` as a Python number"
    )


def _choice(container: str, name: str, tensor: Any) -> str:
    """One of the things in a Python container, picked when the graph runs."""
    tf, frame = module_alias(), user_frame()
    found = resolve(frame, container) if frame is not None else None
    found = found if isinstance(found, (list, tuple, dict)) else None  # a tensor is not asked
    items = list(found.values()) if isinstance(found, dict) else found
    functions = bool(items) and all(map(callable, items or ()))
    given = "(...)" if functions else ""
    if tensor.dtype.name == "bool":
        either = (True, False) if isinstance(found, dict) else (1, 0)
        sides = ", ".join(f"lambda: {container}[{key!r}]{given}" for key in either)
        return f"let the graph choose: `{tf}.cond({name}, {sides})`"
    keys: list[Any] = list(found if isinstance(found, dict) else range(len(items or ())))
    counted = keys == list(range(len(keys)))
    if tensor.dtype.name == "string" and keys:
        known = ", ".join(map(repr, keys[:_SHOWN_KEYS])) + ", ..." * (len(keys) > _SHOWN_KEYS)
        name = f"{tf}.argmax({tf}.equal({name}, [{known}]), output_type={tf}.int32)"
        counted = True
    elif not tensor.dtype.is_integer:
        name = f"{tf}.cast({name}, {tf}.int32)"
    if functions or isinstance(found, dict) or (items and not _stacks(items)):
        rest = given or ("" if isinstance(found, dict) else "...")
        sides = ", ".join(
            f"{'' if counted else f'{key!r}: '}lambda: {container}[{key!r}]{rest}"
            for key in keys[:_SHOWN_KEYS]
        )
        sides += ", ..." if len(keys) > _SHOWN_KEYS else ""
        sides = f"[{sides}]" if counted else f"{{{sides}}}"
        return f"let the graph choose: `{tf}.switch_case({name}, {sides})`"
    if isinstance(items, (list, tuple)):
        return f"let the graph choose: `{tf}.gather({tf}.stack({container}), {name})`"
    return (
        f"let the graph choose: `{tf}.switch_case({name}, [...])`, or `{tf}.gather` from a tensor"
    )


_SHOWN_KEYS = 2


def _stacks(items: Any) -> bool:
    """Whether what a container holds can be one tensor, and may be one here."""
    if any(_is_call(node, "getattr") for node in _around()):
        return False  # a name that Python goes by
    numbers = (str, int, float, complex, list, tuple, np.generic, np.ndarray)
    return all(isinstance(x, (*numbers, _holdfast.Tensor, _holdfast.VariableBase)) for x in items)


# Functions of Python's `math`, and their counterparts.
_MATH = {
    each: each
    for each in (
        "sqrt",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "tanh",
        "floor",
        "ceil",
        "pow",
        "atan2",
        "erf",
    )
} | {"fabs": "abs"}
