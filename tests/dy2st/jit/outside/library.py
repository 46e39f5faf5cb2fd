"""What functions of the library and of NumPy read of the process, write, or change of arguments."""

from __future__ import annotations

import argparse
import calendar
import configparser
import contextlib
import contextvars
import csv
import ctypes
import datetime
import decimal
import dis
import importlib.util
import json
import linecache
import logging
import os
import pathlib
import pickle
import sys
import tempfile
import threading
import time
import typing
import weakref
import zipfile

import numpy as np

from tests.dy2st.jit.outside.scenario import change, each_call, effect, opaque


def file_of(text: str = "ab") -> str:
    """The path of a new file."""
    number, path = tempfile.mkstemp()
    os.write(number, text.encode())
    os.close(number)
    return path


def fill(path: str, text: str) -> None:
    """Write a file anew."""
    with open(path, "w") as stream:
        stream.write(text)


# -- files and the working directory --------------------------------------------------------------


@change
def whether_a_file_is_there_by_keyword():
    path = file_of()
    return lambda x: x * (2.0 if os.path.exists(path=path) else 3.0), lambda: os.remove(path)


def linked():
    """Two files, and what makes them one."""
    one, other = file_of(), file_of()

    def link():
        os.remove(other)
        os.link(one, other)

    return one, other, link


@change
def whether_two_files_are_one():
    one, other, link = linked()
    return lambda x: x * (2.0 if os.path.samefile(one, other) else 3.0), link


@change
def whether_two_paths_are_one_file():
    one, other, link = linked()
    return lambda x: x * (2.0 if pathlib.Path(one).samefile(other) else 3.0), link


@change
def when_a_file_was_read():
    path = file_of()
    os.utime(path, (5, 5))
    return lambda x: x * os.path.getatime(path), lambda: os.utime(path, (7, 7))


@change
def a_link_read():
    link = pathlib.Path(file_of() + "link")
    link.symlink_to("/")

    def other():
        link.unlink()
        link.symlink_to("/usr")

    return lambda x: x * len(str(link.readlink())), other


@change
def a_path_from_the_working_directory():
    kept = os.getcwd()
    yield lambda x: x * len(os.path.relpath("/")), lambda: os.chdir("/")
    os.chdir(kept)


@change
def an_absolute_path():
    kept, path = os.getcwd(), pathlib.Path("a")
    yield lambda x: x * len(str(path.absolute())), lambda: os.chdir("/")
    os.chdir(kept)


@change
def the_home_directory():
    kept = os.environ["HOME"]
    yield lambda x: x * len(str(pathlib.Path.home())), lambda: os.environ.update(HOME="/")
    os.environ["HOME"] = kept


@opaque
def a_line_of_a_file():
    path = file_of("1\n")

    def other():
        fill(path, "33\n")
        linecache.clearcache()

    return lambda x: x * len(linecache.getline(path, 1)), other


@opaque
def a_configuration_read():
    path = file_of("[a]\nb=1\n")

    def f(x):
        parser = configparser.ConfigParser()
        parser.read(path)
        return x * int(parser["a"]["b"])

    return f, lambda: fill(path, "[a]\nb=5\n")


@opaque
def an_archive_read():
    path = file_of()

    def put(text):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a", text)

    def f(x):
        archive = zipfile.ZipFile(path)
        found = archive.read("a")
        archive.close()
        return x * int(found)

    put("1")
    return f, lambda: put("5")


@opaque
def a_file_as_an_array():
    path = file_of()
    np.array([1.0, 2.0], "float32").tofile(path)
    change_it = lambda: np.array([1.0, 5.0], "float32").tofile(path)  # noqa: E731
    return lambda x: x * np.array(np.memmap(path, "float32", "r")), change_it


# -- the time zone and other settings -------------------------------------------------------------


def to_tokyo():
    """Set the time zone."""
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()


def in_zones(function):
    """The function, before and after the time zone changes."""
    yield function, to_tokyo
    os.environ.pop("TZ")
    time.tzset()


@change
def the_local_time_of_a_second():
    return (yield from in_zones(lambda x: x * time.localtime(86400).tm_hour))


