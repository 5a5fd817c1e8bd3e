"""Contents of plots: their curves, what is red, and their texts."""

from matplotlib import colors


def is_red(color):
    return colors.to_rgba(color) == colors.to_rgba("red")


def red_levels(axes):
    """Heights of the red horizontal lines."""
    lines = [line for line in axes.lines if is_red(line.get_color())]
    return [line.get_ydata()[0] for line in lines if len(set(line.get_ydata())) == 1]


def curve_of(axes, label):
    return next(line for line in axes.lines if line.get_label() == label)


def curve(axes, label):
    return curve_of(axes, label).get_xydata().T


def written(axes):
    return " ".join(text.get_text() for text in axes.texts)
