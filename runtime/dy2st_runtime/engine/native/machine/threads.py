"""Runs what is put into parts on helping threads: `parallel(function, data, parts)`.

The thread that asks works too, and takes whatever part nobody has taken: so nothing is waited for
but parts that somebody is at. A forked child, which has no helpers, does all parts itself, and so
does who comes while another job is on. Helpers look for work for a moment, then sleep.

A job is one word, `ticket`: its number, of how many parts, and the next of them. To take a part is
to count it up, which fails once the job is another.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys
from pathlib import Path

from dy2st_runtime.engine.native.machine.llvm import Library, Processor, library_of
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import once

_MOST = 256


def get_num_threads() -> int:
    """How many threads work on what is large.

    >>> dy2st.engine.get_num_threads() >= 1
    True
    """
    return counter().value


def set_num_threads(count: int) -> None:
    """Let so many threads work on what is large; at first as many as there are cores.

    `OMP_NUM_THREADS` in the environment says how many at first. Helpers are started when they are
    first needed, and sleep when there is nothing to do.

    Raises ArgumentError for a number that is too small or too large.

    >>> before = dy2st.engine.get_num_threads()
    >>> dy2st.engine.set_num_threads(1)
    >>> dy2st.engine.get_num_threads()
    1
    >>> dy2st.engine.set_num_threads(before)
    """
    if not isinstance(count, int) or not 1 <= count <= _MOST:
        raise ArgumentError(f"a number of threads is from 1 to {_MOST}, not {count!r}")
    if count > 1 and not _has_helpers():
        raise ArgumentError("the engine 'native' has helping threads on Linux and x86_64 only")
    _begin(pool(Processor.host()), count)


def _has_helpers() -> bool:
    return (sys.platform, platform.machine()) == ("linux", "x86_64")


def _core(number: int) -> str:
    """The name of a core: two threads of one are of little more use than one is."""
    path = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return str(number)


def _begin(library: Library, count: int) -> None:
    """Let so many threads work, and start those that are missing."""
    started = ctypes.c_int64.from_address(library.addresses["helpers"])
    while started.value < count - 1:
        # A thread that Python knows nothing of, and that takes no signals.
        process, thread = ctypes.CDLL(None), ctypes.c_void_p()
        # A new thread inherits the mask: signals then go to threads that Python knows.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            failed = process.pthread_create(
                ctypes.byref(thread),
                None,
                ctypes.c_void_p(library.addresses["help_for_ever"]),
                None,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if failed:
            raise ArgumentError("the system gives no more threads")
        process.pthread_detach(thread)
        started.value += 1
    _counter(library).value = count


def counter() -> ctypes.c_int64:
    """Where that number stands."""
    return _counter(pool(Processor.host()))


def quiet() -> ctypes.c_int64:
    """1 sends helpers to sleep until the next job: other threads than these want the cores."""
    return ctypes.c_int64.from_address(pool(Processor.host()).addresses["quiet"])


def _counter(library: Library) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(library.addresses["threads"])


@once
def pool(processor: Processor) -> Library:
    """The code and state of the helpers of the process; never freed, since they run in it."""
    # Elsewhere there are no helpers that would wait, and no such instruction.
    text = _TEXT
    if platform.machine() != "x86_64":
        text = "\n".join(line for line in _TEXT.splitlines() if "x86.sse2.pause" not in line)
    library = library_of(text, processor, _EXPORTS, {}, is_plain=True)
    # One reference too many, so that the code stays while the interpreter ends.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    # As many as the environment says, else as there are cores that this process may run on.
    if not _has_helpers():
        count = 1
    else:
        named = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        if named.isdecimal() and int(named):
            count = int(named)
        else:
            count = len({_core(number) for number in os.sched_getaffinity(0)})
    _begin(library, min(count, _MOST))
    return library


_EXPORTS = ("parallel", "threads", "helpers", "quiet", "help_for_ever", "threads_for")

_TEXT = """\
@threads = global i64 1, align 64
@helpers = global i64 0
@quiet = global i64 0, align 64              ; whether helpers are to sleep until the next job
@ticket = internal global i64 0, align 64    ; number << 32 | parts << 16 | next part
@done = internal global i64 0, align 64
@signal = internal global i32 0, align 64    ; changes with each job: helpers sleep on it
@sleepers = internal global i32 0, align 64
@busy = internal global i32 0, align 64
@function = internal global ptr null
@data = internal global ptr null
@last = internal global i64 0, align 64      ; when somebody with a little work came, in cycles
@streak = internal global i64 0              ; how many came, each soon after the one before
@left = external global i64                  ; whether the job is given up: see interruptions.py
@owner = external global i64                 ; the thread whose job it is

