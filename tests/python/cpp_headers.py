"""The functions and option structs that the C++ headers declare, as far as tests compare them."""

import dataclasses
import pathlib
import re

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "holdfast"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter, or a field of an options struct, with the text of its default."""

    name: str
    type: str
    default: str | None = None


def _without_comments(text):
    text = re.sub(r"//(?! namespace)[^\n]*", "", text)
    return re.sub(r"^\s*#[^\n]*(\\\n[^\n]*)*", "", text, flags=re.MULTILINE)


def _namespaces(text):
    """The text in pieces, each with the namespace inside `holdfast` that it stands in."""
    around, begin = [], 0
    for found in re.finditer(
        r"^namespace ([\w:]*) ?\{|^\}  // namespace[^\n]*", text, re.MULTILINE
    ):
        yield "::".join("::".join(around).split("::")[1:]), text[begin : found.start()]
        begin = found.end()
        if found[1] is None:
            around.pop()
        else:
            around.append(found[1])


def _split(text, separator=","):
    """Cuts at commas that stand in no bracket."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "(<{[") - (c in ")>}]")
        if c == separator and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [part.strip() for part in [*parts, text[begin:]] if part.strip()]


def _parameter(text):
    declared, _, default = text.partition("=")
    default = default.strip() or None
    found = re.fullmatch(r"(.*?[\s&*>])(\w+)\s*", declared.strip() + " ", flags=re.DOTALL)
    words = re.sub(r"\[\[.*?\]\]", "", declared).split()
    unnamed = not found or words[-1].endswith(("&", "*", ">")) or len(words) == 1
    if unnamed or (len(words) == 2 and words[0] == "const"):
        return Parameter("", " ".join(words), default)
    kind = re.sub(r"\s+", " ", found[1]).strip()
    return Parameter(found[2], kind, default)


def _fields(body):
    out = []
    for statement in _split(body, ";"):
        if "(" in statement.split("=")[0] or statement.startswith(("static", "using", "enum")):
            continue
        first, *others = _split(statement)
        field = _parameter(first)
        out.append(field)
        for other in others:  # `std::optional<double> rtol = {}, atol = {}`
            name, _, default = other.partition("=")
            out.append(Parameter(name.strip(), field.type, default.strip() or None))
    return out


class Headers:
    """What all headers declare, or some, by name."""

    def __init__(self, paths=None):
        self.structs, self.functions = {}, {}
        for path in paths or sorted(HEADERS.rglob("*.h")):
            self._read(_without_comments(path.read_text()))

    def _read(self, text):
        for namespace, part in _namespaces(text):
            within = f"{namespace}::" if namespace else ""
            for found in re.finditer(
                r"struct (?:HOLDFAST_API )?(\w+)( : \w+)?\s*\{(.*?)\n\};", part, re.DOTALL
            ):
                self.structs[within + found[1]] = _fields(found[3])
            for found in re.finditer(
                r"(?:HOLDFAST_API|\[\[gnu::always_inline\]\] inline)\s+([\w:<>&*,\s]+?[\s&*>])(\w+)\(",
                part,
            ):
                depth, end = 1, found.end()
                while depth:
                    depth += (part[end] == "(") - (part[end] == ")")
                    end += 1
                if part[end:].lstrip().startswith((";", "const", "{")):
                    declared = _split(part[found.end() : end - 1])
                    if declared and "source_location" in declared[-1]:
                        declared.pop()  # the caller's line, which the compiler gives
                    parameters = [_parameter(each) for each in declared]
                    self.functions.setdefault(within + found[2], []).append(
                        self._flat(parameters, within)
                    )

    def _flat(self, parameters, within):
        """The parameters, with an options struct's fields in its place."""
        out = []
        for parameter in parameters:
            kind = re.sub(r"const |[&\s]|std::optional<", "", parameter.type).rstrip(">")
            fields = self.structs.get(within + kind, self.structs.get(kind))
            if "Options" in kind and fields is not None:
                out += fields
            else:
                out.append(parameter)
        return out

    def signatures(self, path):
        """The parameters of the overloads of what Python calls `path`; none if there is none."""
        *around, name = path.split(".")
        within = [f"{'::'.join(around[i:])}::{name}" for i in range(len(around))]
        return next(
            (self.functions[each] for each in [*within, name] if each in self.functions), []
        )
