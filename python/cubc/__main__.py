"""``python -m cubc`` is the command ``cubc``."""

import sys

from .tuner._cli import main

sys.exit(main())
