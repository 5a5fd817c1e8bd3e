"""The presence of NVRTC, which compiles for GPUs and needs none."""

from cubc import _core

FILL = ("transform.fill", {"T{ct}": "F32"}, "sm_90", "base")


def why_no_nvrtc():
    """Why it is not; an empty text where it is."""
    try:
        _core.compile(*FILL)
    except RuntimeError as error:
        if "NVRTC" in str(error) and not isinstance(error, _core.CompileError):
            return str(error)
    return ""
