from answers.writing import BARE, edit, edits, whole

WRONG = {
    "x grows in place": edit("x = self.add_norm_1", "x.mul_(1.01)\n…").fails("values", "changes `x`"),
    "the network reads the attention": edit(
        "x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))\nreturn self.add_norm_2(x, self.feed_forward(x))",
        "attended = self.self_attention(x, x, x, src_mask)\nreturn self.add_norm_2(self.add_norm_1(x, attended), self.feed_forward(attended))",
    ).fails("values", "reads what the attention returns"),
    "a sum without its norm": edit("self.add_norm_2(x, self.feed_forward(x))", "x + self.feed_forward(x)").fails("values", "the norm of the second add & norm"),
    "causal where no mask is given": edit(
        "x = self.add_norm_1(", "if src_mask is None:\n    src_mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()\n…"
    ).fails("values", "though no mask asks for it"),
    "network reads a detached input": edit("self.feed_forward(x)", "self.feed_forward(x.detach())").fails("values", "the gradient of `layer(x)`"),
    "dropout on a sum": edits(
        ("add_norm_2 = AddNorm(d_model, dropout)", "…\nself.dropout = nn.Dropout(dropout)"),
        ("x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))", "x = self.dropout(self.add_norm_1(x, self.self_attention(x, x, x, src_mask)))"),
        on=BARE,
    ).fails("dropout", "more is dropped than"),
    "drops what the attention reads": edits(
        ("add_norm_2 = AddNorm(d_model, dropout)", "…\nself.dropout = nn.Dropout(dropout)"), ("x, x, x", "*[self.dropout(x)] * 3"), on=BARE
    ).fails("dropout", "what a part reads is never dropped"),
    "drops what the network reads": edits(
        ("add_norm_2 = AddNorm(d_model, dropout)", "…\nself.dropout = nn.Dropout(dropout)"), ("feed_forward(x", "feed_forward(self.dropout(x)"), on=BARE
    ).fails("dropout", "what a part reads is never dropped"),
    "a norm alone for the first add & norm": edits(
        ("self.add_norm_1 =…", "self.add_norm_1 = nn.LayerNorm(d_model)"), ("add_norm_1(x, ", "add_norm_1(x + "), on=BARE
    ).fails("dropout", "holds no dropout at all"),
    "no return": edit("return self", "self").fails("values", "`return`"),
    "mask dropped": edit("x, x, x, src_mask", "x, x, x").fails("values", "mask is not handed"),
    "second residual from the input": edits(("x = self.add_norm_1(x,", "y = self.add_norm_1(x,"), ("self.feed_forward(x)", "self.feed_forward(y)")).fails(
        "values", "starts from the layer's input"
    ),
    "second residual from the input, by another name": edits(
        ("x = self.add_norm_1(x,", "first = self.add_norm_1(x,"), ("self.feed_forward(x)", "self.feed_forward(first)")
    ).fails("values", names="starts from the layer's input"),
    "network reads the input": edits(("x = self.add_norm_1(x,", "y = self.add_norm_1(x,"), ("self.add_norm_2(x,", "self.add_norm_2(y,")).fails(
        "values", "network reads the layer's input"
    ),
    "no first add & norm": edit("x = self…", "x = self.self_attention(x, x, x, src_mask)").fails("values", "first add & norm is left out"),
    "no second add & norm": edit("self.add_norm_2(…", "self.feed_forward(x)").fails("values", "second add & norm is left out"),
    "no network": edit("return self…", "return x").fails("values", "network is left out"),
    "no attention": edit("x = self…", "").fails("values", "attention is left out"),
    "the first norm twice": edit("add_norm_2(", "add_norm_1(").fails("values", "add_norm_1 is used twice"),
    "residual twice": edits((", self.self_attention", ", x + self.self_attention"), (", self", ", x + self")).fails("values", "twice in each add & norm"),
    "residual twice around the attention": edit("self.add_norm_1(x, self", "self.add_norm_1(x, x + self").fails("values", "twice in add_norm_1"),
    "residual twice around the network": edit("self.add_norm_2(x, self", "self.add_norm_2(x, x + self").fails("values", "twice in add_norm_2"),
    "norms exchanged": edits(("x = self…(", "x = self.add_norm_2("), ("return…(", "return self.add_norm_1(")).fails("values", "exchanged"),
    "network first": whole("""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1, self.add_norm_2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)
            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.feed_forward(x))
                return self.add_norm_2(x, self.self_attention(x, x, x, src_mask))
    """).fails("values", "before the attention"),
    "pre-norm": edits(
        ("x = self…", "n = self.add_norm_1.norm(x)\nx = x + self.self_attention(n, n, n, src_mask)"),
        ("return self…", "return x + self.feed_forward(self.add_norm_2.norm(x))"),
    ).fails("values", "pre-norm"),
    "one add & norm under two names": edit("self.add_norm_2 =…", "self.add_norm_2 = self.add_norm_1").fails("parameters", "is the same module as `add_norm_1`"),
    "other names": edit(".self_attention", ".attention").fails("parameters", "has no part `self_attention"),
    "d_ff ignored": edit("d_ff,", "4 * d_model,").fails("parameters", "wrong shape"),
    "an extra part": edit("self.add_norm_2 =…", "…\nself.final = AddNorm(d_model)").fails("parameters", "should not have"),
    "dropout not passed on": edit("AddNorm(d_model,…", "AddNorm(d_model)").fails("dropout", "Pass `dropout` on"),
    "add & norm the wrong way round": edits(
        ("x = self…", "x = self.add_norm_1(self.self_attention(x, x, x, src_mask), x)"), ("self.add_norm_2(…", "self.add_norm_2(self.feed_forward(x), x)")
    ).fails("dropout", "arguments of every add & norm are exchanged"),
    "mask of first sentence for all": edit("x = self", "if src_mask is not None: src_mask=src_mask[:1]\n…", on=BARE).named(
        "all sentences get the mask of the first"
    ),
    "dropout not handed to FF": edit("d_ff, dropout)", "d_ff)", on=BARE).named("dropout"),
    "dropout not handed to AddNorm 2": edit("self.add_norm_2 =…", "self.add_norm_2 = AddNorm(d_model)", on=BARE).named("dropout"),
    "dropout twice on sublayer output": edits(
        ("add_norm_2 = AddNorm(d_model, dropout)", "…\nself.dropout = nn.Dropout(dropout)"),
        ("self_attention(x, x, x, src_mask)", "dropout(self.…)"),
        ("feed_forward(x)", "dropout(self.…)"),
        on=BARE,
    ).named("twice|51%|2 times|dropout after the ReLU"),
    "default dropout 0.0": edit("dropout = 0.1", "dropout=0.0", on=BARE).named("default|drops out at|another default"),
    "default dropout 0.5": edit("dropout = 0.1", "dropout=0.5", on=BARE).named("default|drops out at|another default"),
    "in-place x": edit("x = self…", "x.copy_(self.add_norm_1(x,self.self_attention(x,x,x,src_mask)))", on=BARE).named("x"),
    "residual detached": edit("add_norm_1(x", "….detach()", on=BARE).named("grad"),
    "residual 2 detached": edit(", self.feed_forward", ".detach()…", on=BARE).named("grad"),
    "add_norm_1 without dropout, attention with": edit("self.add_norm_1 =…", "self.add_norm_1 = AddNorm(d_model)", on=BARE).named("dropout"),
    "add_norm_1 without dropout, attention without": edits(
        ("num_heads, dropout", "num_heads"), ("self.add_norm_1 =…", "self.add_norm_1 = AddNorm(d_model)"), on=BARE
    ).named("dropout"),
    "FF rate hard-coded 0.5": edit("d_ff, dropout)", "d_ff, 0.5)", on=BARE).named("dropout"),
    "num_heads passed as dropout too? FF gets d_ff,d_ff//100": edit("d_ff, dropout)", "d_ff, 0.0)", on=BARE).named("dropout"),
    "batch 1 squeezed": edit("x))", "x)).squeeze(0)", on=BARE).named("batch"),
    "num_heads swapped d_ff order kw": edit("num_heads, dropout", "num_heads, 0.5", on=BARE).named("dropout"),
    "attention dropout fixed 0.1": edit("num_heads, dropout", "num_heads, 0.1", on=BARE).named("dropout"),
    "attention drops out at another rate": edit("num_heads, dropout)", "num_heads, dropout / 2)").fails("dropout", "`self_attention` drops out at"),
    "the mask inverted": edit("x, src_mask)", "x, None if src_mask is None else ~src_mask)").fails("values", "wrong way round"),
    "attention twice": edit("x = self.add_norm_1…", "…\n…").fails("values", "attention runs twice"),
    "side by side": edits(
        ("x = self.add_norm_1(x, self.self…)\n", "a = self.self_attention(x, x, x, src_mask)\n"), ("self.feed_forward(x))", "a + self.feed_forward(x))")
    ).fails("values", "side by side"),
    "a ReLU at the end": edit("return self.add_norm_2(x, self.feed_forward(x))", "….relu()").fails("values", "a ReLU stands at the end"),
    "remembers what it made of a tensor": edits(("class", "import functools\n…"), ("def forward", "@functools.lru_cache(maxsize=None)\n…")).fails(
        "values", "from before the weights changed"
    ),
}

