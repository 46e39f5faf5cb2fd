"""Gives models of language, under PaddlePaddle's names, the best path of tags."""

from dy2st.paddle.private_modules import private_modules
from dy2st.paddle.text.viterbi import ViterbiDecoder, viterbi_decode

__all__ = ["ViterbiDecoder", "viterbi_decode"]

private_modules(__name__)