@change
def the_second_of_a_local_time():
    return (yield from in_zones(lambda x: x * time.mktime((2000, 1, 1, 0, 0, 0, 0, 0, 0))))


@change
def the_date_of_a_second():
    return (yield from in_zones(lambda x: x * datetime.datetime.fromtimestamp(86400).hour))


@change
def the_second_of_a_date():
    date = datetime.datetime(2000, 1, 1)
    return (yield from in_zones(lambda x: x * date.timestamp()))


@change
def a_date_in_the_local_zone():
    date = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
    return (yield from in_zones(lambda x: x * date.astimezone().hour))


@change
def what_numpy_calls_on_errors():
    yield lambda x: x * (1.0 if np.geterrcall() is None else 2.0), lambda: np.seterrcall(print)
    np.seterrcall(None)


@change
def the_buffer_of_numpy():
    kept = np.getbufsize()
    yield lambda x: x * np.getbufsize(), lambda: np.setbufsize(16384)
    np.setbufsize(kept)


@change
def whether_threads_are_traced():
    change_it = lambda: threading.settrace(print)  # noqa: E731
    yield lambda x: x * (1.0 if threading.gettrace() is None else 2.0), change_it
    threading.settrace(None)


@change
def the_precision_of_decimals():
    context = decimal.getcontext()
    kept = context.prec
    yield lambda x: x * decimal.getcontext().prec, lambda: setattr(context, "prec", 5)
    context.prec = kept


@change
def the_name_of_a_level():
    kept = logging.getLevelName(10)
    yield lambda x: x * len(logging.getLevelName(10)), lambda: logging.addLevelName(10, "A")
    logging.addLevelName(10, kept)


@change
def the_largest_field_of_a_table():
    kept = csv.field_size_limit()
    yield lambda x: x * csv.field_size_limit(), lambda: csv.field_size_limit(99)
    csv.field_size_limit(kept)


@change
def how_deep_coroutines_are_told():
    change_it = lambda: sys.set_coroutine_origin_tracking_depth(3)  # noqa: E731
    yield lambda x: x * (1.0 + sys.get_coroutine_origin_tracking_depth()), change_it
    sys.set_coroutine_origin_tracking_depth(0)


@change
def the_threads():
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    yield lambda x: x * len(threading.enumerate()), thread.start
    event.set()
    thread.join()


@opaque
def the_references_to_an_object():
    class Held:
        pass

    held, more = Held(), []
    change_it = lambda: more.append(weakref.ref(held))  # noqa: E731
    return lambda x: x * (1 + weakref.getweakrefcount(held)), change_it


@opaque
def a_copied_context():
    held = contextvars.ContextVar("held", default=1)
    return lambda x: x * contextvars.copy_context().get(held, 7), lambda: held.set(3)


@opaque
def whether_a_module_is_found():
    folder = tempfile.mkdtemp()
    sys.path.insert(0, folder)

    def make():
        fill(f"{folder}/outside_module.py", "")
        importlib.invalidate_caches()

    yield lambda x: x * (2.0 if importlib.util.find_spec("outside_module") else 3.0), make
    sys.path.remove(folder)


@opaque
def the_arguments_of_the_command():
    kept = list(sys.argv)
    sys.argv[:] = ["a", "--number", "1"]
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int)
    change_it = lambda: sys.argv.__setitem__(2, "4")  # noqa: E731
    yield lambda x: x * parser.parse_args().number, change_it
    sys.argv[:] = kept


@opaque
def bytes_at_an_address():
    held = ctypes.create_string_buffer(b"a")
    address = ctypes.addressof(held)
    return lambda x: x * ctypes.string_at(address)[0], lambda: setattr(held, "value", b"b")


# -- what is written ------------------------------------------------------------------------------


def written(write, mode="w"):
    """A function that writes into a stream that is held, and the size of its file."""
    path = file_of("")
    stream = open(path, mode)  # noqa: SIM115  held as the user's is

    def size():
        stream.flush()
        return os.path.getsize(path)

    write = write(stream)
    return lambda x: (x, write())[0], size


@each_call
def json_into_a_stream():
    return written(lambda stream: lambda: json.dump([1], stream))


