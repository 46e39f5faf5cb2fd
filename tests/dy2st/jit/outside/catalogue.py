"""All scenarios: importing the modules registers them."""

from tests.dy2st.jit.outside import (  # noqa: F401
    arrays,
    attributes,
    beside_it,
    classes,
    containers,
    effects,
    effects_in_c,
    effects_of_layers,
    effects_on_containers,
    functions,
    layers,
    library,
    lists_of_layers,
    names,
    process,
    readings,
    readings_of_contents,
    records,
    sites,
    views,
)
from tests.dy2st.jit.outside.scenario import SCENARIOS

__all__ = ["SCENARIOS"]
