"""A library's array of which nothing is known but by DLPack."""


class OfDlpack:
    """An array that says nothing of itself but by DLPack."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()
