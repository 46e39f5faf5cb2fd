"""Lists and dicts that have become something else, while other names still hold them."""

from __future__ import annotations

from typing import Any

from dy2st.convert.traced import look_at_containers
from dy2st_runtime.errors import EscapedVariable
from dy2st_runtime.ir import current_tracer, user_location


class Stale:
    """What is left in a list or dict that has become a Choice: other names still hold it."""

    def __getattr__(self, name: str) -> Any:
        """Refused: the list or dict under this name is out of date."""
        raise stale()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        raise stale()

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        raise stale()


def stale() -> EscapedVariable:
    """The refusal to use such a list or dict."""
    return EscapedVariable(
        "a list or dict is used that a tensor-dependent branch or loop changed under another name",
        at=user_location(),
        why="how many entries it has is known only when the Program runs",
        hint="use one name for it, or copy it first: list(...), dict(...)",
    )


def check_fresh(value: Any) -> None:
    """Refuse a list, dict or set that has become something else under another name."""
    if is_out_of_date(value):
        raise stale()


def is_out_of_date(value: Any) -> bool:
    """Whether this very list, dict or set has become something else."""
    return type(value) in _CONTAINERS and _len(value) == 1 and is_stale(value)


_CONTAINERS = (list, dict, set)
_len = len  # a program may put a function of its own in its place


def check_unchanged(containers: list[Any]) -> None:
    """Refuse a trace that has put something into a list, dict or set that is out of date."""
    if not all(map(is_out_of_date, containers)):
        raise stale()


def is_stale(value: Any) -> bool:
    """Whether a list, dict or set has become something else."""
    if not isinstance(value, (list, dict, set)):
        return False
    return any(isinstance(e, Stale) for e in (value.values() if isinstance(value, dict) else value))


def make_stale(value: Any) -> None:
    """Let every use of a list, dict or set under another name be refused."""
    look_at_containers()
    tracer = current_tracer()
    if tracer is not None:
        tracer.stale.append(value)
    if isinstance(value, list):
        value[:] = [Stale()]
    elif isinstance(value, dict):
        value.clear()
        value["stale"] = Stale()
    elif isinstance(value, set):
        value.clear()
        value.add(Stale())
