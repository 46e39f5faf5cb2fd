"""Predicts in all processes what a saved model gives; rank 0 compares with the model itself."""

import sys

import numpy as np
from safetensors.numpy import load_file

import dy2st
import dy2st.distributed as dist


def main(model, folder):
    dist.init_parallel_env()
    for count in (1, 2, 11):
        data = np.random.default_rng(count).standard_normal((count, 3)).astype("float32")
        found = dist.predict(model, data, batch_size=4)
        files = dist.predict(model, data, batch_size=4, output_dir=f"{folder}/{count}")
        if dist.get_rank():
            assert found is None and files is None
            continue
        wanted = dy2st.jit.load(model)(dy2st.to_tensor(data)).numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        written = np.concatenate([load_file(file)["result"] for file in files])
        np.testing.assert_array_equal(written, found)
        print("equal", count, len(files), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
