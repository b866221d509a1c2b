"""Where this learner's data lie."""

from __future__ import annotations

import os
from pathlib import Path


def data_directory() -> Path | None:
    """Return the folder of the learner's data (TUTOR_HOME, else the platform's), or None when there is no home.

    The folder need not exist yet.
    """
    folder = os.environ.get("TUTOR_HOME")
    if not folder:
        from platformdirs import user_data_dir  # 10 ms that TUTOR_HOME spares

        folder = user_data_dir("tutor")
        # Without a home the platform's folder begins with an unexpanded "~", which would litter the working folder.
        return Path(folder) if os.path.isabs(folder) else None
    try:
        return Path(os.path.abspath(os.path.expanduser(folder)))
    except FileNotFoundError:  # relative to a working folder that is gone
        return None
