"""The sandbox: hostile code reaches nothing, and honest code notices nothing."""

import contextlib
import ctypes
import faulthandler
import importlib
import json
import mmap
import os
import platform
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from autograder.grading.sandbox import landlock, limits, namespaces, private_root, seccomp, syscalls
from autograder.grading.sandbox import probe as probe_module
from autograder.grading.sandbox.attempts import GUARANTEES, OUTLIVING
from autograder.grading.sandbox.enter import Permissions, SandboxError, Step, enter
from autograder.grading.sandbox.probe import Finding, Report, probe
from autograder.grading.sandbox.readable_paths import exposed, python_paths
from autograder.grading.sandbox.syscalls import KERNEL_VERSION, LIBC

NOBODY = 65534
USERS = ["root", "an ordinary user"] if os.geteuid() == 0 else ["an ordinary user"]
NAMES = [guarantee.name for guarantee in (*GUARANTEES, OUTLIVING)]
REPOSITORY = Path(__file__).resolve().parents[3]
COMPUTING = dict(memory_bytes=2 * 2**30, cpu_seconds=60, file_bytes=2**20, folder_bytes=2**24)


class Place:
    """A folder of a test's, with one in it for the sandbox and a file beside that."""

    def __init__(self, root, user):
        self.root, self.user = root, user
        self.folder, self.secret = root / "own", root / "secret.txt"
        self.parent = os.getpid()

    def fork(self, action, *, close=True, **limits):
        """Run `action` in a child, as a rule closed in; return what it returned, or the signal it died of."""
        answers, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of any thread another test left
            child = os.fork()
        if child == 0:
            try:
                os.close(answers)
                faulthandler.disable()
                self.become()
                if close:
                    enter(self.permissions(**limits))
                answer = {"value": action()}
            except BaseException:
                answer = {"error": traceback.format_exc()}
            with contextlib.suppress(BaseException):
                os.write(write, json.dumps(answer).encode())
            os._exit(0)
        os.close(write)
        with open(answers, "rb") as file:
            answer = file.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return signal.Signals(os.WTERMSIG(status))
        answer = json.loads(answer)
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def let_through(self, memory_bytes=COMPUTING["memory_bytes"], readable=(), **attempts):
        """Try everything in a child that is closed in, and return what was not refused."""

        def attempt_all():
            through = []
            for name, attempt in attempts.items():
                with contextlib.suppress(OSError, MemoryError, RuntimeError, ValueError):
                    attempt()
                    through.append(name)
            return through

        return self.fork(attempt_all, memory_bytes=memory_bytes, readable=readable)

    def entering(self, required=()):
        """What is said when a child that a rule should close in cannot be, None where it can."""
        try:
            enter(self.permissions(), required)
        except SandboxError as error:
            return str(error)

    def become(self):
        if os.geteuid() == 0 and self.user != "root":
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.chdir("/")

    def permissions(self, readable=(), **limits):
        return Permissions(self.folder, readable, **{**COMPUTING, **limits})


@contextlib.contextmanager
def made(user):
    """A place of a user's."""
    with tempfile.TemporaryDirectory() as root:
        place = Place(Path(root), user)
        place.folder.mkdir()
        place.secret.write_text("secret")
        for path, mode in ((place.root, 0o777), (place.folder, 0o777), (place.secret, 0o666)):
            path.chmod(mode)
        yield place


@pytest.fixture(params=USERS)
def place(request):
    with made(request.param) as place:
        yield place


@pytest.fixture(scope="module", params=USERS)
def findings(request):
    def look():
        return [[finding.name, finding.holds, finding.detail] for finding in probe().findings]

    with made(request.param) as place:
        seen = place.fork(look, close=False)
    return {name: Finding(name, holds, detail) for name, holds, detail in seen}


# What `probe` sees


@pytest.mark.parametrize("name", NAMES)
def test_every_guarantee_holds_here(findings, name):
    """Each attempt of the probe's is refused, for root and for an ordinary user."""
    assert findings[name].holds, findings[name].detail


def test_probe_has_one_finding_for_each_guarantee(findings):
    """The probe leaves no guarantee out, and says of its own walls that all of them stand."""
    assert sorted(findings) == sorted([*NAMES, probe_module.WALLS])
    assert findings[probe_module.WALLS].holds, findings[probe_module.WALLS].detail


