"""Groups, against a search through all ties from every node."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dy2st.targets.opu.layer import LayerType, Order
from dy2st.targets.opu.quantiser.groups import UnionFind, constraint_groups
from tests.dy2st.targets.opu.hand_networks import Builder
from tests.dy2st.targets.opu.random_layers import random_network


def reached(nodes, ties):
    """For each node all that ties lead to."""
    found = {}
    for start in nodes:
        seen, waiting = {start}, [start]
        while waiting:
            node = waiting.pop()
            for a, b in ties:
                other = b if a == node else a if b == node else None
                if other is not None and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        found[start] = frozenset(seen)
    return found


pairs = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=14)


@given(pairs)
def test_sets_are_what_ties_reach(ties):
    nodes = [("out", i) for i in range(13)]
    ties = [(nodes[a], nodes[b]) for a, b in ties]
    found = UnionFind(nodes)
    for a, b in ties:
        found.union(a, b)
    wanted = reached(nodes, ties)
    assert {frozenset(s) for s in found.sets()} == set(wanted.values())
    for node in nodes:
        assert found.find(node) == min(wanted[node], key=nodes.index)


def ties_of(network, seed):
    for layer in network.layers:
        for source in layer.input_layer:
            yield ("in", layer.index), ("out", source)
        for source in layer.residual_source:
            yield ("out", layer.index), ("out", source)
            if seed:
                yield ("in", layer.index), ("out", source)
        if layer.type == LayerType.NONE and not layer.residual_source and not seed:
            yield ("in", layer.index), ("out", layer.index)


@pytest.mark.parametrize("seed", [False, True])
@pytest.mark.parametrize("number", range(20))
def test_groups_of_random_networks(number, seed):
    network = random_network(number)
    groups = constraint_groups(network, seed)
    nodes = [("in", y.index) for y in network.layers] + [("out", y.index) for y in network.layers]
    nodes += [("out", -i) for i in range(len(network.input_sizes))]
    wanted = reached(nodes, list(ties_of(network, seed)))
    assert {frozenset(s) for s in groups.members} == set(wanted.values())
    for kind, index in nodes:
        number_of = groups.input(index) if kind == "in" else groups.output(index)
        assert (kind, index) in groups.members[number_of]


def with_residual():
    b = Builder((6, 6, 4))
    first = b.conv(0, 4, padding=1)
    second = b.conv(first, 4, padding=1)
    facts = {"residual_source": [first], "res_position": Order.RESIDUAL_ACTIVATION_POOLING}
    b.conv(second, 4, padding=1, **facts)
    return b.done()


def test_a_residual_is_tied_to_the_output_alone():
    groups = constraint_groups(with_residual())
    assert groups.output(1) == groups.output(3) == groups.input(2)
    assert groups.output(2) == groups.input(3) != groups.output(3)


def test_the_seed_ties_a_residual_to_the_input_too():
    groups = constraint_groups(with_residual(), seed=True)
    assert groups.output(1) == groups.output(3) == groups.input(3) == groups.output(2)
    assert groups.output(0) != groups.output(1)


def test_pooling_alone_keeps_its_input_and_output_together():
    b = Builder((6, 6, 4))
    pool = b.add(0, (3, 3, 4), LayerType.NONE, pooling_type=1)
    network = b.done()
    groups = constraint_groups(network)
    assert groups.input(pool) == groups.output(pool)
    seed = constraint_groups(network, seed=True)
    assert seed.input(pool) != seed.output(pool)
