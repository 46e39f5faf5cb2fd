"""What cannot be a model of ONNX, or none for onnxruntime, with the reason."""

from __future__ import annotations

# Of ONNX's own suite: what is read and not written again.
_OF_THE_SUITE = {
    "complex numbers": "dft_opset19 dft_axis_opset19 dft_inverse_opset19 dft_rfft_opset19 dft_irfft_opset19 dft dft_axis dft_inverse dft_rfft dft_irfft stft stft_with_window",
    "regions of pictures": "roialign_aligned_false roialign_aligned_true",
    "a list that the reader gives no dtype": "identity_sequence sequence_insert_at_back sequence_insert_at_front",
    "an optional value is a list here, and its input another": "optional_get_element_optional_tensor optional_get_element_optional_sequence optional_has_element_tensor_input optional_has_element_optional_input optional_has_element_empty_optional_input",
}
NOT_WRITTEN_AGAIN = {
    f"node/test_{name}": why for why, names in _OF_THE_SUITE.items() for name in names.split()
}
