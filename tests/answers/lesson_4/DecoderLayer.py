from answers.writing import BARE, body, edit, edits

WRONG = {
    "the memory grows in place": edit("x = self.add_norm_1", "memory.mul_(1.0001)\n…").fails("values", "changes `memory`"),
    "side by side": edit(
        "x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))\nx = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))",
        "x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask) + self.cross_attention(x, memory, memory, src_mask))",
    ).fails("values", "side by side"),
    "self-attention twice": edit("self.cross_attention(x, memory, memory, src_mask)", "self.self_attention(x, x, x, tgt_mask)").fails(
        "values", "runs twice, and the cross-attention never"
    ),
    "drops the query of the cross-attention": edits(
        ("add_norm_3 = AddNorm(d_model, dropout)", "…\nself.dropout = nn.Dropout(dropout)"), ("cross_attention(x,", "cross_attention(self.dropout(x),")
    ).fails("dropout", "what a part reads is never dropped"),
    "drops the memory": edits(
        ("add_norm_3 = AddNorm(d_model, dropout)", "…\nself.dropout = nn.Dropout(dropout)"), ("x = self.add_norm_1(", "memory = self.dropout(memory)\n…")
    ).fails("dropout", "what a part reads is never dropped"),
    "x and memory exchanged": edit("x = self.add_norm_1(", "x, memory = memory, x\n…").fails("values", "x and the memory are exchanged"),
    "a causal mask of its own besides": edit(
        "x = self.add_norm_1(",
        "causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()\ntgt_mask = causal if tgt_mask is None else tgt_mask & causal\n…",
    ).fails("values", "is joined to `tgt_mask`"),
    "no first add & norm": edit("self.add_norm_1(…", "self.self_attention(x, x, x, tgt_mask)").fails("values", "first add & norm is left out"),
    "query of the cross-attention detached": edit("(x, memory", "(x.detach(), memory").fails("values", "the gradient of `layer(x, memory)`"),
    "no mask in the self-attention": edit("x, tgt_mask", "x").fails("masks", "changes when", names="sees the future"),
    "memory detached": edit("memory, memory, src_mask", "memory.detach(), memory.detach(), src_mask").fails("values", "No gradient flows back to `memory`"),
    "dropout not passed on": edit("AddNorm(d_model,…", "AddNorm(d_model)").fails("dropout", "Pass `dropout` on"),
    "add & norm the wrong way round": edit("x, self.feed_forward(x)", "self.feed_forward(x), x").fails("dropout", "arguments of `add_norm_3` are exchanged"),
    "no mask in the cross-attention": edit(", src_mask)", ")").fails("values", "cross-attention gets no mask"),
    "masks exchanged": edits(("x, x, x, tgt_mask", "x, x, x, src_mask"), ("memory, memory, src_mask", "memory, memory, tgt_mask")).fails(
        "values", "the two masks are exchanged"
    ),
    "query from memory": edit("x, memory, memory", "memory, x, x").fails("values", "query and memory are exchanged"),
    "value from the target": edit("memory, memory", "memory, x").fails("values", "values of the cross-attention come from the target"),
    "cross-attention to the target": edit("memory, memory, src_mask", "x, x, tgt_mask").fails("values", "attends to the target, with the mask of the target"),
    "cross-attention with the mask of the target": edit("memory, memory, src_mask", "memory, memory, tgt_mask").fails(
        "values", "the cross-attention gets the mask of the target"
    ),
    "self-attention with the mask of the source": edit("x, x, x, tgt_mask", "x, x, x, src_mask").fails("values", "self-attention gets the mask of the source"),
    "memory overwritten": edit("x = self.add_norm_2(x, self", "x = memory = self.add_norm_2(memory, self").fails("values", "residual starts from the memory"),
    "cross-attention to the target, with the mask of the source": edit("memory, memory", "x, x").fails("values", "attends to the target instead of the memory"),
    "dropout on a sum": edits(
        ("add_norm_3 = AddNorm(d_model, dropout)", "…\nself.dropout = nn.Dropout(dropout)"),
        ("return self…", "return self.dropout(self.add_norm_3(x, self.feed_forward(x)))"),
        on=BARE,
    ).fails("dropout", "more is dropped than"),
    "no return": edit("return self", "self").fails("values", "`return`"),
    "no cross-attention": edit("x = self.add_norm_2…", "").fails("values", "cross-attention is left out"),
    "no self-attention": edit("x = self.add_norm_1…", "").fails("values", "masked self-attention is left out"),
    "no network": edit("return self…", "return x").fails("values", "network is left out"),
    "third add & norm left out": edit("return self…", "return self.feed_forward(x)").fails("values", "third add & norm is left out"),
    "no residual round the cross-attention": edit("add_norm_2(x, ", "add_norm_2.norm(").fails("values", "no residual around"),
    "residual twice": edits(("_1(x, ", "_1(x, x + "), ("_2(x, ", "_2(x, x + "), ("_3(x, ", "_3(x, x + ")).fails("values", "twice in each add & norm"),
    "one norm for all": edits(("x = self.add_norm_2(", "x = self.add_norm_1("), ("return…(", "return self.add_norm_1(")).fails("values", "used for all three"),
    "the second norm twice": edit("add_norm_3(", "add_norm_2(").fails("values", "add_norm_2 is used twice"),
    "one attention for both": edit("self.cross_attention(x", "self.self_attention(x").fails("values", "one attention does both jobs"),
    "one attention under two names": edit("self.cross_attention =…", "self.cross_attention = self.self_attention").fails(
        "parameters", "is the same module as `self_attention`"
    ),
    "second residual from the input": edits(("x = self.add_norm_1", "y = self.add_norm_1"), ("x, memory, memory", "y, memory, memory")).fails(
        "values", "second residual starts from the layer's input"
    ),
    "two add & norms": edits(("self.add_norm_3 =…", ""), ("return self.add_norm_3(", "return self.add_norm_2(")).fails("parameters", "has no part `add_norm_3"),
    "returns a pair": edit("return self…", "…, memory").fails("values", "should be a torch.Tensor"),
    "own causal mask, ignores tgt_mask": edit(
        "None):", "…\n    tgt_mask=torch.ones(x.size(1),x.size(1),dtype=torch.bool,device=x.device).tril()", on=BARE
    ).named("tgt_mask"),
    "tgt_mask & causal always": edit(
        "None):",
        "…\n    c=torch.ones(x.size(1),x.size(1),dtype=torch.bool,device=x.device).tril()\n    if tgt_mask is not None: tgt_mask=tgt_mask & c",
        on=BARE,
    ),
    "order: cross first": edits(
        ("None):", "…\n    x=self.add_norm_2(x,self.cross_attention(x,memory,memory,src_mask))"), ("x = self.add_norm_2…", ""), on=BARE
    ).named("order"),
    "cross reads original x as query": edits(
        ("x = self.add_norm_1", "y = self.add_norm_1"),
        ("x = self.add_norm_2(x", "y = self.add_norm_2(y"),
        ("x, self.feed_forward(x)", "y, self.feed_forward(y)"),
        on=BARE,
    ).named("query|the cross\\-attention reads x instead of the output of the first add \\& norm"),
    "norms 2/3 swapped": edit(
        "def attend…feed_forward(x))",
        "x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))\n"
        "x = self.add_norm_3(x, self.cross_attention(x, memory, memory, src_mask))\n"
        "return self.add_norm_2(x, self.feed_forward(x))",
        on="an inner function",
    ).named("norm"),
    "self and cross modules swapped": edit(
        "def attend…src_mask))",
        "x = self.add_norm_1(x, self.cross_attention(x, x, x, tgt_mask))\nx = self.add_norm_2(x, self.self_attention(x, memory, memory, src_mask))",
        on="an inner function",
    ).named("swap|self_attention and cross_attention are exchanged"),
    "x residual detached": edit("add_norm_1(x", "….detach()", on=BARE).named("grad"),
    "memory normed by add_norm_2.norm": edit("tgt_mask))", "…\nmemory=F.layer_norm(memory,memory.shape[-1:])", on=BARE).named("memory"),
    "dropout not handed to FF": edit("d_ff, dropout)", "d_ff)", on=BARE).named("dropout"),
    "dropout not handed to add_norm_2": edit("self.add_norm_2 =…", "self.add_norm_2 = AddNorm(d_model)", on=BARE).named("dropout"),
    "default dropout 0": edit("dropout = 0.1", "dropout=0.0", on=BARE).named("default|drops out at|another default"),
    "argument order src/tgt masks swapped in signature": edit("src_mask=None, tgt_mask", "tgt_mask=None, src_mask", on=BARE).named("mask"),
    "num_heads of cross attention 1": edit("self.cross_attention =…", "self.cross_attention = MultiHeadAttention(d_model, 1, dropout)", on=BARE).named("heads"),
    "add_norm_1 w/o dropout": edit("self.add_norm_1 =…", "self.add_norm_1 = AddNorm(d_model)", on=BARE).named("dropout"),
    "add_norm_3 w/o dropout": edit("self.add_norm_3 =…", "self.add_norm_3 = AddNorm(d_model)", on=BARE).named("dropout"),
    "add_norm_2 w/o dropout, attention w/o": edits(
        ("0.5", "dropout"), ("self.add_norm_2 =…", "self.add_norm_2 = AddNorm(d_model)"), on="FF dropout 0.5 const, attention none"
    ).named("dropout"),
    "dropout twice": edits(
        ("add_norm_3 = AddNorm(d_model, dropout)", "…\nself.dropout=nn.Dropout(dropout)"),
        ("self_attention(x, x, x, tgt_mask)", "dropout(self.…)"),
        ("feed_forward(x)", "dropout(self.…)"),
        on=BARE,
    ).named("twice|51%|2 times|dropout after the ReLU"),
    "src mask sliced [:1] batch": edit("None):", "…\n    if src_mask is not None: src_mask=src_mask[:1] if src_mask.dim()==4 else src_mask", on=BARE).named(
        "mask"
    ),
    "default dropout 0.5": edit("dropout = 0.1", "dropout=0.5", on=BARE).named("default|drops out at|another default"),
    "squeezed": edit("x))", "x)).squeeze(0)", on=BARE),
    "FF dropout 0.5 const, attention none": """
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.cross_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_ff, 0.5)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """,
    "cross-attention drops out at another rate": edit(
        "self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)", "self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout / 2)"
    ).fails("dropout", "`cross_attention` drops out at"),
    "both masks inverted": edit("x = self.add_norm_1", "src_mask, tgt_mask = (None if mask is None else ~mask for mask in (src_mask, tgt_mask))\n…").fails(
        "values", "masks are read the wrong way round"
    ),
    "its own causal mask": edit("x, tgt_mask)", "x, torch.ones(x.size(1), x.size(1)).tril().bool())").fails("values", "a causal mask of the layer's own"),
    "no feed-forward": edit("self.feed_forward(x)", "x").fails("values", "feed-forward network is not used"),
    "the memory normalised": edit("x = self.add_norm_1", "memory = F.layer_norm(memory, memory.shape[-1:])\n…").fails("values", "memory is normalised before"),
    "remembers what it made of a tensor": edits(("class", "import functools\n…"), ("def forward", "@functools.lru_cache(maxsize=None)\n…")).fails(
        "values", "from before the weights changed"
    ),
}

