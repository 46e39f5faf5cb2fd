"""What is refused today, and what is wrong today: both may only become shorter."""

from __future__ import annotations

# Refused in every way: the test asserts that, and fails when one of them gives what Python gives.
NOT_YET = frozenset(
    {
        "model_code.state.generator_of_a_schedule",
        "model_code.sizes.strides_by_size of unknown sizes",
        "model_code.training_loops.schedule_of_a_generator of unknown sizes",
        "model_code.corners.nodes_in_a_heap",
        "model_code.corners.nodes_in_a_heap of unknown sizes",
        "model_code.corners.text_with_numbers_of_a_branch",
        "model_code.corners.text_with_numbers_of_a_branch of unknown sizes",
        "model_code.games.generation_of_life",
        "model_code.games.generation_of_life of unknown sizes",
        "model_code.reinforcement.replay_in_a_circle of unknown sizes",
        "model_code.reinforcement.episode_with_feedback",
        "model_code.solvers.exact_shares of unknown sizes",
        "model_code.solvers.spline_by_intervals of unknown sizes",
        "model_code.structures.messages_by_attention",
        # Coroutines have no traced form.
        "constructs.generators.coroutine",
        "constructs.generators.run_by_asyncio",
        "constructs.generators.async_statements",
        "constructs.generators.async_generator",
        "constructs.generators.await_in_a_branch",
        # Two objects that were joined are not told apart.
    }
)

# Case -> why there is another answer than Python's, or an error, in that way: to be fixed.
_EXPRESSION = "a generator expression is the iterator over a tuple of its items"
_HANDLERS = "what an `except` names is evaluated once for each of several questions"
WRONG: dict[str, str] = {
    "plain_values.exceptions.the_classes_are_evaluated_only_if_an_exception_comes": _HANDLERS,
    "plain_values.exceptions.the_classes_are_evaluated_only_if_an_exception_comes in_another_function": _HANDLERS,
    "model_code.sizes.product_of_sizes of unknown sizes from_a_file": (
        "an int64 of NumPy comes back as a tensor"
    ),
    "constructs.library.asks_for_the_mode from_a_file": (
        "a file has one Program for calls with gradients and without: it is refused"
    ),
    "plain_values.comprehensions.a_generator_expression_has_its_name": _EXPRESSION,
    "plain_values.comprehensions.a_generator_expression_has_its_name in_another_function": _EXPRESSION,
}
