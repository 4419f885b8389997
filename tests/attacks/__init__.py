"""What a student could hand in to be given points, to look where they may not, or to do harm: one file for each way."""

from attacks.active_content import ACTIVE_CONTENT
from attacks.attack import Attack
from attacks.beside_checks import BESIDE_CHECKS
from attacks.escaping_sandbox import ESCAPING_SANDBOX
from attacks.exhausting_resources import EXHAUSTING_RESOURCES
from attacks.forging_results import FORGING_RESULTS
from attacks.looking_around import LOOKING_AROUND
from attacks.lying_values import LYING_VALUES
from attacks.patched_checks import PATCHED_CHECKS
from attacks.patched_shell import PATCHED_SHELL
from attacks.posing_as_the_course import POSING_AS_THE_COURSE
from attacks.reading_secrets import READING_SECRETS
from attacks.ready_parts import READY_PARTS

# By the way that is tried.
KINDS: dict[str, list[Attack]] = {
    "patched checks": PATCHED_CHECKS,
    "a patched shell": PATCHED_SHELL,
    "values that lie": LYING_VALUES,
    "exhausted resources": EXHAUSTING_RESOURCES,
    "secrets read": READING_SECRETS,
    "looking around": LOOKING_AROUND,
    "out of the sandbox": ESCAPING_SANDBOX,
    "forged results": FORGING_RESULTS,
    "active content": ACTIVE_CONTENT,
    "ready parts": READY_PARTS,
    "posing as the course": POSING_AS_THE_COURSE,
    "beside the checks": BESIDE_CHECKS,
}
ATTACKS: list[Attack] = [attack for attacks in KINDS.values() for attack in attacks]
