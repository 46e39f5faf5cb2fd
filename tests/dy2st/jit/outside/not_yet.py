"""Scenarios that do not follow yet, with what becomes of them. This table may only shrink.

A scenario that does better than its line says fails its test: write what it does, or strike it out.
"""

# The same.
WRONG = ()
REFUSED = (
    "effects.a_function_made_and_kept",
    "effects_in_c.a_cycle_advanced",
    "effects_in_c.a_generator_held",
    "effects_in_c.an_iterator_advanced",
    "effects_in_c.an_iterator_of_a_list_advanced",
    "effects_in_c.an_iterator_that_ends",
    "effects_of_layers.print_into_a_text",
)
RETRACED = (
    "beside_it.a_hook_put_on_and_taken_away",
    "beside_it.a_layer_that_is_not_called",
    "beside_it.a_tensor_of_the_same_type",
    "beside_it.an_attribute_of_a_class_that_is_hidden",
    "beside_it.another_element_of_an_array",
    "effects.a_linked_list",
    "effects.an_argument_that_is_a_list_of_an_object",
    "effects.setattr_by_a_computed_name",
    "effects_on_containers.a_key_that_a_tensor_decides",
    "effects_on_containers.a_mutable_default",
    "effects_on_containers.a_window_of_the_last_two",
    "effects_on_containers.an_entry_of_a_list_replaced",
    "views.a_copy_of_an_iterator_held",
    "views.a_counter_of_itertools_held",
    "views.a_list_behind_an_iterator_held",
    "views.what_is_left_of_an_iterator_held",
)
NOT_YET = {
    **dict.fromkeys(WRONG, "WRONG"),
    **dict.fromkeys(REFUSED, "refused"),
    **dict.fromkeys(RETRACED, "retraced"),
}
