"""What a student could hand in to be given points, to look where they may not, or to do harm: one file for each way."""

from attacks.active_content import ACTIVE_CONTENT
from attacks.attack import Attack
from attacks.escaping_sandbox import ESCAPING_SANDBOX
from attacks.exhausting_resources import EXHAUSTING_RESOURCES
from attacks.forging_results import FORGING_RESULTS
from attacks.lying_values import LYING_VALUES
from attacks.patched_checks import PATCHED_CHECKS
from attacks.patched_shell import PATCHED_SHELL
from attacks.posing_as_the_course import POSING_AS_THE_COURSE
from attacks.reading_secrets import READING_SECRETS

ATTACKS: list[Attack] = [
    *PATCHED_CHECKS,
    *PATCHED_SHELL,
    *LYING_VALUES,
    *EXHAUSTING_RESOURCES,
    *READING_SECRETS,
    *ESCAPING_SANDBOX,
    *FORGING_RESULTS,
    *ACTIVE_CONTENT,
    *POSING_AS_THE_COURSE,
]
