"""Gives models of language, under PaddlePaddle's names, the best path of tags."""

from dy2st.paddle.text.viterbi import ViterbiDecoder as ViterbiDecoder
from dy2st_runtime.ir.tensor import Tensor, TensorLike

def viterbi_decode(potentials: TensorLike, transition_params: TensorLike, lengths: TensorLike, include_bos_eos_tag: bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The highest sum of scores along a path of tags, and the path."""
