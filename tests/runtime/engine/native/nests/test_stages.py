"""In which loop along a row each node of a nest is computed."""

from __future__ import annotations

from dy2st_runtime.engine.native.nests.stages import schedule
from dy2st_runtime.ir import F
from tests.recorded import program_of as traced
from tests.runtime.engine.native.running_nests import compiled


def stages_of(function, *types):
    """The stages of the only nest of a function."""
    (nest,) = compiled(traced(function, *types)).nests
    return nest.parts[0], schedule(nest.parts[0])


def test_a_long_chain_is_computed_in_many_short_stages():
    def chain(x):
        for _ in range(20):
            x = F.exp(F.tanh(x * 1.1))
        return x

    _, found = stages_of(chain, ("float32", ("n",)))
    assert len(found.stages) >= 20
    assert all(stage.computed for stage in found.stages)
    assert max(stage.cost for stage in found.stages) < 100


def test_what_costs_much_is_kept_and_what_is_cheap_is_computed_again():
    def softened(x):
        y = x - F.mean(x, axis=1, keepdim=True)
        e = F.exp(y - F.max(y, axis=1, keepdim=True))
        return e / F.sum(e, axis=1, keepdim=True)

    part, found = stages_of(softened, ("float32", ("n", 64)))
    texts = [node.words() for node in part.nodes]
    times = [sum(index in stage.computed for stage in found.stages) for index in range(len(texts))]
    assert times[next(i for i, text in enumerate(texts) if "exp" in text)] == 1
    assert times[next(i for i, text in enumerate(texts) if "subtract" in text)] == 2
    assert len(set(found.buffers.values())) == 1


def test_what_is_not_needed_any_more_makes_room():
    def chain(x):
        for _ in range(8):
            x = F.exp(F.tanh(x * 1.1))
        return x

    _, found = stages_of(chain, ("float32", ("n",)))
    assert len(set(found.buffers.values())) <= 2 < len(found.buffers)
