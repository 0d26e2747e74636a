"""Programs that fail: what is said of them, and where."""

from __future__ import annotations

import linecache
import textwrap

import pytest

import holdfast as tf


class Said:
    """One failing program: its error, and the labels by the lines they point at."""

    def __init__(self, text, name, *arguments):
        text = textwrap.dedent(text)
        lines = text.splitlines(keepends=True)
        linecache.cache[name] = (len(text), None, lines, name)
        space = {"tf": tf, "__name__": "a_program"}
        exec(compile(text, name, "exec"), space)
        with pytest.raises(tf.errors.DiagnosticError) as caught:
            space["f"](*arguments)
        self.error, self.text, self.lines = caught.value, text, lines
        self.diagnostic = caught.value.diagnostic
        self.file = name

    def at(self, mark):
        """The roles of the labels on the line with a comment `#@mark`."""
        (line,) = [i for i, text in enumerate(self.lines, 1) if f"#@{mark}" in text]
        return {label.role for label in self.diagnostic.labels if label.loc.line == line}

    def fixed(self):
        """The program with its tested fix applied."""
        (fix,) = [fix for fix in self.diagnostic.fixes if fix.applicability == "tested"]
        lines = list(self.lines)
        for edit in fix.edits:
            assert edit.old in lines[edit.line - 1]
            lines[edit.line - 1] = lines[edit.line - 1].replace(edit.old, edit.new, 1)
        return "".join(lines)
