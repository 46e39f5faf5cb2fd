"""Computes features of sound, under PaddlePaddle's names."""

from dy2st.paddle.audio import features as features, functional as functional

