"""Writes or reads a checkpoint in several processes."""

import sys

import dy2st
import dy2st.distributed as dist

NAMES = ("a", "b", "c", "d")


def state(value):
    """What a rank has: something of all ranks, and something of its own."""
    return {
        "shared": dy2st.full([300, 40], float(value)),
        f"own.{NAMES[dist.get_rank()]}": dy2st.full([7], value + dist.get_rank(), "int64"),
        "step": value,
    }


def main(task, folder, *values):
    dist.init_parallel_env()
    if task == "write":
        for value in map(int, values):
            dist.save_state_dict(state(value), folder)
            if dist.get_rank() == 0:
                print("saved", value, flush=True)
        return
    found = {f"own.{name}": dy2st.zeros([7], "int64") for name in NAMES}
    found |= {"shared": dy2st.zeros([300, 40]), "step": 0}
    dist.load_state_dict(found, folder)
    value = found["step"]
    assert found["shared"].tolist() == [[float(value)] * 40] * 300
    for rank, name in enumerate(NAMES):
        assert found[f"own.{name}"].tolist() == [value + rank] * 7
    print("read", value, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