@each_call
def a_pickle_into_a_stream():
    return written(lambda stream: lambda: pickle.dump([1], stream), "wb")


@each_call
def a_pickle_by_what_is_held():
    def write(stream):
        pickler = pickle.Pickler(stream)
        return lambda: pickler.dump([1])

    return written(write, "wb")


@each_call
def a_row_by_a_writer_that_is_held():
    def write(stream):
        writer = csv.writer(stream)
        return lambda: writer.writerow([1, 2])

    return written(write)


@each_call
def a_row_by_a_writer_of_dicts():
    def write(stream):
        writer = csv.DictWriter(stream, ["a"])
        return lambda: writer.writerow({"a": 1})

    return written(write)


@each_call
def a_configuration_written():
    parser = configparser.ConfigParser()
    parser["a"] = {"b": "1"}
    return written(lambda stream: lambda: parser.write(stream))


@each_call
def a_table_of_numbers():
    return written(lambda stream: lambda: np.savetxt(stream, np.ones(2)), "wb")


def made(write):
    """A function that makes a file, and the size of that, which is emptied."""
    path = file_of("")

    def size():
        found = os.path.getsize(path)
        fill(path, "")
        return found

    return lambda x: (x, write(path))[0], size


@each_call
def an_array_into_a_file():
    held = np.ones(2)
    return made(lambda path: held.tofile(path))


@each_call
def an_array_dumped():
    held = np.ones(2)
    return made(lambda path: held.dump(path))


@each_call
def an_archive_written():
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a", "b")

    return made(write)


@each_call
def a_record_given_to_a_logger():
    logger, found = logging.getLogger("outside_library"), []
    logger.propagate, logger.handlers = False, []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.msg)
    logger.addHandler(handler)

    def f(x):
        logger.handle(logging.LogRecord("a", 30, "f", 1, "m", (), None))
        return x

    return f, lambda: len(found)


@effect
def a_fatal_message():
    logger, found = logging.getLogger(), []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.msg)
    logger.addHandler(handler)
    yield lambda x: (x, logging.fatal("m"))[0], lambda: len(found)
    logger.removeHandler(handler)


@each_call
def a_type_printed():
    def f(x):
        with contextlib.redirect_stderr(sys.stdout):
            typing.reveal_type(1)
        return x

    return f, lambda: None


@each_call
def bytecode_printed():
    return lambda x: (x, dis.dis("1"))[0], lambda: None


@each_call
def a_calendar_printed():
    return lambda x: (x, calendar.prmonth(2000, 1))[0], lambda: None


# -- arrays that are changed ----------------------------------------------------------------------


def array_changed(change_it):
    """A function that changes an array, and what that holds."""
    held = np.zeros(2)
    return lambda x: (x, change_it(held))[0], held.tolist


@each_call
def put_along_an_axis():
    return array_changed(lambda a: np.put_along_axis(a, np.array([0]), a.sum() + 1, 0))


@each_call
def no_more_nan():
    return array_changed(lambda a: np.nan_to_num(a * np.nan, copy=False, nan=a.sum() + 3))


@each_call
def the_result_of_dot():
    return array_changed(lambda a: np.dot(np.eye(2), a + 1, a))


@each_call
def the_result_of_take():
    return array_changed(lambda a: np.take(np.arange(3.0) + a[0], [1, 2], None, a))


@each_call
def the_result_of_clip():
    return array_changed(lambda a: np.clip(a + 1, 0, 9, a))


@each_call
def the_result_of_cumsum():
    return array_changed(lambda a: np.cumsum(a + 1, None, None, a))


@each_call
def the_result_of_a_method():
    return array_changed(lambda a: (a + 1).clip(0, 9, a))


@each_call
def added_by_name():
    return array_changed(lambda a: a.__iadd__(1))


@each_call
def set_by_name():
    return array_changed(lambda a: a.__setitem__(0, a[0] + 1))


@each_call
def set_in_the_flat_array():
    def change_it(a):
        a.flat[0] = a[0] + 1

    return array_changed(change_it)


@each_call
def changed_by_an_iterator():
    def change_it(a):
        for one in np.nditer(a, op_flags=["readwrite"]):
            one[...] = one + 1

    return array_changed(change_it)
