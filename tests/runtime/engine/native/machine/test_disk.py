"""Code on disk is read where it can be trusted, and made again where not."""

from __future__ import annotations

import errno
import io
import os

import numpy as np
import pytest

from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine import disk, llvm
from tests.recorded import program_of as traced

NAME = disk.key("text")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("DY2ST_CACHE", raising=False)
    return tmp_path / "dy2st" / "native"


def test_what_is_written_is_read_by_the_owner_alone(folder):
    disk.write(NAME, b"code")
    assert disk.read(NAME) == b"code"
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o077 == 0
    assert os.listdir(folder) == [NAME]


@pytest.mark.parametrize("damage", [b"", b"code", b"dy2st native code 2\n" + bytes(32) + b"code"])
def test_a_damaged_file_is_not_read(folder, damage):
    disk.write(NAME, b"code")
    (folder / NAME).write_bytes(damage)
    assert disk.read(NAME) is None


def test_what_others_can_write_is_not_read(folder):
    disk.write(NAME, b"code")
    (folder / NAME).chmod(0o622)
    assert disk.read(NAME) is None
    (folder / NAME).chmod(0o600)
    folder.chmod(0o777)
    assert disk.read(NAME) is None


def test_a_link_is_not_followed(folder, tmp_path):
    disk.write(NAME, b"code")
    (folder / NAME).rename(tmp_path / "other")
    (folder / NAME).symlink_to(tmp_path / "other")
    assert disk.read(NAME) is None


def test_nothing_is_kept_where_it_is_switched_off(folder, monkeypatch):
    monkeypatch.setenv("DY2ST_CACHE", "off")
    disk.write(NAME, b"code")
    assert not folder.exists()
    assert disk.read(NAME) is None


def test_a_folder_that_cannot_be_made_is_no_error(folder, tmp_path):
    (tmp_path / "dy2st").write_text("a file in the way")
    disk.write(NAME, b"code")
    assert disk.read(NAME) is None


def test_the_oldest_goes_when_there_is_too_much(folder, monkeypatch):
    monkeypatch.setattr(disk, "MOST_BYTES", 200)
    for number in range(3):
        disk.write(disk.key(str(number)), bytes(40))
        os.utime(folder / disk.key(str(number)), (number, number))
    disk.write(NAME, bytes(40))
    assert sorted(os.listdir(folder)) == sorted([disk.key("2"), NAME])


def test_a_program_is_compiled_once_for_all_processes(folder, monkeypatch):
    program = traced(lambda x: x * 2 + 1, ("float32", ("n",)))
    Executable(program)
    monkeypatch.setattr(llvm, "compile_object", None)  # whoever calls it fails
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(Executable(program).run([x], [])[0], x * 2 + 1)


def run_once():
    """A Program compiled and run; its code goes through the folder."""
    x = np.arange(5, dtype=np.float32)
    program = traced(lambda x: x * 3 - 1, ("float32", ("n",)))
    np.testing.assert_array_equal(Executable(program).run([x], [])[0], x * 3 - 1)


def test_what_is_damaged_is_made_anew_without_a_word(folder):
    run_once()
    for damage in (b"", b"dy2st native code 1\n", b"\x7fELF" + bytes(100)):
        for name in os.listdir(folder):
            (folder / name).write_bytes(damage)
        run_once()
        assert all((folder / name).read_bytes() != damage for name in os.listdir(folder))


def test_what_belongs_to_others_is_not_run(folder, monkeypatch):
    run_once()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert all(disk.read(name) is None for name in os.listdir(folder))
    run_once()


@pytest.mark.parametrize("name", ["open", "replace"])
def test_a_disk_that_is_full_or_cannot_be_written_is_no_error(name, folder, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(disk.os, name, refuse)
        run_once()
    assert all(not entry.startswith(".") for entry in os.listdir(folder))


def test_a_file_that_cannot_be_written_whole_is_not_kept(folder, monkeypatch):
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, "no space left on device")

    def fdopen(number, mode):
        os.close(number)
        return Full()

    monkeypatch.setattr(disk, "open", fdopen, raising=False)
    disk.write(NAME, b"code")
    assert os.listdir(folder) == []


def test_a_folder_that_is_only_read_gives_its_code(folder, monkeypatch):
    def refuse(path):
        raise OSError(errno.EROFS, "read-only file system")

    disk.write(NAME, b"code")
    monkeypatch.setattr(disk.os, "utime", refuse)
    assert disk.read(NAME) == b"code"


def test_code_under_another_name_is_not_read(folder):
    disk.write(NAME, b"code")
    (folder / NAME).rename(folder / disk.key("other"))
    assert disk.read(disk.key("other")) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_in_its_place_does_not_block_and_is_replaced(folder):
    disk.write(NAME, b"code")
    (folder / NAME).unlink()
    os.mkfifo(folder / NAME, 0o600)
    assert disk.read(NAME) is None
    disk.write(NAME, b"new")
    assert disk.read(NAME) == b"new"


def test_a_folder_in_its_place_is_no_error(folder):
    disk.write(NAME, b"code")
    (folder / NAME).unlink()
    (folder / NAME).mkdir(mode=0o700)
    disk.write(NAME, b"new")
    assert disk.read(NAME) is None
    assert os.listdir(folder) == [NAME]


@pytest.mark.parametrize("junk", [b"", b"junk", bytes(5000), b"\x7fELF" + bytes(500), "cut"])
def test_what_is_no_code_is_made_anew_and_kept(folder, junk):
    program = traced(lambda x: x * 3 + 1, ("float32", ("n",)))
    Executable(program)
    kept = {name: disk.read(name) for name in os.listdir(folder)}
    for name, code in kept.items():
        disk.write(name, code[:-200] if junk == "cut" else junk)
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(Executable(program).run([x], [])[0], x * 3 + 1)
    name = next(name for name, code in kept.items() if b"nest" in code)
    assert disk.read(name) == kept[name]