TRICKS = {
    "mask in evaluation only": edit(", x, x, ", ", x, x, None if self.training else ").fails("values", "layer(x, mask)"),
    "mask squeezed to padding (B,1,1,S) only: mask[:, :, :1]": edit("x = self", "if src_mask is not None: src_mask=src_mask[:, :, :1]\n…", on=BARE).named(
        "mask"
    ),
    "mask first head for all heads": edit("x = self", "if src_mask is not None and src_mask.dim()==4: src_mask=src_mask[:, :1]\n…", on=BARE).named("head"),
    "dropout on output when p<1": edits(
        ("add_norm_2 = AddNorm(d_model, dropout)", "…\nself.p=dropout"),
        ("return self…", "y = self.add_norm_2(x, self.feed_forward(x))\nreturn F.dropout(y,self.p if self.p<1 else 0,self.training)"),
        on=BARE,
    ),
    "num_heads hard-coded 3": edit("num_heads, dropout", "3, dropout", on=BARE).named("num_heads"),
    "num_heads 4 if divisible, else given": edit("__init__()", "…\nnum_heads = 4 if d_model % 8 == 0 else num_heads", on=BARE).named("num_heads"),
    "d_ff ignored 4d": edit("d_model, d_ff", "d_model, 20", on=BARE),
    "mask mutated in place": edit(
        "x = self…feed_forward(x))",
        "r=self.add_norm_1(x, self.self_attention(x, x, x, src_mask))\n"
        "if src_mask is not None: src_mask.logical_not_()\n"
        "return self.add_norm_2(r,self.feed_forward(r))",
        on=BARE,
    ).named("mask"),
    "attention detached for query": edit(", x, x", ".detach()…", on=BARE).named("grad"),
    "attention key detached": edits(
        ('"""Self….1):', "def __init__(self, d_model, num_heads, d_ff, dropout=0.1):"),
        ('"""Pass…sk))', "x = self.add_norm_1(x, self.self_attention(x, x.detach(), x, src_mask))"),
    ).named("grad"),
    "attention skipped for len 1": edit("x = self", "if x.size(1)==1: return self.add_norm_2(x,self.feed_forward(x))\n…", on=BARE).named("1"),
    "output of pads zeroed": edit(
        "return self…",
        "y = self.add_norm_2(x, self.feed_forward(x))\n"
        "if src_mask is not None and src_mask.dim()==4 and src_mask.size(2)==1: y=y*src_mask[:,0,0,:,None]\n"
        "return y",
        on=BARE,
    ).named("pad|zero"),
    "mask as default mutable saved from last call": edits(
        ("add_norm_2 = AddNorm(d_model, dropout)", "…\nself.m=None"),
        ("x = self", "if src_mask is not None: self.m=src_mask\nelif self.m is not None and self.m.size(-1)==x.size(1): src_mask=self.m\n…"),
        on=BARE,
    ),
    "pre-norm when training": edit(
        "x = self",
        "if self.training:\n"
        "    h=self.add_norm_1.norm(x)\n"
        "    x=x+self.add_norm_1.dropout(self.self_attention(h,h,h,src_mask))\n"
        "    return self.add_norm_2(x,self.feed_forward(x))\n"
        "…",
        on=BARE,
    ),
    "attention twice (two rounds) in train": edit("x = self", "if self.training: x=self.add_norm_1(x,self.self_attention(x,x,x,src_mask))\n…", on=BARE),
    "d_model hard-coded 12 in AddNorm": edits(("add_norm_1 = AddNorm(d_model", "add_norm_1 = AddNorm(12"), ("AddNorm(d_model", "AddNorm(12"), on=BARE),
    "FF run twice sum in train": edit("(x)", "(x) + (self.feed_forward(x) if self.training else 0)", on=BARE),
    "mask converted to padding by any over queries (full masks lose)": edit(
        "x = self", "if src_mask is not None: src_mask=src_mask.any(-2, keepdim=True)\n…", on=BARE
    ).named("mask"),
    "mask &= causal for eval len>5": edit("x = self", "if src_mask is not None and src_mask.dim()==2: src_mask=None\n…", on=BARE).named("mask"),
}

