"""A Network is written with exactly the known keys, and read back only if all of it is right."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest

from dy2st import nn
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.ir_file import KNOWN, as_line, read_ir, write_ir
from dy2st_runtime.errors import FormatError
from tests.dy2st.targets.opu.models import IMAGE, F, Model, computed, conv, images, module_of

KEYS = (
    "index type input_layer output_layer input_size output_size ker_size ker_stride pooling_size "
    "pooling_stride pooling_type pool_padding_size padding_size activation_type residual "
    "residual_source res_position output_choice group dilation channel_shuffle upsample "
    "upsample_method data_layout kernel_layout input_fraclen output_fraclen weight_fraclen "
    "bias_fraclen post_padding post_padding_mode post_padding_size pre_remove_padding_size "
    "extra_pre_padding"
).split()


def forward(m, x):
    y = F.max_pool2d(F.relu6(m.a(x)), 2, 2)
    z = F.relu(m.b(y) + y)
    return F.softmax(m.head(z.mean([2, 3])), -1), F.interpolate(z, scale_factor=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A quantised Network and the folder that it was written to."""
    model = Model(forward, a=conv(), b=conv(4, 4, groups=4), head=nn.Linear(4, 3))
    folder = tmp_path_factory.mktemp("ir")
    calibration = [images(IMAGE, seed=i)[0] for i in range(3)]
    return gen_ir(module_of(model, IMAGE), calibration, folder=folder).network, folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy that a test may damage."""
    return shutil.copytree(made[1], tmp_path / "copy")


def lines_of(folder):
    return [json.loads(line) for line in (folder / "OPU_IR.json").read_text().splitlines()]


def put(folder, lines):
    (folder / "OPU_IR.json").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_every_line_has_the_known_keys_in_their_order_and_ours_behind_them(made):
    assert list(KNOWN) == KEYS
    for line in lines_of(made[1]):
        assert list(line)[: len(KEYS)] == KEYS
        assert set(line) - set(KEYS) <= {
            "name", "location", "activation_limit", "enhanced", "input_channels"
        }  # fmt: skip


def test_keys_of_ours_are_left_out_where_they_say_nothing(made):
    first, second = lines_of(made[1])[:2]
    assert first["activation_limit"] == 6.0 and "activation_limit" not in second
    assert first["enhanced"] == 1 and "enhanced" not in second


def test_what_is_written_is_read_back(made):
    network, folder = made
    again = read_ir(folder)
    assert again.layers == network.layers
    assert (again.outputs, again.input_sizes) == (network.outputs, network.input_sizes)
    assert again.epilogues == network.epilogues == {0: ("softmax", {"axis": 1})}
    for one, two in (
        (network.weights, again.weights),
        (network.biases, again.biases),
        (network.int_weights, again.int_weights),
        (network.int_biases, again.int_biases),
    ):
        assert one.keys() == two.keys()
        for index in one:
            assert one[index].dtype == two[index].dtype
            np.testing.assert_array_equal(one[index], two[index])


def test_the_hosts_part_is_read_back(made):
    network, folder = made
    inputs = images(IMAGE)
    for one, two in zip(computed(network, inputs), computed(read_ir(folder), inputs), strict=True):
        np.testing.assert_array_equal(one, two)


def test_dumped_weights_are_floats_on_the_grid_of_the_integers(made):
    network, folder = made
    dumped = np.load(folder / "dump" / "weights_0.npy")
    assert dumped.dtype == np.float32 and dumped.shape == (3, 3, 3, 4)
    scale = 2.0 ** network.layer(1).weight_fraclen
    np.testing.assert_array_equal(dumped * scale, network.int_weights[1])
    raw = np.load(folder / "dump_raw" / "weights_0.npy")
    assert np.abs(raw - dumped).max() <= 0.5001 / scale


def test_a_folder_without_our_own_file_is_read_from_its_layers(made, folder):
    for name in ("network.json", "host.mlir"):
        (folder / name).unlink()
    shutil.rmtree(folder / "dump_raw")
    lines = lines_of(folder)
    put(folder, [{key: line[key] for key in KEYS} for line in lines])
    again = read_ir(folder)
    assert again.outputs == sorted(made[0].outputs) and again.tail is None
    assert again.input_sizes == made[0].input_sizes
    assert again.layers[1].input_channels == made[0].layers[1].input_channels


def test_padding_that_is_told_twice_is_padded_once(folder):
    lines = lines_of(folder)
    assert lines[0]["post_padding_size"] == [1, 1, 1, 1]
    lines[1]["padding_size"] = [1, 1, 1, 1]
    put(folder, lines)
    assert read_ir(folder).layers[1].padding_size == [0, 0, 0, 0]


def test_padding_that_is_told_twice_may_be_less_than_what_is_stored(tmp_path):
    model = Model(
        lambda m, x: [m.b(m.a(x)), m.c(m.a(x))], a=conv(), b=conv(4, 4, 5, 2), c=conv(4, 4)
    )
    gen_ir(module_of(model, IMAGE), quantize=False, folder=tmp_path)
    lines = lines_of(tmp_path)
    (narrow,) = [line for line in lines if any(line["pre_remove_padding_size"])]
    narrow["padding_size"] = [1, 1, 1, 1]
    put(tmp_path, lines)
    assert read_ir(tmp_path).layer(narrow["index"]).padding_size == [0, 0, 0, 0]


def test_arrays_need_not_be_read(made, folder):
    for name in ("dump", "dump_raw"):
        shutil.rmtree(folder / name)
    network = read_ir(folder, arrays=False)
    assert network.layers == made[0].layers and network.weights == {}
    with pytest.raises(FormatError, match=r"dump_raw/weights_0\.npy is missing"):
        read_ir(folder)


def test_a_matrix_of_others_is_given_the_form_of_its_map(tmp_path):
    model = Model(lambda m, x: m.head(m.a(x).flatten(1)), a=conv(), head=nn.Linear(256, 5))
    network, _ = gen_ir(module_of(model, IMAGE), quantize=False, folder=tmp_path)
    dumped = np.load(tmp_path / "dump_raw" / "weights_1.npy")
    np.testing.assert_array_equal(dumped, model.head.weight.numpy().T)
    np.testing.assert_array_equal(read_ir(tmp_path).weights[2], network.weights[2])


@pytest.mark.parametrize("is_padded", [True, False])
def test_the_mode_of_post_padding_is_a_number_that_all_layers_share(is_padded):
    model = Model(lambda m, x: m.c(m.b(m.a(x))), a=conv(), b=conv(4, 4), c=conv(4, 4, 1, 0))
    how = {"quantize": False, "use_post_padding": is_padded}
    layers = gen_ir(module_of(model, IMAGE), **how).network.layers
    assert [as_line(layer)["post_padding_mode"] for layer in layers] == [int(is_padded)] * 3


def test_a_layer_is_written_as_others_write_it(made):
    first, second, *_ = lines_of(made[1])
    assert first["dilation"] == [1, 1] and first["upsample_method"] == ""
    enlarged = [line for line in lines_of(made[1]) if line["upsample"] > 1]
    assert [line["upsample_method"] for line in enlarged] == ["nearest_neighbor"]


EMPTY = {
    "upsample_method": "",
    "data_layout": "",
    "kernel_layout": "",
    "dilation": [],
    "group": 0,
    "pooling_size": [],
    "pooling_stride": [],
    "pool_padding_size": [],
}


def test_what_others_leave_empty_has_its_default(made, folder):
    lines = lines_of(folder)
    where = next(i for i, line in enumerate(lines) if line["type"] == 0)
    lines[where] |= EMPTY
    put(folder, lines)
    assert read_ir(folder).layers == made[0].layers


def test_a_file_of_layers_may_have_any_name_when_no_arrays_are_wanted(made, folder):
    path = (folder / "OPU_IR.json").rename(folder / "info.json")
    assert read_ir(path, arrays=False).layers == made[0].layers


def test_a_flattened_map_of_others_is_given_back(tmp_path):
    model = Model(lambda m, x: m.head(m.a(x).flatten(1)), a=conv(), head=nn.Linear(256, 5))
    network, _ = gen_ir(module_of(model, IMAGE), quantize=False, folder=tmp_path)
    (tmp_path / "network.json").unlink()
    lines = lines_of(tmp_path)
    lines[1] |= {"input_size": [1, 1, 1, 256], "ker_size": [1, 1, 1]}
    del lines[1]["input_channels"]
    put(tmp_path, lines)
    assert read_ir(tmp_path).layers == network.layers


CHANGES = {
    "a key that is nearly one of ours": ({"activation_limits": 3.0}, "is 'activation_limit' meant"),
    "a text for a number": ({"group": "1"}, "group is '1', an integer is expected"),
    "a truth for a number": ({"upsample": True}, "upsample is True, an integer"),
    "a number for a list": ({"ker_size": 3}, "a list of integers is expected"),
    "floats in a list": ({"ker_size": [1, 3.0, 3]}, "a list of integers is expected"),
    "too many numbers": ({"padding_size": [1, 1, 1]}, "1 or 2 or 4 numbers are expected"),
    "a foreign type": ({"type": 5}, "type is 5, there are 0, 1, 2, 3"),
    "a foreign activation": ({"activation_type": 3}, "activation_type is 3"),
    "a foreign layout": ({"data_layout": "NHWC"}, "only 'NCHW' is possible"),
    "a mode that is a text": ({"post_padding_mode": "constant"}, "an integer is expected"),
    "an empty size": ({"input_size": []}, "2 or 4 numbers are expected"),
    "a shuffle": ({"channel_shuffle": 3}, "channel_shuffle is 3"),
    "a wrong index": ({"index": 3}, "index is 3, 2 is expected"),
    "a later producer": ({"input_layer": [3]}, "input_layer is .3., producers are 0 to 1"),
    "no producer": ({"input_layer": []}, "at least one producer"),
    "a wrong input": ({"input_size": [1, 5, 5, 4]}, "input_size is .*its producers make"),
    "a wrong output": ({"output_size": [1, 5, 5, 4]}, "output_size is .* it computes"),
    "a wrong kernel": ({"ker_size": [1, 2, 2]}, "output_size is .* it computes"),
    "a wrong group": ({"group": 3}, "group is 3, it divides"),
    "a batch": ({"input_size": [2, 6, 6, 4]}, "one image at a time"),
    "a residual without an order": ({"res_position": 3}, "needs one of 0, 1 and 2"),
    "a residual that is not there": ({"residual": 0}, "residual is 0"),
    "too much skipped": ({"pre_remove_padding_size": [2, 0, 0, 0]}, "only .* is stored"),
    "another fraction length": ({"input_fraclen": -3}, "but layer 1 makes numbers of|shift"),
    "an impossible shift": ({"bias_fraclen": 60}, "0 to 31 is possible"),
    "a limit of nothing": ({"activation_limit": -1.0}, "a positive limit"),
    "wrong readers": ({"output_layer": []}, "output_layer is .., .* read it"),
    "wrong parts": ({"input_channels": [2, 2]}, "input_channels is .* its producers make"),
}


def test_keys_that_nothing_here_means_are_left_out_with_a_note(made, folder):
    lines = lines_of(folder)
    for line in lines[1:]:
        line["ddr_addr"] = 4096
    put(folder, lines)
    network = read_ir(folder)
    assert [asdict(layer) for layer in network.layers] == [asdict(y) for y in made[0].layers]
    rest = len(lines) - 2
    said = f"the key 'ddr_addr' means nothing here and is left out: line 2 and {rest} more, 4096"
    assert network.notes == [*made[0].notes, said]


def test_arrays_may_be_numbered_over_the_layers_that_have_weights(made, folder):
    weighted = [layer.index for layer in made[0].layers if layer.has_weights]
    assert weighted != list(range(1, len(weighted) + 1))
    for kind in ("weights", "bias"):
        for place, index in enumerate(weighted):
            for dump in ("dump", "dump_raw"):
                (folder / dump / f"{kind}_{index - 1}.npy").rename(
                    folder / dump / f"{kind}_{place}.npy"
                )
    network = read_ir(folder)
    assert all(np.array_equal(network.int_weights[i], made[0].int_weights[i]) for i in weighted)
    assert all(np.array_equal(network.biases[i], made[0].biases[i]) for i in weighted)


@pytest.mark.parametrize(("channels", "enhanced"), [(7, 1), (8, 0)])
def test_first_layers_of_others_read_columns_by_their_rule(tmp_path, channels, enhanced):
    shape = (1, channels, 6, 6)
    model = Model(lambda m, x: m.a(x), a=conv(channels, 4))
    samples = [images(shape)[0]]
    gen_ir(module_of(model, shape), samples, folder=tmp_path, on=None)
    lines = [{key: line[key] for key in KNOWN} for line in lines_of(tmp_path)]
    put(tmp_path, lines)
    (tmp_path / "network.json").unlink()
    assert [layer.enhanced for layer in read_ir(tmp_path).layers] == [enhanced]


@pytest.mark.parametrize("name", [name for name in CHANGES if CHANGES[name][1]])
def test_a_wrong_line_is_refused_by_line_and_key(folder, name):
    change, message = CHANGES[name]
    lines = lines_of(folder)
    lines[1].update(change)
    put(folder, lines)
    with pytest.raises(FormatError, match=message):
        read_ir(folder)


@pytest.mark.parametrize("key", KEYS)
def test_a_missing_key_is_named(folder, key):
    lines = lines_of(folder)
    del lines[2][key]
    put(folder, lines)
    with pytest.raises(FormatError, match=f"line 3: '{key}' is missing"):
        read_ir(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("{", "line 1 is no JSON"),
        ("[1, 2]", "a layer is an object"),
        ("{}", "'index' is missing"),
        ("\x00\x01", "line 1 is no JSON"),
    ],
)
def test_a_file_of_something_else_is_refused(folder, text, message):
    (folder / "OPU_IR.json").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_ir(folder)


def test_a_binary_file_is_refused(folder):
    (folder / "OPU_IR.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="is no text"):
        read_ir(folder)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FormatError, match=r"has no OPU_IR\.json"):
        read_ir(tmp_path)


def test_a_missing_array_is_named(folder):
    (folder / "dump" / "bias_1.npy").unlink()
    with pytest.raises(FormatError, match=r"dump/bias_1\.npy is missing"):
        read_ir(folder)


def test_a_truncated_array_is_named(folder):
    path = folder / "dump" / "weights_0.npy"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(FormatError, match=r"dump/weights_0\.npy is no array"):
        read_ir(folder)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 3, 3, 5), np.float32), r"weights are \[3, 3, 3, 5\]"),
        (np.full((3, 3, 3, 4), 0.3, np.float32), "no multiples"),
        (np.full((3, 3, 3, 4), 2.0**20, np.float32), "do not fit 8 bits"),
        (np.full((3, 3, 3, 4), np.nan, np.float32), "not finite"),
    ],
)
def test_wrong_arrays_are_refused(folder, array, message):
    np.save(folder / "dump" / "weights_0.npy", array)
    with pytest.raises(FormatError, match=message):
        read_ir(folder)


@pytest.mark.parametrize("text", ["{}", "[]", '{"schema": "other/1"}', "nothing"])
def test_a_damaged_file_of_ours_is_refused(folder, text):
    (folder / "network.json").write_text(text)
    with pytest.raises(FormatError, match=r"network\.json"):
        read_ir(folder)


def test_a_damaged_program_of_the_host_is_refused(folder):
    (folder / "host.mlir").write_text("not a program")
    with pytest.raises(FormatError, match=r"host\.mlir is damaged"):
        read_ir(folder)


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_wrong_network_is_not_written(made, folder):
    network, before = read_ir(folder), contents(folder)
    network.layers[1].group = 3
    with pytest.raises(FormatError):
        write_ir(network, folder)
    assert contents(folder) == before


def test_what_fails_while_it_is_written_leaves_the_old_files(folder, monkeypatch):
    network, before = read_ir(folder), contents(folder)

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="no space left"):
        write_ir(network, folder)
    assert contents(folder) == before


def test_writing_again_replaces_everything_and_leaves_other_files(made, folder):
    (folder / "notes.txt").write_text("mine")
    (folder / "dump" / "weights_9.npy").write_text("old")
    write_ir(read_ir(folder), folder)
    assert (folder / "notes.txt").read_text() == "mine"
    assert not (folder / "dump" / "weights_9.npy").exists()
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_writing_is_deterministic(made, tmp_path):
    write_ir(made[0], tmp_path / "one")
    write_ir(made[0], tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_the_example_of_the_known_tool_chain_is_valid(tmp_path):
    """TinyYOLO's first layer as it is published, as a network of one layer."""
    line = {
        **as_line_of_first(),
        "input_size": [1, 418, 418, 3],
        "output_size": [1, 210, 210, 16],
        "post_padding_size": [1, 1, 1, 1],
    }
    (tmp_path / "OPU_IR.json").write_text(json.dumps(line) + "\n")
    (tmp_path / "dump").mkdir()
    np.save(tmp_path / "dump" / "weights_0.npy", np.full((3, 3, 3, 16), 0.25, np.float32))
    np.save(tmp_path / "dump" / "bias_0.npy", np.zeros(16, np.float32))
    network = read_ir(tmp_path)
    assert network.input_sizes == [(1, 416, 416, 3)] and network.int_weights[1].max() == 1


