"""Says which release of PaddlePaddle the names are of; that of dy2st is `dy2st.__version__`.

>>> full_version
'3.3.1'
"""

from dy2st_runtime.lazy import public_dir

__all__ = [
    "cinn",
    "commit",
    "cuda",
    "cudnn",
    "full_version",
    "major",
    "minor",
    "nccl",
    "patch",
    "rc",
    "show",
    "tensorrt",
    "with_pip_cuda_libraries",
    "xpu",
]
__dir__ = public_dir(__name__)

full_version = "3.3.1"
major, minor, patch = full_version.split(".")
rc = "0"
commit = "unknown"
with_pip_cuda_libraries = "OFF"


def cuda() -> str:
    """The release of CUDA: not built in.

    >>> cuda()
    'False'
    """
    return "False"


cudnn = xpu = cinn = tensorrt = cuda


def nccl() -> str:
    """The release of NCCL: none.

    >>> nccl()
    '0'
    """
    return "0"


def show() -> None:
    """Print what this is.

    >>> show()
    full_version: 3.3.1
    cuda: False
    """
    print(f"full_version: {full_version}\ncuda: {cuda()}")
