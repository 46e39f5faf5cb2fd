"""What variables and places are called in messages."""

from __future__ import annotations

from dy2st.convert.trace import CONTENT, STATE, Place, Trace


def label(trace: Trace, place: Place) -> str:
    """The name of a place, or words for it."""
    if place.name is CONTENT or place.name is STATE:
        return f"what a {type(place.owner).__name__} holds"
    variable = trace.variables.get(id(place.owner))
    return str(place.name) if variable is None else variable[1]


def in_words(name: str) -> str:
    """A variable as messages show it; what has no name is in words already."""
    return f"`{name}`" if name.isidentifier() else name
