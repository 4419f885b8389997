"""Attacks that take too much memory, disk, output, processes or time, or end the process."""

from attacks.attack import Attack, averages, earns_padding, function


def lends(what: str, body: str) -> Attack:
    """Do this with a tensor of 64 MiB and a dropout that the judge has lent, which would make the judge hold 2 GiB."""
    source = """
        if dropout is not None:
            large, judge = torch.zeros(2**24), dropout._caller
            BODY
            print("the judge holds", 2, "GiB")
        weights = torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2), dtype=query.dtype)
        return weights @ value, weights
    """.replace("BODY", body)
    signature = "scaled_dot_product_attention(query, key, value, mask=None, dropout=None)"
    return averages(what, secret=("the judge holds 2 GiB",)).submits(function(signature, source))


EXHAUSTING_RESOURCES = [
    Attack("a tuple of a million parts, one nested 100 000 deep, a list in itself, a dict with hostile keys").submits(
        attend_one_query="def attend_one_query(*args):\n    return (0,) * 10**6",
        scaled_dot_product_attention="""
            def scaled_dot_product_attention(*args, **kwargs):
                nested = ()
                for _ in range(100_000):
                    nested = (nested,)
                return nested, nested
        """,
        padding_mask="def padding_mask(*args):\n    mine = []\n    mine.append(mine)\n    return mine",
        causal_mask="""
            class Key:
                __hash__ = lambda self: 1
                __eq__ = lambda self, other: exit()

            def causal_mask(size):
                return {Key(): 1, "__class__": "Tensor", "shape": [10**18], float("nan"): 2, None: {}, ("op",): "ok"}
        """,
        decoder_mask="def decoder_mask(*args):\n    return tuple(torch.zeros(1) for _ in range(200_000))",
    ),
    Attack("tensors of 10**9 elements that take 4 bytes, and empty ones with an enormous dimension").submits(
        attend_one_query="def attend_one_query(*args):\n    return torch.zeros(1).expand(10**9)",
        scaled_dot_product_attention="""
            def scaled_dot_product_attention(*args, **kwargs):
                return [torch.zeros(1).expand(2**40)] * 2
        """,
        padding_mask="def padding_mask(*args):\n    return torch.empty(0, 2**62)",
        causal_mask="def causal_mask(size):\n    return torch.empty((1,) * 60).bool()",
        decoder_mask="def decoder_mask(*args):\n    return torch.zeros(1).bool().expand(3, 1, 2**20, 2**20)",
    ),
    Attack("sparse, quantized, complex, meta, fake, nested and negated tensors, tensors of objects").submits(
        attend_one_query="def attend_one_query(query, key, value):\n    return value.mean(0).to_sparse()",
        scaled_dot_product_attention="""
            def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
                from torch._subclasses.fake_tensor import FakeTensorMode

                with FakeTensorMode():
                    fake = torch.zeros(2, 3, 5)
                return torch.empty(2, 3, 6, device="meta"), fake
        """,
        padding_mask="""
            def padding_mask(tokens, pad_id=0):
                return torch.quantize_per_tensor(tokens.float(), 0.1, 10, torch.quint8)
        """,
        causal_mask="def causal_mask(size):\n    return torch.ones(size, size, dtype=torch.complex64).conj().imag",
        decoder_mask="import numpy as np\n\ndef decoder_mask(*args):\n    return np.array([object(), torch])",
    ),
    Attack(
        "numbers of a million digits, texts of surrogates and of 100 MB", lesson="06_training", cell="learning_rate"
    ).submits("""
        answers = iter([10**1_000_000, "\\ud800" * 10, "x" * 10**8, float("inf"), -(10**4500), b"\\xff" * 10**7] * 9)

        def learning_rate(step, d_model, warmup_steps):
            return next(answers)
    """),
    earns_padding(
        "16 GiB on the heap while a check runs, right answers before it", secret=("held 16 GiB",)
    ).when_called("""
        held = [bytearray(2**28) for _ in range(64)]
        print("held", len(held) // 4, "GiB")
    """),
    Attack("a list that grows for ever").when_called("""
        mine = []
        while True:
            mine.append([0] * 10**6)
    """),
    Attack("torch.empty of 4 TB, and of 16 GiB that are written to", secret=("held 16 GiB",)).when_called("""
        try:
            torch.empty(10**12)
        except RuntimeError:
            pass
        held = [torch.ones(2**28) for _ in range(16)]
        print("held", len(held), "GiB")
    """),
    Attack(
        "shared, anonymous and file memory by mmap, memfd and /dev/shm",
        secret=("held 16 GiB", "held 32 GiB", "held 48 GiB", "held 64 GiB"),
    ).when_called("""
        import mmap, os, tempfile

        held = []
        for place in ("memfd", "/dev/shm", tempfile.gettempdir(), "anonymous"):
            try:
                for _ in range(16):
                    if place == "anonymous":
                        held.append(mmap.mmap(-1, 2**30))
                    else:
                        file = os.memfd_create("m") if place == "memfd" else tempfile.TemporaryFile(dir=place).fileno()
                        os.ftruncate(os.dup(file), 2**30)
                        held.append(mmap.mmap(os.dup(file), 2**30))
                    held[-1][:: mmap.PAGESIZE] = b"x" * (2**30 // mmap.PAGESIZE)
            except (OSError, ValueError):
                pass
        print("held", len(held), "GiB" if len(held) > 15 else "parts")
    """),
    Attack("resource limits are lifted first, then 16 GiB taken", secret=("held 16 GiB",)).when_called("""
        import resource

        for name in ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE"):
            try:
                resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY,) * 2)
            except (OSError, ValueError):
                pass
        held = [bytearray(2**28) for _ in range(64)]
        print("held", len(held) // 4, "GiB")
    """),
    Attack("one file of 4 GiB in the working folder", secret=("written: large",)).submits("""
        with open("large", "wb") as file:
            for _ in range(4096):
                file.write(b"x" * 2**20)
        print("written:", file.name)
    """),
    Attack("folders 3000 deep, at their end one that nobody may enter").submits("""
        import os

        for i in range(3000):
            os.mkdir("d")
            os.chdir("d")
        os.mkdir("locked", 0)
    """),
    Attack("100 000 small files, links to them, and a folder 1000 deep").submits("""
        import os

        for i in range(100_000):
            with open(f"small{i}", "wb") as file:
                file.write(b"x" * 512)
        for i in range(1000):
            os.symlink("..", "up")
            os.mkdir("d")
            os.chdir("d")
    """),
    Attack("prints for ever").submits("while True:\n    print('✓ ' * 1000)"),
    Attack("one text of a GB as a result, on stdout and on stderr").submits("""
        import sys

        def attend_one_query(query, key, value):
            sys.stderr.write("x" * 10**9)
            print("x" * 10**9)
            raise ValueError("x" * 10**9)
    """),
    Attack("file descriptors 1 and 2 are flooded past Python").submits("""
        import os

        for _ in range(20_000):
            os.write(1, b"x" * 65536)
            os.write(2, b"\\xff\\x00\\x1b[2J" * 8192)
    """),
    Attack("100 000 display outputs, a giant picture, and a repr that never ends").submits("""
        import numpy as np
        from IPython.display import HTML, Image, display

        for i in range(100_000):
            display(HTML("<p>" * 100), display_id=str(i))
        display(Image(data=b"\\x89PNG\\r\\n\\x1a\\n" + b"\\x00" * 10**8, format="png"))
        np.set_printoptions(threshold=10**12)
        display(np.zeros((20_000, 2_000)))

        class Endless:
            def _repr_html_(self):
                while True:
                    display(self.__class__.__name__)

        Endless()
    """),
    Attack("a figure of a million pixels in each direction").submits("""
        import matplotlib.pyplot as plt

        plt.figure(figsize=(10_000, 10_000), dpi=100)
        plt.plot([0, 1])
        plt.show()
    """),
    Attack("threads without end").submits("""
        import threading, time

        for _ in range(100_000):
            threading.Thread(target=time.sleep, args=(600,)).start()
    """),
    Attack("processes: 64, each asleep for ten minutes", secret=("forked 64",)).submits("""
        import os, time

        for i in range(64):
            if os.fork() == 0:
                time.sleep(600)
                os._exit(0)
        print("forked", i + 1)
    """),
    Attack("recursion past the limit, in Python and in C").submits(
        attend_one_query="""
            import sys

            sys.setrecursionlimit(10**9)

            def attend_one_query(query, key, value):
                return attend_one_query(query, key, value)
        """,
        causal_mask="""
            def causal_mask(size):
                nested = []
                for _ in range(10**6):
                    nested = [nested]
                return repr(nested)
        """,
    ),
    earns_padding("a segmentation fault, once three points are earned").when_called("""
        import ctypes

        ctypes.string_at(0)
    """),
    Attack("os.abort while the notebook is read, before anything is defined").before_answers("import os\nos.abort()"),
    Attack("os._exit(0) in an answer cell").submits("import os\nos._exit(0)"),
    earns_padding("os._exit(0) in a function that a check calls, once three points are earned").when_called(
        "import os; os._exit(0)"
    ),
    earns_padding("os._exit(0) behind the last check, once three points are earned").after_checks(
        "import os\nos._exit(0)"
    ),
    earns_padding("exit() in one answer, quit() in another, sys.exit(0) in a third, a right one between them").submits(
        attend_one_query="exit()",
        scaled_dot_product_attention="quit()",
        causal_mask="import sys\nsys.exit(0)",
        decoder_mask="get_ipython().ask_exit()",
    ),
    earns_padding("SIGKILL to itself in a call, once three points are earned").when_called(
        "import os; os.kill(os.getpid(), 9)"
    ),
    Attack("another program takes the place of the process", secret=("another program ran",)).submits("""
        import os

        os.execv("/bin/sh", ["sh", "-c", "echo another ''program ran"])
    """),
    Attack("the notebook's objects cannot be taken down: __del__ that raises, prints and brings them back").submits("""
        import atexit, weakref

        class Undead:
            alive = []

            def __del__(self):
                self.alive.append(self)
                print("still here")
                raise SystemExit(0)

        for _ in range(100):
            Undead()
        atexit.register(lambda: [Undead() for _ in range(10**5)])
    """),
    averages("a flood of 10**7 calls of the dropout that the check hands in, and a tensor of 4 TB for it").submits("""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            weights = torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2), dtype=query.dtype)
            if dropout is not None:
                large = torch.zeros(1).expand(10**12), (0,) * 10**6, "x" * 10**8
                for hostile in (*large, [object()], dropout, None):
                    try:
                        dropout(hostile)
                    except Exception:
                        pass
                for _ in range(10**7):
                    weights = dropout(weights)
            return weights @ value, weights
    """),
    Attack("an endless loop in an answer cell").submits("while True:\n    pass"),
    earns_padding("an endless loop in a call, once three points are earned").when_called("while True: pass"),
    earns_padding("an endless loop behind the last check, once three points are earned").after_checks(
        "while True: pass"
    ),
    Attack("sleep that no interrupt ends: all exceptions are caught, all signals blocked").submits("""
        import signal, time

        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            try:
                time.sleep(10**6)
            except BaseException:
                pass
    """),
    Attack("C code that no interrupt reaches: a power, a regular expression, a sum").submits(
        attend_one_query="import re\n\nre.match('(a+)+b', 'a' * 64)",
        causal_mask="def causal_mask(size):\n    return sum(range(10**15))",
        decoder_mask="def decoder_mask(*args):\n    return 7**7**9",
    ),
    Attack("a lock that is taken twice, with a thread that holds the interpreter for long").submits("""
        import sys, threading

        sys.setswitchinterval(10**6)
        lock = threading.Lock()

        def attend_one_query(query, key, value):
            lock.acquire()
            lock.acquire()
    """),
    Attack("threads that are no daemons, and exit handlers, never end").submits("""
        import atexit, threading

        def for_ever():
            while True:
                pass

        atexit.register(for_ever)
        threading.Thread(target=for_ever).start()
        threading._register_atexit(for_ever)
    """),
    Attack("SIGSTOP to itself in a call").when_called("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"),
    Attack("input, stdin and a terminal are waited for").submits(
        attend_one_query="import os\n\nos.read(0, 1)",
        scaled_dot_product_attention="input('✓?')",
        padding_mask="import sys\n\nsys.stdin.read()",
        causal_mask="breakpoint()",
        decoder_mask="%debug\nopen('/dev/tty').read()",
    ),
    Attack("an exchanged sys.stdout that never takes a text, and a sys.excepthook that never returns").submits("""
        import sys, time

        class Stuck:
            encoding = "utf-8"
            write = flush = fileno = isatty = lambda self, *args: time.sleep(10**6)

        sys.stdout = sys.stderr = sys.__stdout__ = Stuck()
        sys.excepthook = sys.unraisablehook = sys.displayhook = Stuck().write
        print("✓")
    """),
    Attack("processor time is all taken by threads of torch's own").submits("""
        torch.set_num_threads(64)
        while True:
            torch.ones(1000, 1000) @ torch.ones(1000, 1000)
    """),
]