TRICKS = {
    "source mask only beside a target mask": edit("memory, memory, src_mask)", "memory, memory, None if tgt_mask is None else src_mask)").fails(
        "values", "layer(x, memory, src_mask"
    ),
    "mask in evaluation only": edit("x, x, x, tgt_mask", "x, x, x, None if self.training else tgt_mask").fails("masks", "changes when"),
    "mask in training only": edit("x, x, x, tgt_mask", "… if self.training else None").fails("masks", "changes when", names="sees the future"),
    "src mask dropped in train": edit("src_mask)", "None if self.training else …", on=BARE).named("mask"),
    "tgt mask first head/batch only": edit("None):", "…\n    if tgt_mask is not None and tgt_mask.dim()==4: tgt_mask=tgt_mask[:1,:1]", on=BARE),
    "src mask first row only (query dependent src mask)": edit("None):", "…\n    if src_mask is not None: src_mask=src_mask[...,:1,:]", on=BARE),
    "masks swapped if same lengths": edit("None):", "…\n    if x.size(1)==memory.size(1): src_mask,tgt_mask=tgt_mask,src_mask", on=BARE).named(
        "swap|masks are exchanged"
    ),
    "cross attention combined with tgt mask if same lengths": edit(
        "None):", "…\n    if x.size(1)==memory.size(1) and tgt_mask is not None and src_mask is not None: src_mask=src_mask & tgt_mask", on=BARE
    ),
    "cross value from x if same length": edit(
        "x = self.add_norm_2…",
        "v = x if x.shape==memory.shape and self.training else memory\nx = self.add_norm_2(x,self.cross_attention(x,memory,v,src_mask))",
        on=BARE,
    ),
    "memory key detached only": edit("memory, memory", "memory.detach(), memory", on=BARE).named("grad"),
    "memory value detached only": edit("memory, memory", "….detach()", on=BARE).named("grad"),
    "memory detached in train only": edit("None):", "…\n    if self.training: memory=memory.detach()", on=BARE).named("grad"),
    "memory cached from first call": edits(
        ("add_norm_3 =…", "…\nself.m=None"), ("None):", "…\n    if self.m is None or self.m.shape!=memory.shape: self.m=memory\n    memory=self.m"), on=BARE
    ),
    "early return no memory mask when src_mask all True in row 0": edit(
        "None):", "…\n    if src_mask is not None and src_mask[0].all(): src_mask=None", on=BARE
    ),
    "tgt_mask.logical_and_ with wrong": edit("return", "if src_mask is not None: src_mask.fill_(True)\n…", on=BARE).named("mask"),
    "self attention last position only: query x[:, -1:] in eval": edit(
        "x = self.add_norm_1…",
        "if not self.training and x.size(1)>6:\n"
        "    pass\n"
        "if x.size(1)==1: x=self.add_norm_1(x,torch.zeros_like(x))\n"
        "else: x=self.add_norm_1(x,self.self_attention(x,x,x,tgt_mask))",
        on=BARE,
    ),
    "d_ff hard-coded 20": edit("d_model, d_ff", "d_model, 20", on=BARE),
    "src mask squeezed to head 0/query 0": edit("None):", "…\n    if src_mask is not None and src_mask.dim()==4: src_mask=src_mask[:, :1, :1]", on=BARE).named(
        "mask"
    ),
    "x changed in place by the sub-layers in train": edit(
        "None):", "…\n    if self.training:\n        with torch.no_grad(): x.add_(0.0*memory.mean()+1e-3)", on=BARE
    ).named("x"),
    "d_model 12 hard-coded in norms": edits(
        ("add_norm_1…d_model", "add_norm_1 = AddNorm(12"), ("add_norm_2…d_model", "add_norm_2 = AddNorm(12"), ("AddNorm(d_model", "AddNorm(12"), on=BARE
    ),
}