declare i64 @syscall(i64, ...)
declare i64 @pthread_self()
declare preserve_mostcc i32 @leave()
declare void @llvm.x86.sse2.pause()
declare i64 @llvm.readcyclecounter()

; Do one part, if one is left; gives whether there was one.
define internal i1 @help() noinline {
entry:
  br label %look
look:
  %word = load atomic i64, ptr @ticket acquire, align 8
  %high = lshr i64 %word, 16
  %parts = and i64 %high, 65535
  %next = and i64 %word, 65535
  %more = icmp ult i64 %next, %parts
  br i1 %more, label %take, label %none
take:
  %following = add i64 %word, 1
  %pair = cmpxchg ptr @ticket, i64 %word, i64 %following acq_rel acquire
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %work, label %look
work:
  ; What is given up is counted as done, and not done.
  %asked = call preserve_mostcc i32 @leave()
  %left = load atomic i64, ptr @left monotonic, align 8
  %goes_on = icmp eq i64 %left, 0
  br i1 %goes_on, label %do, label %count
do:
  %function = load ptr, ptr @function
  %data = load ptr, ptr @data
  call void %function(ptr %data, i64 %next)
  br label %count
count:
  %before = atomicrmw add ptr @done, i64 1 release
  ret i1 true
none:
  ret i1 false
}

define ptr @help_for_ever(ptr %nothing) {
entry:
  br label %begin
begin:
  %seen = load atomic i32, ptr @signal seq_cst, align 4
  br label %work
work:
  %did = call i1 @help()
  br i1 %did, label %work, label %rest
rest:
  %start = call i64 @llvm.readcyclecounter()
  br label %look
look:
  %now = load atomic i32, ptr @signal seq_cst, align 4
  %same = icmp eq i32 %now, %seen
  br i1 %same, label %wait, label %begin
wait:
  call void @llvm.x86.sse2.pause()
  %cycle = call i64 @llvm.readcyclecounter()
  %past = sub i64 %cycle, %start
  ; Less than a millisecond: Python, and copies of a few MB, take that between two calls.
  %long = icmp ugt i64 %past, 2000000
  %quiet = load atomic i64, ptr @quiet monotonic, align 8
  %asked = icmp ne i64 %quiet, 0
  %tired = or i1 %long, %asked
  br i1 %tired, label %sleep, label %look
sleep:
  %a = atomicrmw add ptr @sleepers, i32 1 seq_cst
  %r = call i64 (i64, ...) @syscall(i64 202, ptr @signal, i64 128, i32 %seen, ptr null)
  %b = atomicrmw sub ptr @sleepers, i32 1 seq_cst
  br label %begin
}

