"""Convolutions and pooling, and what stands around them, by oneDNN."""
