"""What the user's source says about an instruction: its place, its operands, the names it fills.

Messages speak of things by the names the user typed. A frame gives a code object and an instruction
offset; `locate` turns them into a place, `operand_names` into the words of the expression there.
Both are for printing: they read and parse the file when first asked, remember it, and never raise.
What cannot be known for sure is left empty; nothing is guessed.
"""

from __future__ import annotations

import ast
import dis
import itertools
import linecache
import re
import sys
import types
from typing import NamedTuple

from .record import Record
from .source_text import PerFile, line_at, lines_of, parse, tree_of

__all__ = [
    "OperandNames",
    "Place",
    "Text",
    "enclosing",
    "locate",
    "locate_frame",
    "operand_names",
    "shown_name",
]

# Methods that put their argument into the object they belong to.
_STORES = {"append", "appendleft", "add", "extend", "insert", "put", "setdefault", "update"}

# Instructions that ask something of a whole value, at the position of the expression that made it.
_ASKS = (
    *("POP_JUMP", "JUMP_IF", "TO_BOOL"),
    *("GET_ITER", "FOR_ITER", "UNPACK"),
    *("BEFORE_WITH", "LOAD_SPECIAL"),
)


class Place(NamedTuple):
    """A place as messages cite it. Columns are bytes from 0, -1 if unknown; no source is empty."""

    file: str
    line: int
    col_begin: int
    col_end: int
    qualname: str
    source_line: str

    @property
    def source(self) -> str:
        """The line, under the name that the binding's places have for it."""
        return self.source_line


class Text(NamedTuple):
    """A piece of source and its span: lines from 1, columns in bytes from 0, the end excluded."""

    text: str
    line: int
    col: int
    end_line: int
    end_col: int


class OperandNames(Record):
    """The words of one executing expression.

    kind: "binary", "unary", "compare", "assign" (`x += y`), "call", "subscript", "attribute",
          "decorate", "value" (its truth, its items, its entry as a context), or "" if unknown.
    function: what is called or which attribute is asked for, as typed.
    receiver: what stands before the dot of a call or an attribute; it may well be a module.
    operands: left and right, the arguments, or the object and its index.
    targets: what the result is assigned to; one tuple for each `=`, a name for each unpacked item.
    holder: the container that the result goes into, as in `holder.append(...)` or `holder = [...]`.
    """

    kind: str = ""
    function: str = ""
    whole: Text | None = None
    receiver: Text | None = None
    operands: tuple[Text, ...] = ()
    keywords: dict[str, Text] = {}  # noqa: RUF012
    targets: tuple[tuple[str, ...], ...] = ()
    holder: str = ""

    @property
    def assigned_names(self) -> tuple[str, ...]:
        """Every name the result is assigned to, in the order they are typed."""
        return tuple(itertools.chain.from_iterable(self.targets))

    def name_of_output(self, index: int = 0, count: int = 1) -> str:
        """What the user calls output `index` of an op with `count` outputs; "" if nothing."""
        for names in self.targets:
            known = list(itertools.takewhile(lambda name: not name.startswith("*"), names))
            if index < len(known) and (count > 1) == (len(names) > 1):
                return known[index]
        return ""


class _Span(NamedTuple):
    line: int
    col: int
    end_line: int
    end_col: int


class _File:
    """The parsed source of one file: nodes by span, and each node's parent."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.encoded = [line.encode("utf-8", "replace") for line in lines]
        self.nodes: dict[_Span, list[ast.expr | ast.AugAssign]] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        tree = parse("".join(lines))
        for parent in ast.walk(tree) if tree else ():
            for child in ast.iter_child_nodes(parent):
                # Contexts and operators are shared objects; they have no place of their own.
                if isinstance(child, (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop)):
                    continue
                self.parents[child] = parent
                if isinstance(child, (ast.expr, ast.AugAssign)):
                    for span in _spans(child):
                        self.nodes.setdefault(span, []).append(child)

    def text(self, node: ast.expr | ast.AugAssign) -> Text:
        span = _span(node)
        rows = self.encoded[span.line - 1 : span.end_line]
        if not rows:
            return Text("", *span)
        rows = [*rows[:-1], rows[-1][: span.end_col]]
        rows[0] = rows[0][span.col :]
        return Text(b"".join(rows).decode("utf-8", "replace"), *span)

    def words(self, node: ast.expr | ast.AugAssign) -> str:
        """The text of a node on one line."""
        return " ".join(self.text(node).text.split())


_files = PerFile(_File)


def _span(node: ast.expr | ast.AugAssign) -> _Span:
    end_line = node.lineno if node.end_lineno is None else node.end_lineno
    end_col = node.col_offset if node.end_col_offset is None else node.end_col_offset
    return _Span(node.lineno, node.col_offset, end_line, end_col)


def _spans(node: ast.expr | ast.AugAssign) -> list[_Span]:
    """The positions that instructions of this node may carry."""
    whole = _span(node)
    method = node.func if isinstance(node, ast.Call) else node
    if not isinstance(method, ast.Attribute):
        return [whole]
    # The compiler moves a chained call that spans lines to the line of its method's name.
    name = _span(method)
    if name.end_line == whole.line:
        return [whole]
    return [
        whole,
        _Span(name.end_line, name.end_col - len(method.attr), whole.end_line, whole.end_col),
    ]


def _position(code: types.CodeType, lasti: int) -> tuple[int | None, ...]:
    """Line, end line, column, end column of an instruction; None where unknown."""
    here = next(itertools.islice(code.co_positions(), max(lasti, 0) // 2, None), None)
    if here is None or lasti < 0:
        return _definition(code), None, None, None
    return here


def _definition(code: types.CodeType) -> int:
    """The line of a function's `def`, which may stand below its decorators."""
    lines = lines_of(code.co_filename)
    for number in range(code.co_firstlineno, min(code.co_firstlineno + 50, len(lines) + 1)):
        if lines[number - 1].lstrip().startswith(("def ", "async def ", "class ")):
            return number
        if (
            not lines[number - 1].lstrip().startswith(("@", ")", "#"))
            and "lambda" in lines[number - 1]
        ):
            break
    return code.co_firstlineno