@pytest.mark.parametrize(
    ("wall", "lost", "words"),
    [
        ("make_mounts_read_only", {"walls"}, "walls: missing here: read-only mounts (not here)"),
        (
            "unshare_namespaces",
            {"looking", "folder size", "walls"},
            "own namespaces (not here), read-only mounts (it needs",
        ),
    ],
)
def test_a_wall_that_is_missing_is_said(place, monkeypatch, wall, lost, words):
    """Where mounts or namespaces are refused, other walls keep what they can, and the probe names what is lost."""

    def missing():
        raise OSError("not here")

    monkeypatch.setattr(namespaces, wall, missing)
    unenforced = place.fork(lambda: probe().unenforced, close=False)
    assert {line.partition(":")[0] for line in unenforced} == lost, unenforced
    assert words in unenforced[-1]


def test_attempts_get_through_where_nothing_is_enforced(monkeypatch):
    """The probe's attempts are real: without the sandbox they succeed, and the findings say so."""

    def left_out(*_, **named):
        raise OSError("left out")

    walls = [(namespaces, "unshare_namespaces"), (limits, "set_limits"), (limits, "drop_capabilities")]
    walls += [(syscalls, "die_with_parent"), (landlock, "restrict"), (seccomp, "install")]
    for module, wall in walls:
        monkeypatch.setattr(module, wall, left_out)
    monkeypatch.setattr(probe_module, "PATIENCE", 2.0)
    with made("an ordinary user") as place:
        broken = place.fork(lambda: [each.name for each in probe().findings if not each.holds], close=False)
    assert set(broken) >= set(NAMES) - {"debugging", "privileges"}  # an ordinary user's kernel may keep these itself


# What is refused


def test_no_network(place):
    """No socket can be made, and a pair's end cannot be turned to others."""
    own, other = socket.socketpair()
    with own, other:
        through = place.let_through(
            ipv6=lambda: socket.socket(socket.AF_INET6),
            netlink=lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
            datagrams=lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
            bind=lambda: own.bind("name"),
            send=lambda: own.sendto(b"x", "\0name"),
            tcp=lambda: socket.socket(socket.AF_INET),
            udp=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            unix=lambda: socket.socket(socket.AF_UNIX),
        )
    assert through == []


def test_nothing_outside_is_read(place):
    """Neither another user's file beside the folder, nor a home, nor the parent in /proc can be read."""
    theirs = place.root / "theirs.txt"
    theirs.write_text("theirs")
    if os.geteuid() == 0:
        os.chown(theirs, 12345, 12345)
    through = place.let_through(
        theirs=theirs.read_text,
        up=lambda: os.listdir(".."),
        home=lambda: os.listdir(Path.home()),
        repository=(REPOSITORY / "pyproject.toml").read_text,
        solutions=lambda: os.listdir(REPOSITORY / "solutions"),
        shadow=lambda: Path("/etc/shadow").read_text(),
        memory=lambda: open(f"/proc/{place.parent}/mem", "rb").close(),
        environment=lambda: open(f"/proc/{place.parent}/environ", "rb").close(),
        through_its_own_root=lambda: os.listdir("/proc/self/root/tmp"),
    )
    assert through == []


def test_nothing_outside_is_seen(place):
    """No name, size or time of a file or process outside is told, however one asks, by links and descriptors too."""
    os.symlink(place.secret, place.root / "link")
    secret, library = os.fsencode(place.secret), os.fsencode(json.__file__)
    through = place.let_through(
        lstat=(place.root / "link").lstat,
        target=(place.root / "link").readlink,
        access=lambda: syscalls.succeed(LIBC.access(secret, os.F_OK), "access"),
        own=lambda: os.stat("../secret.txt"),
        space=lambda: os.statvfs(place.secret),
        processes=lambda: os.stat(f"/proc/{place.parent}"),
        first=lambda: os.stat("/proc/1/status"),
        mounts=lambda: Path("/proc/self/mountinfo").read_text(),
        watched=lambda: syscalls.succeed(LIBC.inotify_init(), "inotify_init"),
        course=(REPOSITORY / "solutions").stat,
        project=(REPOSITORY / "pyproject.toml").stat,
        root=lambda: os.scandir("/"),
        root_of_its_own=lambda: os.stat(f"/proc/self/root{place.secret}"),
        handle=lambda: syscalls.succeed(LIBC.name_to_handle_at(-100, library, bytes(200), bytes(4), 0), "handle"),
    )
    assert through == []


