"""Processes that try many cases by their seeds: one that dies or hangs is the fault of its case."""

import argparse
import io as streams
import json
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

BATCH = 250
PATIENCE = 60


class TooLong(BaseException):
    """The time is over."""


def too_long(*_):
    raise TooLong


def limit(seconds):
    """Raise TooLong after so much computing; 0 lets it go on."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def work(try_one, most_bytes, seeds, pipe):
    """Try cases, in a process of its own; one line of JSON for each."""
    sys.stdout = sys.stderr = streams.StringIO()
    os.environ["DY2ST_DEBUG"] = "1"  # our frames stay in tracebacks
    signal.signal(signal.SIGPROF, too_long)
    warnings.simplefilter("ignore")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + most_bytes, used + most_bytes))
    for seed in seeds:
        os.write(pipe, b"\n")
        name, result = try_one(seed)
        sys.stdout.truncate(0)
        os.write(pipe, (json.dumps([seed, name, result]) + "\n").encode())


def tried(try_one, most_bytes, count, first=0, processes=1, report=lambda counts: None):
    """What became of `count` cases: how many of each kind; the seeds of what must not be."""
    counts, wrong = Counter(), []
    waiting = [
        range(start, min(start + BATCH, first + count))
        for start in range(first, first + count, BATCH)
    ][::-1]
    running = {}
    while waiting or running:
        while waiting and len(running) < processes:
            worker = Worker(try_one, most_bytes, waiting.pop())
            running[worker.pipe] = worker
        ready, _, _ = select.select(list(running), [], [], 1)
        for worker in list(running.values()):
            for seed, name, result in worker.read(worker.pipe in ready):
                is_wrong = result.startswith("!")
                counts["!" if is_wrong else result] += 1
                if is_wrong:
                    print(f"seed {seed} ({name}): {result}", flush=True)
                    wrong.append(seed)
            if worker.is_done:
                del running[worker.pipe]
                waiting += [worker.left] if worker.left else []
        report(counts)
    return counts, wrong


class Worker:
    """A process that tries cases; one that dies or does not answer is the fault of its case."""

    def __init__(self, try_one, most_bytes, seeds):
        self.left, self.is_done, self.rest, self.last = seeds, False, b"", time.monotonic()
        self.pipe, writing = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.close(self.pipe)
            try:
                work(try_one, most_bytes, seeds, writing)
            finally:
                os._exit(0)
        os.close(writing)

    def read(self, is_ready):
        """The results that have come."""
        if is_ready:
            data, self.last = os.read(self.pipe, 65536), time.monotonic()
            *lines, self.rest = (self.rest + data).split(b"\n")
            results = [json.loads(line) for line in lines if line]
            self.left = self.left[len(results) :]
            return results + ([] if data else self._end("ends the process"))
        return self._end("hangs") if time.monotonic() - self.last > PATIENCE else []

    def _end(self, what):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.pipe)
        self.is_done = True
        if not self.left:
            return []
        seed, self.left = self.left[0], self.left[1:]
        return [(seed, "?", f"! {what}")]


def command_line(what, shown, trial):
    """The command: `trial(run)` calls `run(try_one, most_bytes)` in surroundings for the cases."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("count", type=int)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    last = [time.monotonic()]

    def report(counts):
        if time.monotonic() - last[0] > 10:
            last[0] = time.monotonic()
            print(f"{sum(counts.values())} of {options.count}: {dict(counts)}", flush=True)

    def run(try_one, most_bytes):
        return tried(try_one, most_bytes, options.count, options.first, options.processes, report)

    if options.show:
        for seed in range(options.first, options.first + options.count):
            print(shown(seed))
    counts, wrong = trial(run)
    print(f"{options.count} cases from {options.first}: {dict(counts)}")
    sys.exit(bool(wrong))
