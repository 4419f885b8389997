"""What every sandboxed process may read: the system's libraries and the Python installation."""

import functools
import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

import autograder

# What the C library, PyTorch, Matplotlib and psutil read beside the Python installation.
SYSTEM_DIRECTORIES = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/nix/store")
SYSTEM_FILES = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone"),
    *("/etc/locale.alias", "/etc/fonts", "/etc/mime.types", "/etc/magic", "/etc/nsswitch.conf", "/etc/os-release"),
    *("/etc/passwd", "/etc/group", "/etc/ssl/openssl.cnf", "/etc/ssl/certs", "/etc/pki/tls/openssl.cnf"),
    *("/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/crypto-policies", "/var/cache/fontconfig"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version"),
    *("/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/devices/system/node"),
    *(f"/proc/self/{name}" for name in ("cmdline", "maps", "smaps", "stat", "statm", "status", "cgroup")),
)
PREFIX_PARTS = ("bin", "lib", "lib64", "share", "include", "ssl", "fonts", "etc/fonts", "pyvenv.cfg")


@functools.cache
def python_paths() -> tuple[Path, ...]:
    """Return what of this Python installation must be readable, the folder of this package included."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = [Path(prefix, part) for prefix in sorted(prefixes) for part in PREFIX_PARTS]
    paths += [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [Path(folder) for folder in site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        paths.append(Path(site.getusersitepackages()))
    paths.append(Path(autograder.__file__).parent)
    return _outermost(path.resolve() for path in paths if os.path.exists(path))  # False where nobody may look


def names_of_python() -> tuple[str, ...]:
    """Return the paths by which Python itself calls its installation; links may lead from them to `python_paths`."""
    return (sys.executable, sys.prefix, sys.base_prefix, *filter(os.path.isabs, sys.path))


@functools.cache
def readable_paths() -> tuple[Path, ...]:
    """Return all that every sandboxed process may read."""
    return (*map(Path, SYSTEM_DIRECTORIES), *map(Path, SYSTEM_FILES), *python_paths())


def exposed(secrets: Sequence[Path]) -> tuple[Path, ...]:
    """Return those of the paths that every sandboxed process could read, since they lie in a readable directory."""
    readable = _outermost(path.resolve() for path in readable_paths())
    return tuple(secret for secret in secrets if any(secret.resolve().is_relative_to(path) for path in readable))


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The paths without those that lie in another."""
    outermost: list[Path] = []
    for path in sorted(set(paths)):
        if not any(path.is_relative_to(other) for other in outermost):
            outermost.append(path)
    return tuple(outermost)
