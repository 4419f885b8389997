"""Run a command as root on what seems a machine of its own: with accounts of its own, and nothing in /home and /srv.

    unshare --mount --pid --fork --kill-child --mount-proc python own_accounts.py MACHINE COMMAND…

MACHINE is a folder: `etc/` is laid over a copy of /etc, each folder in `home/` becomes the home of an account of that
name, `passwords` holds their passwords, as chpasswd reads them, and `prepare` is a shell script that runs last. All of
it is seen by this command alone, in whose mount namespace it happens, and is gone with it. The Python that runs this,
and this repository, can be read by every account, wherever they stand.
"""

import os
import subprocess
import sys
from pathlib import Path

from ordinary_user import open_the_way

ROOT = Path(__file__).resolve().parents[2]
NEEDED = {ROOT, *(Path(place).resolve() for place in (sys.prefix, sys.base_prefix))}
EMPTY = {Path("/home"), Path("/srv")}
OPEN = 0o005  # for others to read and to enter


def run(*words: str | Path, **options: object) -> None:
    """Run a command that has to succeed."""
    subprocess.run(words, check=True, **options)


def add_accounts(machine: Path) -> None:
    """Give this machine the settings and the accounts of the folder."""
    own = Path("/srv/etc")
    run("cp", "--archive", "/etc", own)
    run("cp", "--recursive", f"{machine}/etc/.", own)
    run("mount", "--bind", own, "/etc")
    for home in sorted((machine / "home").iterdir()):
        private = "--create-home", "--key", "HOME_MODE=0700"
        run("useradd", *private, "--skel", home, "--shell", "/bin/bash", home.name)
    run("chpasswd", input=(machine / "passwords").read_bytes())
    run("sh", "-e", machine / "prepare")


if __name__ == "__main__":
    command = sys.argv[2:]
    machine = Path(f"/proc/{os.getpid()}/fd/{os.open(sys.argv[1], os.O_PATH)}")  # whatever is put over it
    open_the_way(NEEDED, EMPTY)
    for place in NEEDED:
        if place.stat().st_mode & OPEN != OPEN:
            sys.exit(f"✗ Other accounts may not read {place}. Let them: chmod -R o+rX {place}")
    add_accounts(machine)
    os.chdir("/srv")
    os.execvp(command[0], command)