def test_a_course_in_a_home_keeps_its_interpreter(tmp_path):
    """Where the environment lies in the course and the course in a home, both are gone but for the environment."""
    home = tmp_path / "home"
    (home / "course" / "environment" / "lib").mkdir(parents=True)
    (home / "course" / "environment" / "lib" / "module.py").write_text("here = 1")
    (home / "course" / "gradebook.db").write_text("secret")
    (home / "lib").symlink_to("course/environment/lib")
    (tmp_path / "link").symlink_to(home)
    with made(USERS[0]) as place:

        def closed_in():
            seen = [tmp_path / "link" / "lib" / "module.py", home / "course" / "gradebook.db", home / "lib"]
            namespaces.unshare_namespaces()
            private_root.enter(place.folder, (seen[0],))
            return [[os.path.lexists(path) for path in seen], seen[0].read_text(), os.readlink(home / "lib")]

        assert place.fork(closed_in, close=False) == [[True, False, True], "here = 1", "course/environment/lib"]


def test_links_on_pythons_own_paths_are_there(tmp_path, monkeypatch):
    """Where Python calls its folder by a link, that link stands in the sandbox as well."""
    (tmp_path / "environment").symlink_to(Path(os.__file__).parent)
    monkeypatch.syspath_prepend(str(tmp_path / "environment"))
    private_root.layout.cache_clear()
    assert (str(tmp_path / "environment"), str(Path(os.__file__).parent)) in private_root.layout(()).links
    private_root.layout.cache_clear()


def test_links_in_a_circle_lead_nowhere(tmp_path):
    """A readable path that is a link to itself is left out."""
    (tmp_path / "circle").symlink_to("circle")
    assert not [path for path, _ in private_root.layout((tmp_path / "circle",)).shown if "circle" in path]


def test_what_is_permitted_is_read(place):
    """A path in `readable` can be read, and not written."""
    assert place.fork(place.secret.read_text, readable=(place.secret,)) == "secret"
    assert place.let_through(readable=(place.secret,), write=lambda: place.secret.write_text("")) == []
    assert place.secret.read_text() == "secret"


def test_nothing_outside_is_changed(place):
    """Modes and times outside stay, though changing them claims to succeed; the probe's attempts do the rest."""

    def pretend():
        files = [place.secret, json.__file__, "/proc/self/exe", "/proc/self/fd/0", "/dev/null"]
        files = [path for path in files if os.path.exists(path)]
        before = [os.stat(path) for path in files]
        for path in files:
            with contextlib.suppress(OSError):
                os.chmod(path, 0o666)
            with contextlib.suppress(OSError):
                os.utime(path, (0, 0))
        os.fchmod(0, 0o666)
        return [path for path, was in zip(files, before, strict=True) if os.stat(path) != was]

    assert place.let_through(link=lambda: os.link(place.secret, "linked"), new=lambda: Path("../new").touch()) == []
    assert place.fork(pretend) == []


def test_memory_is_bounded(place):
    """The heap and tensors end at the limit, which cannot be raised, and what is within it can be had."""
    through = place.let_through(
        memory_bytes=2**28,
        small=lambda: [bytes(4000) for _ in range(2**29 // 4000)],
        tensor=lambda: torch.empty(2**29, dtype=torch.uint8),
        raising=lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)),
    )
    assert through == []
    assert place.fork(lambda: len(bytearray(2**26)), memory_bytes=2**28) == 2**26


def test_a_file_is_bounded(place):
    """A file beyond the limit is cut off with an error, and one that just fits is not."""
    assert place.let_through(write=lambda: Path("large").write_bytes(bytes(2**20 + 1))) == []
    assert place.fork(lambda: Path("fits").write_bytes(bytes(2**20))) == 2**20


def test_it_becomes_nobody_else(place):
    """The user cannot be changed, root into another included."""
    assert place.let_through(setuid=lambda: os.setuid(NOBODY)) == []


