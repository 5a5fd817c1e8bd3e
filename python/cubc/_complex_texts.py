"""Expressions of functions of complex numbers, by their real and imaginary parts.

Each is stable where its textbook form cancels or overflows. `TYPE` stands for the number's type.
"""


def _text(real: str, imaginary: str) -> str:
    """Return the text of a number by its parts; x + iy is the argument, h its modulus."""
    names = {"x": "real(a)", "y": "imag(a)", "h": "abs(a)"}
    return f"TYPE({real.format(**names)}, {imaginary.format(**names)})"


_ROOT = "sqrt(({h} + fabs({x})) / 2)"  # the larger part of a square root
_OTHER = "{y} / (2 * " + _ROOT + ")"  # the other one, up to its sign
_LOG2, _LOG10 = "1.4426950408889634", "0.4342944819032518"


def _hyperbolic_tangent(x: str, y: str) -> tuple[str, str]:
    """Return the parts of tanh(x + iy); far from 0 cosh(x) would overflow."""
    divisor = f"(sinh({x}) * sinh({x}) + cos({y}) * cos({y}))"
    far = f"fabs({x}) > 20"
    turn = f"sin({y}) * cos({y})"
    real = f"{far} ? copysign(1 + 0 * {x}, {x}) : sinh({x}) * cosh({x}) / {divisor}"
    imaginary = f"{far} ? 4 * {turn} * exp(-2 * fabs({x})) : {turn} / {divisor}"
    return real, imaginary


_LOG, _ANGLE = "log(abs(a))", "atan2(imag(a), real(a))"
_SIZE = f"exp(real(b) * {_LOG} - imag(b) * {_ANGLE})"
_TURN = f"(imag(b) * {_LOG} + real(b) * {_ANGLE})"
# That is 1, 0 or no number, as of 1 / 0.
_POWER_OF_0 = "(b == 0 || real(b) > 0 ? TYPE(b == 0) : TYPE({n}, {n}))".format(
    n="real(a) / real(a)"
)
_TAN = _hyperbolic_tangent("{y}", "{x}")  # tan(z) is -i tanh(iz)

COMPLEX = {
    "exp": _text("exp({x}) * cos({y})", "{y} == 0 ? {y} : exp({x}) * sin({y})"),
    "expm1": _text(
        "expm1({x}) * cos({y}) - 2 * sin({y} / 2) * sin({y} / 2)",
        "{y} == 0 ? {y} : exp({x}) * sin({y})",
    ),
    "power": f"a == 0 ? {_POWER_OF_0} : TYPE({_SIZE} * cos({_TURN}), {_SIZE} * sin({_TURN}))",
    "log": _text("log({h})", "atan2({y}, {x})"),
    "log1p": _text("log1p({x} * ({x} + 2) + {y} * {y}) / 2", "atan2({y}, 1 + {x})"),
    "log2": _text("log2({h})", "atan2({y}, {x}) * " + _LOG2),
    "log10": _text("log10({h})", "atan2({y}, {x}) * " + _LOG10),
    "sqrt": _text(
        "{h} == 0 ? 0 * {h} : {x} >= 0 ? " + _ROOT + " : fabs(" + _OTHER + ")",
        "{h} == 0 ? {y} : {x} >= 0 ? " + _OTHER + " : copysign(" + _ROOT + ", {y})",
    ),
    "sin": _text("sin({x}) * cosh({y})", "cos({x}) * sinh({y})"),
    "cos": _text("cos({x}) * cosh({y})", "-sin({x}) * sinh({y})"),
    "tan": _text(_TAN[1], _TAN[0]),
    "sinh": _text("sinh({x}) * cos({y})", "cosh({x}) * sin({y})"),
    "cosh": _text("cosh({x}) * cos({y})", "sinh({x}) * sin({y})"),
    "tanh": _text(*_hyperbolic_tangent("{x}", "{y}")),
}
