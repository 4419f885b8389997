from answers.writing import BARE, TYPED, body, edit, edits

BASES = {
    "short": """
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x + self.position(torch.arange(x.size(1), device=x.device)))
    """
}

WRONG = {
    "rows n to 2n − 1": edit("torch.arange(seq_len, device=x.device)", "(torch.arange(seq_len, device=x.device) + seq_len) % max_len").fails("values"),
    "a table from elsewhere, frozen": edit("(max_len, d_model", ".from_pretrained(torch.randn(max_len, d_model)").fails("values", "frozen"),
    "the table shrinks in each call": edit("return self…", "self.position.weight.data.mul_(0.99)\n…").fails("layer", "changes `position.weight` in `forward`"),
    "not added": edit("return self…", "return self.dropout(x)").fails("values", "encoding is not added"),
    "rows times √d_model": edit("x + self.position(", "x + x.size(-1) ** 0.5 * self.position(").fails("values", "encoding is multiplied by √d_model"),
    "the longest sequence refused": edit("seq_len > max_len", "seq_len >= max_len").fails("layer", "raised ValueError"),
    "input detached": edit("x +", "x.detach() +").fails("layer", "No gradient flows back to `x`"),
    "one position for all": edit("torch.arange(seq_len, device=x.device)", "torch.zeros(seq_len, dtype=torch.long)").fails("values", "row of position 0"),
    "by the place in the batch": edit("self.position(…))", "self.position(torch.arange(x.size(0)))[:, None]").fails("values", "place in the batch"),
    "positions from 1": edit("seq_len, device=x.device", "1, seq_len + 1").fails("values", "start at 1"),
    "dropout as it once was: in eval mode all is scaled": edit(
        "return self…",
        "y = x + self.position(torch.arange(seq_len, device=x.device))\n"
        "return y * (torch.rand_like(y) > self.dropout.p) if self.training else y * (1 - self.dropout.p)",
    ).fails("layer", "neither dropping entries nor scaling"),
    "numbers of positions kept on the CPU": edits(
        ("self.dropout = nn", "self.ids = torch.arange(max_len)\n…"), ("torch.arange(seq_len, device=x.device)", "self.ids[:seq_len]")
    ).fails("values", "uses a tensor on the CPU"),
    "a sinusoidal buffer": edit("self.position =…", 'self.register_buffer("position", sinusoidal_encoding(max_len, d_model))').fails(
        "values", "no trainable parameter `position.weight`"
    ),
    "frozen": edit("device))", "….detach()").fails("values", "No gradient flows back to `position.weight`"),
    "looks up the input": edit("torch.arange(seq_len, device=x.device)", "x").fails("values", "raised"),
    "no error of its own": edit("if seq_len…", "if False:").fails("layer", "wrong error"),
    "no dropout": edit("self.dropout(…", "x + self.position(torch.arange(seq_len, device=x.device))").fails("layer", "no entry of `layer(x)` is dropped"),
    "dropout on the positions only": edit("self.dropout(x + ", "x + self.dropout(").fails("layer", "on the encoding only"),
    "padding_idx=0: position 0 is never trained": edit("nn.Embedding(max_len, d_model)", "nn.Embedding(max_len, d_model, padding_idx=0)").fails(
        "values", "A row of `position.weight` that is used gets no gradient"
    ),
    "default max_len 512": edit("max_len: int = 5000", "max_len: int = 512").named("5000"),
    "one token too many allowed": edit("seq_len > max_len", "… + 1"),
    "multiplied": edit("x + self.position", "x * self.position").named("multiplied instead of added"),
    "table as a bare parameter": edits(
        ("nn.Embedding(max_len, d_model)", "nn.Parameter(torch.randn(max_len, d_model))"),
        ("self.position.…", "len(self.position)"),
        ("self.position(torch.arange(seq_len, device=x.device))", "self.position[:seq_len]"),
    ).named("position.weight"),
    "max_len rows too many": edits(("(max_len, d_model)", "(max_len + 1, d_model)"), ("self.position.…", "… - 1")),
    "sinusoidal and learned at once": edit("+ self", "+ sinusoidal_encoding(seq_len, x.size(-1)) …"),
    "reversed positions": edit("torch.arange(seq_len, device=x.device)", "torch.arange(seq_len - 1, -1, -1)").named("reverse"),
    "the last rows": edit("seq_len, device=x.device", "max_len - seq_len, max_len").named("last rows"),
    "random positions": edit("torch.arange(seq_len, device=x.device)", "torch.randperm(max_len)[:seq_len]"),
    "scaled down in eval mode": edit("self.dropout(…", "… * (1 if self.training else 1 - self.dropout.p)"),
    "frozen table": edit("self.dropout =…", "self.position.weight.requires_grad_(False)\n…").named("trainable"),
    "x += rows": edit("return self…", "x += self.position(torch.arange(seq_len))\nreturn self.dropout(x)").named("changes `x`"),
    "in place on x": edit("self.dropout(…", "self.dropout(x.add_(self.position(torch.arange(seq_len))))").named("changes `x`|leaf"),
    "float32 output": edit("self.dropout(…", "….float()").named("dtype"),
    "dropout before the sum": edit("self.dropout(…", "self.dropout(x) + self.position(torch.arange(seq_len))").named("before the encoding is added"),
    "error without numbers": edit('f"The sequence has {seq_len} tokens, more than max_len = {max_len}."', '"sequence too long"').named("does not say enough"),
    "IndexError": edit("raise ValueError", "raise IndexError"),
    "one dropout mask for all sentences": edit("self.dropout(…", "(x + self.position(torch.arange(seq_len))) * self.dropout(torch.ones_like(x[:1]))"),
    "a linear layer on position numbers": edits(
        ("position: nn…", "position: nn.Linear(1, d_model)."),
        ("= nn.Embedding(max_len", "= nn.Linear(1"),
        ("self.position.num_embeddings", "13"),
        (", device=x.device)", ").float()[:, None]"),
    ),
    "arange on CPU": edit(", device=x.device", "", on="short").fails("values", "uses a tensor on the CPU"),
    "off by one limit": edit(
        "if x.…device)))",
        'if x.size(1)>self.max_len+1: raise ValueError(f"{x.size(1)} {self.max_len}")\n'
        "return self.dropout(x+self.position(torch.arange(x.size(1),device=x.device).clamp(max=self.max_len-1)))",
        on="short",
    ),
    "dropout mask on x only & table only half": edit("(x + self", "(x) + self.dropout(self", on="short"),
    "F.dropout always training": edit(
        "return self…", "return F.dropout(x+self.position(torch.arange(x.size(1),device=x.device)),self.dropout.p)", on="short"
    ).named("eval"),
    "default dropout 0": edit("0.1", "0.0", on="short").named("0.1"),
    "max_norm=3.5 on position table": edit("d_model)", "d_model, max_norm=3.0)", on="short"),
    "squeeze(0)": edit("device)))", "….squeeze(0)", on="short"),
    "error message has neither units: only max_len": edit("seq_len {x.size(1)} > max_len", "max_len", on="short"),
    "sparse gradients": edit("(max_len, d_model)", "(max_len, d_model, sparse=True)").fails("values", "is sparse"),
    "long rows cut": edit("(max_len, d_model)", "(max_len, d_model, max_norm=10.0)").fails("values", "changes `table`"),
    "the sum in float32": edit(
        "x + self.position(torch.arange(seq_len, device=x.device))", "(x.float() + self.position(torch.arange(seq_len, device=x.device)).float()).to(x.dtype)"
    ).fails("values", "in float64"),
    "x in float32": edit("x + self", "x.float() + self").fails("values", "wrong values"),
    "the rows in float32": edit("device=x.device))", "….float()").fails("values", "wrong values"),
}

