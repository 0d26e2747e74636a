"""What is said when Python code cannot be staged, in terms of its own lines and names."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

import numpy as np

from .._messages.birth_names import name_given
from .._messages.diagnostics import born_loc, module_alias, user_frame
from .._messages.provenance import NO_NUMBER, width_of
from .._messages.source_text import deletions_of
from ..errors import DiagnosticError, fail, used_here
from .one_of import OneOf
from .sites import Home, Site, Spot, spot_of
from .state import Maybe, is_tensor, same_structure

__all__ = [
    "fits",
    "refuse_carried",
    "refuse_dtypes",
    "refuse_endless",
    "refuse_first",
    "refuse_function",
    "refuse_growth",
    "refuse_iterations",
    "refuse_objects",
    "refuse_store",
    "refuse_unrolling",
    "refuse_unset",
]

_Label = dict[str, Any]
_SHOWN_SETS = 4  # lines that set a name on some side
_LONGEST_KEYS = 40  # characters of the keys of a dict


def _label(role: str, loc: dict[str, Any], text: str, primary: bool = False) -> _Label:
    return {"role": role, "loc": loc, "text": text, "primary": primary}


def _quoted(name: str) -> str:
    if name == "return":
        return "the returned value"
    return name if " " in name else f"`{name}`"


def _statement(site: Site) -> str:
    return "`if`" if site.kind == "if" else f"`{site.kind}` loop"


def _kind(value: Any) -> str:
    """What a value is, in a few words."""
    if is_tensor(value):
        return str(value.dtype.name)
    if value is None:
        return "None"
    return f"a Python {type(value).__name__}"


def fits(number: Any, dtype: Any) -> bool:
    """Whether a number may become a tensor of `dtype` without changing what it is."""
    if isinstance(number, (np.generic, np.ndarray)):
        return bool(str(number.dtype) == dtype.name)
    if isinstance(number, bool):
        return bool(dtype.name == "bool")
    if isinstance(number, int):
        return bool(dtype.is_integer)
    if isinstance(number, float):
        return bool(dtype.is_floating)
    return bool(dtype.is_complex)


# A name that one side leaves unset.


def _set_spots(maybe: Maybe) -> list[tuple[Site, Spot]]:
    """Where paths through a branch set its name, in the order of the lines."""
    found = []
    if maybe.block >= 0:
        spot = maybe.site.set_in(maybe.block, maybe.name)
        found = [(maybe.site, spot)] if spot is not None else []
    for inner in maybe.inner:
        found += _set_spots(inner)
    return sorted(set(found), key=lambda each: each[1])


def _missing(maybe: Maybe) -> list[tuple[Site, int]]:
    """The sides that give a name no value: a statement, and which of its blocks."""
    if not maybe.inner:
        return [(maybe.site, 1 - maybe.block)]
    found = [side for inner in maybe.inner for side in _missing(inner)]
    if maybe.block < 0 and len(maybe.inner) == 1:  # the other side says nothing of the name
        own = maybe.site
        inside = maybe.inner[0].site.line
        first, last = own.blocks[0] if own.blocks else (0, 0)
        found.insert(0, (own, 1 if first <= inside <= last else 0))
    return found


def _keyword(site: Site) -> str:
    """How a branch begins in the source."""
    source = str(site.loc()["source"])
    return "elif" if source.lstrip().startswith("elif") else "if"


def _further_condition(site: Site, block: int) -> Spot | None:
    """The next condition of the chain, where a side that sets nothing begins with one."""
    if block != 1 or len(site.blocks) < 2:
        return None
    line = site.blocks[1][0]
    source = str(site.home.loc(Spot(line, 0, -1))["source"])
    indented = len(source) - len(source.lstrip())
    if not source.lstrip().startswith("elif"):
        return None
    return Spot(line, len(source[:indented].encode()), -1)


def refuse_unset(maybe: Maybe) -> NoReturn:
    """E0901: the name is read, and some path does not set it."""
    name, spots, missing = maybe.name, _set_spots(maybe), _missing(maybe)
    site, block = missing[-1]  # of a chain, the side of its last condition
    further = _further_condition(site, block)
    asked = site.loc() if further is None else site.home.loc(further)
    conditions = [maybe.site.loc()] + ([] if maybe.site.loc() == asked else [asked])
    texts = ("this condition has no value while tracing", "nor has this one")
    labels = [_label("placed", *each) for each in zip(conditions, texts, strict=False)]
    only = " only" if len(spots) == 1 else ""
    for where, spot in spots[:_SHOWN_SETS]:
        labels.append(_label("born", where.home.loc(spot), f"`{name}` is set on this side{only}"))
    labels += used_here(f"`{name}` is read here")
    keyword, first = _keyword(site), maybe.site
    side = "else" if block else keyword
    chain = first is not site or further is not None
    before = f"before the `if` of line {first.line}" if chain else "before the `if`"
    fix = f"set `{name}` in the `{side}` too, or {before}"
    for gone in deletions_of(name, site.home.filename, site.blocks[block : block + 1]):
        labels.insert(1, _label("placed", site.home.loc(Spot(*gone)), f"`{name}` is deleted here"))
        fix = f"leave out the `del {name}`, or read `{name}` before it"
    if chain:
        after = "an `else` after" if block else ""
        place = f"{after} the `{keyword}` of line {site.line}".strip()
        fix = f"set `{name}` in {place} too, or {before}"
    nowhere = f"the `{side}` side of line {site.line} gives it no value"
    if further is not None:
        nowhere = f"no side from line {further.line} on gives it a value"
        fix = f"set `{name}` in the `elif` of line {further.line} and an `else` too, or {before}"
    several = len(spots) > 1
    fail(
        "E0901",
        f"`{name}` is set on {'some sides' if several else 'one side'} of a staged `if` only, and "
        "read after it",
        f"the graph has {'all' if several else 'both'} sides and must know `{name}` after "
        f"{'each' if several else 'either'}; {nowhere}",
        fix=fix,
        labels=labels,
        subject={"name": name},
        op=site.kind,
    )


def refuse_first(maybe: Maybe) -> NoReturn:
    """E0901: an iteration reads what only the one before it sets."""
    site, name = maybe.site, maybe.name
    labels = [_label("placed", site.loc(), "this loop is staged")]
    spot = site.set_in(0, name)
    if spot is not None:
        labels.append(_label("born", site.home.loc(spot), f"`{name}` is first set here"))
    labels += used_here(f"`{name}` is read here")
    fail(
        "E0901",
        f"`{name}` is read in a staged {_statement(site)} before anything has set it",
        f"the body is written once for all iterations, and the first one has no `{name}`; what it "
        "is like is not known yet.",
        fix=f"set `{name}` before the loop, to a tensor like those it gets inside",
        labels=labels,
        subject={"name": name},
        op=site.kind,
    )


# Two dtypes under one name.


def _named_dtype(value: Any) -> str:
    if is_tensor(value) or isinstance(value, (np.generic, np.ndarray)):
        return str(value.dtype.name)
    return {bool: "bool", int: "int32", float: "float32"}.get(type(value), "complex128")


def _set_loc(site: Site, spot: Spot | None, value: Any) -> dict[str, Any] | None:
    if spot is not None:
        return site.home.loc(spot)
    return born_loc(value) if is_tensor(value) else None


def _set_labels(
    site: Site, values: tuple[Any, Any], spots: list[Spot | None], texts: list[str]
) -> list[_Label]:
    """Where a name got each of two values; one place is marked once."""
    labels: list[_Label] = []
    for value, spot, text in zip(values, spots, texts, strict=True):
        if spot is None and is_tensor(value) and value._op == "Placeholder":
            continue  # an argument, which is as it is given
        loc = _set_loc(site, spot, value)
        if loc is not None and all(label["loc"] != loc for label in labels):
            labels.append(_label("born", loc, text))
    return labels


def _condition(site: Site) -> _Label:
    return _label("used", site.loc(), "this condition has no value while tracing", True)


def _staged_loop(site: Site) -> _Label:
    return _label("used", site.loc(), "this loop is staged", True)


def _choice(site: Site) -> _Label:
    return _staged_loop(site) if site.is_loop else _condition(site)


def _sides(site: Site) -> str:
    word = site.loc()["source"].split(None, 1)[0] if site.is_loop else ""
    return f"the ways out of a staged `{word}`" if word else "the two sides of a staged `if`"


def _set_by_sides(site: Site, name: str) -> list[Spot | None]:
    """Where each side of a branch sets a name.

    What follows a `return` in a staged loop is one side of a branch that nobody wrote; the other is
    the loop.
    """
    first, second = site.set_in(0, name), site.set_in(1, name)
    return [first, site.set_inside(name) if second is None and site.is_loop else second]


def refuse_dtypes(site: Site, name: str, x: Any, y: Any, loop: Site | None = None) -> NoReturn:
    """E0902: the sides of a branch give one name two dtypes. `loop`: one that hands the name on."""
    spots = _set_by_sides(site, name)
    if spots[0] is None:
        spots[0] = site.set_before(name)
    if spots[1] is None:
        spots[1] = site.set_before(name)
    texts = [f"{_quoted(name)} is {_kind(value)} here" for value in (x, y)]
    labels = [*_set_labels(site, (x, y), spots, texts), _choice(site)]
    who = f"{_sides(site)} give"
    if " " in name:  # an expression, which has no name
        given = name_given(site.loc())
        who = f"a {name.removeprefix('the ')} gives{f' `{given}`' if given else ''}"
        name = ""
    _refuse_two(site, name, x, y, spots, labels, who, loop)


def refuse_iterations(site: Site, name: str, before: Any, after: Any) -> NoReturn:
    """E0902: an iteration gives a name another dtype than it had."""
    spots = [site.set_before(name), site.set_in(0, name)]
    texts = [
        f"{_quoted(name)} is {_kind(before)} before an iteration",
        f"{_quoted(name)} is {_kind(after)} after an iteration",
    ]
    labels = [*_set_labels(site, (before, after), spots, texts), _staged_loop(site)]
    _refuse_two(site, name, before, after, spots, labels, f"a staged {_statement(site)} gives")


def _before_loop(loop: Site, name: str, dtype: str) -> dict[str, Any]:
    """One dtype on both sides is not enough where iterations hand the name on."""
    tf = module_alias()
    title = (
        f"let {_quoted(name)} be {dtype} before the {_statement(loop)} of line {loop.line} too, "
        f"and on both sides: `{tf}.cast(..., {tf}.{dtype})`"
    )
    return {"title": title, "applicability": "manual", "edits": []}


def _refuse_two(
    site: Site,
    name: str,
    x: Any,
    y: Any,
    spots: list[Spot | None],
    labels: list[_Label],
    who: str,
    loop: Site | None = None,
) -> NoReturn:
    types = _named_dtype(x), _named_dtype(y)
    # Towards the wider kind: an int becomes a float, not the other way round.
    widths = [width_of(each) for each in types]
    narrow = 0 if widths[0] < widths[1] else 1
    when = "however often the loop runs"
    if site.kind == "if":
        when = f"whichever way line {site.line} goes"
    try:
        fail(
            "E0902",
            f"{who} {_quoted(name) + ' ' if name else ''}two dtypes: {types[0]} and {types[1]}",
            f"a tensor of a graph has one dtype, {when}",
            labels=labels,
            fixes=[
                _as_text()
                if NO_NUMBER in widths
                else _cast_fix(site, name, (x, y)[narrow], spots[narrow], types[1 - narrow])
                if loop is None
                else _before_loop(loop, name, types[1 - narrow])
            ],
            subject={"name": "" if name == "return" else name, "dtype": types[0]},
            others=[{"name": "" if name == "return" else name, "dtype": types[1]}],
            op=site.kind,
        )
    except DiagnosticError as error:
        raise error from None  # the op in the body that met the other dtype is not the story


def _as_text() -> dict[str, Any]:
    """Numbers and texts are not cast to each other."""
    tf = module_alias()
    title = f"let both be texts: `{tf}.strings.as_string(...)`, or both numbers"
    return {"title": title, "applicability": "manual", "edits": []}


def _cast_fix(site: Site, name: str, value: Any, spot: Spot | None, dtype: str) -> dict[str, Any]:
    """The edit that gives one side the dtype of the other."""
    alias = module_alias()
    wanted = f"{alias}.{dtype}"
    title = f"give both the same dtype: `{alias}.cast(..., {wanted})`"
    found = _right_side(site, spot)
    if isinstance(value, int) and not isinstance(value, bool) and dtype.startswith("float"):
        title = f"write the literal as a float: `{float(value)}`"
    if found is None or spot is None:
        return {"title": title, "applicability": "manual", "edits": []}
    source, col = found
    if source == repr(value) and isinstance(value, int) and dtype.startswith("float"):
        new = repr(float(value))
    else:
        new = f"{alias}.cast({source}, {wanted})"
        title = f"give both the same dtype with `{alias}.cast`"
    loc = site.home.loc(spot)
    edit = {"file": loc["file"], "line": spot.line, "col": col, "old": source, "new": new}
    return {"title": title, "applicability": "tested", "edits": [edit]}


def _right_side(site: Site, spot: Spot | None) -> tuple[str, int] | None:
    """What a one-line assignment or return gives, and its column."""
    if spot is None:
        return None
    line = site.home.loc(spot)["source"]
    try:
        body = ast.parse(line.strip()).body
    except SyntaxError:
        return None
    indent = len(line) - len(line.lstrip())
    match body:
        case [ast.Assign(targets=[ast.Name() | ast.Attribute()], value=value)]:
            pass
        case [ast.Return(value=ast.expr() as value)]:
            pass
        case _:
            return None
    source = ast.get_source_segment(line.strip(), value)
    return None if source is None else (source, indent + value.col_offset)


# Values that no graph can choose between.


def refuse_objects(site: Site, name: str, x: Any, y: Any) -> NoReturn:
    """The sides of a branch give a name two things that are not both tensors."""
    spots = _set_by_sides(site, name)
    ends = name == "return" and (None, None) in zip((x, y), spots, strict=True)
    texts = [f"{_quoted(name)} is {_what(value)} here" for value in (x, y)]
    dicts = isinstance(x, dict) and isinstance(y, dict) and x.keys() != y.keys()
    part, *differing = _differing(x, y)
    kinds = [_what(value) for value in differing]
    function = site.home.function.rpartition(".")[2]
    said = f"{_sides(site)} {'return' if name == 'return' else f'give {_quoted(name)}'} "
    if " " in name:  # an expression, which has no name
        given = name_given(site.loc())
        said = f"a staged {name.removeprefix('the ')} gives {f'`{given}` ' if given else ''}"
    fail(
        "E0902",
        said
        + ("dicts of different keys" if dicts else f"{kinds[0]} and {kinds[1]}")
        + (f" in `{part}`" if part else ""),
        f"which {'way' if site.is_loop else 'side'} is taken is known when the graph runs; it can "
        f"choose between tensors of one dtype, not between {kinds[0]} and {kinds[1]}."
        + (f" `{function}` gives None where it ends without `return`." if ends else ""),
        fix="end with a `return` of a tensor like the others"
        if ends
        else _common_form(_quoted(name), x, y),
        labels=[*_set_labels(site, (x, y), spots, texts), _choice(site)],
        subject={"name": "" if name == "return" else name},
        op=site.kind,
    )


def _common_form(name: str, x: Any, y: Any) -> str:
    """The advice that makes two things alike."""
    if isinstance(x, dict) and isinstance(y, dict):
        part, *differing = _differing(x, y)
        odd, whole = _odd_keys(*differing), f"`{part}` of {name}" if part else name
        if not odd:
            return f"let both give {whole} the same form: as many parts, of the same kinds"
        only = f"{', '.join(odd)} {'is' if len(odd) == 1 else 'are'} on one side only"
        return f"let both give {whole} the same keys: {only}"
    kinds = [type(each) for each in (x, y) if isinstance(each, (list, tuple, dict))]
    if not kinds and x is not None and y is not None and (is_object(x) or is_object(y)):
        return _object_form(name, x, y)
    if kinds:
        return f"let both give {name} the same form: as many parts, of the same kinds"
    if x is None or y is None:
        zeros = f"`{module_alias()}.zeros_like`"
        return f"give {name} a tensor where it is None now, such as by {zeros}"
    if isinstance(x, str) != isinstance(y, str):
        return str(_as_text()["title"])
    if isinstance(x, str) and isinstance(y, str):
        texts = " and ".join(f"`{module_alias()}.constant({each!r})`" for each in (x, y))
        return f"let both sides give {name} a tensor of text: {texts}"
    return f"let both sides give {name} a tensor of the same dtype, such as by `tf.cast`"


def _odd_keys(x: Any, y: Any) -> list[str]:
    """The keys that only one of two dicts has."""
    if not (isinstance(x, dict) and isinstance(y, dict)):
        return []
    return [f"`{key!r}`" for key in {**x, **y} if key not in x or key not in y]


def _differing(x: Any, y: Any) -> tuple[str, Any, Any]:
    """Where two dicts of the same keys begin to differ, such as `['a']['b']`, and what is there."""
    part = ""
    while isinstance(x, dict) and isinstance(y, dict) and x.keys() == y.keys():
        unlike = [key for key in x if not same_structure(x[key], y[key])]
        if not unlike:
            break
        part, x, y = f"{part}[{unlike[0]!r}]", x[unlike[0]], y[unlike[0]]
    return part, x, y


def is_object(value: Any) -> bool:
    """Whether a value is an object of a class of the program's own."""
    plain = (bool, int, float, complex, str, bytes, np.generic, np.ndarray)
    return not (isinstance(value, plain) or is_tensor(value))


