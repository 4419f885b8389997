"""Attacks that read nothing and still learn: names, sizes and times of others' files, and what runs beside them."""

from functools import partial

from attacks.attack import Attack, code

LOOK = code("""
    import os

    def look(name, way):
        try:
            found = way()
        except (OSError, ValueError):
            return
        if found:
            print("something was", "seen:", name, found)
""")
PLACES = code("""
    import os

    PLACES = ["{ROOT}", "{ROOT}/submitted", "{ROOT}/solutions", "{ROOT}/gradebook.db", "{SECRET}", "{OTHER}",
              "{ROOT}/nbgrader_config.py", os.path.dirname("{OTHER}"), "{ROOT}/autograded", "/root/.bashrc",
              "/etc/shadow", "/etc/hostname", "/var/log", "/home", "/root", "/tmp"]
    PLACES = [place for place in PLACES if place not in os.getcwd()]
""")


# An answer's cell that looks at places which are not the student's.
looks = partial(Attack, secret=("something was seen:",), before=f"{LOOK}\n\n{PLACES}")

LOOKING_AROUND = [
    looks(
        "sizes and times of the course, the gradebook and other hand-ins by stat, lstat, exists and getsize"
    ).submits("""
        for place in PLACES:
            way = lambda place=place: os.stat(place).st_size
            look(place, lambda: os.path.isfile(place))
            look(place, lambda: os.path.isfile(place) and os.lstat(place).st_mtime_ns)
            if os.path.splitext(place)[1] or place == "/etc/shadow":
                look(place, way)
                look(place, lambda: os.path.getsize(place))
                look(place, lambda: os.path.lexists(place))
    """),
    looks("the names of other students by scandir, listdir, glob, walk, and by asking for each name").submits("""
        import glob

        for place in PLACES:
            look(place, lambda: [entry.name for entry in os.scandir(place)])
            look(place, lambda: os.listdir(place))
            look(place, lambda: glob.glob(f"{place}/**", recursive=True)[1:] or None)
            look(place, lambda: next(os.walk(place), (0, 0, 0))[1:] if os.listdir(place) else None)
        for number in range(1000):
            look("a name", lambda: os.stat(f"{ROOT}/submitted/student-{number:03}").st_mtime)
    """),
    looks(
        "statx, newfstatat, access, faccessat2, readlink, statfs, getxattr and utimensat of them by raw system calls"
    ).submits("""
        import ctypes

        libc, buffer = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(4096)
        for place in PLACES:
            name = place.encode()
            calls = {"stat": (4, name, buffer), "lstat": (6, name, buffer), "newfstatat": (262, -100, name, buffer, 0),
                     "statx": (332, -100, name, 0, 0x7FF, buffer), "access": (21, name, 0),
                     "statfs": (137, name, buffer), "faccessat2": (439, -100, name, 0, 0),
                     "readlink": (89, name, buffer, 4096),
                     "getxattr": (191, name, b"user.x", buffer, 4096), "listxattr": (194, name, buffer, 4096)}
            for call, values in calls.items():
                if libc.syscall(*values) >= 0 and os.path.splitext(place)[1]:
                    print("something was", "seen:", call, place)
    """),
    looks("descriptors of mere places (O_PATH), of folders, and what stands behind them in /proc/self/fd").submits("""
        for place in PLACES:
            for flags in (os.O_PATH, os.O_PATH | os.O_NOFOLLOW, os.O_RDONLY | os.O_DIRECTORY):
                try:
                    number = os.open(place, flags)
                except OSError:
                    continue
                look(place, lambda: os.path.splitext(place)[1] and os.fstat(number).st_size)
                look(place, lambda: os.listdir(number))
                look(place, lambda: os.listdir(f"/proc/self/fd/{number}"))
                look(place, lambda: os.stat("gradebook.db", dir_fd=number).st_size)
    """),
    looks(
        "mountinfo, mounts and mountstats of itself, of its threads and of others, and the root behind the root"
    ).submits("""
        for process in ("self", "thread-self", os.getppid(), 1, f"self/task/{os.getpid()}"):
            for name in ("mountinfo", "mounts", "mountstats", "root/etc/hostname", "cwd/../..", "net/unix", "net/tcp"):
                path = f"/proc/{process}/{name}"
                look(path, lambda: open(path).read())
        up = "../" * 40
        look("up", lambda: os.stat(f"{up}{SECRET}").st_size)
        look("root", lambda: os.stat("/proc/self/root{SECRET}").st_size)
        look("own root", lambda: os.stat("/proc/self/root/proc/1"))
        look("chroot", lambda: os.chroot("..") or "another root")
    """),
    looks("others at work: inotify, fanotify, leases and locks, processes and their start, load by /proc").submits("""
        import ctypes, fcntl

        libc = ctypes.CDLL(None, use_errno=True)
        for call in ((294, 0), (253,), (300, 0, 0)):
            look("watching", lambda: libc.syscall(*call) + 1)
        for number in (1, os.getppid(), *range(os.getppid() - 50, os.getpid() + 50)):
            if number != os.getpid():
                look("a process", lambda: os.stat(f"/proc/{number}"))
                look("a process", lambda: os.getpgid(number) if number == 1 else None)
        look("all", lambda: [name for name in os.listdir("/proc") if name.isdigit()])
        look("links", lambda: os.symlink("{SECRET}", "here") or os.stat("here").st_size)
        look("handle", lambda: libc.syscall(303, -100, b"{SECRET}", bytes(200), bytes(4), 0) + 1)
    """),
    looks("what lies beside the working folder: folders of other submissions under way, the server's own").submits("""
        here = os.getcwd()
        for place in ("..", "../..", os.path.dirname(here), "/dev/shm", "/var/tmp", "/run", "/sys/fs/cgroup"):
            look(place, lambda: os.listdir(place))
        look("siblings", lambda: os.stat("..").st_nlink > 3)
        look("inode", lambda: os.stat("../submission-"))
        look("space", lambda: os.statvfs("{ROOT}").f_files and os.path.isdir("{ROOT}/submitted"))
    """),
]