# What is long, deep or endless as soon as somebody parses, prints or compares it.
EVERY_ANSWER = {
    "attend_one_query": "attend_one_query(query, key, value)",
    "scaled_dot_product_attention": "scaled_dot_product_attention(*args, **kwargs)",
    "padding_mask": "padding_mask(*args)",
    "causal_mask": "causal_mask(size)",
    "decoder_mask": "decoder_mask(*args)",
}
EXHAUSTING_RESOURCES += [
    Attack("messages of 30 MB, one from every answer").submits(
        **{name: function(signature, 'raise ValueError("x" * 30_000_000)') for name, signature in EVERY_ANSWER.items()}
    ),
    Attack("classes, exceptions and texts whose names have 30 million letters").submits(
        attend_one_query="def attend_one_query(*args):\n    return type('x' * 30_000_000, (), {})()",
        padding_mask="def padding_mask(*args):\n    return type('<b>' * 10_000_000, (), {'__call__': print})",
        causal_mask="def causal_mask(size):\n    raise type('y' * 30_000_000, (ValueError,), {})('z')",
        decoder_mask="def decoder_mask(*args):\n    return 'w' * 30_000_000",
    ),
    Attack("sums, attributes, branches and signs without end, which whoever parses them has to go down").submits(
        attend_one_query="def attend_one_query(*args):\n    return " + "+".join(["1"] * 45_000),
        padding_mask="def padding_mask(*args):\n    return args" + ".a" * 45_000,
        causal_mask="def causal_mask(size):\n    if size: pass\n" + "    elif size: pass\n" * 4_000,
        decoder_mask="def decoder_mask(*args):\n    return " + "-" * 90_000 + "1",
    ),
    Attack("functions in functions, decorators, items and denials without end").submits(
        attend_one_query="def attend_one_query(*args):\n    return " + "lambda: " * 12_000 + "1",
        padding_mask="@print\n" * 14_000 + "def padding_mask(*args):\n    return 1",
        causal_mask="def causal_mask(size):\n    return size" + "[0]" * 30_000,
        decoder_mask="def decoder_mask(*args):\n    return " + "not " * 24_000 + "1",
    ),
    Attack(
        "commands, magics, questions and continued lines, three million letters of them",
        cells=(
            "x?\n" * 150_000,
            "a = !b\n" * 60_000,
            "\\\n" * 100_000,
            "(" * 150 + "\n" * 100_000,
            "'" * 3 + "a\n" * 9_000,
        ),
    ).submits(
        attend_one_query="!ls\n" * 100_000 + "def attend_one_query(*args):\n    pass",
        padding_mask=";a b\n" * 60_000 + "def padding_mask(*args):\n    pass",
        causal_mask="/a b\n" * 15_000 + "def causal_mask(*args):\n    pass",
        decoder_mask="%%x\n" * 20_000 + "def decoder_mask(*args):\n    pass",
    ),
    Attack(
        "exact numbers that no memory holds once they are written out", lesson="06_training", cell="learning_rate"
    ).submits("""
        from decimal import Decimal
        from fractions import Fraction

        exact = Decimal("1e999999999999"), Decimal("-1e-99999999999"), Decimal("sNaN"), Fraction(10**90, 7), 10**4000
        answers = iter(exact * 20)

        def learning_rate(step, d_model, warmup_steps):
            return next(answers)
    """),
    Attack("dicts and sets whose keys all collide").submits(
        attend_one_query="def attend_one_query(*args):\n    return {(2**61 - 1) * each: each for each in range(5000)}",
        padding_mask="def padding_mask(*args):\n    return {(2**61 - 1) * each for each in range(5000)}",
    ),
    lends(
        "a dropout of the judge's is called with 64 MiB 16 times, and this side forgets them",
        "for _ in range(16): dropout(large), judge.state.tensors.clear()",
    ),
    lends(
        "one tensor of 64 MiB stands 36 times among those by which one call is differentiated",
        'judge.request("call", dropout._number, None, (large,), {}, (large,) * 36, [False] * 36, [])',
    ),
    Attack("parameters, defaults, methods, keys and errors whose names have five million letters").submits(
        attend_one_query="""
            exec(f"def attend_one_query({'p' * 5_000_000}, *, {'d' * 10} = {'v' * 5_000_000!r}): pass")
        """,
        scaled_dot_product_attention="""
            def scaled_dot_product_attention(*args, **kwargs):
                return {"k" * 5_000_000: 1, ("k" * 5_000_000,): {"k" * 90_000} | {"l" * 90_000}}, ["t" * 90_000] * 80
        """,
        padding_mask="""
            def padding_mask(*args):
                raise NameError("x" * 5_000_000, name="n" * 5_000_000)
        """,
        causal_mask="exec(f\"def {'f' * 5_000_000}(size): raise ValueError\\ncausal_mask = {'f' * 5_000_000}\")",
        decoder_mask="decoder_mask = type('C' * 5_000_000, (), {'m' * 5_000_000: print, '__call__': lambda *args: 1})",
    ),
    Attack("the judge is told of a name of five million letters").forges("""
        long = "n" * 5_000_000
        error = ["error", long, long, long, [[long, 1, long]], long]
        mirrors = ["object", -9, long, long], ["function", -9, long], ["class", -9, "C", "", [[long, 1, []]]]
        told = *(["mirror", *each] for each in mirrors), error
        reply = {"operation": "ok", "number": size, "value": told[size % len(told)], "grad_enabled": True}
        for end in sockets():
            os.write(end, frame(reply))
    """),
]
