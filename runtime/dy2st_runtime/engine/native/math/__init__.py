"""Mathematical functions as vectors of arithmetic: `exp(lanes, x) -> Value` and so on.

float32 is at most 2 units in the last place from the true value, float64 at most 4; NaN,
infinities, signs of zeros and subnormals are as in C. The C library is called lane by lane for
sin, cos and tan of large numbers alone.
"""