; How many threads are to do some work: all, if it is worth waking them, or if they are awake and it
; is not too little; else one. Where such work comes all the time they are woken, and stay awake.
define i64 @threads_for(i64 %work, i64 %least, i64 %large) {
entry:
  %threads = load i64, ptr @threads
  %single = icmp slt i64 %threads, 2
  %little = icmp slt i64 %work, %least
  %none = or i1 %single, %little
  br i1 %none, label %one, label %some
some:
  %much = icmp sge i64 %work, %large
  br i1 %much, label %all, label %look
look:
  %sleepers = load atomic i32, ptr @sleepers monotonic, align 4
  %awake = icmp eq i32 %sleepers, 0
  br i1 %awake, label %all, label %count
count:
  %now = call i64 @llvm.readcyclecounter()
  %last = load atomic i64, ptr @last monotonic, align 8
  store atomic i64 %now, ptr @last monotonic, align 8
  %past = sub i64 %now, %last
  %soon = icmp ult i64 %past, 1000000        ; what one thread does between two takes most of it
  %before = load atomic i64, ptr @streak monotonic, align 8
  %following = add i64 %before, 1
  %streak = select i1 %soon, i64 %following, i64 0
  %many = icmp sge i64 %streak, 16
  %kept = select i1 %many, i64 0, i64 %streak
  store atomic i64 %kept, ptr @streak monotonic, align 8
  br i1 %many, label %all, label %one
all:
  ret i64 %threads
one:
  ret i64 1
}

; function(data, part) for all parts.
define void @parallel(ptr %function, ptr %data, i64 %parts) {
entry:
  %single = icmp ult i64 %parts, 2
  br i1 %single, label %alone, label %ask
ask:
  %pair = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue { i32, i1 } %pair, 1
  br i1 %free, label %publish, label %alone
publish:
  store atomic i64 0, ptr @quiet monotonic, align 8
  store ptr %function, ptr @function
  store ptr %data, ptr @data
  %self = call i64 @pthread_self()
  store atomic i64 0, ptr @left monotonic, align 8
  store atomic i64 %self, ptr @owner monotonic, align 8
  store atomic i64 0, ptr @done monotonic, align 8
  %word = load atomic i64, ptr @ticket monotonic, align 8
  %number = lshr i64 %word, 32
  %following = add i64 %number, 1
  %high = shl i64 %following, 32
  %low = shl i64 %parts, 16
  %new = or i64 %high, %low
  store atomic i64 %new, ptr @ticket release, align 8
  %s = atomicrmw add ptr @signal, i32 1 seq_cst
  %sleepers = load atomic i32, ptr @sleepers seq_cst, align 4
  %asleep = icmp ne i32 %sleepers, 0
  br i1 %asleep, label %wake, label %work
wake:
  %r = call i64 (i64, ...) @syscall(i64 202, ptr @signal, i64 129, i64 %parts)
  br label %work
work:
  %did = call i1 @help()
  br i1 %did, label %work, label %look
look:
  %i = phi i64 [0, %work], [%more, %wait], [%more, %yield]
  %done = load atomic i64, ptr @done acquire, align 8
  %all = icmp eq i64 %done, %parts
  br i1 %all, label %end, label %wait
wait:
  call void @llvm.x86.sse2.pause()
  %more = add i64 %i, 1
  %many = and i64 %more, 1023
  %tired = icmp eq i64 %many, 0
  br i1 %tired, label %yield, label %look
yield:
  %y = call i64 (i64, ...) @syscall(i64 24)
  br label %look
end:
  store atomic i64 0, ptr @owner monotonic, align 8
  store atomic i64 0, ptr @left monotonic, align 8
  store atomic i32 0, ptr @busy release, align 4
  ret void
alone:
  br label %each
each:
  %part = phi i64 [0, %alone], [%next, %one]
  %is = icmp ult i64 %part, %parts
  br i1 %is, label %more_parts, label %stop
more_parts:
  %several = icmp ugt i64 %part, 0
  br i1 %several, label %asks, label %one
asks:
  %asked = call preserve_mostcc i32 @leave()
  %goes_on = icmp eq i32 %asked, 0
  br i1 %goes_on, label %one, label %stop
one:
  call void %function(ptr %data, i64 %part)
  %next = add i64 %part, 1
  br label %each
stop:
  ret void
}
"""

__all__ = ["counter", "get_num_threads", "pool", "quiet", "set_num_threads"]