def test_it_signals_itself(place):
    """Handlers, raise, pthread_kill and abort work on the process itself."""

    def attempts():
        seen = []
        signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        return len(seen)

    assert place.fork(attempts) == 3
    assert place.fork(os.abort) == signal.SIGABRT


def test_other_ways_of_calling_the_kernel_are_deadly(place):
    """Calls by the 32-bit gate or with x32 numbers, which the filter does not know, end the process."""
    if platform.machine() != "x86_64":
        assert "x86_64" in seccomp.ARCHITECTURES  # other processors have one way in
        return
    gate = bytes.fromhex("b814000000cd80c3")  # mov eax, 20 (getpid); int 0x80; ret

    def enter_by_the_gate():
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(gate)
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()

    assert place.fork(enter_by_the_gate) == signal.SIGSYS
    assert place.fork(lambda: LIBC.syscall(ctypes.c_long(0x40000000 + 39))) == signal.SIGSYS


def test_threads_of_an_ordinary_user_are_counted():
    """An ordinary user's process cannot start threads without end."""

    def start():
        threading.stack_size(2**16)
        wait = threading.Event()
        try:
            for _ in range(2 * limits.MAX_THREADS):
                threading.Thread(target=wait.wait, daemon=True).start()
        except RuntimeError:
            return threading.active_count()
        finally:
            wait.set()

    with made("an ordinary user") as place:
        started = place.fork(start)
    assert KERNEL_VERSION < limits.COUNTS_BY_NAMESPACE or 16 < started <= limits.MAX_THREADS


# What still works


def test_it_computes(place):
    """NumPy and PyTorch compute, with gradients and an optimizer."""
    torch.optim.Adam(torch.nn.Linear(1, 1).parameters())  # loads half of PyTorch, as a warm process has done

    def compute():
        layer = torch.nn.Linear(8, 8)
        optimizer = torch.optim.Adam(layer.parameters())
        layer(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
        product = np.linalg.inv(np.eye(50) * 2) @ np.ones((50, 50))
        return [
            bool(torch.isfinite(layer.weight).all()),
            float(product[0, 0]),
            (torch.ones(500, 500) @ torch.ones(500, 1))[0].item(),
        ]

    assert place.fork(compute) == [True, 0.5, 500.0]


def test_it_draws(place):
    """Matplotlib renders a figure with text into the folder."""
    matplotlib.use("agg")
    Figure().savefig(os.devnull, format="png")  # the font list is found before the fork, as a warm process does

    def draw():
        figure = Figure()
        figure.subplots().set_title("√d_k")
        figure.savefig("figure.png")
        return Path("figure.png").read_bytes()[:4].hex()

    assert place.fork(draw) == b"\x89PNG".hex()


def test_it_imports_what_was_not_imported(place):
    """Modules of the standard library and of site-packages load inside, where the user may read them at all."""
    names = ["wave", "chunk", "this", "sympy.holonomic", "networkx.drawing", "torch.utils.benchmark"]
    names.append("PIL.GifImagePlugin")
    fresh = [name for name in names if name not in sys.modules]
    assert len(fresh) >= 3

    def load():
        try:
            os.listdir(Path(os.__file__).parent)
        except (PermissionError, FileNotFoundError):
            return fresh  # this installation lies in root's home
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(None):
            return [importlib.import_module(name).__name__ for name in fresh]

    assert place.fork(load) == fresh


def test_it_starts_threads(place):
    """Sixteen threads run at once."""

    def start():
        together, results = threading.Barrier(16, timeout=20), []

        def work():
            together.wait()
            results.append(torch.ones(10).sum().item())

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(results)

    assert place.fork(start) == 160


def test_it_writes_into_its_folder(place):
    """Temporary files, folders, links and copies work in the folder, which is where the process is."""

    def write():
        tempfile.tempdir = os.getcwd()
        with tempfile.NamedTemporaryFile("w+") as file, tempfile.TemporaryDirectory() as folder:
            file.write("text")
            file.seek(0)
            os.chmod(file.name, 0o600)
            os.utime(file.name, (1, 1))
            os.rename(shutil.copy2(file.name, "copy"), Path(folder, "moved"))
            os.symlink("nowhere", "link")
            Path("touched").touch()
            assert Path("touched").exists()
            return [file.read(), os.access(folder, os.W_OK), os.getcwd()]

    assert place.fork(write) == ["text", True, str(place.folder.resolve())]
    assert os.listdir(place.folder) == []


def test_it_talks_to_its_judge(place):
    """A connected socket from before still carries messages, and descriptors 1 and 2 still take text."""
    judge, student = socket.socketpair()
    output, written = os.pipe()
    with judge, student:

        def talk():
            question = student.recv(100)
            student.sendall(question[::-1])
            os.write(written, b"printed")
            Path(os.devnull).write_text("gone")
            return len(os.urandom(4))

        judge.sendall(b"abc")
        assert place.fork(talk) == 4
        assert judge.recv(100) == b"cba"
    assert os.read(output, 100) == b"printed"
    os.close(output)
    os.close(written)


def test_it_reads_what_libraries_ask_for(place):
    """The time zone, the processor count, the own status and a callback from C work."""

    def ask():
        callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda number: number + 1)
        status = Path("/proc/self/status").read_text()
        return [time.localtime(0).tm_year in (1969, 1970), os.cpu_count() >= 1, "VmHWM" in status, callback(41)]

    assert place.fork(ask) == [True, True, True, 42]


