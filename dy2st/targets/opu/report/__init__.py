"""Reports of compiled networks: figures of layers, tables, a page, a trace."""

from dy2st.targets.opu.report.events import Events, events_of
from dy2st.targets.opu.report.figures import LayerFigures, Report, Totals, report_of
from dy2st.targets.opu.report.overview import overview_svg
from dy2st.targets.opu.report.page import as_page
from dy2st.targets.opu.report.tables import (
    as_chrome_trace,
    as_csv,
    as_dict,
    as_json,
    as_table,
)

__all__ = [
    "Events",
    "LayerFigures",
    "Report",
    "Totals",
    "as_chrome_trace",
    "as_csv",
    "as_dict",
    "as_json",
    "as_page",
    "as_table",
    "events_of",
    "overview_svg",
    "report_of",
]
