"""Rules: look for a pattern, and record what stands in its place.

@rule(op.multiply(op.add(x, c1), c2))
def scale_both(m):
    '''(x + c1) * c2 -> x * c2 + c1 * c2.'''
    m.require(is_float(m[x]), "integers may overflow in another place")
    return m[x] * m[c2] + m[c1] * m[c2]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Operation
from dy2st_runtime.errors import WrongKind

Replacement = Callable[[Match], Any]


@dataclass(frozen=True, eq=False)
class Rule:
    """A rewrite.

    Attributes
    ----------
    patterns
        the operators whose results are replaced. They may stand in any order, near each other;
        the others read a value that is bound by the one that stands first.
    replace
        records the new values with the functions of dy2st and returns them, one for every
        pattern; what it raises with `m.require` or `m.fail` leaves the place alone.
    benefit
        of two rules for one place the one of the larger benefit is tried first.

    Examples
    --------
    >>> from dy2st.passes.patterns.pattern import op, value
    >>> x = value()
    >>> @dy2st.passes.rule(op.exp(op.log(x)), benefit=2)
    ... def undone(m):
    ...     "exp(log(x)) -> x."
    ...     return m[x]
    >>> undone.name, undone.doc, undone.benefit
    ('undone', 'exp(log(x)) -> x.', 2)
    >>> ":" in undone.place
    True
    """

    patterns: tuple[Operation, ...]
    replace: Replacement
    benefit: int = 1

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.replace.__name__

    @property
    def doc(self) -> str:
        """What the rule says of itself."""
        return (self.replace.__doc__ or "").strip()

    @property
    def place(self) -> str:
        """The file and line of the rule."""
        code = self.replace.__code__
        return f"{code.co_filename}:{code.co_firstlineno}"


def rule(*patterns: Operation, benefit: int = 1) -> Callable[[Replacement], Rule]:
    """Make a Rule of a function that gets the Match.

    Raises TypeError if a pattern is no operator: a rule needs one to start from.

    >>> from dy2st.passes.patterns.pattern import op, value
    >>> x = value()
    >>> @dy2st.passes.rule(op.exp(op.log(x)))
    ... def undone(m):
    ...     "exp(log(x)) -> x."
    ...     return m[x]
    >>> undone.name
    'undone'
    """
    for pattern in patterns:
        if not isinstance(pattern, Operation):
            raise WrongKind(f"a rule starts from an operator, not from {pattern!r}")
    if not patterns:
        raise WrongKind("a rule needs a pattern")
    return lambda function: Rule(patterns, function, benefit)


__all__ = ["Rule", "rule"]