def _opname(code: types.CodeType, lasti: int) -> str:
    return dis.opname[code.co_code[lasti]] if 0 <= lasti < len(code.co_code) else ""


def _times_before(code: types.CodeType, lasti: int, starts: tuple[str, ...]) -> int:
    """How many instructions of a kind, at the same position, come before this one."""
    here = _position(code, lasti)
    before = itertools.islice(code.co_positions(), max(lasti, 0) // 2)
    return sum(
        position == here and _opname(code, 2 * i).startswith(starts)
        for i, position in enumerate(before)
    )


def shown_name(filename: str) -> str:
    """A notebook cell by its number: its file's name differs from run to run."""
    old = re.fullmatch(r"<ipython-input-(\d+)-\w+>", filename)
    if old:
        return f"In[{old[1]}]"
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cells = getattr(getattr(shell, "compile", None), "_filename_map", None)
    number = cells.get(filename) if isinstance(cells, dict) else None
    return filename if number is None else f"In[{number}]"


def locate(code: types.CodeType, lasti: int) -> Place:
    """The place of the instruction at byte offset `lasti` of `code`."""
    line, end_line, col, end_col = _position(code, lasti)
    source = line_at(code.co_filename, line)
    if col is None or end_col is None:
        col = end_col = -1
    elif end_line != line:  # the first line stands for an expression of several
        end_col = len(source.rstrip().encode("utf-8", "replace")) if source else -1
        col = col if source else -1
    return Place(shown_name(code.co_filename), line or 0, col, end_col, code.co_qualname, source)


def locate_frame(frame: types.FrameType) -> Place:
    """The place that `frame` is executing, also when its module was loaded from an archive."""
    linecache.lazycache(frame.f_code.co_filename, frame.f_globals)
    return locate(frame.f_code, frame.f_lasti)


def operand_names(code: types.CodeType, lasti: int) -> OperandNames:
    """The words of the expression that the instruction at byte offset `lasti` belongs to."""
    line, end_line, col, end_col = _position(code, lasti)
    if line is None or end_line is None or col is None or end_col is None:
        return OperandNames()
    file = _files.get(code.co_filename)
    nodes = file.nodes.get(_Span(line, col, end_line, end_col))
    return _Reader(file, code, lasti).read(nodes[0]) if nodes else OperandNames()


def enclosing(code: types.CodeType, lasti: int) -> list[ast.expr | ast.stmt]:
    """The expressions and the statement around an instruction, innermost first."""
    line, end_line, col, end_col = _position(code, lasti)
    tree = tree_of(code.co_filename)
    if tree is None or line is None or end_line is None or col is None or end_col is None:
        return []
    found: list[ast.expr | ast.stmt] = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.expr, ast.stmt)):
            continue
        begins = (node.lineno, node.col_offset) <= (line, col)
        ends = (node.end_lineno or 0, node.end_col_offset or 0) >= (end_line, end_col)
        if begins and ends:
            found.append(node)
    return sorted(
        found,
        key=lambda n: (-n.lineno, -n.col_offset, n.end_lineno or 0, n.end_col_offset or 0),
    )


