"""Model code that is refused today, and what is wrong today: both may only become shorter."""

from __future__ import annotations

# Refused: the test asserts that, and fails when one of them gives what Python gives.
NOT_YET = frozenset(
    {
        "state.generator_of_a_schedule",
        "state.default_argument_as_memory",
        "sizes.every_pair_of_positions of unknown sizes",
        "sizes.strides_by_size of unknown sizes",
        "samplers.repetition_penalty",
        "samplers.repetition_penalty of unknown sizes",
        "samplers.forbidden_tokens",
        "samplers.forbidden_tokens of unknown sizes",
        "training.MomentumByHand",
        "training.logs_in_a_dict_of_meters of unknown sizes",
        "generators.weights_in_a_cycle of unknown sizes",
        "vision.tracks_of_two_frames",
        "vision.tracks_of_two_frames of unknown sizes",
        "vision.best_by_generator_and_default",
        "training_loops.schedule_of_a_generator of unknown sizes",
        "exceptions.checks_of_arguments of unknown sizes",
        "text.text_of_codes",
        "text.text_of_codes of unknown sizes",
        "text.characters_joined",
        "text.characters_joined of unknown sizes",
        "text.longest_match_in_a_vocabulary",
        "text.longest_match_in_a_vocabulary of unknown sizes",
        "in_place.argument_written_into",
        "in_place.argument_written_into of unknown sizes",
        "numbers.repeated_by_a_number",
        "numbers.repeated_by_a_number of unknown sizes",
        "pipelines.pairs_and_products of unknown sizes",
        "corners.two_names_in_a_branch",
        "corners.two_names_in_a_branch of unknown sizes",
        "corners.nodes_in_a_heap",
        "corners.nodes_in_a_heap of unknown sizes",
        "corners.sentinel_of_iter",
        "corners.text_with_numbers_of_a_branch",
        "corners.text_with_numbers_of_a_branch of unknown sizes",
    }
)

# Another answer than Python's, or an error that is none of ours: bugs to be fixed.
WRONG: frozenset[str] = frozenset()
