"""The presence of NVRTC, which compiles for GPUs and needs none."""

from cubc import _core

FILL = ("transform.fill", {"T{ct}": "F32"}, "sm_90", "base")


def why_no_nvrtc(arch="sm_90"):
    """Why it is not, or does not know the GPU; an empty text where it is."""
    name, ct, _, label = FILL
    try:
        _core.compile(name, ct, arch, label)
    except RuntimeError as error:
        if "NVRTC" in str(error) and not isinstance(error, _core.CompileError):
            return str(error)
    return ""
