"""Graphs of files: which needs which."""

from graphlib import CycleError, TopologicalSorter


def circle(graph):
    """Files that need each other, in order; None if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None
