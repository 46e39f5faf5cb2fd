"""Text of programs and the map from source lines to words and cycles."""

from __future__ import annotations

import pytest

from dy2st.errors import ArgumentError, FormatError
from dy2st.targets.opu.debug_map import debug_map, load_debug_map
from dy2st.targets.opu.disassemble import disassemble
from dy2st.targets.opu.layer import Layer
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.operations import Compute, Kind, Load, Origin, Pool, Store, Waits
from dy2st.targets.opu.words import encode

OPU = machine("opu1024")
PLACE = Origin(2, "k0 y4")


def load(waits=Waits(), **values):
    place = {"address": 70, "height": 3, "width": 5, "pitch": 9, "bank": 1, "row": 2}
    values = {"kind": Kind.FEATURES, "origin": PLACE, **place, **values}
    return Load(waits=waits, **values)


def compute(waits=Waits(), **values):
    size = {"channels": 33, "outputs": 48, "height": 1, "width": 3, "in_width": 5}
    taps = tuple((r, s) for r in range(3) for s in range(3))
    return Compute(waits=waits, origin=PLACE, **{"taps": taps, "shift_bias": 12, **size, **values})


def store(waits=Waits(), **values):
    size = {"outputs": 48, "height": 1, "width": 3, "psum_row": 0, "address": 500, "pitch": 7}
    return Store(waits=waits, origin=PLACE, **{**size, **values})


PROGRAM = [
    load(),
    load(kind=Kind.WEIGHTS, height=1, width=576, row=0, bank=0),
    compute(Waits(loads=2), shift_features=9),
    store(
        Waits(computes=1),
        activation=1,
        limit=96,
        pool=Pool(kind=1, height=1, width=3, stride_y=1, stride_x=2),
        border=(0, 1, 0, 1),
    ),
]


def layer(index, name, location):
    sizes = {"input_size": [1, 8, 8, 3], "output_size": [1, 8, 8, 3]}
    made = Layer(index=index, type=1, input_layer=[0], output_layer=[-1], **sizes)
    made.name, made.location = name, location
    return made


NETWORK = Network([layer(1, "relu", "model.py:3:5"), layer(2, "conv2d", "model.py:31:9")])


def mapped(operations=PROGRAM):
    words = encode(operations, OPU)
    return words, debug_map(words, OPU, [o.origin for o in operations], NETWORK)


def test_an_operation_is_a_line_with_its_place():
    words, debug = mapped()
    lines = disassemble(words, OPU, debug).splitlines()
    assert len(lines) == 1 + 4 + 1
    assert "features[1] 2..16 = dram 70 (3 x 5 pitch 9)" in lines[1]
    assert "weights[0] 0..35 = dram 70 (576)" in lines[2]
    assert "33 to 48 channels, 1 x 3" in lines[3] and "9 taps (0,0)..(2,2)" in lines[3]
    assert "after ld 2" in lines[3] and "3 rounds" in lines[3]
    assert "relu to 96, max pool 1 x 3 stride 1,2, border (0, 1, 0, 1)" in lines[4]
    assert all(x.endswith("; layer 2 tile k0 y4 conv2d model.py:31:9") for x in lines[1:-1])
    assert lines[-1].split() == ["4", str(len(words) - 1), "done"]


def test_without_a_debug_map_there_are_no_places():
    words, _ = mapped()
    assert "layer" not in disassemble(words, OPU)


def test_words_of_all_lines_are_all_words():
    words, debug = mapped()
    said = [w for entry in debug.entries for w in range(entry.first, entry.last + 1)]
    assert said == list(range(len(words) - 1))


def test_a_debug_map_leads_from_lines_to_words_and_cycles():
    words, debug = mapped()
    assert debug.of_line("model.py:31") == debug.of_layer(2) == debug.entries
    assert debug.of_line("model.py:3") == []
    assert debug.at_word(0).engine == "load"
    assert debug.at_word(len(words) - 2).engine == "store"
    with pytest.raises(ArgumentError, match="belongs to no operation"):
        debug.at_word(len(words) - 1)
    entry = debug.entries[2]
    assert entry in debug.at_cycle(entry.start) and entry not in debug.at_cycle(entry.end)
    assert entry.end - entry.start == 9 * 3 * 3
    assert debug.cycles(2) == (debug.entries[0].start, debug.entries[-1].end)


def test_a_debug_map_is_a_tree_from_line_to_block():
    _, debug = mapped()
    (tree,) = debug.tree()
    assert (tree["location"], tree["operator"], tree["layer"]) == ("model.py:31:9", "conv2d", 2)
    (tile,) = tree["tiles"]
    assert tile["tile"] == "k0 y4" and len(tile["blocks"]) == 4
    assert tile["blocks"][0]["words"] == [0, debug.entries[0].last]


def test_a_debug_map_comes_back_from_its_text():
    _, debug = mapped()
    assert load_debug_map(debug.dump()) == debug
    with pytest.raises(FormatError, match="line 2 of the debug map is no JSON"):
        load_debug_map(debug.dump().splitlines()[0] + "\n{")
    with pytest.raises(FormatError, match="line 1 of the debug map has"):
        load_debug_map('{"block": 1}\n')


def test_a_map_of_another_program_is_refused():
    words, debug = mapped()
    with pytest.raises(ArgumentError, match="of another program"):
        disassemble(encode(PROGRAM[:2], OPU), OPU, debug)
    with pytest.raises(ArgumentError, match="4 operations have 1 origins"):
        debug_map(words, OPU, [PLACE])
