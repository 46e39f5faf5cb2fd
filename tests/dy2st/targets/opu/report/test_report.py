"""Reports: every figure is one that was worked out by hand, in every form."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.operations import Kind
from dy2st.targets.opu.report import (
    as_chrome_trace,
    as_csv,
    as_json,
    as_page,
    as_table,
    overview_svg,
    report_of,
)
from dy2st.targets.opu.report.figures import Part
from dy2st.targets.opu.report.shapes import described, products
from dy2st_runtime.errors import ArgumentError
from tests.dy2st.targets.opu.random_layers import random_network
from tests.dy2st.targets.opu.report import hand_program as hand
from tests.effort import effort

SVG = "{http://www.w3.org/2000/svg}"


def made(machine=hand.MACHINE, **given):
    return report_of(hand.network(), machine, hand.operations(), **given)


@pytest.fixture
def report():
    return made(title="a </script> & b")


def test_layers_take_the_time_from_one_end_to_the_next(report):
    assert [(layer.begin, layer.end) for layer in report.layers] == [(0, 1290), (1290, 1606)]
    assert report.totals.cycles == 1606
    assert sum(layer.share for layer in report.layers) == pytest.approx(1)


def test_the_efficiency_is_multiplications_by_what_the_machine_could_do(report):
    assert [layer.macs for layer in report.layers] == [100 * 9 * 16 * 64, 25 * 64 * 128]
    assert report.layers[0].efficiency == 921600 / (1024 * 1290)
    assert report.totals.efficiency == (921600 + 204800) / (1024 * 1606)


def test_engines_are_at_work_and_wait_as_long_as_worked_out(report):
    first, second = report.layers
    assert (first.pe, first.dma) == (900, 390)
    assert (second.pe, second.dma) == (200, 25 + 64 + 2 + 64 + 2 + 25 + 25)
    assert first.idle == {"load": 390, "store": 0, "fetch": 0, "drain": 0}
    assert second.idle == {"load": 91, "store": 0, "fetch": 0, "drain": 25}
    for layer in report.layers:
        assert layer.pe + sum(layer.idle.values()) == layer.cycles


def test_cycles_in_which_layers_overlap_are_of_the_layer_that_multiplies():
    # Layer 2 is loaded until 381, multiplied beside the store of layer 1 from 1190 to 1290, loads
    # weights and stores until 1381, is multiplied until 1481 and stored until 1506.
    found = report_of(hand.network(), hand.MACHINE, hand.operations(second_waits=0))
    first, second = found.layers
    assert (first.pe, second.pe) == (900, 200)
    assert first.idle == {"load": 290, "store": 0, "fetch": 0, "drain": 0}
    assert second.idle == {"load": 91, "store": 0, "fetch": 0, "drain": 25}
    assert (first.cycles, second.cycles, found.totals.cycles) == (1190, 316, 1506)
    assert max(first.efficiency, second.efficiency) <= 1


@pytest.mark.parametrize("mode", ["own", "compat"])
# The windows of the last one's pooling lie apart: what is between them is not computed.
@pytest.mark.parametrize("seed", [*range(effort(12, 200)), 205])
def test_times_of_layers_add_up_and_none_has_more_products_than_fit(seed, mode):
    model = compile_network(random_network(seed), mode=mode)
    found = report_of(model.network, model.machine, model.operations, model.prepared.timeline)
    assert sum(layer.cycles for layer in found.layers) == found.totals.cycles
    assert sum(layer.share for layer in found.layers) == pytest.approx(1)
    assert all(layer.efficiency <= 1 for layer in found.layers)


def test_traffic_is_bytes_by_class(report):
    assert report.layers[0].traffic == {
        "features": 144 * 64,
        "weights": 144 * 64,
        "bias": 128,
        "residual": 0,
        "store": 25 * 64,
    }
    assert report.totals.traffic["weights"] == (144 + 128) * 64


def test_peaks_are_rows_of_a_bank(report):
    assert report.layers[0].peaks == {"features": 144, "weights": 9, "bias": 1, "psum": 100}
    assert report.layers[1].peaks == {"features": 25, "weights": 4, "bias": 1, "psum": 50}


def test_totals_are_those_of_the_clock(report):
    seconds, totals = 1606 / 200e6, report.totals
    assert totals.milliseconds == pytest.approx(1e3 * seconds)
    assert totals.frames_per_second == pytest.approx(1 / seconds)
    assert totals.gops == pytest.approx(2 * 1126400 / seconds / 1e9)
    assert totals.bandwidth == pytest.approx(sum(totals.traffic.values()) / seconds / 1e9)
    assert (totals.peak_gops, totals.peak_bandwidth) == (409.6, 12.8)


def test_parts_of_the_network_are_counted_apart():
    network = hand.network()
    network.layers[0].enhanced, network.layers[1].type = 1, int(LayerType.FULLY_CONNECTED)
    found = report_of(network, hand.MACHINE, hand.operations())
    assert [layer.part for layer in found.layers] == ["host columns", "dense"]
    assert found.totals.parts["host columns"] == Part(1, 921600, 1290, 921600 / (1024 * 1290))
    assert found.totals.parts["dense"].cycles == 316
    assert "dense        RME" in as_table(found) and "<td>host columns</td>" in as_page(found)


def test_both_uses_of_the_bank_of_partial_sums_are_told(report):
    other = report_of(hand.network(), hand.MACHINE, hand.operations(last_compute_waits=2)).totals
    both = replace(report, other=other)
    said = f"{other.cycles} cycles, if a tile waits for its bank (psum_waits = 1)"
    assert said in as_table(both) and said in as_page(both)
    assert json.loads(as_json(both))["other_psum_waits"]["cycles"] == other.cycles
    waiting = replace(both, machine=hand.MACHINE.but(psum_waits=1))
    assert "if tiles share a bank (psum_waits = 0)" in as_table(waiting)


def test_engines_that_wait_for_each_other_are_bound_by_latency(report):
    assert [layer.bound for layer in report.layers] == ["latency", "latency"]


def test_few_multipliers_bound_a_layer():
    assert made(hand.MACHINE.but(macs=64)).layers[0].bound == "pe"


def test_passes_that_are_mostly_epilogue_are_bound_by_latency():
    layer = made(hand.MACHINE.but(pe_epilogue=2000)).layers[0]
    assert layer.pe > 0.9 * layer.cycles and layer.bound == "latency"


def test_a_layer_that_only_moves_data_is_bound_by_the_memory():
    found = report_of(hand.network(), hand.MACHINE, hand.operations()[:3])
    assert [layer.bound for layer in found.layers] == ["dma", "none"]


def test_transfers_that_are_mostly_latency_are_bound_by_latency():
    slow = hand.MACHINE.but(dram_latency=500)
    assert report_of(hand.network(), slow, hand.operations()[:3]).layers[0].bound == "latency"


def test_waiting_for_partial_sums_to_be_stored_is_counted():
    found = report_of(hand.network(), hand.MACHINE, hand.operations(last_compute_waits=2))
    assert found.layers[1].idle == {"load": 91, "store": 25, "fetch": 0, "drain": 25}


def test_instruction_words_are_counted_and_take_time():
    found = made(fetch=[500] * 14)
    assert (found.layers[0].words, found.totals.words) == (2500, 7000)
    assert found.layers[0].idle["fetch"] > 0


def test_an_operation_of_an_unknown_layer_is_refused():
    with pytest.raises(ArgumentError, match="layers 1 to 2"):
        report_of(hand.network(), hand.MACHINE, [hand.load(Kind.BIAS, 3, 1, 1)])


def test_no_operations_give_figures_of_zero():
    found = report_of(hand.network(), hand.MACHINE, [])
    assert (found.totals.cycles, found.totals.gops) == (0, 0.0)
    assert "0 cycles" in as_table(found)
    ET.fromstring(overview_svg(found))


# -- shapes -----------------------------------------------------------------------------------


def test_transposed_convolutions_multiply_what_lies_inside():
    layer = Layer(
        1,
        LayerType.TRANSPOSED,
        *([0], [-1], [1, 3, 3, 8], [1, 6, 6, 4]),
        ker_size=[1, 4, 4],
        ker_stride=[1, 2, 2],
        padding_size=[1, 1, 1, 1],
    )
    network = Network([layer], input_sizes=[(1, 3, 3, 8)])
    assert products(network, layer) == 10 * 10 * 8 * 4  # of 12 pairs on an axis two lie outside


def test_dense_layers_multiply_all_by_all():
    layer = Layer(1, LayerType.FULLY_CONNECTED, [0], [-1], [1, 7, 7, 512], [1, 1, 1, 4096])
    network = Network([layer], input_sizes=[(1, 7, 7, 512)])
    assert products(network, layer) == 25088 * 4096


def test_a_layer_is_described_in_the_order_in_which_it_computes():
    layer = hand.network().layers[0]
    assert described(layer) == "conv 3x3 relu max 2x2 /2"
    layer.residual, layer.res_position, layer.activation_limit = 1, 2, 6.0
    layer.group = 4
    assert described(layer) == "conv 3x3 groups 4 relu6 max 2x2 /2 residual"


# -- forms ------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_every_layer_and_the_totals(report):
    lines = as_table(report).splitlines()
    assert lines[2].split()[:2] == ["1", "stem.<conv>"]
    assert "1290" in lines[2] and "0.698" in lines[2] and "9.0 KiB" in lines[2]
    assert "RME 0.685" in as_table(report)


def test_json_has_every_figure(report):
    found = json.loads(as_json(report))
    assert found["layers"][0]["idle"]["load"] == 390
    assert found["totals"]["cycles"] == 1606
    assert found["machine"]["macs"] == 1024


def test_csv_has_as_many_cells_as_headings(report):
    rows = list(csv.reader(io.StringIO(as_csv(report))))
    assert [len(row) for row in rows] == [len(rows[0])] * 3
    first = dict(zip(rows[0], rows[1], strict=True))
    assert (first["name"], first["cycles"], first["rows_psum"]) == ("stem.<conv>", "1290", "100")
    assert (first["idle_load"], first["bytes_store"], first["fraction_input"]) == (
        *("390", "1600", "5"),
    )


def test_figures_of_the_quantiser_are_shown_everywhere():
    found = made(quantisation={2: {"sqnr_db": 31.25}})
    assert "sqnr_db" in as_table(found).splitlines()[0] and "31.25" in as_table(found)
    assert as_csv(found).splitlines()[2].endswith(",31.25")
    assert "<td>31.25</td>" in as_page(found)


def test_the_trace_has_the_times_of_all_operations_in_microseconds(report):
    events = json.loads(as_chrome_trace(report))["traceEvents"]
    spans = [event for event in events if event["ph"] == "X" and event["tid"] > 0]
    assert len(spans) == 14
    assert sum(span["dur"] for span in spans) == pytest.approx((900 + 200 + 390 + 207) / 200)
    assert (spans[3]["name"], spans[3]["ts"], spans[3]["dur"]) == ("compute", 1.45, 4.5)


def page_data(page):
    text = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(text.group(1))


def test_the_page_needs_nothing_from_elsewhere_and_escapes_names(report):
    page = as_page(report)
    assert "<!--" not in page
    assert not re.search(r"(src|href)=|@import|url\(", page)
    assert page.count("</script>") == 2
    assert "stem.&lt;conv&gt;" in page and "a &lt;/script&gt; &amp; b" in page


def test_the_page_holds_every_operation(report):
    data = page_data(as_page(report))
    starts = [np.cumsum(lane["starts"]).tolist() for lane in data["lanes"]]
    assert starts[1] == [290, 1381, 1481]
    assert starts[2] == [1190, 1481, 1581]
    assert data["lanes"][1]["times"] == [900, 100, 100]
    assert data["tiles"][data["lanes"][0]["tiles"][0]] == "y0"


def test_the_overview_is_a_picture_with_every_layer(report):
    groups = ET.fromstring(overview_svg(report)).iter(f"{SVG}g")
    assert [group.get("data-index") for group in groups] == ["1", "2"]


@pytest.mark.parametrize(
    "form", [as_table, as_json, as_csv, as_page, as_chrome_trace, overview_svg]
)
def test_the_same_program_gives_the_same_bytes(form):
    assert form(made()) == form(made())
