"""How long a variant may take: some seconds, and a multiple (CUB's) of what base took."""

BUILD_FACTOR, BUILD_FLOOR = 10.0, 10.0
RUN_FACTOR, RUN_FLOOR = 50.0, 5.0
BASE_SECONDS = 300.0  # for base itself, to compile and then to run, before its timing's timeouts


def build_deadline(base: float) -> float:
    """Seconds to compile a variant in, of those that base took."""
    return max(BUILD_FLOOR, BUILD_FACTOR * base)


def run_deadline(base: float) -> float:
    """Seconds to verify and measure a variant in, of those that base took."""
    return max(RUN_FLOOR, RUN_FACTOR * base)
