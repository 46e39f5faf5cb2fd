"""Gives models of language, under PaddlePaddle's names, the best path of tags."""

from dy2st.paddle.private_modules import private_modules
from dy2st.paddle.text.viterbi import ViterbiDecoder, viterbi_decode
from dy2st_runtime.lazy import public_dir

__all__ = ["ViterbiDecoder", "viterbi_decode"]
__dir__ = public_dir(__name__)

private_modules(__name__)