def _object_form(name: str, x: Any, y: Any) -> str:
    """The advice where a name is one of two objects."""
    if type(x) is type(y):
        kept = f"leave {name} the `{type(x).__name__}` that it is"
        return f"choose between tensors: assign the attributes that differ, and {kept}"
    return f"let both give {name} the same kind of object, or a tensor of the same dtype"


def _what(value: Any) -> str:
    if is_tensor(value):
        return f"a {value.dtype.name} tensor"
    if value is None:
        return "None"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        keys = ", ".join(repr(key) for key in value)
        return f"a dict of {keys}" if value and len(keys) <= _LONGEST_KEYS else "a Python dict"
    if hasattr(type(value), "__carries__"):  # one of the graph's
        return f"a {value.kind.__name__} that grows"
    if type(value) is OneOf:
        return f"one of several {type(value.hf_things[0]).__name__}s"
    return f"a Python {type(value).__name__}"


def refuse_carried(site: Site, name: str, before: Any, after: Any) -> NoReturn:
    """An iteration replaces a value that cannot travel through a staged loop."""
    spots = [site.set_before(name), site.set_in(0, name)]
    texts = [f"{_quoted(name)} is {_what(value)} here" for value in (before, after)]
    changes = f"turns {_quoted(name)} from {_what(before)} into {_what(after)}"
    if _what(before) == _what(after):
        changes = f"puts another {_what(after).partition(' ')[2]} in place of {_quoted(name)}"
    fix = (
        f"give {_quoted(name)} a tensor of that dtype before the loop, by `{module_alias()}.zeros` "
        f"or `{module_alias()}.cast`"
    )
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        fix = f"begin with a list, and let it grow by `{name}.append(...)`"
        if len(before) >= len(after):
            fix = f"let {_quoted(name)} have as many parts after an iteration as before it"
    elif isinstance(before, dict) and isinstance(after, dict):
        part, old, new = _differing(before, after)
        whole = f"`{part}` of {_quoted(name)}" if part else _quoted(name)
        odd = ", ".join(_odd_keys(old, new))
        same = "the same keys" if odd else "the same form"
        fix = f"give {whole} {same} before the loop as after an iteration"
        fix += f": {odd}" if odd else ""
        if part:
            changes = f"turns {whole} from {_what(old)} into {_what(new)}"
    elif type(before) is type(after) and is_object(after):
        fix = (
            f"assign the attributes of {_quoted(name)} that differ, and leave it the "
            f"`{type(after).__name__}` that it is"
        )
    fail(
        "E0902",
        f"a staged {_statement(site)} {changes}",
        "how often the body runs is known when the graph runs; what it hands on must be a tensor "
        "of the same dtype from the start.",
        fix=fix,
        labels=[*_set_labels(site, (before, after), spots, texts), _staged_loop(site)],
        subject={"name": name},
        op=site.kind,
    )


