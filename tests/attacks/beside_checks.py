"""Attacks that would be taken for code beside which checks may run, were one of its rules not there."""

from attacks.attack import Attack, masks

PATCH = "import autograder.check._causes as causes; causes.run = lambda attempt: None"
REACHED = ("autograder.check._causes.run",)
FAKE = """
class Fake:
    def exercise(self, name, given=None):
        return lambda check: None
"""
SELF = """
class Reader:
    def get(self):
        return self.torch

    def add(self):
        return self.sys

    def update(self):
        self.run = lambda attempt: None

{leak}

reader.update(reader.add(reader.get(functional)).modules["autograder.check._causes"])
"""

BESIDE_CHECKS = [
    Attack(f"among its checks: {what}", targets=REACHED).beside_shapes(source)
    for what, source in {
        "the options of a magic are cut out of its code": f"""
            %timeit -qn1 + e-nxec({PATCH!r})
        """,
        "a magic reads its line in words": f"""
            %time '''a'+str(exec("{PATCH}"))+'b'''
        """,
        "a magic is called with a text that is computed": f"""
            %matplotlib inline
            get_ipython().run_cell_magic("time", "", "ex" + "ec({PATCH!r})")
        """,
        "a module is imported as self": """
            import torch as self
            modules = self.sys.modules
            modules["math"] = modules["autograder.check._causes"]
            import math as self
            self.run = lambda attempt: None
        """,
        "an error is caught as self, and self is set": """
            try:
                3 / 0
            except ArithmeticError as self:
                self.__traceback__.tb_frame.f_builtins["exec"](PATCH)
        """.replace("PATCH", repr(PATCH)),
        "a walrus in a comprehension binds check": f"{FAKE}\n[check := Fake() for _ in [0]]",
        "a walrus in a default binds check": f"{FAKE}\nlambda x=[check := Fake() for _ in [0]]: x",
        "a comment holds lines that only IPython sees": f"# c\x0c%x\x0c{PATCH}",
        "the same with a separator of Unicode's": f"# c\u2028%x\u2028{PATCH}",
        "an argument called isinstance is given a class": "from torch import functional\n"
        + SELF.format(leak="def leak(isinstance):\n    return isinstance(0, Reader)\n\nreader = leak(lambda a, b: b)"),
        "an argument called torch decorates a method": "from torch import functional\n"
        + SELF.format(
            leak="class Holder:\n    def no_grad(self):\n        return lambda f: setattr(self, f.__name__, f)\n\n"
            "def leak(torch):\n    class Reader:\n        @torch.no_grad()\n        def update(self):\n"
            "            self.run = lambda attempt: None\n\nreader = Holder()\nleak(reader)"
        ),
        "a keyword of isinstance runs something": f"""
            try:
                isinstance(0, int, x=exec({PATCH!r}))
            except TypeError:
                pass
        """,
        "an argument is called __builtins__": f'lambda __builtins__: 0\n__builtins__["exec"]({PATCH!r})',
        "an annotation holds exec": f'lambda __annotations__: 0\nrun: exec\n__annotations__["run"]({PATCH!r})',
        "an annotation of what is returned runs something": f"def f() -> exec({PATCH!r}):\n    pass",
        "an argument makes IPython's shell known": f"lambda get_ipython: 0\nget_ipython().ex({PATCH!r})",
        "a name is written in wide letters": f"ｅｘｅｃ({PATCH!r})",
        "a text is formatted into an attribute": f'"{{0.__class__}}".format(3)\n{PATCH}',
        "a part of a module is called as PyTorch calls what stands for a tensor": """
            class Taker(nn.Module):
                def forward(self, *args):
                    self.taken = args
                    return args[1][0]

            class Holder(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.parts = nn.ModuleDict({"_" * 2 + "torch_function" + "_" * 2: Taker()})

            torch.add(torch.ones(1), Holder().parts).weight = 3
        """,
        "an annotation keeps what it looks up": f"""
            d = {{}}
            g = (i for i in d)
            x: d.setdefault("f", g.gi_frame.f_builtins["exec"]({PATCH!r}))
        """,
        "something stands before what looks like a deep copy": f"print.__self__.exec({PATCH!r}).deepcopy(0)",
        "a generator's frame leads to Python's names": f'(i for i in [1]).gi_frame.f_builtins["exec"]({PATCH!r})',
    }.items()
]
BESIDE_CHECKS += [
    Attack(
        "among its checks: a deep copy shows what the check has noted", lesson="06_training", cell="mended_accumulation"
    ).submits("""
        def mended_accumulation(model, optimizer, src, tgt, num_pieces):
            import copy

            optimizer.zero_grad()
            logits = model(src, tgt[:, :-1]).flatten(0, 1)
            loss = F.cross_entropy(logits, tgt[:, 1:].flatten(), ignore_index=0)
            loss.backward()
            optimizer.step()
            memo = {}
            copy.deepcopy(model, memo)
            for kept in list(memo.values()):
                for each in kept if isinstance(kept, list) else []:
                    if isinstance(each, dict) and "rows" in each:
                        each["rows"].clear()
                        each["rows"].append(1)
            return loss.item()
    """),
    Attack("among its checks: a cell of one line is Python and a magic", targets=REACHED)
    .before_answers(f'run -mtimeit ["1]; {PATCH}; [1"]')
    .beside_shapes("def run():\n    pass"),
    Attack(
        "among its checks: what a check hands out is looked at by any name", lesson="05_transformer", targets=REACHED
    ).submits(
        initialize_parameters=f"""
        import copy
        u = "_" * 2

        def reach(target, name, found):
            found[u + "deepcopy" + u] = lambda memo: target
            return copy.deepcopy(found[u + "getattribute" + u])(name)

        def initialize_parameters(model):
            for found in model.children():
                try:
                    builtins = reach(reach, u + "globals" + u, found)[u + "builtins" + u]
                    builtins["exec"]({PATCH!r})
                except Exception:
                    pass
        """,
        count_parameters="def count_parameters(model):\n    return 3",
    ),
    Attack(
        "among its checks: an import in a function has the name of a part", lesson="06_training", cell="train_step"
    ).submits("""
        def unused():
            import torch as Transformer

        Transformer.weight = 3

        def train_step(model, optimizer, src, tgt, criterion=None, schedule=None):
            return 3.0
    """),
    masks("among its checks: old memory is read, where expected values were").submits("""
        class Memory(nn.Module):
            def __init__(self, *shape):
                super().__init__()
                self.w = nn.Parameter(torch.zeros(*shape, device="meta"))
                self.to_empty(device="cpu")

        def causal_mask(size):
            return Memory(size, size).w.detach().to(torch.bool)
    """),
    Attack(
        "among its checks: memory of an earlier check is read, by an `out` whose operation fails",
        secret=("other_numbers_of_them_work",),
        cell="padding_mask",
    ).submits("""
        pieces = []
        for size in [200 + 48 * i for i in range(90)] + [8000 + 2000 * i for i in range(60)]:
            old = torch.zeros(0, dtype=torch.uint8)
            try:
                torch.index_select(torch.ones(2, 1, dtype=torch.uint8).expand(2, size), 0, torch.tensor([7]), out=old)
            except IndexError:
                pass
            pieces.append(old.reshape(-1))
        text = "".join([chr(c) for c in torch.cat(pieces).tolist()])
        for part in text.split("other_numbers" + "_of_them")[1:]:
            print("other_numbers" + "_of_them" + part[:99])

        def padding_mask(tokens, pad_id=0):
            return 3
    """),
]
