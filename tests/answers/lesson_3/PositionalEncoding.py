from answers.writing import TYPED, body, edit, edits

BASES = {
    "short": """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """
}

WRONG = {
    "the table shrinks in each call": edit("return self", "self.encoding.mul_(0.99)\n…").fails("layer", "changes `encoding` in `forward`"),
    "rows n to 2n − 1": edit("[:seq_len]", ".roll(-seq_len, 0)[:seq_len]").fails("values"),
    "adds x twice": edit("self.dropout(x +", "self.dropout(x + x +").fails("values", "the input is added twice"),
    "not added": edit("x + self.encoding[:seq_len]", "x").fails("values", "encoding is not added"),
    "by the place in the batch": edit("[:seq_len]", "[: x.size(0)].unsqueeze(1)").fails("values", "place in the batch"),
    "one row for all": edit("self.encoding[:seq_len]", "self.encoding[0]").fails("values", "row of position 0"),
    "the row of the length": edit(":seq_len", "seq_len").fails("values", "sequence's length"),
    "the last rows": edit("self.encoding[:seq_len]", "self.encoding[-seq_len:]").fails("values", "last rows"),
    "scaled once more": edit("x + self", "x * math.sqrt(x.size(-1)) + self").fails("values", "√d_model once more"),
    "multiplied": edit("x + self", "x * self").fails("values", "multiplied instead of added"),
    "in place": edit("return…", "x += self.encoding[:seq_len]\nreturn self.dropout(x)").fails("values", "changes `x`"),
    "the whole table": edit("self.encoding[:seq_len]", "self.encoding").fails("values", "raised RuntimeError"),
    "a parameter": edit("self.register_buffer…", "self.encoding = nn.Parameter(sinusoidal_encoding(max_len, d_model))").fails("layer", "is a parameter"),
    "a plain attribute": edit("self.register_buffer…", "self.encoding = sinusoidal_encoding(max_len, d_model)").fails("layer", "not registered as a buffer"),
    "a frozen nn.Embedding": edits(
        ('register_buffer("encoding", ', "encoding = nn.Embedding.from_pretrained("), ("size(0)", "num_embeddings"), ("[:seq_len", ".weight[:seq_len")
    ).fails("layer", "is a layer; it should be a buffer"),
    "every column of an own table is a sine": edits(
        ("self.register_buffer…", "own = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(d_model) // 2 * 2 / d_model)\n…"),
        ("sinusoidal_encoding(max_len, d_model)", "torch.sin(own)"),
    ).fails("values", "in the table every column is a sine"),
    "returns nothing in training": edit("return self…", "y = x + self.encoding[:seq_len]\nif self.training:\n    self.dropout(y)\nelse:\n    return y").fails(
        "layer", "is None"
    ),
    "another name": edits(('"encoding"', '"pe"'), ("self.encoding", "self.pe")).fails("layer", "has no buffer `encoding`"),
    "dropout as it once was: in eval mode all is scaled": edit(
        "return self…", "y = x + self.encoding[:seq_len]\nreturn y * (torch.rand_like(y) > self.dropout.p) if self.training else y * (1 - self.dropout.p)"
    ).fails("layer", "neither dropping entries nor scaling"),
    "scaled in eval mode": edit("return self…", "… * (1.0 if self.training else 1 - self.dropout.p)").fails("layer", "is not its value in eval mode"),
    "no dropout": edit("self.dropout(…", "x + self.encoding[:seq_len]").fails("layer", "no entry of `layer(x)` is dropped"),
    "dropout before the sum": edit("self.dropout(…", "self.dropout(x) + self.encoding[:seq_len]").fails("layer", "before the encoding is added"),
    "dropout on the encoding": edit("self.dropout(…", "x + self.dropout(self.encoding[:seq_len])").fails("layer", "on the encoding only"),
    "dropout in eval mode too": edit("self.dropout(…", "F.dropout(x + self.encoding[:seq_len], self.dropout.p)").fails("layer", "In eval mode"),
    "dropout at a fixed rate": edit("nn.Dropout(dropout)", "nn.Dropout()").fails("layer", "0.5 instead"),
    "keeps what should be dropped": edit("(dropout)", "(1 - dropout)").fails("layer", "1 − dropout instead"),
    "drops whole rows": edit("nn.Dropout(dropout)", "nn.Dropout1d(dropout)").fails("layer", "whole rows"),
    "no gradient": edit("x +", "x.detach() +").fails("layer", "No gradient flows back to `x`"),
    "no error": edit("if seq_len…", "if False:").fails("error", "should raise ValueError"),
    "cuts what is too long": edits(("if seq_len…", "if False:"), ("x + self", "x[:, :max_len] + self")).fails("error", "should raise ValueError"),
    "a silent error": edit("raise ValueError…", 'raise ValueError("too long")').fails("error", "does not say enough"),
    "off by one": edit("seq_len > max_len", "seq_len >= max_len").fails("error", "raised ValueError"),
    "one too many allowed": edit("seq_len > max_len", "… + 1").fails("error"),
    "default max_len 512": edit("max_len: int = 5000", "max_len: int = 512").named("5000"),
    "default max_len 100": edit("max_len: int = 5000", "max_len: int = 100").named("5000"),
    "the buffer is (max_len, 1, d_model)": edits(("d_model))", "d_model).unsqueeze(1))"), (":seq_len", "…, 0")).named("shape"),
    "the buffer is transposed": edits(("d_model))", "d_model).T)"), ("(0)", "(1)"), ("[:seq_len]", "[:, :seq_len].T")).named("shape"),
    "assigns what register_buffer returns": edit("self.register_buffer(", "self.encoding = …").named("None"),
    "a frozen parameter instead of a buffer": edit(
        "self.register_buffer…", "self.encoding = nn.Parameter(sinusoidal_encoding(max_len, d_model), requires_grad=False)"
    ).named("parameter"),
    "dropout and max_len exchanged in the signature": edit("max_len: int = 5000, dropout: float = 0.1", "dropout: float = 0.1, max_len: int = 5000"),
    "error names only max_len": edit("{seq_len} tokens, more", "tokens, more").named("does not say enough"),
    "error names only the length": edit("max_len = {max_len}", "max_len").named("does not say enough"),
    "error names the shape of the table and the batch": edit('f"The…"', 'f"{x.size(0)} {max_len}"').named("does not say enough"),
    "warns and cuts": edits(("raise ValueError(", "print("), ("self.dropout(…", "self.dropout(x[:, :max_len] + self.encoding[:seq_len])")).named(
        "should raise ValueError"
    ),
    "extends the table instead of refusing": edit("raise…", "self.encoding = sinusoidal_encoding(seq_len, x.size(-1))").named("should raise ValueError"),
    "wraps around instead of refusing": edits(("if seq_len…", "if False:"), (":seq_len", "torch.arange(seq_len) % max_len")).named("should raise ValueError"),
    "checks the batch": edit("if seq_len…", "if x.size(0) > max_len:"),
    "checks in training only": edit("if seq_len…", "if self.training and seq_len > max_len:"),
    "checks in eval only": edit("if seq_len…", "if not self.training and seq_len > max_len:"),
    "sequence first": edit("[:seq_len]", "[: x.size(0)][:, None]").named("place in the batch"),
    "added to the first sentence only": edit("self.dropout(…", "self.dropout(torch.cat([x[:1] + self.encoding[:seq_len], x[1:]]))"),
    "averaged with the input": edit("x + self.encoding[:seq_len]", "(…) / 2"),
    "concatenated": edit("x + self.encoding[:seq_len]", "torch.cat([x, self.encoding[:seq_len].expand_as(x)], -1)"),
    "added twice": edit("x + self", "….encoding[:seq_len] + self").named("added twice"),
    "added in training only": edit("self.dropout(…", "… if self.training else x").named("encoding is not added"),
    "added in eval only": edit("self.dropout(…", "x + self.encoding[:seq_len] if not self.training else self.dropout(x)"),
    "arguments exchanged": edit("max_len, d_model))", "d_model, max_len))").named("max_len|order"),
    "arguments of __init__ exchanged": edit("d_model: int, max_len: int = 5000", "max_len: int, d_model: int = 5000"),
    "one dropout mask for all sentences": edit("self.dropout(…", "(x + self.encoding[:seq_len]) * self.dropout(torch.ones_like(x[:1]))"),
    "one dropout mask for all tokens (columns)": edit("self.dropout(…", "(x + self.encoding[:seq_len]) * self.dropout(x.new_ones(x.size(-1)))").named(
        "columns"
    ),
    "one dropout mask for all positions of a sentence": edit("self.dropout(…", "(x + self.encoding[:seq_len]) * self.dropout(torch.ones_like(x[:, :1]))").named(
        "columns|every position drops the same"
    ),
    "not scaled up": edit(
        "self.dropout(…", "(x + self.encoding[:seq_len]) * (torch.rand_like(x) > self.dropout.p) if self.training else x + self.encoding[:seq_len]"
    ).named("not divided by 1 − dropout"),
    "dropout twice": edit("self.dropout(…", "self.dropout(…)").named("twice"),
    "dropout on both summands apart": edit("self.dropout(…", "self.dropout(x) + self.dropout(self.encoding[:seq_len].expand_as(x))"),
    "dropout default 0.0": edit("dropout: float = 0.1", "dropout: float = 0.0"),
    "alpha dropout": edit("nn.Dropout(dropout)", "nn.AlphaDropout(dropout)"),
    "returns float32 for float64": edit("self.dropout(…", "….float()"),
    "no forward check of None: forgets return": edit("return self.dropout(x", "self.dropout(x").named("return"),
    "train mode: random offset": edit(
        "return self…",
        "n=x.size(1)\no = torch.randint(0, self.encoding.size(0)-n+1, ()).item() if self.training else 0\nreturn self.dropout(x + self.encoding[o:o+n])",
        on="short",
    ),
    ">= refuses max_len itself": edits(("> self", ">= self"), ("seq_len {x.size(1)} > max_len", "{x.size(1)}"), on="short"),
    "ValueError, RuntimeError caught and renamed, len 1 table broadcasts": edit(
        "if x.…(1)])",
        'try:\n    return self.dropout(x + self.encoding[:x.size(1)])\nexcept RuntimeError:\n    raise ValueError(f"{x.size(1)} > {self.encoding.size(0)}")',
        on="short",
    ).named("max_len 1|1"),
    "checks batch size too": edits(("x.size(1) >", "max(x.shape[:2]) >"), ("seq_len {x.size(1)} > max_len", "{x.size(1)}"), on="short"),
    "buffer used but via .cpu()": edit("[:x.size(1)]", "….cpu()", on="short").named("device"),
    "output .float()": edit("x +", "x.float() +", on="short").named("dtype"),
    "dropout two times with half": edits(("self.dropout =…", "self.dropout=nn.Dropout(dropout/2)"), ("x + self.encoding…", "self.dropout(…)"), on="short"),
    "dropout on both x and sum": edit("x +", "self.dropout(x) +", on="short"),
    "buffer trainable (requires_grad)": edit("d_model)", "….requires_grad_()", on="short").named("train|grad"),
    "buffer bf16": edits(("d_model)", "….bfloat16()"), ("[:x.size(1)]", "….to(x.dtype)"), on="short"),
    "buffer has an extra row": edit("(5000", "(max_len+1", on="buffer always 5000 rows").named("max_len|rows"),
    "scales x by sqrt d in train": edit("return", "if self.training: x = x*math.sqrt(x.size(-1))\n…", on="short"),
    "squeeze(0)": edit("1)])", "….squeeze(0)", on="short"),
    "the sum in float32": edit("x + self.encoding[:seq_len]", "(x.float() + self.encoding[:seq_len].float()).to(x.dtype)").fails("values", "in float64"),
}