def refuse_store(holder: Any, attribute: str, name: str, site: Site) -> NoReturn:
    """An attribute is assigned of an object that is one of several, which the graph chooses."""
    kind = type(holder).__name__
    spots = [site.set_before(name), *(site.set_in(i, name) for i in range(len(site.blocks)))]
    labels = [
        _label("born", site.home.loc(spot), f"{_quoted(name)} is set here")
        for spot in dict.fromkeys(filter(None, spots))
    ]
    labels += [_label("placed", site.loc(), f"which `{kind}` it is, is decided here")]
    fail(
        "E0902",
        f"`{attribute}` is assigned of a `{kind}` that is one of several: {_quoted(name)} of a "
        f"staged {_statement(site)}",
        "which object it is, is known when the graph runs, and a Python object is changed while "
        "it is traced.",
        fix=f"make a new `{kind}` with the other value, or assign `{attribute}` before the choice",
        labels=[*labels, *used_here(f"`{attribute}` is assigned here")],
        subject={"name": name},
        op=site.kind,
    )


def refuse_growth(site: Site, container: Any, method: str) -> NoReturn:
    """A body changes a Python container in a way that differs from iteration to iteration."""
    kind = type(container).__name__
    fail(
        "E0902",
        f"a staged {_statement(site)} changes a {kind} from outside it by `{method}`",
        "the body is written once for all iterations, and a graph has no Python objects to change; "
        "it can carry tensors, and lists that only tensors are appended to.",
        fix=f"append tensors only, or use a `{module_alias()}.TensorArray`",
        labels=[_staged_loop(site)],
        op=site.kind,
    )


