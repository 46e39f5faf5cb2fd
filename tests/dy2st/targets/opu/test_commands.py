"""`dy2st opu`: what it writes and prints, what it says of bad input, and its exit status."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dy2st
import dy2st_runtime
from dy2st import nn
from dy2st.cli import main
from dy2st.static import InputSpec
from dy2st.targets.opu.compiled import compile_network
from dy2st.targets.opu.compiled_file import read_compiled
from dy2st.targets.opu.ir_file import KNOWN, read_ir
from dy2st_runtime.ir import F

ROOT = Path(__file__).parents[4]
ALL = {
    *("OPU_IR.json", "dump", "dump_raw", "program.bin", "program.lst"),
    *("dram.npy", "debug.json", "report.json", "report.csv", "report.html", "trace.json"),
    *("compiled.json", "network.json", "quantisation.json", "quantisation.csv"),
}


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(3, 8, 3, padding=1)
        self.second = nn.Conv2D(8, 8, 3, padding=1)
        self.last = nn.Linear(8 * 4 * 4, 5)

    def forward(self, x):
        x = F.relu(self.first(x))
        x = F.relu(self.second(x) + x)
        return self.last(nn.functional.max_pool2d(x, 2, 2).flatten(1))


class TwoInputs(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(2, 4, 1)

    def forward(self, x, y):
        return self.conv(x) + self.conv(y)


class Odd(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 1)

    def forward(self, x):
        return self.conv(F.exp(self.conv(x)[:, :3]))


def save(name, layer, *specs):
    dy2st.seed(0)
    dy2st.jit.save(dy2st.jit.to_static(layer.eval(), input_spec=list(specs)), name)


IMAGES = np.random.default_rng(0).standard_normal((5, 3, 8, 8)).astype("float32")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the model `net`, its images and what compiling made of them."""
    folder = tmp_path_factory.mktemp("opu")
    save(str(folder / "net"), Net(), InputSpec([None, 3, 8, 8], name="x"))
    np.save(folder / "images.npy", IMAGES)
    arguments = ["--calib", str(folder / "images.npy"), "-o", str(folder / "net.opu")]
    assert main(["opu", "compile", str(folder / "net"), *arguments]) == 0
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """The current folder: a copy of all that."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def opu(folder, capsys):
    """`opu(*arguments)` is the exit status, standard output and standard error."""

    def call(*arguments):
        try:
            status = main(["opu", *arguments])
        except SystemExit as end:  # argparse's own way out
            status = end.code
        return (status, *capsys.readouterr())

    return call


def refused(result):
    """The one message of a command that ends with status 2; notes aside."""
    status, out, err = result
    assert (status, out) == (2, "")
    lines = [line for line in err.splitlines() if not line.startswith("dy2st: note: ")]
    assert "Traceback" not in err and lines
    return "\n".join(lines)


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


# -- compile ----------------------------------------------------------------------------------


def test_compile_writes_every_file(folder):
    assert ALL <= {path.name for path in (folder / "net.opu").iterdir()}
    assert not list(folder.glob(".opu*"))


def test_compile_twice_gives_the_same_bytes(opu, folder):
    assert opu("compile", "net", "--calib", "images.npy", "-o", "again")[0] == 0
    assert content("again") == content("net.opu")


def test_compile_puts_the_new_files_in_place_of_the_old(opu, folder):
    (folder / "net.opu" / "mine.txt").write_text("stays")
    assert opu("compile", "net", "--random-calib", "1", "--mode", "compat")[0] == 0
    assert json.loads((folder / "net.opu" / "compiled.json").read_text())["mode"] == "compat"
    assert (folder / "net.opu" / "mine.txt").read_text() == "stays"
    assert opu("run", "net.opu", "--input", "images.npy", "--check", "ir")[0] == 0


def test_compile_prints_the_figures_that_it_writes(opu):
    status, out, _ = opu("compile", "net", "--calib", "images.npy", "-o", "new")
    totals = json.loads(Path("new/report.json").read_text())["totals"]
    assert status == 0 and f"{totals['cycles']} cycles" in out
    rows = list(csv.reader(Path("new/report.csv").read_text().splitlines()))
    assert sum(int(row[rows[0].index("cycles")]) for row in rows[1:4]) == totals["cycles"]


def test_program_bin_is_little_endian_words_that_end_the_program(folder):
    words = np.frombuffer((folder / "net.opu/program.bin").read_bytes(), "<u4")
    assert words[0] & 63 == 63 and words[-1] & 63 == 22 and not words[-1] >> 31


def test_random_calibration_says_so(opu):
    _, _, err = opu("compile", "net", "--random-calib", "2", "-o", "random")
    assert "2 images of random numbers" in err


@pytest.mark.parametrize("calibration", [[], ["--calib", "images.npy", "--random-calib", "1"]])
def test_compile_wants_one_kind_of_calibration(opu, calibration):
    assert "--random-calib" in refused(opu("compile", "net", *calibration, "-o", "new"))


@pytest.mark.parametrize(
    "array, words",
    [
        (np.full((1, 3, 8, 8), np.nan, "float32"), "has nan at [0, 0, 0, 0]"),
        (np.zeros((2, 8, 8, 3), "float32"), "transpose(0, 3, 1, 2)"),
        (np.zeros((2, 3, 8, 9), "float32"), "x takes [n, 3, 8, 8]"),
        (np.zeros((0, 3, 8, 8), "float32"), "x takes [n, 3, 8, 8]"),
        (np.zeros((1, 3, 8, 8), "complex64"), "elements of type complex64"),
        (np.array([{}]), "is no .npy or .npz"),
    ],
)
def test_calibration_that_does_not_fit_leaves_nothing_behind(opu, folder, array, words):
    np.save("bad.npy", array)
    before = content(folder)
    assert words in refused(opu("compile", "net", "--calib", "bad.npy", "-o", "new"))
    assert content(folder) == before and not Path("new").exists()


def test_a_file_that_is_no_array_is_refused(opu):
    Path("bad.npz").write_bytes(b"PK\x03\x04 and no more")
    assert "bad.npz is no .npy or .npz" in refused(opu("quantise", "net", "--calib", "bad.npz"))


def test_one_image_needs_no_batch(opu):
    np.save("one.npy", IMAGES[0])
    assert "1 calibrated" in opu("quantise", "net", "--calib", "one.npy")[1]


def test_an_npz_may_have_any_number_of_images(opu):
    np.savez("some.npz", a=IMAGES[:2], b=IMAGES[2])
    assert "3 calibrated" in opu("quantise", "net", "--calib", "some.npz")[1]


def test_a_model_of_two_inputs_takes_them_in_turn_or_by_name(opu, folder):
    spec = [InputSpec([None, 2, 4, 4], name=name) for name in "xy"]
    save("two", TwoInputs(), *spec)
    x, y = np.random.default_rng(1).standard_normal((2, 3, 2, 4, 4)).astype("float32")
    np.save("x.npy", x)
    np.save("y.npy", y)
    np.savez("both.npz", y=y, x=x)
    assert opu("compile", "two", "--calib", "both.npz")[0] == 0
    assert opu("run", "two.opu", "--input", "x.npy", "--input", "y.npy", "-o", "a")[0] == 0
    assert opu("run", "two.opu", "--input", "both.npz", "-o", "b")[0] == 0
    assert content("a") == content("b")
    wanted = dy2st_runtime.load("two")(x, y).numpy()
    np.testing.assert_allclose(np.load("a/output_0.npy"), wanted, atol=0.1)
    assert "2 inputs x, y" in refused(opu("run", "two.opu", "--input", "x.npy"))


def test_a_folder_that_is_of_something_else_is_left_alone(opu, folder):
    Path("other").mkdir()
    Path("other/report.json").write_text("mine")
    said = refused(opu("compile", "net", "--random-calib", "1", "-o", "other"))
    assert "other has report.json" in said and content("other") == {"report.json": b"mine"}
    Path("file").write_text("")
    assert "is a file" in refused(opu("compile", "net", "--random-calib", "1", "-o", "file"))
    assert "no folder" in refused(opu("compile", "net", "--random-calib", "1", "-o", "no/such"))


@pytest.mark.parametrize("count", [0, 1, 7, 19, 25, 33])
def test_a_folder_that_cannot_be_written_stays_as_it_was(opu, folder, monkeypatch, count):
    """The disk fails after so many renames, some of files and some on the way back excepted."""
    before, rename, left = content(folder), Path.rename, iter(range(count))

    def failing(path, target):
        if path.parent.name in ("new", "net.opu") and next(left, None) is None:
            monkeypatch.setattr(Path, "rename", rename)
            raise OSError(28, "No space left on device", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    assert "No space left" in refused(opu("compile", "net", "--random-calib", "1"))
    assert content(folder) == before


def test_a_report_that_fails_leaves_nothing_behind(opu, folder, monkeypatch):
    def failing(report):
        raise dy2st.errors.ArgumentError("no page")

    monkeypatch.setattr("dy2st.targets.opu.compiled_file.as_page", failing)
    before = content(folder)
    assert "no page" in refused(opu("compile", "net", "--random-calib", "1"))
    assert "no page" in refused(opu("compile", "net", "--random-calib", "1", "-o", "new"))
    assert content(folder) == before and not Path("new").exists()


def test_an_open_size_is_named_with_what_to_do(opu):
    save("open", nn.Conv2D(3, 4, 1), InputSpec([None, 3, "high", 8], name="x"))
    said = refused(opu("compile", "open", "--random-calib", "1"))
    assert "'high'" in said and "--dim high=" in said and "bucket" in said
    assert opu("compile", "open", "--random-calib", "1", "--dim", "high=6")[0] == 0
    assert "'wide'" in refused(opu("inspect", "open", "--dim", "wide=6"))


def test_a_model_without_arrays_can_be_estimated_but_not_compiled(opu, folder):
    shutil.copy("net.mlir", "bare.mlir")
    assert "lacks the arrays" in refused(opu("compile", "bare", "--random-calib", "1"))
    status, out, err = opu("estimate", "bare")
    assert status == 0 and "made up" in err
    assert re.search(r"time +(\d+) cycles", out)[1] == cycles(opu("estimate", "net")[1])


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["compile", "nothing", "--random-calib", "1"], "no file nothing"),
        (["compile", "net", "--random-calib", "1", "--machine", "opu9"], "opu1024-realistic"),
        (["compile", "net", "--random-calib", "1", "--machine", "no.toml"], "no.toml"),
        (["compile", "net", "--random-calib", "1", "--program", "g"], "no Program 'g'"),
        (["run", "nowhere", "--input", "images.npy"], "no folder nowhere"),
        (["run", ".", "--input", "images.npy"], "no compiled network"),
        (["run", "net.opu", "--input", "no.npy"], "no file no.npy"),
        (["inspect", "net", "--dim", "x"], "NAME=N"),
        (["inspect", "."], "has no OPU_IR.json, so it is no compiled folder"),
        (["estimate", "."], "has no OPU_IR.json"),
        (["estimate", "layers.json"], "no file layers.json"),
        (["estimate", "net", "--sweep", "macs"], "macs=512,1024"),
        (["estimate", "net", "--sweep", "colour=1"], "fm_rows"),
        (["estimate", "net", "--sweep", "queue=1.5"], "1.5 is no whole number"),
        (["estimate", "net", "--sweep", "macs=100"], "multiple of 64"),
        (["estimate", "net", "--sweep", "fm_rows=1"], "larger than every tiling"),
        (["disasm", "no.bin"], "no file no.bin"),
        (["disasm", "net.mlir", "--layer", "1"], ""),
        (["disasm", "net.opu", "--layer", "9"], "no operations of layer 9"),
        (["quantise", "net", "--random-calib", "0"], "a number from 1 on"),
    ],
)
def test_what_cannot_be_done_is_one_clear_error(opu, arguments, words):
    assert words in refused(opu(*arguments))


@pytest.mark.parametrize("name", ["net", "./net", "net.mlir", "net.opu", "net.opu/OPU_IR.json"])
def test_commands_take_the_same_names(opu, folder, name):
    (folder / "net").mkdir()  # a folder beside the model changes nothing
    layers = [] if ".opu" in name else ["--random-calib", "1"]
    assert opu("inspect", name)[0] == 0
    assert opu("estimate", name)[0] == 0
    assert opu("compile", name, *layers, "-o", "again.opu")[0] == 0


@pytest.mark.parametrize("command", ["compile", "quantise", "estimate"])
def test_calibration_images_of_one_number_are_refused(opu, folder, command):
    np.save("black.npy", np.zeros((3, 3, 8, 8), np.float32))
    said = refused(opu(command, "net", "--calib", "black.npy"))
    assert "all numbers of calibration input 0 are 0, in 3 images" in said


# -- run --------------------------------------------------------------------------------------


def cycles(text):
    return re.search(r"(\d+) cycles", text)[1]


def rme(text):
    return re.search(r"RME ([\d.]+)", text)[1]


def test_run_computes_what_the_model_does_and_equals_the_interpreter(opu):
    status, out, _ = opu(
        *("run", "net.opu", "--input", "images.npy", "--check", "ir", "--check", "float")
    )
    assert status == 0 and "check ir: layer 3, 25 numbers: equal" in out
    found, wanted = np.load("net.opu/outputs/output_0.npy"), dy2st_runtime.load("net")(IMAGES)
    noise = ((found - wanted.numpy()) ** 2).sum()
    ratio = 10 * np.log10((wanted.numpy() ** 2).sum() / noise)
    assert ratio > 25 and f"signal to noise {ratio:.1f} dB" in out


def test_run_and_compile_count_the_same_cycles(opu):
    totals = json.loads(Path("net.opu/report.json").read_text())["totals"]
    _, out, _ = opu("run", "net.opu", "--input", "images.npy", "-o", "out")
    assert cycles(out) == str(totals["cycles"])
    assert f"{totals['milliseconds']:.3f} ms" in out


def test_run_writes_the_layers_integers_if_asked(opu):
    assert opu("run", "net.opu", "--input", "images.npy", "-o", "out", "--raw")[0] == 0
    raw, real = np.load("out/layer_3.npy"), np.load("out/output_0.npy")
    length = read_ir("net.opu").layer(3).output_fraclen
    assert raw.dtype == np.int8
    np.testing.assert_array_equal(raw.reshape(5, 5) * 2.0**-length, real)


def test_run_tells_if_the_layers_say_something_else(opu, monkeypatch):
    right = read_compiled("net.opu")
    right.model.network.int_biases[3] += 2000
    monkeypatch.setattr("dy2st.targets.opu.commands.run.read_compiled", lambda folder: right)
    status, out, _ = opu("run", "net.opu", "--input", "images.npy", "--check", "ir")
    assert status == 1 and re.search(r"check ir: layer 3, 25 numbers: \d+ differ", out)


@pytest.mark.parametrize("name", ["program.bin", "dram.npy", "debug.json", "OPU_IR.json"])
def test_a_file_that_is_truncated_changed_or_missing_is_named(opu, name):
    path = Path("net.opu") / name
    data = path.read_bytes()
    path.write_bytes(data[:-8])
    assert f"{path} is truncated" in refused(opu("run", "net.opu", "--input", "images.npy"))
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    assert f"{path} is not the file" in refused(opu("run", "net.opu", "--input", "images.npy"))
    path.unlink()
    assert f"{path} is missing" in refused(opu("run", "net.opu", "--input", "images.npy"))


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "other/1"},
        {"mode": "fast"},
        {"machine": {"name": "m", "wings": 2}},
        {"feeds": [{}]},
        {"feeds": None},
        {"results": []},
        {"inputs": []},
        {"dram_words": 5},
        {"files": {}},
    ],
)
def test_a_damaged_manifest_is_one_clear_error(opu, change):
    path = Path("net.opu/compiled.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    refused(opu("run", "net.opu", "--input", "images.npy"))


@pytest.mark.parametrize("text", ["", "[]", "{", "7", "[" * 100_000])
def test_a_manifest_that_is_none_is_one_clear_error(opu, text):
    Path("net.opu/compiled.json").write_text(text)
    assert "compiled.json" in refused(opu("run", "net.opu", "--input", "images.npy"))


def test_what_is_read_executes_the_same_words(folder):
    compiled = read_compiled("net.opu")
    origins = {operation.origin.layer for operation in compiled.model.operations}
    assert origins == {1, 2, 3} and compiled.title == "net"
    assert [entry.shape for entry in compiled.inputs] == [(3, 8, 8)]


# -- estimate, inspect, disasm, quantise ------------------------------------------------------


def test_estimate_with_calibration_says_what_compile_does(opu):
    _, out, _ = opu("estimate", "net", "--calib", "images.npy")
    totals = json.loads(Path("net.opu/report.json").read_text())["totals"]
    assert cycles(out) == str(totals["cycles"])


def test_a_sweep_has_a_row_for_every_combination(opu):
    status, out, err = opu(
        *("estimate", "net", "--sweep", "macs=512,1024", "--sweep", "dram_latency=0,20")
    )
    rows = [line.split() for line in out.splitlines()[3:]]
    assert status == 0 and "weight_rows" in err
    assert [row[:2] for row in rows] == [[m, d] for m in ("512", "1024") for d in ("0", "20")]
    alone = opu("estimate", "net", "--machine", "opu512")[1]
    assert rows[0][2] == cycles(alone)
    assert int(rows[1][2]) > int(rows[0][2])


@pytest.fixture
def bare(opu, tmp_path):
    """The layers of a compiled network, as others publish them: without arrays and our files."""
    lines = [json.loads(line) for line in Path("net.opu/OPU_IR.json").read_text().splitlines()]
    known = [{key: line[key] for key in KNOWN} for line in lines]
    path = tmp_path / "published" / "OPU_IR.json"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(line) + "\n" for line in known))
    return path


def test_layers_without_arrays_are_timed_and_shown(opu, bare):
    cycles = str(json.loads(Path("net.opu/report.json").read_text())["totals"]["cycles"])
    for place in (bare, bare.parent):
        assert re.search(r"time +(\d+) cycles", opu("estimate", str(place))[1])[1] == cycles
        assert "3 layers" in opu("inspect", str(place))[1]


@pytest.fixture
def published(opu, bare):
    """The same with its integers, as arrays."""
    shutil.copytree("net.opu/dump", bare.parent / "dump")
    return bare.parent


def test_layers_of_others_are_compiled_and_run(opu, published, tmp_path):
    target = tmp_path / "compiled"
    status, out, _ = opu("compile", str(published), "-o", str(target))
    assert status == 0 and cycles(out) == cycles(opu("estimate", str(published))[1])
    assert (
        read_compiled(target).model.time().cycles
        == compile_network(read_ir(published)).time().cycles
    )
    for place in (target, published):
        results = tmp_path / f"results of {place.name}"
        status, out, _ = opu(
            "run", str(place), "--input", "images.npy", "--check", "ir", "-o", str(results)
        )
        assert status == 0 and "numbers: equal" in out
        wanted = opu("run", "net.opu", "--input", "images.npy", "-o", str(tmp_path / "own"))
        assert wanted[0] == 0
        own, found = (np.load(folder / "output_0.npy") for folder in (tmp_path / "own", results))
        assert np.array_equal(own, found)


def test_layers_without_their_integers_are_not_compiled(opu, bare):
    assert "no dump/ beside it" in refused(opu("compile", str(bare.parent), "-o", "never"))
    assert not Path("never").exists()


@pytest.mark.parametrize(
    "option", [["--padding", "symmetric"], ["--columns", "none"], ["--dim", "n=1"]], ids=str
)
def test_layers_have_decided_what_options_of_models_choose(opu, published, option):
    said = refused(opu("compile", str(published), *option, "-o", "never"))
    assert f"{option[0]} goes with a saved model" in said


def test_columns_of_the_host_can_be_done_without(opu, folder):
    stem = nn.Conv2D(3, 64, 3, padding=1)
    save(str(folder / "stem"), stem, InputSpec([1, 3, 16, 16], name="x"))
    with_columns = opu("estimate", "stem")[1]
    assert "the host stores 256 words, not in the time above; without RME" in with_columns
    without = opu("estimate", "stem", "--columns", "none")[1]
    assert "host stores" not in without
    assert f"without RME {rme(without)}, {cycles(without)} cycles (--columns none)" in with_columns


def test_zeros_on_some_sides_alone_are_told(opu, folder):
    class Uneven(nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv2D(3, 4, 1), nn.Conv2D(4, 4, 2, padding=[0, 1, 0, 1])

        def forward(self, x):
            return self.second(F.relu(self.first(x)))

    save(str(folder / "uneven"), Uneven(), InputSpec([1, 3, 8, 8], name="x"))
    arguments = ["uneven", "--calib", "images.npy", "-o", "ir"]
    said = opu("quantise", *arguments)[2]
    assert "more zeros on one side than on another, here layer 1: --padding symmetric" in said
    assert "more zeros" not in opu("quantise", *arguments, "--padding", "symmetric")[2]


def test_an_estimate_is_written_as_a_report(opu, bare, tmp_path):
    status, out, _ = opu("estimate", str(bare), "-o", str(tmp_path / "report"))
    assert status == 0 and "report.html" in out
    names = {"report.html", "report.json", "report.csv", "trace.json"}
    assert {path.name for path in (tmp_path / "report").iterdir()} == names


def test_layers_have_fraction_lengths_of_their_own(opu, bare):
    assert "goes with" in refused(opu("estimate", str(bare), "--random-calib", "1"))


def test_inspect_shows_layers_and_lines(opu):
    status, out, _ = opu("inspect", "net")
    assert status == 0 and "3 layers" in out and "test_commands.py:" in out
    assert "fl" not in out.splitlines()[0]
    assert [row.split()[1] for row in out.splitlines()[2:5]] == ["first", "second", "last"]


def test_inspect_shows_the_fraction_lengths_of_a_folder(opu):
    _, out, _ = opu("inspect", "net.opu")
    network = read_ir("net.opu")
    row = out.splitlines()[2].split()
    lengths = (network.layer(1).input_fraclen, network.layer(1).weight_fraclen)
    assert [int(x) for x in row[-5:-3]] == list(lengths)
    assert "for opu1024, own mode" in out


def test_inspect_says_what_no_layer_computes_and_where(opu):
    save("odd", Odd(), InputSpec([1, 3, 4, 4], name="x"))
    status, out, _ = opu("inspect", "odd")
    assert status == 1 and re.search(r"test_commands\.py:\d+(:\d+)?: exp: ", out)
    assert "on the host" in out
    said = refused(opu("compile", "odd", "--random-calib", "1"))
    assert "cannot be mapped" in said and "--unmapped host computes them" in said
    assert not Path("odd.opu").exists()


def test_what_is_left_to_the_host_runs_there(opu):
    save("odd", Odd(), InputSpec([1, 3, 4, 4], name="x"))
    x = np.random.default_rng(2).standard_normal((2, 3, 4, 4)).astype("float32")
    np.save("x.npy", x)
    assert opu("compile", "odd", "--calib", "x.npy", "--unmapped", "host")[0] == 0
    assert opu("run", "odd.opu", "--input", "x.npy", "-o", "out", "--check", "ir")[0] == 0
    wanted = np.concatenate([dy2st_runtime.load("odd")(row[None]).numpy() for row in x])
    np.testing.assert_allclose(
        np.load("out/output_0.npy"), wanted, rtol=0.1, atol=0.1
    )  # exp spreads


def test_disasm_prints_the_listing_of_a_folder(opu):
    assert opu("disasm", "net.opu")[1] == Path("net.opu/program.lst").read_text()


def test_disasm_prints_one_layer(opu):
    lines = opu("disasm", "net.opu", "--layer", "2")[1].splitlines()
    whole = Path("net.opu/program.lst").read_text().splitlines()
    assert lines == [line for line in whole if "; layer 2 " in line] and lines


def test_disasm_reads_a_file_of_words(opu):
    out = opu("disasm", "net.opu/program.bin")[1]
    listed = Path("net.opu/program.lst").read_text()
    assert [line.partition("  ;")[0] for line in listed.splitlines()] == out.splitlines()
    Path("cut.bin").write_bytes(Path("net.opu/program.bin").read_bytes()[:-4])
    refused(opu("disasm", "cut.bin"))
    Path("odd.bin").write_bytes(b"12345")
    assert "no whole number" in refused(opu("disasm", "odd.bin"))


def test_quantise_writes_layers_that_can_be_read(opu):
    status, out, _ = opu("quantise", "net", "--calib", "images.npy", "-o", "ir")
    assert status == 0 and "5 calibrated, 4 measured" in out
    assert read_ir("ir").layers == read_ir("net.opu").layers


@pytest.mark.parametrize("mode", ["mse", "max", "seed"])
def test_quantise_names_the_mode(opu, mode):
    assert f"mode {mode}:" in opu("quantise", "net", "--random-calib", "1", "--calib-mode", mode)[1]


# -- as a command -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["compile", "run", "estimate", "inspect", "disasm", "quantise"])
def test_help_has_an_example(opu, name):
    status, out, _ = opu(name, "--help")
    assert status == 0 and f"example:\n  dy2st opu {name}" in out


def test_help_does_not_load_the_back_end():
    code = "import sys\nfrom dy2st.cli import main\ntry: main(['opu', 'run', '--help'])\nexcept SystemExit: pass\n"
    code += "print([n for n in sys.modules if n.startswith('dy2st.targets.opu.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    commands = "dy2st.targets.opu.commands"
    assert done.stdout.endswith(f"{[commands, f'{commands}.arguments']}\n")


def test_the_command_runs_a_compiled_folder_alone(made, tmp_path):
    """Without the model, in a process of its own."""
    shutil.copytree(made / "net.opu", tmp_path / "moved")
    np.save(tmp_path / "x.npy", IMAGES[:1])
    command = [sys.executable, "-m", "dy2st", "opu", "run", "moved", "--input", "x.npy"]
    done = subprocess.run([*command, "--check", "ir"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "equal" in done.stdout and (tmp_path / "moved/outputs/output_0.npy").is_file()
