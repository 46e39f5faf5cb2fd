"""Another name of dy2st.amp."""

from dy2st.amp import *
