"""Every command ends in a line and a status: interrupted, without a reader, on files that are none."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.cli import main
from dy2st.static import InputSpec
from tests.effort import IS_FULL

# IN is what is read; each command writes something to standard output if that is a model.
COMMANDS = {
    "opt": ["opt", "IN", "-p", "inference"],
    "opt -o": ["opt", "IN", "-p", "inference", "-o", "better"],
    "print": ["print", "IN"],
    "verify": ["verify", "IN"],
    "diff": ["diff", "IN", "net"],
    "diff of": ["diff", "net", "IN"],
    "compile": ["compile", "IN", "-o", "c"],
    "opu compile": ["opu", "compile", "IN", "--random-calib", "1", "-o", "opu"],
    "opu compile --calib": ["opu", "compile", "net", "--calib", "IN", "-o", "opu"],
    "opu run": ["opu", "run", "IN", "--input", "images.npy"],
    "opu estimate": ["opu", "estimate", "IN"],
    "opu inspect": ["opu", "inspect", "IN"],
    "opu disasm": ["opu", "disasm", "IN"],
    "opu quantise": ["opu", "quantise", "IN", "--random-calib", "1"],
    "port": ["port", "IN"],
    "info": ["info", "IN"],
    "run": ["run", "IN", "--input", "images.npy"],
    "run --input": ["run", "net", "--input", "IN", "--engine", "numpy"],
    "bench": ["bench", "IN", "--engine", "numpy"],
    "bench --input": ["bench", "net", "--input", "IN", "--engine", "numpy"],
}
# `port` is for folders, too, and finds in an empty file, or beside a folder, that nothing is missing.
FOLDERS = {"port"}
SLOW = pytest.mark.skipif(not IS_FULL, reason="a process each")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    net = nn.Sequential(nn.Conv2D(3, 8, 3), nn.ReLU())
    spec = [InputSpec([1, 3, 8, 8], name="x")]
    dy2st.jit.save(dy2st.jit.to_static(net.eval(), input_spec=spec), str(folder / "net"))
    np.save(folder / "images.npy", np.zeros((1, 3, 8, 8), "float32"))
    (folder / "code.py").touch()
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """The current folder, with a model and what is none."""
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.mlir").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "junk").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "secret").chmod(0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(name, given, capsys):
    arguments = [given if one == "IN" else one for one in COMMANDS[name]]
    try:
        status = main(arguments)
    except SystemExit as end:  # argparse's own way out
        status = end.code
    return (status, *capsys.readouterr())


WRONG = ["missing", "missing.mlir", "folder", "folder.mlir", "empty", "junk", "/dev/null"]


@pytest.mark.parametrize("given", WRONG)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_cannot_be_read_is_named_in_a_line(folder, capsys, name, given):
    status, _, said = called(name, given, capsys)
    if name in FOLDERS and given not in ("missing", "missing.mlir"):
        assert status == 0
        return
    assert status == 2
    assert said.startswith("dy2st: ") and "Traceback" not in said
    assert given in said or "folder" in said


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root, and Windows, read everything"
)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_may_not_be_read_is_named(folder, capsys, name):
    status, shown, said = called(name, "secret", capsys)
    assert status == (0 if name in FOLDERS else 2) and "secret" in shown + said


HEADERS = {
    "deep": b"(" * 5000,
    "huge": b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999,)}",
    "long": b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"1," * 30_000 + b")}",
    "product": b"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
    "code": b"__import__('os')",
    "unicode": b"{'descr': '\xff\xfe'}",
}


@pytest.mark.parametrize("name", HEADERS)
def test_arrays_with_a_bad_header_are_named_in_a_line(folder, capsys, name):
    header = HEADERS[name]
    magic = b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little")
    (folder / "bad.npy").write_bytes(magic + header)
    status, _, said = called("opu compile --calib", "bad.npy", capsys)
    assert status == 2 and said.startswith("dy2st: bad.npy is no .npy or .npz")


def test_a_folder_that_is_called_like_a_source_is_walked_through(folder, capsys):
    (folder / "folder" / "x.py").mkdir()
    (folder / "folder" / "x.py" / "a.py").write_text("import paddle\npaddle.ones([1])\n")
    status, shown, said = called("port", "folder", capsys)
    assert (status, said) == (0, "") and "1" in shown


# -- interrupted ------------------------------------------------------------------------------


# An interrupt inside of a callback of the garbage collector's is lost: the command ends then.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("after", [0.001, 0.02])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupted_command_says_so_and_nothing_else(folder, capsys, name, after):
    armed = [True]

    def interrupt(*_):
        if armed:  # none comes behind the command: it would end all tests
            signal.default_int_handler(signal.SIGINT, None)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        status, _, said = called(name, "net", capsys)
        armed.clear()
    except KeyboardInterrupt:  # the command had not begun, or had ended
        return
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if status == 130:
        assert said.endswith("dy2st: interrupted\n") and "Traceback" not in said


def process(arguments, **streams):
    # What a shell starts in the background ignores Ctrl-C, and so would what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "dy2st", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            **streams,
        )
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("name", ["print", *(pytest.param(n, marks=SLOW) for n in ("opt", "diff"))])
def test_ctrl_c_while_a_command_waits_for_its_input(folder, name):
    os.mkfifo("pipe")
    started = process(["pipe" if one == "IN" else one for one in COMMANDS[name]])
    with open("pipe", "w"):  # as soon as the command reads
        started.send_signal(signal.SIGINT)
        said = started.communicate(timeout=60)[1]
    assert (started.returncode, said) == (130, "dy2st: interrupted\n")


# -- standard output --------------------------------------------------------------------------

WRITING = [name for name in COMMANDS if name not in ("opt -o", "diff", "diff of", "opu run")]
WRITING = [
    name if name in ("print", "verify") else pytest.param(name, marks=SLOW)
    for name in WRITING
    if name not in ("compile", "opu compile --calib", "opu disasm")
]


@pytest.mark.parametrize("name", WRITING)
def test_a_reader_that_goes_away_is_no_error(folder, name):
    read, write = os.pipe()
    os.close(read)
    given = {"port": ".", "run --input": "images.npy", "bench --input": "images.npy"}
    started = process(
        [given.get(name, "net") if one == "IN" else one for one in COMMANDS[name]], stdout=write
    )
    os.close(write)
    said = started.communicate(timeout=60)[1]
    assert started.returncode == 141 and "Traceback" not in said and "Exception" not in said


@pytest.mark.parametrize("name", ["print", *(pytest.param(n, marks=SLOW) for n in ("opt", "port"))])
def test_a_closed_output_is_an_error_in_a_line(folder, name):
    arguments = " ".join("net" if one == "IN" else one for one in COMMANDS[name])
    arguments = "port ." if name == "port" else arguments
    ended = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m dy2st {arguments} >&-"], capture_output=True, text=True
    )
    lines = ended.stderr.splitlines()
    assert ended.returncode == 2 and lines[-1] == "dy2st: standard output is closed", ended.stderr


def test_messages_do_not_go_to_the_output_where_there_is_nothing_for_messages(folder):
    command = f"{sys.executable} -m dy2st print missing 2>&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_full_disk_behind_the_output_is_an_error_in_a_line(folder):
    with open("/dev/full", "w") as full:
        started = process(["print", "net"], stdout=full)
        said = started.communicate(timeout=60)[1]
    assert (started.returncode, said) == (2, "dy2st: No space left on device\n")


def test_what_is_read_may_be_a_pipe_of_the_shell(folder):
    command = f"{sys.executable} -m dy2st print <(cat net.mlir)"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert ended.returncode == 0 and re.match(r"\S", ended.stdout)
