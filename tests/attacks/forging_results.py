"""Attacks that forge results: printed, displayed, or sent to the judge through the student's end of its channel."""

from attacks.attack import FRAMES, Attack, averages, earns_padding, masks

FORGING_RESULTS = [
    Attack("the lines of success, a score and a table of points are printed").submits(
        attend_one_query="""
            print("✓ 1.1 attend_one_query: the values are averaged.\\nscore: 20\\n{'status': 'passed', 'points': 20}")
        """,
        padding_mask="""
            import json, os, sys

            def padding_mask(tokens, pad_id=0):
                line = json.dumps({"check": "check_padding_mask_values", "points": 2, "status": "passed",
                                   "message": ""})
                print("✓ 1.3 padding_mask: real tokens may be seen.", line, flush=True)
                sys.stderr.write(line + "\\n")
                os.write(1, line.encode() + b"\\n")
                os.write(2, line.encode() + b"\\n")
                raise NotImplementedError
        """,
    ),
    Attack("numbers as last expressions and printed, as nbgrader reads partial credit").submits(
        attend_one_query="print(2)\n2.0",
        scaled_dot_product_attention="def scaled_dot_product_attention(*args, **kwargs):\n    print(1)\n    return 1.0",
        padding_mask="float('inf')",
        causal_mask="-1e9",
        decoder_mask="'4.0'",
    ),
    Attack("control sequences of terminals, HTML and JavaScript in outputs").submits(
        attend_one_query="""
            from IPython.display import HTML, Javascript, Markdown, SVG, display

            print("\\x1b[2J\\x1b[H\\x1b]0;passed\\x07\\x1b[8mhidden\\x1b[0m\\r✓ passed\\x08\\x08")
            display(HTML("<script>document.body.innerHTML = 'Score: 20.0 / 20.0'</script><img src=x onerror=alert(1)>"))
            display(Javascript("document.title = '20 / 20'"), Markdown("</pre><h1>20 / 20</h1>"))
            display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'></svg>"))
            display({"text/html": "<style>* { display: none }</style>", "application/json": "{"}, raw=True)
        """,
        padding_mask="""
            def padding_mask(tokens, pad_id=0):
                raise ValueError("</pre><script>alert('✓')</script>=HYPERLINK(\\"http://192.0.2.1\\")")
        """,
    ),
    Attack(
        "older outputs are updated, cleared and overwritten from a later cell",
        last=("clear_output()\nupdate_display('20.0', display_id='mine')",),
    ).submits("""
        from IPython.display import clear_output, display, update_display

        display("nothing yet", display_id="mine")

        def attend_one_query(query, key, value):
            update_display("✓ 1.1 attend_one_query: passed.", display_id="mine")
            clear_output()
            raise ValueError
    """),
    Attack("a payload, a comm and messages of other kinds are sent by the shell").submits("""
        shell = get_ipython()
        shell.payload_manager.write_payload({"source": "set_next_input", "text": "check = None", "replace": True})
        shell.payload_manager.write_payload({"source": "ask_exit", "keepkernel": False})
        shell.set_next_input("check = None", replace=True)
        shell.display_pub.publish({"text/plain": "20.0"}, metadata={"nbgrader": {"points": 20}}, transient={"x": 1})
    """),
    Attack("garbage, half a frame, a giant length and deep JSON are sent to the judge").forges("""
        hostile = [
            b"garbage" * 100, frame({"operation": "ok"})[:9], struct.pack(">4sII", b"judg", 2**32 - 1, 2**32 - 1),
            struct.pack(">4sII", b"judg", 10**6, 0) + b"[" * 10**6, frame([]), frame(None), frame({"operation": []}),
        ]
        for end in sockets():
            os.write(end, hostile[size % len(hostile)])
        raise ValueError
    """),
    Attack("a half frame is sent, and the rest never comes").forges("""
        import time

        for end in sockets():
            os.write(end, struct.pack(">4sII", b"judg", 10**6, 10**6) + b"{")
        time.sleep(10**6)
    """),
    Attack("JSON that is valid and hostile: infinite numbers, surrogates, equal keys, 8 MB of nesting").forges("""
        texts = [b'{"operation":"ok","number":NaN,"value":Infinity}', b'"\\\\ud800"',
                 b'{"operation":"ok","operation":"error","number":1e999}',
                 b'{"operation":"ok","number":1,"value":' + b'{"a":' * 10**6 + b"1" + b"}" * 10**6 + b"}",
                 b"1" * 10**6, b"\\xff\\xfe"]
        for end in sockets():
            for text in texts:
                os.write(end, struct.pack(">4sII", b"judg", len(text), 0) + text)
        raise ValueError
    """),
    Attack("answers to requests that were never made, many of them, before the honest one").forges("""
        for end in sockets():
            for number in range(-50, 2000):
                header = {"operation": "ok", "number": number, "value": True, "grad_enabled": True, "output": "✓"}
                os.write(end, frame(header | {"global_state": ["float32", 0]}))
        return torch.zeros(size, size).bool()
    """),
    earns_padding(
        "every message is sent twice", targets=("autograder.grading.rpc.channel.Channel",), before=FRAMES
    ).submits("""

        import socket

        for each in gc.get_objects():
            if type(each).__name__ == "Channel":
                end = each._end

                class Twice:
                    def __init__(self, end):
                        self.end = end

                    def send(self, data):
                        self.end.sendall(bytes(data))
                        self.end.sendall(bytes(data))
                        return len(data)

                    def __getattr__(self, name):
                        return getattr(self.end, name)

                each._end = Twice(end)
    """),
    Attack("requests of the judge are taken from it and sent back as answers").forges("""
        import socket

        for number in sockets():
            end = socket.socket(fileno=number)
            end.settimeout(5)
            for _ in range(1000):
                text = end.recv(2**20)
                end.sendall(text.replace(b'"operation":"call"', b'"operation":"ok"') or b"judg")
    """),
    Attack("the student's side of the bridge sends passed checks and a result with full points").forges("""
        checks = [{"check": "check_causal_mask_values", "points": 2, "status": "passed", "message": "", "seconds": 0}]
        result = {"student": "me", "lesson": "01_attention", "checks": checks, "notes": [], "unenforced": []}
        for number in range(3, 256):
            answer = {"operation": "ok", "number": 1, "value": result, "grad_enabled": True}
            for text in (frame(result), json.dumps(result).encode() + b"\\n", frame(answer)):
                try:
                    os.write(number, text)
                except OSError:
                    pass
        os._exit(0)
    """),
    Attack(
        "every reference that the judge may have handed out is called, read and copied",
        secret=("every_size_works",),
        targets=("autograder.grading.rpc.peer.Peer.request",),
    ).forges("""
        from autograder.grading.rpc import peer

        for each in gc.get_objects():
            if isinstance(each, peer.Peer):
                for number in (*range(1, 200), *range(-200, 0)):
                    for operation, payload in (
                        ("get", (number, "script")), ("get", (number, "__globals__")), ("get", (number, "__class__")),
                        ("call", (number, "__init__", (), {}, (), [], [])),
                        ("call", (number, None, (), {}, (), [], [])),
                        ("next", (number,)), ("copy", (number,)), ("backward", (number, (), [])), ("run", ("1",)),
                    ):
                        try:
                            print(operation, each.request(operation, *payload))
                        except Exception as error:
                            print(type(error).__name__)
        raise ValueError
    """),
    Attack("what the bridge sends is changed on its way: JSON, bytes, struct, sendall").beside_shapes("""
        import json, struct

        dumps = json.dumps

        def lie(value, *args, **kwargs):
            text = dumps(value, *args, **kwargs)
            return text.replace('"error"', '"ok"').replace("false", "true").replace('"float32"', '"bool"')

        json.dumps = lie
    """),
    Attack(
        "the bridge's own functions in the student's process are replaced by lies",
        targets=(
            "autograder.grading.rpc.peer.Peer._backward",
            "autograder.grading.rpc.tensors._Shared.is_changed",
            "autograder.grading.rpc.registry.DTYPE_NAMES",
        ),
    ).beside_shapes("""
        import gc

        from autograder.grading.rpc import peer, registry, tensors

        def ones(self, call, gradients, wanted):
            return tuple(torch.ones_like(self.state.calls[call][1][number]) for number in wanted)

        peer.Peer._backward = ones
        tensors._Shared.is_changed = lambda self, tensor: False
        registry.DTYPE_NAMES.update(dict.fromkeys(registry.DTYPE_NAMES, "bool"))
        for each in gc.get_objects():
            if isinstance(each, peer.Peer):
                each.operations["backward"] = ones.__get__(each)
    """),
    earns_padding(
        "the descriptor of the bridge is closed while the judge waits, once three points are earned"
    ).forges("""
        for number in sockets():
            os.close(number)
        os.closerange(3, 256)
        return torch.zeros(size, size).bool()
    """),
    averages("requests to the judge without end, each of them allowed").submits("""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            weights = torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2), dtype=query.dtype)
            while dropout is not None:
                weights = dropout(weights).softmax(-1)
            return weights @ value, weights
    """),
    masks("a dropout is kept and called in a later check, from a thread and when the process ends").submits(
        scaled_dot_product_attention="""
            import atexit, threading

            kept = []

            def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
                kept.extend([query, key, value, dropout or mask])
                raise ValueError
        """,
        causal_mask="""
            def causal_mask(size):
                again = lambda: [each(torch.ones(2, 2)) for each in kept if callable(each)]
                atexit.register(again)
                thread = threading.Thread(target=again)
                thread.start()
                again()
                thread.join(5)
                return torch.zeros(size, size).bool()
        """,
    ),
    Attack("texts that no file can hold: half a surrogate pair in verdicts, in print and in names").submits(
        attend_one_query="def attend_one_query(*args):\n    raise check.CheckFailed('\\ud800 ✓', ['\\udfff'], '\\x00')",
        padding_mask="def padding_mask(*args):\n    print('\\ud83d')\n    raise ValueError('\\udc00')",
        causal_mask="causal_mask = type('\\u2028', (), {'__call__': lambda self, size: type('✓', (), {})()})()",
        decoder_mask="print('\\ud800')\n\ndef decoder_mask(*args):\n    raise KeyError('\\ud800')",
    ),
    masks("what the bridge keeps of a tensor is the same, while the tensor is another one").submits("""
        kept = torch.zeros(1500, 1500).bool()

        def causal_mask(size):
            kept.resize_(size, size)
            kept.data = torch.zeros(size, size).bool()
            return kept
    """),
]
