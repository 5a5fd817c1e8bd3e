"""Plots of what stores say, one idea a file.

Each function takes a group of comparable measurements (`_groups.Group`), draws on Matplotlib axes
that it returns, and changes no global setting. `_figures.Figures` offers them as methods of an
analysis. Colours can be told apart by colour-blind readers, and wherever they carry meaning, line
styles, markers or hatching carry it too. Red means base.
"""

from .density import plot_density
from .drift import plot_drift, plot_search_drift
from .heatmap import plot_heatmap
from .importance import plot_importance
from .parallel import plot_parallel
from .progress import plot_progress
from .roofline import plot_bandwidth, plot_roofline
from .variant import plot_variant

__all__ = [
    "plot_bandwidth",
    "plot_density",
    "plot_drift",
    "plot_heatmap",
    "plot_importance",
    "plot_parallel",
    "plot_progress",
    "plot_roofline",
    "plot_search_drift",
    "plot_variant",
]
