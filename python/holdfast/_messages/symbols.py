"""What is said when a symbol is asked for a Python value."""

from __future__ import annotations

import ast
import re
import sys
from types import FrameType
from typing import Any, NoReturn

from .. import _holdfast
from .diagnostics import (
    born_loc,
    has_alias,
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
from .visible import visible_name
from .ways_out import around, calls_in, is_call, way_out

__all__ = ["refuse"]


def refuse(tensor: Any, asked: str, scope: dict[str, Any]) -> NoReturn:
    """Raises the diagnostic: whose the symbol is, why it has no value, what to write instead."""
    scope = scope | {"name": _owner(scope)}
    name = _called(tensor) or name_in_frame(tensor) or _receiver(asked)
    name = name or words_of(tensor) or scope["node"]
    if asked == "numpy" and not _holdfast.is_model_symbol(tensor) and _asked_by_ours():
        _for_ours(tensor, name, scope)
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


def _asked_by_ours() -> bool:
    """Whether a layer or the like asks, which the program gave the symbol for an option."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (name := str(frame.f_globals.get("__name__", ""))) != "__main__":
        if name.startswith(f"{_PACKAGE}.keras."):
            return True
        if not name.startswith(_PACKAGE):
            return False
        frame = frame.f_back
    return False


_PACKAGE = __name__.partition(".")[0]


def _for_ours(tensor: Any, name: str, scope: dict[str, Any]) -> NoReturn:
    """Refuses a symbol that is given for an option of a layer or the like."""
    wanted = _WANTED["int" if tensor.dtype.is_integer else "float"]
    here = mark()
    called = here.names().function if here is not None else ""
    option = f"an option of `{called}`" if called else "an option"
    size = ": a size of a shape that is known is one, as `x.shape[-1]`"
    fail(
        "E0201",
        f"`{name}` is asked for {wanted} while `{scope['name']}` is traced",
        f"{_origin(tensor, name, scope)}: it gets a value when the graph runs, and {option} has to "
        "be there before",
        fix=f"give a Python number in place of `{name}`" + size * tensor.dtype.is_integer,
        labels=_labels(tensor, _born_text(tensor, scope), f"asked for {wanted} here", name),
        subject=_subject(tensor, name, scope),
    )


def _called(tensor: Any) -> str:
    """What the program calls a symbol where it is asked; "" for what Python's own code asks.

    `list(filter(f, rows))` asks what `f` gave, and not for `filter(f, rows)`.
    """
    text, frame = name_operand(tensor, 0)[0], user_frame()
    nodes = around()
    held = None if frame is None or not text else resolve(frame, text)
    if held is not None and not isinstance(held, (_holdfast.Tensor, _holdfast.VariableBase, list)):
        return words_of(tensor) or text  # an object, which asked a tensor of its own
    if not text or frame is None or not nodes or not isinstance(nodes[0], ast.Call):
        return text
    inner = calls_in(nodes[0])
    if not inner & {"filter", "map", "range", "sorted", "min", "max"}:
        return text
    named = same_tensor(resolve(frame, text), tensor)
    return text if named else name_in_frame(tensor) or words_of(tensor) or text


def _of_a_model(tensor: Any, name: str, asked: str, scope: dict[str, Any]) -> NoReturn:
    """Refuses a symbol that models are made of: code around them runs once, and is not staged."""
    tf, inputs = module_alias(), _holdfast.inputs_behind(tensor)
    if asked == "len" and _iterates():
        asked = "iter"
    wanted = f"asked for {_WANTED.get(asked, 'its value')} here"
    labels = used_here("iterated over here" if asked == "iter" else wanted)
    of_layer = f"born here: {type_text(tensor)}, a symbol for models to be made of"
    if not any(same_tensor(root, tensor) for root in inputs) and (born := born_loc(tensor)):
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
    fix = fixes.get("numpy" if asked in ("buffer", "int", "float") else asked) or way_out(
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
        ways.insert(0, way_out(tensor, name, asked))
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
    if own and any(isinstance(node, ast.Return) for node in around()):
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
    nodes = around()
    asked = nodes[0] if nodes else None
    for node in nodes[1:]:
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
    if any(is_call(node, "print") for node in around()):
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
    if at < 0 or line.count(old.encode()) != 1 or not has_alias():
        return {"title": f"{title}: `{new}`", "applicability": "manual", "edits": []}
    edit = {"file": loc["file"], "line": loc["line"], "col": at, "old": old, "new": new}
    return {"title": title, "applicability": "maybe", "edits": [edit]}


_UNNAMED = re.compile(r"(loop|condition|if|else) (in|of) line \d+")


def _owner(scope: dict[str, Any]) -> str:
    """Whose a symbol is: of a statement's side or body, the function that the statement is in."""
    here = mark() if _UNNAMED.fullmatch(scope["name"]) else None
    function = "" if here is None else str(here.loc()["qualname"]).rpartition(".")[2]
    if scope["kind"] == "build":  # the name that a layer gave itself is not in the program
        function = _call_around()
    return function if function.replace(".", "_").isidentifier() else str(scope["name"])


def _call_around() -> str:
    """The `call` of a layer that is executing: `Net.call`; "" if none is."""
    frame = user_frame()
    while frame is not None:
        if frame.f_code.co_name == "call":
            return frame.f_code.co_qualname.rpartition("<locals>.")[2]
        frame = frame.f_back
    return ""


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


_LOOPS = (ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred)


def _iterates() -> bool:
    """Whether Python asks for a length because it goes through the rows."""
    for node in around():
        if isinstance(node, _LOOPS) or _takes_rows(node):
            return True
        if isinstance(node, ast.Call) and is_call(node, "len"):
            return False
    return False


_TAKE_ROWS = {"all": "reduce_all", "any": "reduce_any", "max": "reduce_max", "min": "reduce_min"}
_TAKE_ROWS |= {"sum": "reduce_sum", "sorted": "sort"}


def _takes_rows(node: ast.AST) -> bool:
    """Whether a call of Python's own goes through the rows of what it is given."""
    if not isinstance(node, ast.Call):
        return False
    if any(isinstance(each, ast.Starred) for each in node.args):
        return True
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    return called in ("list", "tuple", "set") or called in _TAKE_ROWS


def _in_place_of_rows(name: str) -> str:
    """What does in the graph what a call does with the rows; "" if that is not known."""
    tf, nodes = module_alias(), around()
    call = nodes[0] if nodes and isinstance(nodes[0], ast.Call) else None
    if call is None:
        return ""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return f"say how many rows there are: `*{tf}.unstack({name}, num=...)`"
    called = call.func.id if isinstance(call.func, ast.Name) else ""
    if called in ("list", "tuple"):
        return f"`{name}` is all its rows in one tensor: use it without `{called}(...)`"
    if called in _TAKE_ROWS:
        axis = "" if called == "sorted" else ", axis=0"
        return f"compute it in the graph: `{tf}.{_TAKE_ROWS[called]}({name}{axis})`"
    return ""


def _iterate(tensor: Any, name: str, asked: str, scope: dict[str, Any]) -> NoReturn:
    tf = module_alias()
    iterated = asked == "iter" or _iterates()
    what = "iterated over" if iterated else "asked for its length"
    instead = f"`{tf}.map_fn(lambda row: ..., {name})` runs a function for each row"
    instead = (iterated and _in_place_of_rows(name)) or instead
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
        fix=way_out(tensor, name, asked),
        labels=_labels(tensor, _born_text(tensor, scope), f"asked for {_WANTED[asked]} here", name),
        subject=_subject(tensor, name, scope),
    )
