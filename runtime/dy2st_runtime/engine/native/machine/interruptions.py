"""Lets loops of machine code notice a signal, such as Ctrl-C, or that a limit is reached.

    i32 leave()      asked by loops now and then: whether to leave what is computed
    i32 has_left()   asked behind a long step, with the interpreter's lock: whether one has left

A look takes the interpreter's lock, so there is one every 10 ms at most, by Python's main thread,
which alone handles signals, and by threads with limits. Helpers, which Python knows nothing of,
look whether the thread whose job they are at has left it.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from dy2st_runtime import limits

EXPORTS = ("leave", "has_left", "left", "owner", "main", "watch")

TEXT = """\
@left = global i64 0, align 64         ; whether the job that helpers work at is given up
@owner = global i64 0                  ; the thread whose job it is
@main = global i64 0                   ; Python's main thread
@watched = external global i64         ; how many threads have limits
@watch = global ptr null               ; the function of Python that looks at them
@given_up = internal global i64 0      ; the thread that has given up its call last
@looked = internal global [64 x i64] zeroinitializer   ; when, in ns, by thread

declare i64 @pthread_self()
declare i32 @clock_gettime(i32, ptr)
declare ptr @PyGILState_GetThisThreadState()
declare i32 @PyGILState_Check()
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare i32 @PyErr_CheckSignals()
declare ptr @PyErr_Occurred()
declare ptr @PyObject_VectorcallDict(ptr, ptr, i64, ptr)
declare void @Py_DecRef(ptr)

; Whether this thread has not looked for a while.
define internal i1 @is_due(i64 %self) {
  %time = alloca [2 x i64]
  %c = call i32 @clock_gettime(i32 CLOCK, ptr %time)
  %seconds = load i64, ptr %time
  %place = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %place
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %rest
  %high = lshr i64 %self, 12
  %higher = lshr i64 %self, 21
  %mixed = xor i64 %high, %higher
  %slot = and i64 %mixed, 63
  %when = getelementptr i64, ptr @looked, i64 %slot
  %last = load atomic i64, ptr %when monotonic, align 8
  %past = sub i64 %now, %last
  %soon = icmp ult i64 %past, 10000000
  br i1 %soon, label %no, label %yes
yes:
  store atomic i64 %now, ptr %when monotonic, align 8
  ret i1 true
no:
  ret i1 false
}

; With the interpreter's lock: whether a signal, or a limit, has raised an exception.
define internal i1 @ask() {
  %before = call ptr @PyErr_Occurred()
  %had = icmp ne ptr %before, null
  br i1 %had, label %raised, label %signals
signals:
  %signal = call i32 @PyErr_CheckSignals()
  %none = icmp eq i32 %signal, 0
  br i1 %none, label %limits, label %raised
limits:
  %watched = load atomic i64, ptr @watched monotonic, align 8
  %has = icmp ne i64 %watched, 0
  br i1 %has, label %call, label %quiet
call:
  %function = load ptr, ptr @watch
  %result = call ptr @PyObject_VectorcallDict(ptr %function, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %raised, label %fine
fine:
  call void @Py_DecRef(ptr %result)
  br label %quiet
quiet:
  ret i1 false
raised:
  ret i1 true
}

; Callers keep vectors themselves: LLVM loses parts of them with `preserve_allcc` on AVX-512.
define preserve_mostcc i32 @leave() noinline {
  %self = call i64 @pthread_self()
  %given = load atomic i64, ptr @given_up monotonic, align 8
  %mine = icmp eq i64 %given, %self
  br i1 %mine, label %yes, label %look
look:
  %due = call i1 @is_due(i64 %self)
  br i1 %due, label %who, label %no
who:
  %state = call ptr @PyGILState_GetThisThreadState()
  %helper = icmp eq ptr %state, null
  br i1 %helper, label %helps, label %known
helps:
  %left = load atomic i64, ptr @left monotonic, align 8
  %is_left = icmp ne i64 %left, 0
  br i1 %is_left, label %yes, label %no
known:
  ; Who has the lock is at a short step, behind which nobody asks `has_left`.
  %main = load i64, ptr @main
  %is_main = icmp eq i64 %main, %self
  %watched = load atomic i64, ptr @watched monotonic, align 8
  %has = icmp ne i64 %watched, 0
  %asks = or i1 %is_main, %has
  br i1 %asks, label %let_go, label %no
let_go:
  %held = call i32 @PyGILState_Check()
  %is_held = icmp ne i32 %held, 0
  br i1 %is_held, label %no, label %ask
ask:
  %lock = call i32 @PyGILState_Ensure()
  %raised = call i1 @ask()
  call void @PyGILState_Release(i32 %lock)
  br i1 %raised, label %end, label %no
end:
  store atomic i64 %self, ptr @given_up monotonic, align 8
  %owner = load atomic i64, ptr @owner monotonic, align 8
  %own = icmp eq i64 %owner, %self
  br i1 %own, label %job, label %yes
job:
  store atomic i64 1, ptr @left monotonic, align 8
  br label %yes
yes:
  ret i32 1
no:
  ret i32 0
}

define i32 @has_left() noinline {
  %self = call i64 @pthread_self()
  %error = call ptr @PyErr_Occurred()
  %has = icmp ne ptr %error, null
  br i1 %has, label %end, label %look
look:
  %due = call i1 @is_due(i64 %self)
  br i1 %due, label %ask, label %go_on
ask:
  %raised = call i1 @ask()
  br i1 %raised, label %end, label %go_on
end:
  %pair = cmpxchg ptr @given_up, i64 %self, i64 0 monotonic monotonic
  ret i32 1
go_on:
  ret i32 0
}
""".replace("CLOCK", str(getattr(time, "CLOCK_MONOTONIC", 1)))

_CALLED = (
    "PyGILState_GetThisThreadState",
    "PyGILState_Check",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyErr_CheckSignals",
    "PyErr_Occurred",
    "PyObject_VectorcallDict",
    "Py_DecRef",
)


def symbols() -> dict[str, int]:
    """The addresses of what the text calls."""
    found: dict[str, Any] = {name: getattr(ctypes.pythonapi, name) for name in _CALLED}
    libc = ctypes.CDLL(None)
    watched = {"watched": limits.WATCHED.ctypes.data}
    found |= {name: getattr(libc, name) for name in ("pthread_self", "clock_gettime")}
    called = {name: ctypes.cast(one, ctypes.c_void_p).value or 0 for name, one in found.items()}
    return called | watched


def begin(library: Any, watch: Callable[[], None]) -> None:
    """Tell the code the main thread, also of a forked child, and the function for limits."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # as long as any code
    main = ctypes.c_int64.from_address(library.addresses["main"])
    main.value = threading.main_thread().ident or 0
    ctypes.c_void_p.from_address(library.addresses["watch"]).value = id(watch)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: setattr(main, "value", threading.get_ident()))


__all__ = ["EXPORTS", "TEXT", "begin", "symbols"]
