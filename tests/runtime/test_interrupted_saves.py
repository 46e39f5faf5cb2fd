"""Saves that are killed, or meet others: a load gives one save or names the mixture; disks refuse by name."""

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from dy2st_runtime import io
from dy2st_runtime.errors import Dy2stError, FileAccessError, MissingFile, ParameterMismatch
from dy2st_runtime.files import _MACHINE, replacing, tidy
from tests.runtime import kills

ROOT = Path(__file__).parents[2]
NO_PROCESS = 2**22 + 1  # more than Linux gives


def run(*arguments):
    result = subprocess.run(
        [sys.executable, "-m", "tests.runtime.kills", *arguments],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_save_may_be_killed_before_every_single_step():
    found = run("99", "--steps")
    assert "'steps'" in found and "'old'" in found and "'new'" in found


def test_loads_while_two_processes_save_give_one_save_each(tmp_path):
    found = kills.written_at_once(tmp_path, 2, 40)
    assert sum(found.values()) == 40


def test_what_killed_processes_leave_is_swept_by_the_next_save(tmp_path):
    kills.killed(tmp_path, 2)


@pytest.fixture
def net(tmp_path):
    kills.save(tmp_path / "net", 1)
    return tmp_path / "net"


def other(net):
    """Another model in a folder beside it."""
    kills.save(net.parent / "other" / "net", 2)
    return net.parent / "other" / "net"


@pytest.mark.parametrize("ending", [".mlir", ".safetensors"])
def test_a_file_of_another_save_is_named(net, ending):
    shutil.copy(f"{other(net)}{ending}", f"{net}{ending}")
    with pytest.raises(ParameterMismatch, match="are of two different saves") as caught:
        io.load(net)
    assert f"{net}.mlir" in str(caught.value) and f"{net}.safetensors" in str(caught.value)


def test_new_arrays_beside_a_text_of_an_older_version_are_named(net):
    text = Path(f"{net}.mlir").read_text()
    start, end = text.index(", arrays ="), text.index("}>")
    Path(f"{net}.mlir").write_text(
        text[:start].replace("format = 2", "format = 1") + text[end:].replace("= 1.0", "= 2.0")
    )
    with pytest.raises(ParameterMismatch, match="are of two different saves"):
        io.load(net)


def left_over(net, name, is_complete):
    """What a process leaves that is killed while it saves another model under the name of `net`."""
    folder = net.parent / name
    shutil.copytree(other(net).parent, folder)
    for number, ending in enumerate(("safetensors", "mlir")):
        (folder / f"net.{ending}").rename(folder / str(number))
    if is_complete:
        (folder / ".renamed").write_text("net.safetensors\0net.mlir")
        (folder / "0").replace(f"{net}.safetensors")
    return folder


def test_a_save_that_was_killed_between_its_files_is_finished_by_the_next_load(net):
    folder = left_over(net, f".dy2st-{_MACHINE}-{NO_PROCESS}-0a1b2c3d", True)
    assert kills.number_of(net) == 2
    assert not folder.exists()


def test_a_save_that_was_killed_before_is_removed_by_the_next_save(net):
    folder = left_over(net, f".dy2st-{_MACHINE}-{NO_PROCESS}-0a1b2c3d", False)
    assert kills.number_of(net) == 1
    assert folder.exists()
    kills.save(net, 3)
    assert kills.number_of(net) == 3
    assert not folder.exists()


@pytest.mark.parametrize(
    "name",
    [
        f".dy2st-{_MACHINE}-{os.getpid()}-0a1b2c3d",  # runs
        f".dy2st-00000000-{NO_PROCESS}-0a1b2c3d",  # of another machine
        ".dy2st-mine",
        "dy2st",
    ],
    ids=["runs", "of another machine", "not ours", "no temporary folder"],
)
def test_folders_that_are_in_use_or_not_ours_stay(net, name):
    folder = left_over(net, name, True)
    tidy(net.parent)
    assert folder.exists()


def test_a_link_with_a_name_of_ours_stays(net):
    link = net.parent / f".dy2st-{_MACHINE}-{NO_PROCESS}-0a1b2c3d"
    link.symlink_to(other(net).parent)
    tidy(net.parent)
    assert link.is_symlink() and Path(f"{other(net)}.mlir").exists()


def test_folders_of_other_machines_go_when_they_are_a_day_old(net):
    folder = left_over(net, f".dy2st-00000000-{NO_PROCESS}-0a1b2c3d", False)
    os.utime(folder, (0, 0))
    tidy(net.parent)
    assert not folder.exists()


def test_arrays_that_another_program_has_written_are_loaded(net):
    from safetensors.numpy import save_file

    save_file({"w": np.full(kills.SIZE, 5, "float32")}, f"{net}.safetensors")
    assert io.load(net)()[0].numpy()[0] == 5


def test_a_model_is_read_at_once_if_it_shall_not_be_mapped(net):
    loaded = io.load(net, mmap=False)
    before = loaded()[0].numpy().copy()
    with open(f"{net}.safetensors", "r+b") as file:
        file.truncate(100)  # mapped, this would end the process
    assert np.array_equal(loaded()[0].numpy(), before)


# -- disks that refuse ------------------------------------------------------------------------


def test_a_disk_without_space_is_an_os_error_with_the_path(tmp_path):
    code = f"""
        import resource, signal
        from tests.runtime import kills
        from dy2st_runtime.errors import Dy2stError
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        kills.save({str(tmp_path / "net")!r}, 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
        try:
            kills.save({str(tmp_path / "net")!r}, 2)
        except OSError as error:
            assert isinstance(error, Dy2stError)
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, cwd=ROOT
    )
    assert result.stdout == f"[Errno 27] File too large: '{tmp_path}/net.safetensors'\n", result
    assert sorted(os.listdir(tmp_path)) == ["net.mlir", "net.safetensors"]
    assert kills.number_of(tmp_path / "net") == 1


def refused(call):
    with pytest.raises(FileAccessError) as caught:
        call()
    assert isinstance(caught.value, OSError) and isinstance(caught.value, Dy2stError)
    return caught.value


def test_a_file_where_a_folder_should_be_is_named(tmp_path):
    (tmp_path / "file").touch()
    error = refused(lambda: kills.save(tmp_path / "file" / "net", 1))
    assert error.filename == str(tmp_path / "file")


def test_a_folder_where_a_file_should_be_is_named(net):
    os.remove(f"{net}.mlir")
    os.mkdir(f"{net}.mlir")
    before = Path(f"{net}.safetensors").read_bytes()
    assert refused(lambda: kills.save(net, 2)).filename == f"{net}.mlir"
    assert Path(f"{net}.safetensors").read_bytes() == before
    assert sorted(os.listdir(net.parent)) == ["net.mlir", "net.safetensors"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(net):
    net.parent.chmod(0o500)
    assert refused(lambda: kills.save(net, 1)).filename == str(net.parent)


def test_a_missing_folder_is_named(tmp_path):
    def write():
        with replacing(tmp_path / "no" / "file"):
            raise AssertionError

    error = refused(write)
    assert isinstance(error, MissingFile) and error.filename == str(tmp_path / "no")
    # It says all that the system's error says: a traceback shows one.
    assert error.errno == errno.ENOENT and error.__suppress_context__


def test_a_missing_model_is_an_error_of_both_kinds(tmp_path):
    error = refused(lambda: io.load(tmp_path / "net"))
    assert isinstance(error, FileNotFoundError)


def test_limits_of_this_process_are_as_they_were():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert signal.getsignal(signal.SIGXFSZ) is not None
