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

# Of the catalogue: what the engine `onnxruntime` refuses, by words of the refusal.
NOT_IN_ONNX = {
    "it prints nothing": [
        "constructs.branches.unbound_is_checked_where_it_is_read",
        "constructs.branches.unbound_past_a_branch_that_raises",
        "constructs.calls_that_raise.a_finally_on_the_way",
        "constructs.calls_that_raise.handlers_that_raise",
        "constructs.calls_that_raise.one_of_several_exceptions",
        "constructs.comprehensions.tensor_condition_in_the_head",
        "constructs.exceptions.finally_calls_what_prints",
        "constructs.exceptions.raise_again_inside",
        "constructs.generators.builtins_of_a_generator",
        "constructs.generators.yield_in_a_branch",
        "constructs.generators.yield_in_a_loop",
        "constructs.library.logged_in_a_branch",
        "constructs.loops.condition_that_prints",
        "constructs.names.deleted_on_every_path",
        "constructs.objects.changed_by_operators",
        "constructs.objects.set_through_a_property",
        "constructs.text.print_in_branch",
        "constructs.text.print_in_loop",
        "constructs.text.print_optional",
        "constructs.text.print_tensors",
        "constructs.text.print_to_stderr",
        "decided.catchers.a_context_of_a_generator_prints_and_lets_it_pass",
        "decided.catchers.a_context_of_a_generator_stops_it",
        "decided.catchers.a_context_prints_and_lets_it_pass",
        "decided.catchers.a_context_tells_and_swallows",
        "decided.catchers.a_finally_that_prints",
    ],
    "exceptions that a model catches": [
        "constructs.exceptions.operator_that_fails_in_a_try",
        "decided.exceptions.division_of_numbers_by_zero",
        "decided.exceptions.division_of_numbers_by_zero of unknown sizes",
        "model_code.speech.levels_by_exit_stack",
    ],
    "other random numbers than NumPy": [
        "model_code.probability.drawn_by_rejection",
        "model_code.probability.walk_with_restarts",
        "model_code.reinforcement.actions_by_sampling",
        "model_code.reinforcement.squashed_gaussian",
        "model_code.samplers.drawn_by_multinomial",
        "model_code.samplers.gumbel_trick",
        "model_code.samplers.gumbel_trick of unknown sizes",
        "model_code.solvers.annealing",
        "model_code.tracking.particles",
        "model_code.tracking.particles of unknown sizes",
    ],
    "functions that call themselves": [
        "constructs.functions.recursion_on_a_tensor",
        "constructs.functions.recursion_with_longer_tensors",
        "model_code.games.nearest_by_a_tree",
        "model_code.games.path_of_least_cost of unknown sizes",
        "model_code.games.queens_by_backtracking",
        "model_code.pictures.douglas_peucker",
        "model_code.pictures.douglas_peucker of unknown sizes",
        "model_code.pipelines.recursion_down_a_tree of unknown sizes",
        "model_code.structures.sorted_by_merging of unknown sizes",
    ],
    "ONNX has no decomposition of matrices": [
        "model_code.arithmetic.gptq_columns",
        "model_code.arithmetic.gptq_columns of unknown sizes",
        "model_code.estimation.kriging_with_nugget",
        "model_code.estimation.kriging_with_nugget of unknown sizes",
    ],
}
