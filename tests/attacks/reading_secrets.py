"""Attacks that read what students may not: hidden tests, solutions, the work of others, secrets."""

from attacks.attack import HIDDEN, MARKER, Attack, averages, code, function

SEARCH_MEMORY = code("""
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in maps:
            first, last = (int(part, 16) for part in line.split()[0].split("-"))
            if " rw" in line and last - first < 2**28:
                try:
                    memory.seek(first)
                    found = re.findall(rb"[a-z_]*_sizes_work_as[a-z_]*", memory.read(last - first))
                except (OSError, ValueError):
                    continue
                print({each.decode() for each in found})
""")
OTHERS_PASS = dict.fromkeys(("scaled_dot_product_attention", "padding_mask", "causal_mask", "decoder_mask"), "pass")
READING_SECRETS = [
    Attack("In, the history and the line cache are searched for hidden tests", secret=HIDDEN).submits("""
        import linecache

        def attend_one_query(query, key, value):
            print(In[-1], get_ipython().history_manager.input_hist_raw[-1])
            print([lines for _, _, lines, _ in (e for e in linecache.cache.values() if len(e) == 4)])
            return value[0]
    """),
    Attack("gc, the stack and all frames are searched for hidden tests", secret=HIDDEN).submits("""
        import gc, inspect, sys, types

        def attend_one_query(query, key, value):
            for frame in [each.frame for each in inspect.stack()] + list(sys._current_frames().values()):
                while frame:
                    print(frame.f_code.co_consts, list(frame.f_locals))
                    frame = frame.f_back
            for each in gc.get_objects():
                if isinstance(each, types.FunctionType | types.CodeType):
                    print(getattr(each, "__qualname__", each))
                elif isinstance(each, dict | list | tuple):
                    print([text for text in (each.values() if isinstance(each, dict) else each)
                           if isinstance(text, str) and "HIDDEN" + " TESTS" in text])
            return value[0]
    """),
    Attack(
        "the memory of the process itself is searched for hidden tests and the judge's secrets", secret=HIDDEN[:1]
    ).submits("import re\n\n" + function("attend_one_query(query, key, value)", f"{SEARCH_MEMORY}\nreturn value[0]")),
    Attack("the memory of the parent is searched for the same", secret=HIDDEN[:1]).submits(
        "import os, re\n\n" + SEARCH_MEMORY.replace('"/proc/self', 'f"/proc/{os.getppid()}')
    ),
    Attack(
        "the parent's memory through process_vm_readv, and ptrace", secret=("the parent's memory was read",)
    ).when_called("""
        import ctypes, os

        libc = ctypes.CDLL(None, use_errno=True)
        here = ctypes.create_string_buffer(64)
        local = (ctypes.c_void_p * 2)(ctypes.addressof(here), 64)
        with open(f"/proc/{os.getppid()}/maps") as maps:
            there = next(int(line.split("-")[0], 16) for line in maps if " rw" in line)
        remote = (ctypes.c_void_p * 2)(there, 64)
        if libc.process_vm_readv(os.getppid(), local, 1, remote, 1, 0) > 0:
            print("the parent's memory", "was read")
    """),
    Attack("solutions/ are read, and the answers in them used").submits(
        attend_one_query="""
            import json, re

            with open("{ROOT}/solutions/01_attention/01_attention.ipynb") as file:
                for cell in json.load(file)["cells"]:
                    if cell["metadata"].get("nbgrader", {}).get("solution"):
                        exec("".join(cell["source"]), globals())
            get_ipython().user_ns["print"]("".join(cell["source"]))
        """,
        **OTHERS_PASS,
    ),
    Attack("the answers of another student are used").submits(
        attend_one_query="""
            import json

            with open("{OTHER}") as file:
                for cell in json.load(file)["cells"]:
                    if "".join(cell["source"]).startswith(("def ", "class ")):
                        exec("".join(cell["source"]), globals())
        """,
        **OTHERS_PASS,
    ),
    Attack("a secret file is read in every way that Python has", secret=MARKER).submits("""
        import codecs, fileinput, io, linecache, mmap, os, pathlib, runpy, shutil

        import numpy as np

        def try_all(path):
            ways = [
                lambda: open(path).read(), lambda: os.read(os.open(path, os.O_RDONLY), 1000),
                lambda: pathlib.Path(path).read_text(), lambda: linecache.getline(path, 1),
                lambda: np.fromfile(path, dtype=np.uint8).tobytes(), lambda: np.genfromtxt(path, dtype=str),
                lambda: shutil.copy(path, "copy") and open("copy").read(), lambda: list(fileinput.input(path)),
                lambda: os.link(path, "link") or open("link").read(), lambda: codecs.open(path).read(),
                lambda: torch.from_file(path, size=20, dtype=torch.uint8).numpy().tobytes(),
                lambda: get_ipython().find_user_code(path), lambda: get_ipython().safe_execfile(path, {}),
            ]
            for way in ways:
                try:
                    print(way())
                except BaseException as error:
                    print(type(error).__name__)

        try_all("{SECRET}")
    """),
    Attack("a secret file through symbolic links in the working folder, and through /proc", secret=MARKER).submits("""
        import os

        os.symlink("{SECRET}", "notes.txt")
        os.symlink("/", "root")
        up = "../" * 40
        for path in ("notes.txt", "root{SECRET}", up + "{SECRET}", "/proc/self/root{SECRET}", "/proc/1/root{SECRET}",
                     f"/proc/{os.getppid()}/root{SECRET}", f"/proc/{os.getppid()}/cwd/" + up + "{SECRET}",
                     "/dev/fd/../root{SECRET}", "/proc/thread-self/root{SECRET}"):
            try:
                print(open(path).read())
            except OSError as error:
                print(error.errno)
    """),
    Attack("links to secrets are left under names that a grader may collect", secret=MARKER).submits("""
        import os

        for name in ("01_attention.ipynb", "feedback.html", "output.txt", "result.json", "figure.png", "timestamp.txt"):
            try:
                os.path.lexists(name) and os.remove(name)
                os.symlink("{SECRET}", name)
            except OSError:
                pass
    """),
    Attack("a secret file by C's open, by raw system calls and by open_by_handle_at", secret=MARKER).submits("""
        import ctypes, os

        libc = ctypes.CDLL(None, use_errno=True)
        here = ctypes.create_string_buffer(1000)
        path = b"{SECRET}"
        for call in ((2, path, 0), (257, -100, path, 0), (437, -100, path, bytes(24), 24)):
            file = libc.syscall(*call)
            if file >= 0:
                libc.read(file, here, 1000)
                print(here.value.decode())
    """),
    Attack("a secret file by line and cell magics and other programs", secret=MARKER).submits(
        attend_one_query="!cat {SECRET}",
        scaled_dot_product_attention="%%bash\ncat {SECRET}",
        padding_mask="%load {SECRET}",
        causal_mask="%pycat {SECRET}\n%run {SECRET}",
        decoder_mask="import subprocess\nsubprocess.run(['cat', '{SECRET}'])",
    ),
    Attack("environments of graders are searched for a secret", secret=MARKER).submits("""
        import os

        word = "the-secret" + "-of-the-course"
        print([value for value in os.environ.values() if word in value])
        for number in ("self", os.getpid(), os.getppid(), *filter(str.isdigit, os.listdir("/proc"))):
            try:
                command = open(f"/proc/{number}/cmdline").read()
                if any(each in command for each in ("nbgrader", "autograder", "pytest")):
                    values = open(f"/proc/{number}/environ").read().split("\\0")
                    print([value for value in values if word in value])
            except OSError:
                pass
    """),
    Attack(
        "open files of the process and of its parent are read from their beginning", secret=(*HIDDEN, *MARKER)
    ).submits("""
        import os

        for process in ("self", os.getppid()):
            for number in range(256):
                try:
                    target = os.readlink(f"/proc/{process}/fd/{number}")
                    if target.startswith("/") and "/dev/" not in target:
                        print(target, open(f"/proc/{process}/fd/{number}", "rb").read()[:10**6])
                except OSError:
                    pass
    """),
    Attack("the gradebook is read", secret=HIDDEN).submits("""
        import sqlite3

        with sqlite3.connect("file:{ROOT}/gradebook.db?mode=ro", uri=True) as book:
            for (source,) in book.execute("select source from source_cell"):
                print(source)
    """),
    averages(
        "the dropout that the check hands in leads to its globals, its code and the judge's builtins",
        secret=(*MARKER, "mask_and_dropout_work_together_and_dropout_is_drawn_once"),
    ).submits("""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            if dropout is not None:
                for look in (
                    lambda: dropout.__globals__["__builtins__"].open("{SECRET}").read(),
                    lambda: dropout.__globals__["__builtins__"]["open"]("{SECRET}").read(),
                    lambda: dropout.__code__.co_consts, lambda: dropout.__closure__, lambda: vars(dropout),
                    lambda: dropout.__globals__["In"][-1], lambda: dropout.__self__.__globals__,
                    lambda: dropout.forward.__globals__["torch"].__dict__.keys(), lambda: dropout.__reduce_ex__(4),
                    lambda: type(dropout).__mro__[1].__init__.__globals__["sys"].modules["__main__"].In[-1],
                ):
                    try:
                        print(look())
                    except Exception as error:
                        print(type(error).__name__)
            weights = torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2), dtype=query.dtype)
            return weights @ value, weights
    """),
]

READING_SECRETS += [
    Attack(
        "all that the judge sends is written down, and shown at the end",
        secret=(*HIDDEN, "HIDDEN TESTS", "every_size_works", "mask_and_dropout_work_together"),
        targets=("autograder.grading.rpc.channel.Channel.receive",),
        last=("print(repr(KEPT))\nprint([each for each in KEPT if b'hidden' in each.lower()])",),
    ).submits("""
        import socket

        from autograder.grading.rpc import channel

        KEPT = []
        receive = channel.Channel.receive

        def listening(self, *args, **kwargs):
            told = receive(self, *args, **kwargs)
            KEPT.append(repr(told).encode()[:3000])
            return told

        channel.Channel.receive = listening

        def attend_one_query(query, key, value):
            return value.mean(0)

        def causal_mask(size):
            print(KEPT[-1])
            return torch.zeros(size, size)
    """)
]
