"""Sums in a loop, until one of the processes does what it should not."""

import os
import signal
import sys
import time

import dy2st
import dy2st.distributed as dist


def wrong(fault):
    if fault == "raise":
        raise ValueError("the data is broken")
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "exit":
        sys.exit(3)
    if fault == "differ":
        dist.barrier()
    if fault == "shape":
        dist.all_reduce(dy2st.ones([3]))
    if fault == "hang":
        time.sleep(600)


def main(fault):
    dist.init_parallel_env()
    for step in range(5):
        if step == 3 and dist.get_rank() == 1:
            wrong(fault)
        dist.all_reduce(dy2st.ones([2]))
    print("ready", flush=True)
    if fault == "wait":
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1])
