"""Shows Programs on a page of HTML: graph, source, sizes, memory, times, and two in comparison."""

from dy2st.viewer.page import Page, view

__all__ = ["Page", "view"]