def refuse_endless(site: Site) -> NoReturn:
    """A staged loop whose condition no iteration can change."""
    fail(
        "E1105",
        f"the `while` loop in line {site.line} never ends",
        "its condition is true and asks for nothing that the body changes, and no `break` or "
        "`return` leaves it.",
        fix="leave it with `break`, or ask for something that the body changes",
        labels=[_label("used", site.loc(), "always true", True)],
        op=site.kind,
    )


def refuse_unrolling(site: Site, iterations: int, written: int) -> NoReturn:
    """A loop that Python runs writes ops without an end in sight."""
    alias = module_alias()
    fail(
        "E1105",
        f"the {_statement(site)} in line {site.line} was unrolled {iterations} times while "
        f"tracing, wrote {written} ops, and has not ended",
        "its condition or what it walks through is plain Python, so each iteration is written "
        "into the graph again.",
        fix=f"let a tensor decide: `for i in {alias}.range(...)`, or `while` on a tensor",
        labels=[_label("used", site.loc(), "this loop is unrolled", True)],
        op=site.kind,
    )


# A function that can't be traced at all.


def refuse_function(function: Any, construct: str, loc: dict[str, Any] | None) -> NoReturn:
    """E0603: at the decorator, before anything runs."""
    name = getattr(function, "__name__", "the function")
    labels = used_here("traced here") if user_frame() is not None else []
    if loc is not None:
        labels.append(_label("cut", loc, f"`{construct}` here"))
    alias = module_alias()
    if construct == "yield":
        why = f"`{name}` is a generator: each `yield` hands over control, which a graph cannot"
        fix = f"collect the values in a `{alias}.TensorArray` and `return` its `stack()`"
    else:
        why = f"`{name}` is a coroutine: it runs when an event loop says so, which a graph cannot"
        fix = f"no `async`, no `await`: make `{name}` a plain function, call it from the coroutine"
    article = "a" if construct == "yield" else "an"
    what = "it is `async`" if construct == "async" else f"it has {article} `{construct}`"
    fail("E0603", f"`{name}` can't be traced: {what}", why, fix=fix, labels=labels)


def construct_loc(filename: str, qualname: str, node: ast.AST) -> dict[str, Any]:
    """The place of a node, as the dict form of a Loc."""
    return Home(filename, qualname, {}).loc(spot_of(node))
