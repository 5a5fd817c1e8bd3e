"""``python -m cubc.tuner`` is the command ``cubc``."""

import sys

from .cli import main

sys.exit(main())
