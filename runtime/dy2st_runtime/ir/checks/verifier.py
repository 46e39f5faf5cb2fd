"""Checks every invariant of a Program and shows all findings in its text.

The rules themselves are in `invariants.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dy2st_runtime.dims import Facts, current, using
from dy2st_runtime.errors import ShapeError, VerifyError
from dy2st_runtime.ir.checks.invariants import (
    MAX_BLOCK_DEPTH,
    MAX_CONSTRAINTS,
    PROGRAM_RULES,
    RULES_AFTER,
    RULES_BEFORE,
    Scope,
    block_parameters,
    block_yields,
    block_yields_the_results,
    constraints_are_bound,
    symbols_have_one_range,
)
from dy2st_runtime.ir.program import Operator, Program
from dy2st_runtime.ir.sizes import assume, branch_condition, facts_of, note_inputs
from dy2st_runtime.ir.text.printer import program_lines
from dy2st_runtime.thread_state import put_back_after_errors

_WHOLE_TEXT = 60
_AROUND = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule: its name, what is wrong, and the operator (None: the Program itself)."""

    rule: str
    text: str
    operator: Operator | None = None

    def __str__(self) -> str:
        """`add (model.py:9:8): results are typed by rule: ...`."""
        message = f"{self.rule}: {self.text}"
        if self.operator is None:
            return message
        place = f" ({self.operator.location})" if self.operator.location else ""
        return f"{self.operator.name}{place}: {message}"


def verify(program: Program) -> Program:
    """The Program itself; VerifyError with every finding, marked in the text, if it is broken."""
    return without(findings(program), program)


def without(found: Sequence[Finding], program: Program) -> Program:
    """The Program; VerifyError if there are findings."""
    if found:
        raise VerifyError([str(finding) for finding in found], marked_text(program, found))
    return program


@put_back_after_errors
def findings(program: Program) -> list[Finding]:
    """Every broken rule, in the order of the Program's text."""
    verifier = _Verifier(program)
    verifier.run()
    return verifier.found


class _Verifier:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: list[Finding] = []

    def run(self) -> None:
        """Find everything."""
        program = self.program
        for rule in PROGRAM_RULES:
            self._add(rule, rule(program), None)
        if len(program.constraints) > MAX_CONSTRAINTS:  # said by a rule
            return
        try:
            facts = facts_of(program)
        except ShapeError as error:
            self.found.append(Finding("constraints can hold", str(error)))
            facts = Facts()
        scopes: list[Scope] = []
        for block in program.roots:
            # A function knows nothing of the sizes around a call of it.
            if scopes:
                facts = Facts()
                note_inputs(facts, block.parameters)
            made = scopes[0].made if scopes else set()
            scopes.append(Scope(block, program.functions, made=made))
            with using(facts):
                self._block(scopes[-1], None)
        self._add(symbols_have_one_range, symbols_have_one_range(scopes), None)
        self._add(constraints_are_bound, constraints_are_bound(program, scopes[0]), None)

    def _block(self, scope: Scope, owner: Operator | None) -> None:
        block = scope.block
        self._add(block_parameters, block_parameters(block, scope), owner)
        for operator in block.operators:
            for rule in RULES_BEFORE:
                self._add(rule, rule(operator, scope), operator)
            if operator.blocks and scope.depth < MAX_BLOCK_DEPTH:
                for index, inner in enumerate(operator.blocks):
                    with using(current().inside()):
                        if operator.name == "cond" and operator.operands:
                            assume(branch_condition(operator.operands[0], index == 0))
                        self._block(scope.inside(inner), operator)
                        texts = block_yields_the_results(operator, index, scope)
                        self._add(block_yields_the_results, texts, operator)
            for rule in RULES_AFTER:
                self._add(rule, rule(operator, scope), operator)
            if operator.name == "require":
                assume(operator.attributes.get("condition"))
        self._add(block_yields, block_yields(block, scope), owner)

    def _add(
        self, rule: Callable[..., object], texts: Iterable[str], operator: Operator | None
    ) -> None:
        for text in texts:
            self.found.append(Finding(rule.__name__.replace("_", " "), text, operator))


# -- showing ----------------------------------------------------------------------------------


def marked_text(program: Program, found: Sequence[Finding]) -> str:
    """The text of a Program with every finding under the line that it is about.

    Of a long text only the lines around findings are shown.
    """
    by_operator: dict[Operator | None, list[Finding]] = {}
    for finding in found:
        by_operator.setdefault(finding.operator, []).append(finding)
    lines: list[list[str]] = []
    for line in program_lines(program):
        shown = line.shows if isinstance(line.shows, Operator) else None
        # Findings about the Program itself stand under its first line.
        here = by_operator.pop(shown, []) if shown or not lines else []
        text = line.text
        if not here:
            marked = [f"   {text}"]
        else:
            indent = " " * (len(text) - len(text.lstrip()))
            marked = [f">> {text}", *(f"   {indent}^ {f.rule}: {f.text}" for f in here)]
        lines.append(marked)
    count = f"{len(found)} finding{'s' if len(found) > 1 else ''}"
    if len(lines) <= _WHOLE_TEXT:
        abridged = [text for entry in lines for text in entry]
    else:
        kept: list[str] = []
        last = -1
        for index, entry in enumerate(lines):
            around = lines[max(0, index - _AROUND) : index + _AROUND + 1]
            if all(len(near) == 1 for near in around):
                continue
            kept += ["   ..."] * (index > last + 1) + entry
            last = index
        abridged = kept + ["   ..."] * (last + 1 < len(lines))
    return "\n".join([f"{count} in the Program {program.name!r}:", *abridged])


__all__ = ["Finding", "findings", "marked_text", "verify", "without"]
