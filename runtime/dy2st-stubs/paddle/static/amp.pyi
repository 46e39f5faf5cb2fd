"""Another name of dy2st.static.amp."""

from dy2st.static.amp import *
