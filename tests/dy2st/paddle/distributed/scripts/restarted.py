"""Counts steps in a checkpoint; the first time, rank 1 dies in the midst."""

import os
import signal
import sys
from pathlib import Path

import dy2st
import dy2st.distributed as dist


def main(folder, last):
    dist.init_parallel_env()
    state = {"step": dy2st.zeros([1], "int64"), f"own.{dist.get_rank()}": dy2st.zeros([2])}
    path = Path(folder, "checkpoint")
    was_there = path.exists()
    if was_there:
        dist.load_state_dict(state, str(path))
    print("begins at", state["step"].item(), flush=True)
    while state["step"].item() < int(last):
        state["step"] += 1
        state[f"own.{dist.get_rank()}"] += dist.get_rank() + 1
        dist.save_state_dict(state, str(path))
        if state["step"].item() == 3 and not was_there and dist.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    print("ends with", state[f"own.{dist.get_rank()}"].tolist(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
