"""A Program says how its state and values lie on a mesh of devices; values do not depend on it."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.errors import ParseError, ShapeError
from dy2st_runtime.ir import Program, TensorType, Tracer, apply
from dy2st_runtime.ir.checks.verifier import findings
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.placement import Placement, are_placements, is_mesh, misfit
from dy2st_runtime.ir.rebuild import rebuild
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text

MESH = (("dp", 4), ("mp", 2))


def resharded():
    """x * w, with w and the result on a mesh."""
    program = Program()
    weight = program.block.add_parameter(TensorType("float32", (3,)), "w")
    x = program.block.add_parameter(TensorType("float32", (8, 3)), "x")
    program.block.parameters.reverse()
    program.inputs, program.parameters = [x], {"w": weight}
    program.placements["w"] = Placement(MESH, ("replicate", "shard 0"))
    tracer = Tracer(program)
    with tracer.tracing():
        y = apply("reshard", x * weight, mesh=MESH, placements=("shard 0", "replicate"))
    program.block.yields = [y]
    return program


def test_the_text_of_a_placement_reads_back():
    program = resharded()
    text = to_text(program)
    mesh = '[["dp", 4], ["mp", 2]]'
    assert f'placements = {{w = [{mesh}, ["replicate", "shard 0"]]}}' in text
    assert '"dy2st.model"() <{format = 3 : i64' in text
    again = parse_one(text)
    assert to_text(again) == text
    assert again.placements == program.placements


def test_a_program_without_placements_is_read_by_older_versions():
    program = resharded()
    program.placements.clear()
    assert "format = 1 : i64" in to_text(program)


def test_copies_of_a_program_keep_its_placements():
    program = resharded()
    assert clone(program).placements == rebuild(program).placements == program.placements


@pytest.mark.parametrize("name", ["numpy", "native"])
def test_engines_without_a_mesh_run_it_as_it_is(name):
    x, w = np.arange(24, dtype="float32").reshape(8, 3), np.float32([1, 2, 3])
    (y,) = engine.compile(resharded(), name).run([x], [w])
    np.testing.assert_array_equal(y, x * w)


@pytest.mark.parametrize(
    ("name", "mesh", "placements", "said"),
    [
        ("v", MESH, ("replicate", "replicate"), "no parameter or buffer"),
        ("w", MESH, ("replicate",), "1 placements on a mesh of 2 axes"),
        ("w", MESH, ("shard 1", "replicate"), "shard 1 of a tensor of 1 axes"),
        ("w", (("dp", 0),), ("replicate",), "the placement of `w` is"),
    ],
)
def test_the_verifier_finds_placements_that_do_not_fit(name, mesh, placements, said):
    program = resharded()
    program.placements = {name: Placement(mesh, placements)}
    assert any(said in str(finding) for finding in findings(program))


@pytest.mark.parametrize(
    "text", ["[[]]", "3 : i64", '[[["dp", 4]], ["shard"]]', '[[["dp", -1]], []]']
)
def test_a_text_with_what_is_no_placement_is_refused(text):
    good = to_text(resharded())
    begin = good.index("placements = {w = ") + len("placements = {w = ")
    end = good.index("}", begin)
    with pytest.raises(ParseError, match="the placement of `w`"):
        parse_one(good[:begin] + text + good[end:])


def test_reshard_refuses_what_does_not_fit():
    program = resharded()
    with Tracer(program).tracing(), pytest.raises(ShapeError, match="shard 2 of a tensor"):
        apply("reshard", program.inputs[0], mesh=MESH, placements=("shard 2", "replicate"))


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (MESH, True),
        ((), True),
        ((("dp", 4), ("dp", 2)), False),
        ((("dp", True),), False),
        ((("a b", 2),), False),
        ([("dp", 4)], False),
    ],
)
def test_a_mesh_has_names_and_numbers_of_devices(value, is_one):
    assert is_mesh(value) is is_one


def test_placements_are_texts_of_known_forms():
    assert are_placements(("shard 0", "replicate", "partial sum"))
    assert not are_placements(("shard -1",))
    assert not are_placements(("shard 01",))
    assert misfit(MESH, ("shard 0", "replicate"), 1) is None