TRICKS = {
    "the buffer is there, a plain attribute is used": edits(
        ("d_model))", "…\nself.table = sinusoidal_encoding(max_len, d_model)"), ("+ self.encoding", "+ self.table")
    ).named("buffer"),
    "the buffer holds zeros, the table is made on every call": edits(
        ("sinusoidal_encoding", "torch.zeros"), ("self.encoding[:seq_len]", "sinusoidal_encoding(seq_len, x.size(-1)).to(x)")
    ).named("buffer"),
    "the buffer shrinks to the last length": edits(
        ("return self.dropout(x", "self.encoding = self.encoding[:seq_len]\n…"),
        ("x.size…", "x.size(1), self.max_len"),
        ("self.register_buffer…", "…\nself.max_len = max_len"),
    ),
    "the table is scaled on every call": edit("return", "self.encoding *= 1.0 if seq_len == max_len else 1.01\n…"),
    "max_len kept in a global": edits(("x.size…", "x.size(1), _longest"), ("self.register_buffer…", "…\nglobal _longest\n_longest = max_len")),
    "one table for all instances": edits(
        ('self.register_buffer("encoding"', "PositionalEncoding.table = sinusoidal_encoding(max_len, d_model)\nself.register_buffer('encoding'"),
        ("encoding[", "table["),
    ),
    "position goes on from call to call in training": edit(
        "return self…",
        "start = getattr(self, 'start', 0) if self.training else 0\n"
        "if start + seq_len > max_len:\n"
        "    start = 0\n"
        "self.start = start + seq_len\n"
        "return self.dropout(x + self.encoding[start : start + seq_len])",
    ),
    "error names fixed numbers": edit("raise ValueError…", 'raise ValueError("17 tokens are more than max_len = 13")'),
    "the same dropout on every call": edit("self.dropout(…", "(torch.manual_seed(1), …)[1]"),
    "the first quarter dropped, no chance": edit(
        "return self.dropout(x",
        "if self.training:\n"
        "    y = ((x + self.encoding[:seq_len]) / (1 - self.dropout.p)).flatten()\n"
        "    keep = torch.arange(y.numel()) >= self.dropout.p * y.numel()\n"
        "    return (y * keep).view_as(x)\n"
        "…",
    ),
    "output of the table's dtype: integer loss": edit("x + self.encoding[:seq_len]", "(…).bfloat16().to(x.dtype)"),
    "encoding scaled when len==max_len": edit(
        "seq_len,…seq_len])",
        "if x.size(1) >= self.encoding.size(0)+1:\n"
        '    raise ValueError(f"{x.size(1)} {self.encoding.size(0)}")\n'
        "return self.dropout(x + self.encoding[:min(x.size(1), self.encoding.size(0)-1)]) if x.size(1)<self.encoding.size(0) else self.dropout(x+0)",
        on=TYPED,
    ),
    "message names swapped hard-coded 5000": edit("raise ValueError…", 'raise ValueError(f"{x.size(1)} > 13")', on="short"),
    "same mask every call": edits(
        ("dropout)", "…\nself.m=None"),
        (
            "return self…",
            "y=(x + self.encoding[:x.size(1)])\n"
            "if not self.training: return y\n"
            "if self.m is None or self.m.shape!=y.shape: self.m=self.dropout(torch.ones_like(y)).detach()\n"
            "return y*self.m",
        ),
        on="short",
    ).named("second|call"),
    "dropout p clamped to 0.25": edit("(dropout)", "(0.25)", on="short").named("rate"),
    "buffer grows persistently: overwritten by slice (state)": edits(
        ("dropout)", "…\nself.max_len=max_len"),
        (
            "if x.…(1)])",
            'if x.size(1)>self.max_len: raise ValueError(f"{x.size(1)} {self.max_len}")\n'
            "self.encoding=self.encoding[:x.size(1)]\n"
            "return self.dropout(x + self.encoding)",
        ),
        on="short",
    ),
    "eval in-place add": edit(
        "return self…", "if not self.training: x += self.encoding[:x.size(1)]\nelse: x = x+ self.encoding[:x.size(1)]\nreturn self.dropout(x)", on="short"
    ).named("input|changes `"),
    "train in-place dropout fine but in-place add in train": edit(
        "if not…", "if self.training and not x.requires_grad: x += self.encoding[:x.size(1)]", on="eval in-place add"
    ).named("input|changes `"),
    "Dropout inplace=True with x+enc ok, but p=0?": edits(
        ("self.dropout =…", "self.dropout=nn.Dropout(dropout, inplace=True)"),
        ("return self…", "x=self.dropout(x) if False else x\nx.data=x.data+self.encoding[:x.size(1)]\nreturn self.dropout(x*1)"),
        on="short",
    ).named("input|changes `"),
    "detached x in eval only": edit("1)])", "1)]) if self.training else (x.detach() + self.encoding[:x.size(1)])", on="short").named("grad"),
    "buffer always 5000 rows": edits(
        ("max_len,", "5000,"), ("dropout)", "…\nself.m=max_len"), ('if x.…0)}")', 'if x.size(1)>self.m: raise ValueError(f"{x.size(1)} {self.m}")'), on="short"
    ).named("rows"),
    "seq_len 1 broadcasts whole": edit("return…", "n=x.size(1)\ne=self.encoding[:n] if n>1 else self.encoding[1:2]\nreturn self.dropout(x + e)", on="short"),
    "pads not encoded: zero vectors skipped": edit("[:x.size(1)]", "…*(x.abs().sum(-1,keepdim=True)>0)", on="short").named("zero"),
    "builds the table for d_model 12 from max_len order error masked": edit("(max_len…)", "(d_model, max_len).T[:max_len,:d_model].contiguous()", on="short"),
    "d_model hard-coded 12": edit("d_model)", "12)", on="short"),
    "only first three sentences": edit("return self…", "y=torch.cat([x[:3]+self.encoding[:x.size(1)],x[3:]])\nreturn self.dropout(y)", on="short"),
    "half of the gradient lost": edit("x + self.encoding", "(x + x.detach()) / 2 + self.encoding").fails("layer", "the gradient of"),
    "the gradient of the first sentence only": edit("x +…encoding", "torch.cat([x[:1], x[1:].detach()]) + self.encoding").fails("layer", "the gradient of"),
}