RIGHT = {
    "mask by name, parts in another order, no dropout in the attention": """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.self_attention = MultiHeadAttention(d_model, num_heads)
            def forward(self, x, src_mask=None):
                attended = self.self_attention(x, x, x, mask=src_mask)
                y = self.add_norm_1(x, attended)
                return self.add_norm_2(y, self.feed_forward(y))
    """,
    "every part called by keyword": edits(
        ("self.add_norm_1,…", "self.add_norm_1 = AddNorm(d_model=d_model, dropout=dropout)\nself.add_norm_2 = AddNorm(d_model=d_model, dropout=dropout)"),
        ("a =", "attended ="),
        ("y = self…", "x = self.add_norm_1(x=x, sublayer_output=attended)"),
        ("return self…", "return self.add_norm_2(x=x, sublayer_output=self.feed_forward(x=x))"),
        on="keywords",
    ),
    "attention without dropout": edit("num_heads, dropout", "num_heads", on=BARE),
    "keywords": """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model=d_model, num_heads=num_heads, dropout=dropout)
                self.feed_forward = FeedForward(d_model=d_model, d_ff=d_ff, dropout=dropout)
                self.add_norm_1, self.add_norm_2 = (AddNorm(d_model, dropout=dropout) for _ in range(2))
            def forward(self, x, src_mask=None):
                a = self.self_attention(query=x, key=x, value=x, mask=src_mask)
                y = self.add_norm_1(x, a)
                return self.add_norm_2(x=y, sublayer_output=self.feed_forward(y))
    """,
    "setattr loop": edits(
        ("num_heads, dropout", "num_heads"),
        ("self.add_norm_1,…", "for i in (1, 2): setattr(self, f'add_norm_{i}', AddNorm(d_model, dropout))"),
        (
            "x = self…src_mask))",
            "for norm, f in ((self.add_norm_1, lambda t: self.self_attention(t, t, t, src_mask)), (self.add_norm_2, self.feed_forward)):\n"
            "    x = norm(x, f(x))\n"
            "return x",
        ),
        on="network first",
    ),
    "deepcopy of the add norm": edits(("__init__()", "…\nimport copy"), ("self.add_norm_2 =…", "self.add_norm_2 = copy.deepcopy(self.add_norm_1)"), on=BARE),
    "super with sublayer helper base": edits(
        ("class EncoderLayer…", "class Base(nn.Module):\n    def run(self, i, x, s): return getattr(self, f'add_norm_{i}')(x, s)\nclass EncoderLayer(Base):"),
        ("x = self…", "x = self.run(1, x, self.self_attention(*[x] * 3, src_mask))"),
        ("add_norm_2(x", "run(2, x"),
        on=BARE,
    ),
    "mask expanded to full": edit(
        "x = self",
        "if src_mask is not None:\n"
        "    src_mask = src_mask.expand(*([x.size(0), -1] if src_mask.dim() == 4 else []), *([x.size(1)] * 2)) if src_mask.dim() in (2, 4) else src_mask\n"
        "…",
        on=BARE,
    ),
    "all-true mask for None": edit(
        "x = self", "if src_mask is None:\n    src_mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device)\n…", on=BARE
    ),
    "args forwarding": """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **ignored):
                super().__init__()
                for name, part in dict(
                    self_attention=MultiHeadAttention(d_model, num_heads, dropout),
                    feed_forward=FeedForward(d_model, d_ff, dropout),
                    add_norm_1=AddNorm(d_model, dropout),
                    add_norm_2=AddNorm(d_model, dropout),
                ).items():
                    self.add_module(name, part)
            def attend(self, x, *args, **kwargs):
                return self.self_attention(x, x, x, *args, **kwargs)
            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.attend(x, mask=src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """,
    "functools.reduce": edit(
        "x = self…feed_forward(x))",
        "import functools\n"
        "steps = [(self.add_norm_1, lambda t: self.self_attention(t, t, t, src_mask)), (self.add_norm_2, self.feed_forward)]\n"
        "return functools.reduce(lambda t, s: s[0](t, s[1](t)), steps, x)",
        on=BARE,
    ),
    "wired by hand w/o AddNorm call (uses .norm and .dropout)": edits(
        ("x = self…", "x = self.add_norm_1.norm(x + self.add_norm_1.dropout(self.self_attention(x, x, x, src_mask)))"),
        ("(x, self.feed_forward(x))", ".norm(x + self.add_norm_2.dropout(self.feed_forward(x)))"),
        on=BARE,
    ),
}
