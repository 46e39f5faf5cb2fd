"""Cases of the suite that do not pass, with the reason; the test fails when the list is wrong."""

from __future__ import annotations

_REASONS = {
    "a Program has no tensors of texts": """
        node/ai_onnx_ml_label_encoder_string_int
        node/ai_onnx_ml_label_encoder_string_int_no_default
        node/ai_onnx_ml_label_encoder_tensor_mapping
        node/equal_string
        node/equal_string_broadcast
        node/regex_full_match_basic
        node/regex_full_match_email_domain
        node/regex_full_match_empty
        node/string_concat
        node/string_concat_broadcasting
        node/string_concat_empty_string
        node/string_concat_utf8
        node/string_concat_zero_dimensional
        node/string_split_basic
        node/string_split_consecutive_delimiters
        node/string_split_empty_string_delimiter
        node/string_split_empty_tensor
        node/string_split_maxsplit
        node/string_split_no_delimiter
        node/strnormalizer_export_monday_casesensintive_lower
        node/strnormalizer_export_monday_casesensintive_nochangecase
        node/strnormalizer_export_monday_casesensintive_upper
        node/strnormalizer_export_monday_empty_output
        node/strnormalizer_export_monday_insensintive_upper_twodim
        node/strnormalizer_nostopwords_nochangecase
        node/tfidfvectorizer_tf_batch_onlybigrams_skip0
        node/tfidfvectorizer_tf_batch_onlybigrams_skip5
        node/tfidfvectorizer_tf_batch_uniandbigrams_skip5
        node/tfidfvectorizer_tf_only_bigrams_skip0
        node/tfidfvectorizer_tf_onlybigrams_levelempty
        node/tfidfvectorizer_tf_onlybigrams_skip5
        node/tfidfvectorizer_tf_uniandbigrams_skip5
        simple/strnorm_model_monday_casesensintive_lower
        simple/strnorm_model_monday_casesensintive_nochangecase
        simple/strnorm_model_monday_casesensintive_upper
        simple/strnorm_model_monday_empty_output
        simple/strnorm_model_monday_insensintive_upper_twodim
        simple/strnorm_model_nostopwords_nochangecase
    """,
    "a Program decodes no images": """
        node/image_decoder_decode_bmp_rgb
        node/image_decoder_decode_jpeg2k_rgb
        node/image_decoder_decode_jpeg_bgr
        node/image_decoder_decode_jpeg_grayscale
        node/image_decoder_decode_jpeg_rgb
        node/image_decoder_decode_png_rgb
        node/image_decoder_decode_pnm_rgb
        node/image_decoder_decode_tiff_rgb
        node/image_decoder_decode_webp_rgb
    """,
    "random numbers are drawn, and others than those stored": """
        node/bernoulli
        node/bernoulli_double
        node/bernoulli_double_expanded
        node/bernoulli_expanded
        node/bernoulli_seed
        node/bernoulli_seed_expanded
        node/training_dropout
        node/training_dropout_default
        node/training_dropout_default_mask
        node/training_dropout_mask
    """,
    "16-bit floats are computed in 32 bits here, and were in 16 there": """
        node/attention_4d_causal_fp16
        node/attention_4d_causal_fp16_expanded
        node/causal_conv_with_state_silu_fp16
        node/causal_conv_with_state_silu_fp16_expanded
    """,
    "ai.onnx.ml is not read": """
        node/ai_onnx_ml_array_feature_extractor
        node/ai_onnx_ml_binarizer
        node/ai_onnx_ml_label_encoder_tensor_value_only_mapping
        node/ai_onnx_ml_tree_ensemble_set_membership
        node/ai_onnx_ml_tree_ensemble_single_tree
    """,
    "backward() gives gradients": """
        simple/gradient_of_add
        simple/gradient_of_add_and_mul
    """,
    "an optional that is a result is a list of at most one": """
        node/identity_opt
        node/if_opt
    """,
    "the sequence says that its tensors have no axes, and they have one": """
        node/loop13_seq
        node/loop16_seq_none
    """,
    "branches of an If give different ranks": """
        node/affine_grid_3d_align_corners_expanded
    """,
}

EXPECTED = {
    name.replace("/", "/test_"): reason
    for reason, names in _REASONS.items()
    for name in names.split()
}
"""The reason, by kind and name of a case."""