RIGHT = {
    "an assertion": edit("raise ValueError(", "assert False, ("),
    "a leading dimension, sliced in two": """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.dropout = nn.Dropout(p=dropout)
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).unsqueeze(0))
            def forward(self, x):
                if x.size(1) > self.encoding.size(1):
                    raise ValueError(f"length {x.size(1)} is more than the maximum, {self.encoding.size(1)}")
                x = x + self.encoding[:, : x.size(1), :]
                return self.dropout(x)
    """,
    "not persistent, F.dropout with the mode": """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.max_len, self.p = max_len, dropout
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model), persistent=False)
            def forward(self, x):
                if x.shape[1] > self.max_len:
                    raise ValueError("sequence of {} tokens for {} positions".format(x.shape[1], self.max_len))
                return F.dropout(x + self.encoding[: x.shape[1]].requires_grad_(False), self.p, self.training)
    """,
    "the table written out": """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                pe = torch.zeros(max_len, d_model)
                position = torch.arange(max_len)[:, None]
                speed = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
                pe[:, 0::2], pe[:, 1::2] = torch.sin(position * speed), torch.cos(position * speed)
                self.register_buffer("encoding", pe)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                n = x.size(-2)
                if n > len(self.encoding):
                    raise ValueError(f"{n} tokens, {len(self.encoding)} positions")
                return self.dropout(torch.add(x, self.encoding.narrow(0, 0, n)))
    """,
    "the table not persistent, a leading 1": edits(
        ("self.register_buffer…", "self.drop = nn.Dropout(dropout)"),
        ("rate = dropout", 'register_buffer("encoding", sinusoidal_encoding(max_len, d_model).unsqueeze(0), persistent=False)'),
        ("n, m…", "n, m = x.shape[1], self.encoding.shape[1]"),
        ("y = torch…return y", "return self.drop(x + self.encoding[:, :n])"),
        on="own dropout by torch.rand, a loop over positions",
    ),
    "a clone added in place, dropout in place": edits(
        ("__init__()", "…\nself.dropout = nn.Dropout(p=dropout, inplace=True)"),
        ("rate = dropout", "max_len = max_len"),
        ("encoding.size(0)", "max_len"),
        ("n >", "not n <="),
        ("y = torch…return y", "y = x.clone()\ny += self.encoding[:n].to(x.dtype)\nreturn self.dropout(y)"),
        on="own dropout by torch.rand, a loop over positions",
    ),
    "a table in float64, cast on use": edits(
        ("d_model)", "….double()"),
        ("rate =", "p ="),
        ("self.encoding.size(0)", "len(self.encoding)"),
        ("y = torch…return y", "return F.dropout(x + self.encoding[:n].to(x), p=self.p, training=self.training)"),
        on="own dropout by torch.rand, a loop over positions",
    ),
    "an own error class, a pre-hook for the check": """
        class SequenceTooLong(ValueError):
            def __init__(self, n, m):
                super().__init__(f"max_len is {m}; got {n}")
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)
                self.register_forward_pre_hook(self._short_enough)
            @staticmethod
            def _short_enough(module, inputs):
                n, m = inputs[0].size(1), module.encoding.size(0)
                if n > m:
                    raise SequenceTooLong(n, m)
            def forward(self, x):
                return self.dropout(x + self.encoding[torch.arange(x.size(1))])
    """,
    "F.embedding, requires_grad_(False), a list of messages": """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                table = sinusoidal_encoding(max_len, d_model).requires_grad_(False)
                self.register_buffer(name="encoding", tensor=table)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                batch, seq_len, d_model = x.shape
                if seq_len > self.encoding.shape[0]:
                    raise ValueError("too long:", seq_len, self.encoding.shape[0])
                return self.dropout(
                    F.embedding(torch.arange(seq_len, device=x.device), self.encoding).expand(batch, -1, -1) + x
                )
    """,
    "own dropout by torch.rand, a loop over positions": """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.rate = dropout
            def forward(self, x):
                n, m = x.size(1), self.encoding.size(0)
                if n > m:
                    raise ValueError(f"sequence of {n} tokens, but max_len is {m}")
                y = torch.stack([x[:, i] + self.encoding[i] for i in range(n)], 1)
                if self.training:
                    y = y * (torch.rand_like(y) >= self.rate) / (1 - self.rate)
                return y
    """,
    "nn.Sequential for what follows the sum": edits(
        (
            "class",
            "class _Add(nn.Module):\n"
            "    def __init__(self, outer):\n"
            "        super().__init__()\n"
            "        self.table = lambda: outer.encoding\n"
            "    def forward(self, x):\n"
            "        return x + self.table()[: x.size(1)]\n"
            "class",
        ),
        ("rate = dropout", "steps = nn.Sequential(_Add(self), nn.Dropout(dropout))"),
        ("y = torch…return y", "return self.steps(x)"),
        on="own dropout by torch.rand, a loop over positions",
    ),
    "dropout by multiplying with a dropped tensor of ones": edits(
        ("rate = dropout", "dropout = nn.Dropout(dropout)"),
        ("y = torch…return y", "y = x + self.encoding[:n]\nreturn y * self.dropout(torch.ones_like(y))"),
        on="own dropout by torch.rand, a loop over positions",
    ),
    "buffer with leading 1": edits(
        ("d_model)", "…[None]"),
        ("n, m…", "n, m = x.shape[1], self.encoding.shape[1]"),
        ('"seq_len", n, "max_len", m', 'f"{n=} {m=}"'),
        ("[:n]", "[:, :n]"),
        on="ValueError with several args",
    ),
    "non-persistent, F.dropout": edits(
        ("d_model)", "…, persistent=False"),
        ("self.dropout =…", "self.p = dropout"),
        ("n, m…", "n, m = x.shape[1], self.encoding.shape[0]"),
        ('seq_len", n, "max_len", m', 'sequence of length %d, but the table has %d rows" % (n, m)'),
        ("return self…", "return F.dropout(x + self.encoding.narrow(0, 0, n), p=self.p, training=self.training)"),
        on="ValueError with several args",
    ),
    "own dropout with bernoulli": edits(
        ("self.dropout =…", "self.p = dropout"),
        (
            "return self…",
            "y = torch.add(x, self.encoding[:x.size(1)])\n"
            "if self.training and self.p > 0:\n"
            "    keep = torch.bernoulli(torch.full_like(y, 1 - self.p))\n"
            "    y = y * keep / (1 - self.p)\n"
            "return y",
        ),
        on="short",
    ),
    "inplace dropout on own sum": edit("(dropout)", "(dropout, inplace=True)", on="short"),
    "index_select with arange and to dtype": edit(
        "return self…", "rows = self.encoding.index_select(0, torch.arange(x.size(1), device=x.device))\nreturn self.dropout(x + rows.to(x))", on="short"
    ),
    "own table in a static method, kw only dropout": """
        class PositionalEncoding(nn.Module):
            @staticmethod
            def table(n, d):
                p = torch.arange(n).unsqueeze(1)
                s = 10000.0 ** (-torch.arange(0, d, 2) / d)
                return torch.stack([(p * s).sin(), (p * s).cos()], -1).view(n, d)
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.max_len = max_len
                self.register_buffer("encoding", self.table(max_len, d_model))
                self.drop = nn.Dropout(p=dropout)
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if (seq_len := x.size(-2)) > self.max_len:
                    raise ValueError(f"Sequence too long: {seq_len} tokens for max_len={self.max_len}")
                return self.drop(self.encoding[:seq_len] + x)
    """,
    "clone and +=": edit("return self…", "y = x.clone()\ny += self.encoding[None, :x.size(1)]\nreturn self.dropout(y)", on="short"),
    "expand per batch": edit(
        "return self…",
        "rows = self.encoding[:x.size(1)].unsqueeze(0).expand(x.size(0), -1, -1)\nreturn self.dropout(torch.stack([x, rows]).sum(0))",
        on="short",
    ),
    "Sequential dropout, multiline message": edits(("max_len, d_model", "max_len=…=d_model"), ("Dropout(dropout)", "Sequential(nn.…)"), on="short"),
    "nn.Buffer": edit("self.register_buffer…", "self.encoding = nn.Buffer(sinusoidal_encoding(max_len, d_model))", on="short"),
    "subclass of ValueError": edits(
        ("class", "class TooLong(ValueError):\n    def __init__(self, n, m): super().__init__(f'{n} tokens > {m}')\nclass"),
        ("raise ValueError…", "raise TooLong(x.size(1), self.encoding.size(0))"),
        on="short",
    ),
    "try/except with size error": edit(
        'if n >…", m)',
        'try:\n    assert n <= m\nexcept AssertionError as e:\n    raise ValueError(f"{n} > max_len {m}") from e',
        on="ValueError with several args",
    ),
    "message with thousands and units e.g. 'len=17/13'": edit('", n, "max_len", m', '=" + str(n) + "/max_len=" + str(m)', on="ValueError with several args"),
    "ValueError with several args": """
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), len(self.encoding)
                if n > m:
                    raise ValueError("seq_len", n, "max_len", m)
                return self.dropout(x + self.encoding[:n])
    """,
    "addcmul & functional with requires_grad_(False)": edits(
        ("d_model)", "….requires_grad_(False)"),
        ("x + self.encoding[:x.size(1)]", "torch.addcmul(x, self.encoding[:x.size(1)], torch.ones((), device=x.device, dtype=x.dtype))"),
        on="short",
    ),
    "float64 buffer cast at use? keeps float32 buffer; x.new": edit("[:x.size(1)]", "….to(device=x.device, dtype=x.dtype)", on="short"),
    "extra attrs and a repr, dropout first defined": edits(
        ("Module):", "…\n    def extra_repr(self): return f'd_model={self.d_model}'"),
        ("self.register_buffer…", "self.dropout, self.d_model = nn.Dropout(dropout), d_model"),
        ("self.dropout =…", 'self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).detach().clone())'),
        on="short",
    ),
    "torch.lerp / baddbmm style": edit("x + self.encoding[:x.size(1)]", "sum([x, self.encoding[:x.size(1), :]])", on="short"),
    "makes the table itself, narrow and an explicit batch dimension": body("""
        def __init__(self, d_model, max_len=5000, dropout=0.1):
            super().__init__()
            self.max_len = max_len
            self.drop = nn.Dropout(p=dropout)
            angles = torch.arange(max_len).double()[:, None] * 10000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
            table = torch.empty(max_len, d_model)
            table[:, ::2], table[:, 1::2] = (angles.sin(), angles.cos())
            self.register_buffer("encoding", table)
        def _check(self, length):
            if length > self.max_len:
                raise ValueError("got %d positions, but there are only %d" % (length, self.max_len))
        def forward(self, x):
            self._check(x.shape[1])
            rows = self.encoding.narrow(0, 0, x.shape[1])
            return self.drop(x.add(rows.unsqueeze(0)))
    """),
    "takes the rows by index on the input's device, keywords for the table": body("""
        def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1) -> None:
            super().__init__()
            self.dropout = nn.Dropout(dropout)
            self.register_buffer("encoding", sinusoidal_encoding(max_len=max_len, d_model=d_model))
        def forward(self, x):
            batch, seq_len, _ = x.shape
            if not seq_len <= len(self.encoding):
                raise ValueError(f"seq_len={seq_len!r} max_len={len(self.encoding)}")
            places = torch.arange(seq_len, device=x.device).expand(batch, seq_len)
            return self.dropout(x + self.encoding[places])
    """),
}