class _Reader:
    """Reads one node of `file` for one instruction."""

    def __init__(self, file: _File, code: types.CodeType, lasti: int) -> None:
        self.file, self.code, self.lasti = file, code, lasti
        self.op = _opname(code, lasti)

    def read(self, node: ast.expr | ast.AugAssign) -> OperandNames:
        text = self.file.text
        parts = self.decoration(node) or self.asked_value(node) or self.parts(node)
        if not parts.kind:
            return parts
        targets, holder = parts.targets, ""
        if parts.kind not in ("value", "decorate") or self.op.startswith(
            ("BEFORE_WITH", "LOAD_SPECIAL")
        ):
            targets, holder = self.targets(node)
        return parts.replaced(whole=text(node), targets=targets, holder=holder)

    def parts(self, node: ast.expr | ast.AugAssign) -> OperandNames:
        text, words = self.file.text, self.file.words
        match node:
            case ast.BinOp(left=left, right=right):
                return OperandNames("binary", operands=(text(left), text(right)))
            case ast.UnaryOp(operand=operand):
                return OperandNames("unary", operands=(text(operand),))
            case ast.AugAssign(target=target, value=value):
                return OperandNames("assign", operands=(text(target), text(value)))
            case ast.Compare(left=left, comparators=rest):
                # A chain `a < b < c` compares at one position, pair after pair.
                terms = [left, *rest]
                i = _times_before(self.code, self.lasti, ("COMPARE_OP", "IS_OP", "CONTAINS_OP"))
                return OperandNames("compare", operands=tuple(map(text, terms[i : i + 2])))
            case ast.Subscript(value=value, slice=index):
                return OperandNames("subscript", operands=(text(value), text(index)))
            case ast.Attribute(value=value, attr=attr):
                return OperandNames("attribute", function=attr, receiver=text(value))
            case ast.Call(func=func, args=args, keywords=keywords):
                return OperandNames(
                    "call",
                    function=words(func),
                    receiver=text(func.value) if isinstance(func, ast.Attribute) else None,
                    operands=tuple(map(text, args)),
                    keywords={k.arg: text(k.value) for k in keywords if k.arg},
                )
        return OperandNames()

    def decoration(self, node: ast.expr | ast.AugAssign) -> OperandNames | None:
        """`@node` being applied, which has the position of `node` itself."""
        parent = self.file.parents.get(node)
        if not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
        if node not in parent.decorator_list or not self.op.startswith(("CALL", "PRECALL")):
            return None
        if isinstance(node, ast.Call) and not _times_before(self.code, self.lasti, ("CALL",)):
            return None  # the call that makes the decorator
        return OperandNames("decorate", function=self.file.words(node), targets=((parent.name,),))

    def asked_value(self, node: ast.expr | ast.AugAssign) -> OperandNames | None:
        """A value asked for its truth, its items or its entry as a context."""
        if isinstance(node, ast.AugAssign):
            return None
        if not self.op.startswith(_ASKS) and not self.asked_by_a_call(node):
            return None
        targets: tuple[tuple[str, ...], ...] = ()
        match node, self.file.parents.get(node):  # some of these have the place of a larger whole
            case ast.UnaryOp(op=ast.Not(), operand=operand), _:
                node = operand
            case ast.IfExp(test=test), _:
                node = test
            case ((ast.Tuple() | ast.List()), ast.Assign(value=value)) if value is not node:
                targets, node = (self.names(node),), value
        return OperandNames("value", operands=(self.file.text(node),), targets=targets)

    def asked_by_a_call(self, node: ast.expr) -> bool:
        """Whether converted code hands the value of `node` to a function, at its own position."""
        match node:
            case ast.BinOp() | ast.Compare(comparators=[_]):
                at = self.lasti
                while _opname(self.code, at) == "CACHE":  # a call of Python's stands behind its own
                    at -= 2
                return _opname(self.code, at).startswith("CALL")
        return False

    def targets(self, node: ast.expr | ast.AugAssign) -> tuple[tuple[tuple[str, ...], ...], str]:
        """What the result of `node` is assigned to, and else the container it goes into."""
        if isinstance(node, ast.AugAssign):
            return (self.names(node.target),), ""
        found: list[tuple[str, ...]] = []
        contained = False
        child: ast.AST = node
        while (parent := self.file.parents.get(child)) is not None:
            now: list[tuple[str, ...]] = []
            match parent:
                case ast.Assign(targets=targets) if child is parent.value:
                    now = [self.names(target) for target in targets]
                case ast.AnnAssign(target=target) if child is parent.value:
                    now = [self.names(target)]
                case ast.NamedExpr(target=target):
                    now = [self.names(target)]
                case ast.withitem(optional_vars=ast.expr() as target):
                    now = [self.names(target)]
                case ast.IfExp() if child is not parent.test:
                    pass
                case ast.Await():
                    pass
                case ast.Tuple() | ast.List():
                    paired = None if contained else self.paired(parent, child)
                    if paired is not None:
                        return (*found, paired), ""
                    contained = True
                case ast.Set() | ast.Dict() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                    contained = True
                case ast.Call(func=ast.Attribute(value=holder, attr=attr), args=args):
                    stored = child in args and attr in _STORES
                    return tuple(found), self.file.words(holder) if stored else ""
                case _:
                    break
            if now and contained:
                return tuple(found), now[0][0] if len(now[0]) == 1 else ""
            found += now
            child = parent
        return tuple(found), ""

    def paired(self, items: ast.Tuple | ast.List, item: ast.AST) -> tuple[str, ...] | None:
        """The target of one item of `items` that are unpacked as typed: `a, b = f(), g()`."""
        match self.file.parents.get(items):
            case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)]):
                if any(isinstance(name, ast.Starred) for name in (*names, *items.elts)):
                    return None
                for name, value in zip(names, items.elts, strict=False):
                    if value is item:
                        return self.names(name)
        return None

    def names(self, target: ast.expr) -> tuple[str, ...]:
        if isinstance(target, (ast.Tuple, ast.List)):
            return tuple(self.file.words(item) for item in target.elts)
        return (self.file.words(target),)
