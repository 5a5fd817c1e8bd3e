"""Expressions of functions of complex numbers, by their real and imaginary parts.

Each is stable where its textbook form cancels or overflows. `TYPE` stands for the number's type.
"""


def _text(real: str, imaginary: str) -> str:
    """Return the text of a number by its parts; x + iy is the argument, h its modulus."""
    names = {"x": "real(a)", "y": "imag(a)", "h": "abs(a)"}
    return f"TYPE({real.format(**names)}, {imaginary.format(**names)})"


# A square root is taken of numbers that a power of two brings away from 0 and from infinity.
_SCALE = "({h} > 1 ? 0.25f : 0x1p54f)"
_SCALED = f"(abs(a * {_SCALE}) + fabs({{x}}) * {_SCALE})"
_ROOT = f"sqrt({_SCALED} / 2) / sqrt({_SCALE})"  # the larger part
_OTHER = "{y} / (2 * (" + _ROOT + "))"  # the other one, up to its sign
_HALF_EXP = "exp({x} / 2)"  # its square is infinite where a product with it may be finite
_LN2, _LG2 = "0.6931471805599453", "0.3010299956639812"
_LOG2, _LOG10 = "1.4426950408889634", "0.4342944819032518"


def _log(name: str, of_2: str) -> str:
    """Return the logarithm of the modulus, which may be infinite where its logarithm is not."""
    return f"{{h}} - {{h}} == 0 ? {name}({{h}}) : {name}(hypot({{x}} / 2, {{y}} / 2)) + {of_2}"


def _zero(first: str, second: str, product: str) -> str:
    """Return a product of which a zero, `first`, is a factor, also where the other is infinite."""
    return f"{first} == 0 ? copysign({first}, {second}) * {first} : {product}"


def _hyperbolic(name: str, of: str, factor: str) -> str:
    """Return the product of `factor` with sinh or cosh, which may be infinite where it is not."""
    half = f"exp(fabs({of}) / 2)"
    sign = f"copysign({half}, {of})" if name == "sinh" else half
    return f"(fabs({of}) > 80 ? {sign} * ({factor} / 2) * {half} : {name}({of}) * {factor})"


def _hyperbolic_tangent(x: str, y: str) -> tuple[str, str]:
    """Return the parts of tanh(x + iy); far from 0 cosh(x) would overflow."""
    divisor = f"(sinh({x}) * sinh({x}) + cos({y}) * cos({y}))"
    far = f"fabs({x}) > 20"
    turn = f"sin({y}) * cos({y})"
    real = f"{x} == 0 ? {x} : {far} ? ({x} > 0 ? 1 : -1) : sinh({x}) * cosh({x}) / {divisor}"
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
    "exp": _text(
        f"{_HALF_EXP} * cos({{y}}) * {_HALF_EXP}",
        f"{{y}} == 0 ? {{y}} : {_HALF_EXP} * sin({{y}}) * {_HALF_EXP}",
    ),
    "expm1": _text(
        "expm1({x}) * cos({y}) - 2 * sin({y} / 2) * sin({y} / 2)",
        "{y} == 0 ? {y} : exp({x}) * sin({y})",
    ),
    "power": f"a == 0 ? {_POWER_OF_0} : TYPE({_SIZE} * cos({_TURN}), {_SIZE} * sin({_TURN}))",
    "log": _text(_log("log", _LN2), "atan2({y}, {x})"),
    "log1p": _text(
        "{h} > 4 ? log(hypot((1 + {x}) / 2, {y} / 2)) + "
        + _LN2
        + " : 2 * {h} > 1 ? log(hypot(1 + {x}, {y})) : log1p({x} * ({x} + 2) + {y} * {y}) / 2",
        "atan2({y}, 1 + {x})",
    ),
    "log2": _text(_log("log2", "1"), "atan2({y}, {x}) * " + _LOG2),
    "log10": _text(_log("log10", _LG2), "atan2({y}, {x}) * " + _LOG10),
    "sqrt": _text(
        "{h} == 0 ? 0 * {h} : {x} >= 0 ? " + _ROOT + " : fabs(" + _OTHER + ")",
        "{h} == 0 ? {y} : {x} >= 0 ? " + _OTHER + " : copysign(" + _ROOT + ", {y})",
    ),
    "sin": _text(
        "{x} == 0 ? {x} : " + _hyperbolic("cosh", "{y}", "sin({x})"),
        _hyperbolic("sinh", "{y}", "cos({x})"),
    ),
    "cos": _text(
        _hyperbolic("cosh", "{y}", "cos({x})"),
        "-(" + _zero("{x}", "{y}", _hyperbolic("sinh", "{y}", "sin({x})")) + ")",
    ),
    "tan": _text(_TAN[1], _TAN[0]),
    "sinh": _text(
        _hyperbolic("sinh", "{x}", "cos({y})"),
        "{y} == 0 ? {y} : " + _hyperbolic("cosh", "{x}", "sin({y})"),
    ),
    "cosh": _text(
        _hyperbolic("cosh", "{x}", "cos({y})"),
        _zero("{y}", "{x}", _hyperbolic("sinh", "{x}", "sin({y})")),
    ),
    "tanh": _text(*_hyperbolic_tangent("{x}", "{y}")),
}
