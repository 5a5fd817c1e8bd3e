"""``python -m cubc`` is the command ``cubc``."""

import sys

from .tuner.cli import main

sys.exit(main())