TRICKS = {
    "a new table on every call": edit("seq_len, max_len =", "if self.training:\n    self.position.reset_parameters()\n…"),
    "gradient of x cut in training": edit("x +", "(x.detach() if self.training else x) +").named("gradient"),
    "max_len kept in a global": edits(("self.position.…", "_rows"), ("self.dropout =…", "global _rows\n_rows = max_len\n…")),
    "zero at the start: nothing added until trained, table detached in eval": edit(
        "self.dropout(…", "self.dropout(x + (self.position.weight if self.training else self.position.weight.detach())[:seq_len])"
    ),
    "rows from the end in train mode": edit(
        "return self…",
        "n=x.size(1)\np=torch.arange(n,device=x.device)\nif self.training: p=p+self.position.num_embeddings-n\nreturn self.dropout(x+self.position(p))",
        on="short",
    ),
    "train: not added": edit(
        "return self…", "if self.training: return self.dropout(x)\nreturn x+self.position(torch.arange(x.size(1),device=x.device))", on="short"
    ),
    "gradient to position only in eval": edit(
        "return self…", "p=self.position(torch.arange(x.size(1),device=x.device))\nif self.training: p=p.detach()\nreturn self.dropout(x+p)", on="short"
    ).named("grad"),
    "seq_len max_len clamps the last": edit(
        "return self…", "return self.dropout(x+self.position(torch.arange(x.size(1),device=x.device).clamp(max=self.max_len-2)))", on="short"
    ),
    "positions mod 8": edit("device)", "… % 8", on="short"),
    "table scaled by sqrt d in train": edit(
        "return self…", "p=self.position.weight[:x.size(1)]\nif self.training: p=p*math.sqrt(x.size(-1))\nreturn self.dropout(x+p)", on="short"
    ),
    "cached lookup with its graph": edits(
        ("= max_len", "…\nself.c={}"),
        ("return self…", "n=x.size(1)\nif n not in self.c: self.c[n]=self.position(torch.arange(n,device=x.device))\nreturn self.dropout(x+self.c[n])"),
        on="short",
    ),
    "in place on x in train only when no grad": edit(
        "return self…",
        "p=self.position(torch.arange(x.size(1),device=x.device))\nif self.training and not x.requires_grad: x += p\nelse: x = x+p\nreturn self.dropout(x)",
        on="short",
    ).named("input|changes `"),
    "weight tied at class level": edits(
        ("Module):", "…\n    t=None"),
        (
            "self.position =…",
            "if LearnedPositionalEncoding.t is None or LearnedPositionalEncoding.t.weight.shape!=(max_len,d_model): LearnedPositionalEncoding.t=nn.Embedding(max_len,d_model)\n"
            "self.position=LearnedPositionalEncoding.t",
        ),
        on="short",
    ).named("shared|share"),
    "random positions in train": edit(
        "return self…",
        "n=x.size(1)\nids=torch.randperm(self.max_len)[:n].sort()[0] if self.training else torch.arange(n)\nreturn self.dropout(x+self.position(ids))",
        on="short",
    ),
    "reads x.size(1) rows, adds only to first sentence when batch>3": edit(
        "return self…", "p=self.position.weight[:x.size(1)]\ny=torch.cat([x[:3]+p,x[3:]])\nreturn self.dropout(y)", on="short"
    ),
    "half of the gradient lost": edit("x + self", "(x + x.detach()) / 2 + self").fails("layer", "the gradient of"),
    "the first sentence alone trains the table": edit(
        "return self…", "rows = self.position(torch.arange(seq_len, device=x.device))\nreturn self.dropout(torch.cat([x[:1] + rows, x[1:] + rows.detach()]))"
    ).fails("values", "the gradient of"),
}

