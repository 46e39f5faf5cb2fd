"""Datasets, samplers and the DataLoader under PaddlePaddle's names."""

from typing import TYPE_CHECKING

from dy2st.io.collate import default_collate_fn, default_convert_fn
from dy2st.io.dataset import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from dy2st.io.loader import DataLoader
from dy2st.io.sampler import (
    BatchSampler,
    DistributedBatchSampler,
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from dy2st.io.worker import WorkerInfo, get_worker_info
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.ir.location import without_own_frames_in
from dy2st_runtime.lazy import public_dir

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedBatchSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "default_collate_fn",
    "default_convert_fn",
    "get_worker_info",
    "random_split",
]
__dir__ = public_dir(__name__)
without_own_frames_in(__name__)

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)
