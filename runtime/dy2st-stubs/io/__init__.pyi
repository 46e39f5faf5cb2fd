"""Datasets, samplers and the DataLoader under PaddlePaddle's names."""

from dy2st.io.collate import (
    default_collate_fn as default_collate_fn,
    default_convert_fn as default_convert_fn,
)
from dy2st.io.dataset import (
    ChainDataset as ChainDataset,
    ComposeDataset as ComposeDataset,
    ConcatDataset as ConcatDataset,
    Dataset as Dataset,
    IterableDataset as IterableDataset,
    Subset as Subset,
    TensorDataset as TensorDataset,
    random_split as random_split,
)
from dy2st.io.loader import DataLoader as DataLoader
from dy2st.io.sampler import (
    BatchSampler as BatchSampler,
    DistributedBatchSampler as DistributedBatchSampler,
    RandomSampler as RandomSampler,
    Sampler as Sampler,
    SequenceSampler as SequenceSampler,
    SubsetRandomSampler as SubsetRandomSampler,
    WeightedRandomSampler as WeightedRandomSampler,
)
from dy2st.io.worker import WorkerInfo as WorkerInfo, get_worker_info as get_worker_info

