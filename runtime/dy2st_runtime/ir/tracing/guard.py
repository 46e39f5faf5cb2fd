"""What is asked before an operator is recorded that may fail, or sizes are required."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dy2st_runtime.dims import Condition
from dy2st_runtime.ir.definition import OperatorDefinition
from dy2st_runtime.ir.program import Variable

OnRequired = Callable[[Condition, Exception], bool]
OnFailing = Callable[[OperatorDefinition, Sequence[Variable], Mapping[str, Any]], None]


class Guard:
    """Begins a branch where a handler of the user's catches what would be raised.

    What is recorded next stands in the side of that branch where nothing fails.
    """

    def __init__(self) -> None:
        """Nobody is asked."""
        self.on_required: OnRequired | None = None
        self.on_failing: OnFailing | None = None

    def divert(self, condition: Condition, error: Exception) -> bool:
        """Whether the code goes on only where sizes fulfil a condition."""
        return self.on_required is not None and self.on_required(condition, error)

    def before(
        self,
        definition: OperatorDefinition,
        operands: Sequence[Variable],
        attributes: Mapping[str, Any],
    ) -> None:
        """Ask about an operator."""
        if self.on_failing is not None:
            self.on_failing(definition, operands, attributes)

    @contextmanager
    def off(self) -> Iterator[None]:
        """Record, inside the `with`, what surely fits, or what no code of the user's computes."""
        outer = self.on_required, self.on_failing
        self.on_required = self.on_failing = None
        try:
            yield
        finally:
            self.on_required, self.on_failing = outer
