"""How long the fuzzer runs: the same few cases whenever tests run, or as many new ones as `make fuzz` asks for."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# What makes cases may take longer than Hypothesis likes on a busy machine; that is no finding.
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or 0)

settings.register_profile(
    "tests", max_examples=100, derandomize=True, deadline=None, database=None, suppress_health_check=SLOW
)
settings.register_profile(
    "fuzz",
    max_examples=EXAMPLES or 1,
    deadline=None,
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=SLOW,
)
settings.load_profile("fuzz" if EXAMPLES else "tests")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A large case is no finding either."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:Generating overly large repr"))