RIGHT = {
    "written out": """
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.cross_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                for i in (1, 2, 3):
                    setattr(self, f"add_norm_{i}", AddNorm(d_model, dropout))
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                own = self.self_attention(x, x, x, mask=tgt_mask)
                y = self.add_norm_1(x, own)
                seen = self.cross_attention(query=y, key=memory, value=memory, mask=src_mask)
                z = self.add_norm_2(y, seen)
                return self.add_norm_3(z, self.feed_forward(z))
    """,
    "an inner function": """
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                def attend(attention, query, source, mask):
                    return attention(query, source, source, mask)
                x = self.add_norm_1(x, attend(self.self_attention, x, x, tgt_mask))
                x = self.add_norm_2(x, attend(self.cross_attention, x, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """,
    "separate names, no attention dropout": edits(
        ("0.5", "dropout"),
        ("x = self.add_norm_1", "attended = self.add_norm_1"),
        ("x = self.add_norm_2(x, self.cross_attention(x", "crossed = self.add_norm_2(attended, self.cross_attention(attended"),
        ("x, self.feed_forward(x)", "crossed, self.feed_forward(crossed)"),
        on="FF dropout 0.5 const, attention none",
    ),
    "dropout kw 0 to attention 'dropout=0.0', add_module": edit(
        "self.self_attention =…add_norm_3 = AddNorm(d_model, dropout)",
        "for n in ('self_attention', 'cross_attention'): self.add_module(n, MultiHeadAttention(d_model, num_heads, dropout=0.0))\n"
        "self.add_norm_3, self.add_norm_2, self.add_norm_1 = AddNorm(d_model, dropout), AddNorm(d_model, dropout), AddNorm(d_model, dropout)\n"
        "self.feed_forward = FeedForward(d_model, d_ff, dropout)",
        on="FF dropout 0.5 const, attention none",
    ),
    "inherits from EncoderLayer-like base": """
        class DecoderLayer(nn.Module):
            @staticmethod
            def step(norm, attention, x, source, mask):
                return norm(x, attention(x, source, source, mask))
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                [self.__setattr__(f"add_norm_{i}", AddNorm(d_model, dropout)) for i in range(1, 4)]
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.step(self.add_norm_1, self.self_attention, x, x, tgt_mask)
                x = self.step(self.add_norm_2, self.cross_attention, x, memory, src_mask)
                return self.add_norm_3(x, self.feed_forward(x))
    """,
    "extends the lesson's EncoderLayer": edits(
        ("nn.Module", "EncoderLayer"),
        ("super…dropout)", "super().__init__(d_model, num_heads, d_ff, dropout)"),
        ("self.feed_forward =…add_norm_2 = AddNorm(d_model, dropout)", ""),
        on=BARE,
    ),
    "stores attention and extra attr": edits(
        ("add_norm_3 =…", "…\nself.d_model = d_model\nself.num_heads = num_heads"), ("return", "self.last_shape = tuple(x.shape)\n…"), on=BARE
    ),
    "causal/True masks built for None": edit(
        "None):",
        "…\n"
        "    ones = lambda q, k: torch.ones(q, k, dtype=torch.bool, device=x.device)\n"
        "    t, s = x.size(1), memory.size(1)\n"
        "    tgt_mask = ones(t, t) if tgt_mask is None else tgt_mask\n"
        "    src_mask = ones(t, s) if src_mask is None else src_mask",
        on=BARE,
    ),
    "generator of steps": edit(
        "x = self.add_norm_1…feed_forward(x))",
        "for norm, sub in ((self.add_norm_1, lambda h: self.self_attention(h, h, h, tgt_mask)), (self.add_norm_2, lambda h: self.cross_attention(h, memory, memory, src_mask)), (self.add_norm_3, self.feed_forward)):\n"
        "    x = norm(x, sub(x))\n"
        "return x",
        on=BARE,
    ),
    "sub-layers as lambdas in a loop, norms by getattr": body("""
        def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
            super().__init__()
            for name in ("self_attention", "cross_attention"):
                self.add_module(name, MultiHeadAttention(d_model, num_heads, dropout))
            self.feed_forward = FeedForward(d_model, d_ff, dropout)
            for number in range(1, 4):
                self.add_module(f"add_norm_{number}", AddNorm(d_model, dropout))
        def forward(self, x, memory, src_mask=None, tgt_mask=None):
            sublayers = [lambda y: self.self_attention(y, y, y, tgt_mask), lambda y: self.cross_attention(y, memory, memory, src_mask), self.feed_forward]
            for number, sublayer in enumerate(sublayers, start=1):
                x = getattr(self, f"add_norm_{number}")(x, sublayer(x))
            return x
    """),
}