RIGHT = {
    "the first rows of the weight": edits(
        ("seq_len, max_len = x.size(1),", "max_len ="),
        ("seq_len >", "x.shape[1] >"),
        ("raise ValueError…", 'raise ValueError(f"{x.shape[1]} > {max_len}")'),
        ("(torch.arange(seq_len, device=x.device))", ".weight[: x.shape[1]]"),
        on=BARE,
    ),
    "positions expanded to the batch": """
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.max_len = max_len
                self.position = nn.Embedding(max_len, d_model)
                self.drop = nn.Dropout(dropout)
            def forward(self, x):
                max_len = self.max_len
                if x.shape[1] > max_len:
                    raise ValueError(f"{x.shape[1]} > {max_len}")
                positions = torch.arange(x.shape[1], device=x.device).expand(x.shape[0], -1)
                return self.drop(self.position(positions) + x)
    """,
    "zeros at the start": edit("self.position =…", "self.position = nn.Embedding(max_len, d_model)\nnn.init.zeros_(self.position.weight)", on="lengths kept"),
    "N(0, 0.02), index_select, position ids kept as a buffer": edits(
        ("self.position =…", '…\nnn.init.normal_(self.position.weight, std=0.02)\nself.register_buffer("ids", torch.arange(max_len), persistent=False)'),
        ("n, m…", "n, m = x.size(-2), len(self.ids)"),
        ("(torch.arange(n, device=x.device))", ".weight.index_select(0, self.ids[:n])"),
        on="lengths kept",
    ),
    "IndexError turned into ValueError": edit(
        "seq_len, max_len…device)))",
        "try:\n"
        "    rows = self.position(torch.arange(x.size(1), device=x.device))\n"
        "except IndexError as error:\n"
        '    raise ValueError(f"{x.size(1)} > {self.position.weight.size(0)}") from error\n'
        "return self.dropout(x + rows)",
        on=BARE,
    ),
    "lengths kept": """
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                n, m = x.size(1), self.position.num_embeddings
                if n > m:
                    raise ValueError(f"sequence of {n} tokens, but max_len is {m}")
                return self.dropout(x + self.position(torch.arange(n, device=x.device)))
    """,
    "one-hot product, started from the sinusoids": edits(
        ("(max_len, d_model)", ".from_pretrained(sinusoidal_encoding(max_len, d_model), freeze=False)"),
        ("return self…", "return self.dropout(x + torch.eye(m)[:n].to(x) @ self.position.weight)"),
        on="lengths kept",
    ),
    "a subclass of PositionalEncoding's idea: cumsum of ones for ids": edits(
        ("self.position =…", 'self.add_module("position", nn.Embedding(max_len, d_model))'),
        ("return self…", "ids = torch.ones_like(x[..., 0], dtype=torch.long).cumsum(1) - 1\nreturn self.dropout(self.position(ids).add(x))"),
        on="lengths kept",
    ),
    "weight slice": edit("(torch.arange(x.size(1), device=x.device))", ".weight[:x.size(1)]", on="short"),
    "buffer of ids": """
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.register_buffer("ids", torch.arange(max_len).unsqueeze(0), persistent=False)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), self.position.num_embeddings
                if n > m:
                    raise ValueError(f"{n} > {m}")
                return self.dropout(x + self.position(self.ids[:, :n]))
    """,
    "persistent ids buffer": edits((".unsqueeze(0), persistent=False", ""), (", :n", "n"), on="buffer of ids"),
    "expanded ids (B,S)": edit(
        "return self…", "ids = torch.arange(x.size(1), device=x.device).expand(x.shape[:2])\nreturn self.dropout(x + self.position(ids))", on="short"
    ),
    "cumsum ids": edit("ids …", "ids = torch.ones(x.shape[:2], dtype=torch.long, device=x.device).cumsum(1) - 1", on="expanded ids (B,S)"),
    "F.embedding, small init, F.dropout": edits(
        ("self.dropout =…", "nn.init.normal_(self.position.weight, std=0.02)\nself.p = dropout"),
        (
            "seq_len, max_len…device)))",
            "n, m = x.size(1), self.position.weight.size(0)\n"
            'if not n <= m: raise ValueError(f"{n} does not fit into {m}")\n'
            "return F.dropout(x + F.embedding(torch.arange(n, device=x.device), self.position.weight), self.p, self.training)",
        ),
        on=TYPED,
    ),
    "zero init": edit("d_model)", "…\nnn.init.zeros_(self.position.weight)", on="short"),
    "loop over positions": edit(
        "return self…",
        "rows = [x[:, i] + self.position(torch.tensor(i, device=x.device)) for i in range(x.size(1))]\nreturn self.dropout(torch.stack(rows, dim=1))",
        on="short",
    ),
    "one-hot matmul eye": edit(
        "return self…",
        "sel = torch.eye(self.max_len, device=x.device, dtype=x.dtype)[:x.size(1)]\n"
        "return self.dropout(torch.einsum('sm,md->sd', sel, self.position.weight) + x)",
        on="short",
    ),
    "inheritance from a base with hook": edits(
        (
            '"""Add…"""',
            "def checked(self, x):\n"
            "    if x.size(1) > self.max_len:\n"
            '        raise ValueError("The sequence length {} exceeds max_len {}".format(x.size(1), self.max_len))\n'
            "    return x",
        ),
        ("self.dropout …", "…\nself.max_len = max_len"),
        ('"""Encode…e)))', "return self.dropout(self.checked(x) + self.position.weight.narrow(0, 0, x.size(1)))"),
    ),
    "sinusoidal start (trainable)": edits(
        ("self.position =…False)", "self.position = nn.Embedding.from_pretrained(sinusoidal_encoding(max_len, d_model), freeze=False)"),
        ("self.ids[:, :n]", "torch.arange(n).to(x.device)"),
        on="buffer of ids",
    ),
    "position numbers kept in a buffer outside the state, uniform start values": body("""
        def __init__(self, d_model, max_len=5000, dropout=0.1):
            super().__init__()
            self.position = nn.Embedding(max_len, d_model)
            self.position.weight.data.uniform_(-0.1, 0.1)
            self.register_buffer("numbers", torch.arange(max_len), persistent=False)
            self.dropout = nn.Dropout(dropout)
        def forward(self, x):
            length, limit = (x.size(1), self.numbers.numel())
            if length > limit:
                raise ValueError(f"{length} is more than {limit}")
            rows = F.embedding(self.numbers[:length], self.position.weight)
            return self.dropout(rows[None] + x)
    """),
}