def as_line_of_first():
    defaults = {key: None for key in KEYS}
    return defaults | {
        "index": 1,
        "type": 1,
        "input_layer": [0],
        "output_layer": [-1],
        "ker_size": [1, 3, 3],
        "ker_stride": [1, 1, 1],
        "pooling_size": [1, 2, 2],
        "pooling_stride": [1, 2, 2],
        "pooling_type": 1,
        "pool_padding_size": [0, 0, 0, 0],
        "padding_size": [1, 1, 1, 1],
        "activation_type": 2,
        "residual": 0,
        "residual_source": [],
        "res_position": 3,
        "output_choice": [3, -1],
        "group": 1,
        "dilation": [1, 1],
        "channel_shuffle": 0,
        "upsample": 0,
        "upsample_method": "",
        "data_layout": "NCHW",
        "kernel_layout": "OIHW",
        "input_fraclen": 7,
        "weight_fraclen": 2,
        "bias_fraclen": 11,
        "output_fraclen": 2,
        "post_padding": 1,
        "post_padding_mode": 1,
        "pre_remove_padding_size": [0, 0, 0, 0],
        "extra_pre_padding": 1,
    }


def test_a_line_has_plain_numbers(made):
    line = as_line(made[0].layers[0])
    assert {type(value) for value in line.values()} <= {int, float, str, list, type(None)}
