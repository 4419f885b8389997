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

ROOT = Path(__file__).resolve().parents[2]
NEEDED = {ROOT, *(Path(place).resolve() for place in (sys.prefix, sys.base_prefix))}
EMPTY = {Path("/home"), Path("/srv")}
OPEN = 0o005  # for others to read and to enter


def run(*words: str | Path, **options: object) -> None:
    """Run a command that has to succeed."""
    subprocess.run(words, check=True, **options)


def is_closed(folder: Path) -> bool:
    """Whether other accounts are kept out of a folder."""
    return folder.stat().st_mode & OPEN != OPEN


def opened(folder: Path) -> Path:
    """Return a path to a folder that leads there whatever is put over it."""
    return Path(f"/proc/{os.getpid()}/fd/{os.open(folder, os.O_PATH)}")


def empty_folders() -> None:
    """Put empty folders over /home, /srv and whatever keeps others away from what they need; keep that in its place."""
    kept = {place: opened(place) for place in NEEDED}
    closed = {folder for place in NEEDED for folder in place.parents if is_closed(folder)}
    for folder in sorted(EMPTY | closed):
        run("mount", "-t", "tmpfs", "-o", "mode=755", "accounts", folder)
    for place, there in kept.items():
        if any(place.is_relative_to(folder) for folder in EMPTY | closed):
            place.mkdir(parents=True, exist_ok=True)
            run("mount", "--no-canonicalize", "--bind", there, place)
        if is_closed(place):
            sys.exit(f"✗ Other accounts may not read {place}. Let them: chmod -R o+rX {place}")


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
    machine, command = opened(Path(sys.argv[1])), sys.argv[2:]
    empty_folders()
    add_accounts(machine)
    os.chdir("/srv")
    os.execvp(command[0], command)
