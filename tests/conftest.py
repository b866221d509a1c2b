"""What every test stands on: repeatable examples, and a learner's home that is nobody's."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# One thread, as in the engine: on a busy machine of two cores two threads are many times slower than one. Before torch.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

try:
    from hypothesis import settings
except ModuleNotFoundError:  # a GPU server that runs tests/gpu has torch and pytest, and little else
    pass
else:
    # No deadline: on a shared machine a slow example says nothing about the code. `make test` tries the same examples
    # every time, so that red means a change broke something; `make test-all` searches for new ones.
    settings.register_profile("quick", deadline=None, derandomize=True)
    settings.register_profile("thorough", deadline=None, max_examples=500)
    settings.load_profile("quick")


@pytest.fixture(autouse=True, scope="session")
def neutral_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests out of the real learner's progress, and the learner's settings out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("TUTOR_")] + ["NO_COLOR", "COLUMNS", "LINES"]:
            patch.delenv(name, raising=False)
        patch.setenv("TUTOR_HOME", str(tmp_path_factory.mktemp("home")))
        yield