def test_it_has_one_thread_and_imports_nothing(place):
    """Entering starts no thread and loads no module."""
    permissions = place.permissions()

    def look():
        before = set(sys.modules)
        enter(permissions)
        return [sorted(set(sys.modules) - before), "Threads:\t1\n" in Path("/proc/self/status").read_text()]

    assert place.fork(look, close=False) == [[], True]


# What callers ask


def test_a_step_that_worked_must_work_again(place, monkeypatch):
    """A step that the probe saw succeed and that fails now is an error that names it; one that never worked is none."""

    def broken(*_):
        raise OSError("no luck")

    monkeypatch.setattr(landlock, "restrict", broken)
    assert place.fork(lambda: place.entering(frozenset(Step) - {Step.LANDLOCK}), close=False) is None
    message = place.fork(lambda: place.entering(frozenset(Step)), close=False)
    assert message == "The sandbox could not be closed: Landlock failed (no luck)."


def test_a_second_thread_is_an_error(place):
    """A process with threads cannot enter: the filter would hold for one of them only."""

    def attempt():
        wait = threading.Event()
        threading.Thread(target=wait.wait, daemon=True).start()
        return place.entering()

    assert place.fork(attempt, close=False).endswith("this one has 2.")


def test_a_missing_folder_is_an_error(place):
    """Without its folder the sandbox is not entered."""
    place.folder.rmdir()
    assert "cannot be entered" in place.fork(place.entering, close=False)


def test_python_paths_leave_the_course_out():
    """The installation and the package are named; the repository that holds the package is not."""
    paths = python_paths()
    assert (REPOSITORY / "autograder").resolve() in paths
    for module in (torch, np, json):
        assert any(Path(module.__file__).resolve().is_relative_to(path) for path in paths)
    assert not exposed([REPOSITORY / name for name in ("solutions", "gradebook.db", "submitted", "pyproject.toml")])


def test_exposed_names_secrets_in_readable_places(tmp_path):
    """Secrets beneath a readable directory are found, by a link as well."""
    link = tmp_path / "solutions"
    link.symlink_to(Path(os.__file__).parent)
    library = Path(torch.__file__).parent / "gradebook.db"
    assert exposed([tmp_path, link, library, Path("/usr/share/course")]) == (link, library, Path("/usr/share/course"))


def test_describe_aligns():
    """Each finding is one line with its mark."""
    findings = Finding("network", True, "refused"), Finding("CPU", False, "got through: more")
    assert Report(findings, frozenset()).describe() == ["✓ network  refused", "✗ CPU      got through: more"]


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_system_calls_are_listed_once(machine):
    """No number stands twice in the filter, and none is beyond the newest it knows."""
    numbers = [
        number
        for table in (seccomp.REFUSED, seccomp.PRETENDED, seccomp.BY_ARGUMENTS)
        for number in seccomp.call_numbers(table, machine).values()
    ]
    assert len(numbers) == len(set(numbers)) > 100
    assert max(numbers) <= seccomp.NEWEST_KNOWN
