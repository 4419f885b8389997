"""Right answers to `MultiHeadAttention`, lesson 2."""

from answers.writing import BARE, edit, edits

RIGHT = {
    "everything inline": edit(
        "q, k,…=-1))",
        "q, k, v = [w(x).view(x.size(0), x.size(1), self.h, self.d_k).transpose(1, 2)\n"
        "           for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))]\n"
        "scores = q @ k.mT / math.sqrt(self.d_k)\n"
        "if mask is not None:\n"
        "    scores = scores.masked_fill(~mask, -1e9)\n"
        "weights = self.dropout(scores.softmax(-1))\n"
        "self.attention_weights = weights.detach()\n"
        "return self.w_o((weights @ v).transpose(1, 2).reshape(query.size(0), -1, self.h * self.d_k))",
        on="a loop over the heads",
    ),
    "a loop over the heads": edits(
        ("drop =", "dropout ="),
        (
            "q, k, v =…out))",
            "q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)\n"
            "outputs, kept = [], []\n"
            "for i in range(self.h):\n"
            "    columns = slice(i * self.d_k, (i + 1) * self.d_k)\n"
            "    own = None\n"
            "    if mask is not None:\n"
            "        own = mask.expand(query.size(0), self.h, query.size(1), key.size(1))[:, i]\n"
            "    output, weights = scaled_dot_product_attention(\n"
            "        q[..., columns], k[..., columns], v[..., columns], own, self.dropout\n"
            "    )\n"
            "    outputs.append(output)\n"
            "    kept.append(weights.detach())\n"
            "self.attention_weights = torch.stack(kept, dim=1)\n"
            "return self.w_o(torch.cat(outputs, dim=-1))",
        ),
        on="loop",
    ),
    "heads folded into the batch": edit(
        "q, k,…=-1))",
        "def fold(x):\n"
        "    return split_heads(x, self.h).reshape(-1, x.size(1), self.d_k)\n"
        "full = None\n"
        "if mask is not None:\n"
        "    full = mask.expand(query.size(0), self.h, query.size(1), key.size(1)).flatten(0, 1)\n"
        "output, weights = scaled_dot_product_attention(\n"
        "    fold(self.w_q(query)), fold(self.w_k(key)), fold(self.w_v(value)), full, self.dropout\n"
        ")\n"
        "self.attention_weights = weights.detach().view(-1, self.h, query.size(1), key.size(1))\n"
        "return self.w_o(merge_heads(output.view(-1, self.h, query.size(1), self.d_k)))",
        on="a loop over the heads",
    ),
    "heads last, einsum, F.dropout with the mode": edits(
        ("self.drop = nn.Dropout(dropout)", ""),
        (
            "q, k, v =…out))",
            "q = self.w_q(query).unflatten(-1, (self.h, self.d_k))\n"
            "k = self.w_k(key).unflatten(-1, (self.h, self.d_k))\n"
            "v = self.w_v(value).unflatten(-1, (self.h, self.d_k))\n"
            'scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.d_k**-0.5\n'
            "if mask is not None:\n"
            "    scores = torch.where(mask, scores, -math.inf)\n"
            "weights = F.dropout(scores.softmax(-1), self.p, self.training)\n"
            "self.attention_weights = weights.detach().clone()\n"
            'return self.w_o(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))',
        ),
        on="loop",
    ),
    "layers made in another order, an assertion": """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0, "d_model must be a multiple of num_heads"
                self.num_heads = num_heads
                self.drop = nn.Dropout(p=dropout)
                self.w_o = nn.Linear(d_model, d_model, bias=True)
                self.w_v = nn.Linear(d_model, d_model, bias=True)
                self.w_k = nn.Linear(d_model, d_model, bias=True)
                self.w_q = nn.Linear(d_model, d_model, bias=True)
            def forward(self, query, key, value, mask=None):
                q, k, v = (
                    split_heads(w(x), self.num_heads)
                    for w, x in zip((self.w_q, self.w_k, self.w_v), (query, key, value))
                )
                x, w = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.drop)
                self.attention_weights = w.detach()
                return self.w_o(merge_heads(x))
    """,
    "zero-initialised w_o (GPT-style residual output)": edit("dropout)", "…\nnn.init.zeros_(self.w_o.weight)\nnn.init.zeros_(self.w_o.bias)", on="loop"),
    "xavier and zero biases": edit(
        "dropout)", "…\nfor w in (self.w_q, self.w_k, self.w_v, self.w_o):\n    nn.init.xavier_uniform_(w.weight)\n    nn.init.zeros_(w.bias)", on="loop"
    ),
    "weights from N(0, 1)": edit("dropout)", "…\nfor w in self.parameters():\n    nn.init.normal_(w)", on="loop"),
    "weights from N(0, 0.02)": edit("dropout)", "…\nfor w in self.parameters():\n    nn.init.normal_(w, std=0.02)", on="loop"),
    "identity projections": edit(
        "dropout)", "…\nfor w in (self.w_q, self.w_k, self.w_v, self.w_o):\n    nn.init.eye_(w.weight)\n    nn.init.zeros_(w.bias)", on="loop"
    ),
    "orthogonal projections, the same for q and k": edit(
        "dropout)",
        "…\nfor w in (self.w_q, self.w_k, self.w_v, self.w_o):\n    nn.init.orthogonal_(w.weight)\nself.w_k.load_state_dict(self.w_q.state_dict())",
        on="loop",
    ),
    "a buffer for the weights": edit("dropout)", '…\nself.register_buffer("attention_weights", None, persistent=False)', on="loop"),
    "a property over a private attribute": """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if divmod(d_model, num_heads)[1]:
                    raise ValueError(f"{d_model=} {num_heads=}")
                self.h = num_heads
                for name in ("w_q", "w_k", "w_v", "w_o"):
                    setattr(self, name, nn.Linear(d_model, d_model))
                self.drop = nn.Dropout(dropout)
                self._w = None
            @property
            def attention_weights(self):
                return None if self._w is None else self._w.detach()
            def forward(self, query, key, value, mask=None):
                q, k, v = (
                    split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
                )
                out, self._w = scaled_dot_product_attention(q, k, v, mask, self.drop)
                return self.w_o(merge_heads(out))
    """,
    "weights kept through .data on the CPU": edit("detach", "data.cpu", on="loop"),
    "weights kept by a forward hook of a submodule": """
        class _Attend(nn.Module):
            def __init__(self, p):
                super().__init__()
                self.drop = nn.Dropout(p)
            def forward(self, q, k, v, mask):
                return scaled_dot_product_attention(q, k, v, mask, self.drop)
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("no")
                self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.attend = _Attend(dropout)
                self.attend.register_forward_hook(lambda m, i, o: setattr(self, "attention_weights", o[1].detach()))
            def forward(self, query, key, value, mask=None):
                q, k, v = (
                    split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
                )
                return self.w_o(merge_heads(self.attend(q, k, v, mask)[0]))
    """,
    "F.scaled_dot_product_attention for the output, products for the weights": edits(
        (
            "out, weights…",
            "eye = torch.eye(k.size(2), dtype=k.dtype, device=k.device).expand(*k.shape[:2], -1, -1)\n"
            "weights = self.drop(F.scaled_dot_product_attention(q, k, eye, attn_mask=mask))",
        ),
        ("(out)", "(weights @ v)"),
        on="loop",
    ),
    "fused weights by torch.cat when query is key is value": edit(
        "q, k, v = (\n    split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))\n)",
        "if query is key and key is value:\n"
        "    w = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight])\n"
        "    b = torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])\n"
        "    q, k, v = F.linear(query, w, b).chunk(3, dim=-1)\n"
        "else:\n"
        "    q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)\n"
        "q, k, v = split_heads(q, self.h), split_heads(k, self.h), split_heads(v, self.h)",
        on="loop",
    ),
    "raw products with the weights, no call of the layers": edits(
        (
            "q, k, v =…drop)",
            "q = query @ self.w_q.weight.T + self.w_q.bias\n"
            "k = key @ self.w_k.weight.T + self.w_k.bias\n"
            "v = value @ self.w_v.weight.T + self.w_v.bias\n"
            "out, weights = scaled_dot_product_attention(*(split_heads(x, self.h) for x in (q, k, v)), mask, self.drop)",
        ),
        ("return self…", "return merge_heads(out) @ self.w_o.weight.T + self.w_o.bias"),
        on="loop",
    ),
    "w_o head by head, summed": edit(
        "return self…", 'w = self.w_o.weight.view(-1, self.h, self.d_k)\nreturn torch.einsum("bhtk,dhk->btd", out, w) + self.w_o.bias', on="loop"
    ),
    "loops over batch and heads": edit(
        "q, k, v =…out))",
        "q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)\n"
        "b, n, m = query.size(0), query.size(1), key.size(1)\n"
        "full = query.new_ones(b, self.h, n, m, dtype=torch.bool) if mask is None else mask.expand(b, self.h, n, m)\n"
        "outs, kept = [], []\n"
        "for i in range(b):\n"
        "    row, w = [], []\n"
        "    for j in range(self.h):\n"
        "        c = slice(j * self.d_k, (j + 1) * self.d_k)\n"
        "        s = q[i, :, c] @ k[i, :, c].T / self.d_k**0.5\n"
        "        p = self.drop(s.masked_fill(~full[i, j], -1e9).softmax(-1))\n"
        "        row.append(p @ v[i, :, c])\n"
        "        w.append(p)\n"
        "    outs.append(torch.cat(row, -1))\n"
        "    kept.append(torch.stack(w))\n"
        "self.attention_weights = torch.stack(kept).detach()\n"
        "return self.w_o(torch.stack(outs))",
        on="loop",
    ),
    "own Bernoulli dropout": edits(
        ("self.drop = nn.Dropout(dropout)", ""),
        (
            "out, weights…",
            "def drop(w):\n"
            "    if not self.training or self.p == 0:\n"
            "        return w\n"
            "    return w * torch.bernoulli(torch.full_like(w, 1 - self.p)) / (1 - self.p)\n"
            "out, weights = scaled_dot_product_attention(q, k, v, mask, drop)",
        ),
        on="loop",
    ),
    "functools.partial, nn.Identity without dropout": edits(
        ("class", "import functools\n…"),
        ("self.drop =…", "… if dropout > 0 else nn.Identity()\nself.attend = functools.partial(scaled_dot_product_attention, dropout=self.drop)"),
        (
            "q, k, v =…detach()",
            "heads = functools.partial(split_heads, num_heads=self.h)\n"
            "out, weights = self.attend(heads(self.w_q(query)), heads(self.w_k(key)), heads(self.w_v(value)), mask)\n"
            "self.attention_weights = weights.detach().clone()",
        ),
        on="loop",
    ),
    "scores scaled in w_q's output, log-space softmax": edits(
        ("dropout = nn.Dropout(", "drop = nn.Dropout(p="),
        (
            "q, k,…=-1))",
            "q = split_heads(self.w_q(query) / math.sqrt(self.d_k), self.h)\n"
            "k, v = split_heads(self.w_k(key), self.h), split_heads(self.w_v(value), self.h)\n"
            's = torch.einsum("bhqd,bhkd->bhqk", q, k)\n'
            "if mask is not None:\n"
            "    s = s.masked_fill(mask.logical_not(), torch.finfo(s.dtype).min)\n"
            "w = self.drop(s.log_softmax(-1).exp())\n"
            "self.attention_weights = w.detach()\n"
            'return self.w_o(torch.einsum("bhqk,bhkd->bqhd", w, v).reshape(query.shape))',
        ),
        on="a loop over the heads",
    ),
    "dataclass-like, annotations, defaults for key and value, **kwargs": edits(
        ("class", "from typing import Optional\n…"),
        (
            "def __init__…out))",
            "attention_weights: Optional[torch.Tensor] = None\n"
            "heads: int\n"
            "def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0, **kwargs) -> None:\n"
            "    if d_model % num_heads != 0:\n"
            '        raise ValueError("d_model % num_heads != 0")\n'
            "    super().__init__(**kwargs)\n"
            '    self.heads, self.width, self.extra = num_heads, d_model, {"made": True}\n'
            "    self.dropout = nn.Dropout(dropout)\n"
            '    self.w_o, self.w_v, self.w_k, self.w_q = [nn.Linear(in_features=d_model, out_features=d_model) for _ in "okvq"]\n'
            "def forward(self, query, key=None, value=None, mask=None):\n"
            "    key = query if key is None else key\n"
            "    value = key if value is None else value\n"
            "    q, k, v = map(lambda p: split_heads(p[0](p[1]), self.heads), [(self.w_q, query), (self.w_k, key), (self.w_v, value)])\n"
            "    output, self.attention_weights = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.dropout)\n"
            "    self.attention_weights = self.attention_weights.detach()\n"
            "    return self.w_o(merge_heads(output))\n"
            "def extra_repr(self):\n"
            '    return f"heads={self.heads}"',
        ),
        on="loop",
    ),
    "a subclass of a base class, hooks, prints and warnings": """
        import warnings
        class _Base(nn.Module):
            def __init__(self, d_model):
                super().__init__()
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.register_forward_pre_hook(lambda m, i: None)
        class MultiHeadAttention(_Base):
            def __init__(self, d_model, num_heads, dropout=0.0):
                assert d_model % num_heads == 0
                super().__init__(d_model)
                self.num_heads = num_heads
                self.drop = nn.Dropout(dropout)
                self.register_buffer("scale", torch.tensor(1.0))
            def _heads(self, x, layer):
                return split_heads(layer(x), self.num_heads)
            def forward(self, query, key, value, mask=None):
                warnings.warn("slow")
                print(query.shape)
                o, w = scaled_dot_product_attention(
                    self._heads(query, self.w_q),
                    self._heads(key, self.w_k),
                    self._heads(value, self.w_v),
                    mask,
                    self.drop,
                )
                self.attention_weights = w.detach()
                return self.w_o(merge_heads(o))
    """,
    "non-trainable extras": edits(
        (
            "if d_model…dropout)",
            "if not (d_model / num_heads).is_integer():\n"
            '    raise ValueError("num_heads must divide d_model")\n'
            "self.num_heads = nn.Parameter(torch.tensor(num_heads), requires_grad=False)\n"
            "self.w_q, self.w_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)\n"
            "self.w_v, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)\n"
            "self.dropout = nn.Sequential(nn.Identity(), nn.Dropout(dropout))",
        ),
        (
            "q, k, v =…out))",
            "h = int(self.num_heads)\n"
            "o, w = scaled_dot_product_attention(split_heads(self.w_q(query), h), split_heads(self.w_k(key), h), split_heads(self.w_v(value), h), mask, self.dropout)\n"
            "self.attention_weights = w.clone().detach()\n"
            "return self.w_o(merge_heads(o)).contiguous()",
        ),
        on="loop",
    ),
    "the weights in a buffer": edits(
        ("if d_model…dropout", "assert d_model % num_heads == 0\nself.num_heads = num_heads"),
        ("self.drop =…", 'self.dropout = nn.Dropout(dropout)\nself.register_buffer("attention_weights", None, persistent=False)'),
        (
            "q, k, v =…drop)",
            "q, k, v = (split_heads(w(x), self.num_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))\n"
            "output, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)",
        ),
        ("(out)", "(output)"),
        on="loop",
    ),
    "deepcopies (AT's clones)": edits(
        ("class", "import copy\ndef clones(m, n): return nn.ModuleList(copy.deepcopy(m) for _ in range(n))\n…"),
        ("self.w_q =…w_o = nn.Linear(d_model, d_model)", "self.w_q, self.w_k, self.w_v, self.w_o = clones(nn.Linear(d_model, d_model), 4)"),
        on="short",
    ),
    "setattr in a loop": edit(
        "self.w_q =…w_o = nn.Linear(d_model, d_model)", "for n in ('w_q', 'w_k', 'w_v', 'w_o'): setattr(self, n, nn.Linear(d_model, d_model))", on="short"
    ),
    "add_module, xavier": edit(
        "self.w_q =…w_o = nn.Linear(d_model, d_model)",
        "for n in 'qkvo': self.add_module('w_' + n, nn.Linear(d_model, d_model, bias=True)); nn.init.xavier_uniform_(self._modules['w_' + n].weight)",
        on="short",
    ),
    "a Linear subclass": edits(
        ("class", "class Projection(nn.Linear):\n    def __init__(self, d): super().__init__(d, d)\nclass"),
        ("self.w_q =…w_o = nn.Linear(d_model, d_model)", "self.w_q, self.w_k, self.w_v, self.w_o = (Projection(d_model) for _ in range(4))"),
        on="short",
    ),
    "weights as a property": """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
                super().__init__()
                assert d_model % num_heads == 0, "d_model % num_heads"
                self.d_model, self.h, self.d_k = d_model, num_heads, d_model // num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.drop = nn.Dropout(p=dropout)
                self._weights = None
            @property
            def attention_weights(self):
                return None if self._weights is None else self._weights.detach()
            def forward(self, query, key, value, mask=None):
                out, self._weights = scaled_dot_product_attention(
                    self._heads(self.w_q, query),
                    self._heads(self.w_k, key),
                    self._heads(self.w_v, value),
                    mask=mask,
                    dropout=self.drop,
                )
                return self.w_o(merge_heads(out))
            def _heads(self, w, x):
                return split_heads(w(x), self.h)
    """,
    "everything by einsum, own code, no helper called": edits(
        ("if d_model…", "if num_heads * (d_model // num_heads) != d_model:"),
        ("raise ValueError…", "raise ValueError"),
        ("num_heads = num_heads", "num_heads, self.p = num_heads, dropout"),
        ("self.dropout =…= None", ""),
        (
            "query =…output))",
            "cut = lambda t: t.unflatten(-1, (self.num_heads, -1))\n"
            "q, k, v = cut(self.w_q(query)), cut(self.w_k(key)), cut(self.w_v(value))\n"
            'scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.size(-1) ** 0.5\n'
            "if mask is not None:\n"
            "    scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)\n"
            "weights = F.dropout(scores.softmax(-1), self.p, self.training)\n"
            "self.attention_weights = weights.data\n"
            'return self.w_o(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))',
        ),
        on=BARE,
    ),
    "fused projection by concatenated weights": """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("must divide")
                self.num_heads = num_heads
                for name in ["w_q", "w_k", "w_v", "w_o"]:
                    self.register_module(name, nn.Linear(in_features=d_model, out_features=d_model))
                self.dropout = nn.Dropout(dropout)
                self.register_buffer("attention_weights", None, persistent=False)
            def forward(self, query, key, value, mask=None):
                if query is key and key is value:
                    w = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight])
                    b = torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])
                    q, k, v = F.linear(query, w, b).chunk(3, dim=-1)
                else:
                    q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
                q, k, v = [split_heads(t, num_heads=self.num_heads) for t in (q, k, v)]
                context, weights = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.dropout)
                self.attention_weights = weights.detach().clone()
                return self.w_o(merge_heads(context))
    """,
    "loop over the heads, joined at the end, dropout once on the stack": edits(
        ("if not…False)", "assert d_model % num_heads == 0\nself.num_heads = num_heads"),
        ("self.dropout =…", "self.dropout = nn.Dropout(dropout)\nself.attention_weights = torch.empty(0)"),
        (
            "h = int…contiguous()",
            "if mask is not None:\n"
            "    mask = mask.expand(query.size(0), self.num_heads, query.size(1), key.size(1))\n"
            "outs, ws = [], []\n"
            "for i, (q, k, v) in enumerate(zip(*(w(x).chunk(self.num_heads, -1) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))))):\n"
            "    o, w = scaled_dot_product_attention(q, k, v, None if mask is None else mask[:, i], self.dropout)\n"
            "    outs.append(o)\n"
            "    ws.append(w)\n"
            "self.attention_weights = torch.stack(ws, dim=1).detach()\n"
            "return self.w_o(torch.cat(outs, dim=-1))",
        ),
        on="non-trainable extras",
    ),
    "heads folded into the batch (d2l)": edits(
        ("num_heads:", "num_heads != 0:"),
        ('"no', 'f"{d_model} % {num_heads}'),
        ("self.h, self…", "self.n = num_heads"),
        ("(nn.Linear(d_model, d_model) for _ in range(4))", "[nn.Linear(d_model, d_model) for _ in range(4)]"),
        (
            "q, k,…=-1))",
            "B, T, S = query.shape[0], query.shape[1], key.shape[1]\n"
            "fold = lambda t: t.reshape(B, -1, self.n, t.size(-1) // self.n).permute(0, 2, 1, 3).reshape(B * self.n, -1, t.size(-1) // self.n)\n"
            "m = None if mask is None else mask.expand(B, self.n, T, S).reshape(B * self.n, T, S)\n"
            "out, w = scaled_dot_product_attention(fold(self.w_q(query)), fold(self.w_k(key)), fold(self.w_v(value)), m, self.dropout)\n"
            "self.attention_weights = w.reshape(B, self.n, T, S).detach()\n"
            "return self.w_o(out.reshape(B, self.n, T, -1).permute(0, 2, 1, 3).reshape(B, T, -1))",
        ),
        on="a loop over the heads",
    ),
    "w_o head by head, summed, another way": edits(
        ('if d_model…"no")', "assert not d_model % num_heads"),
        (
            "q = split_heads…out))",
            "q, k, v = (split_heads(f(x), self.num_heads) for f, x in [(self.w_q, query), (self.w_k, key), (self.w_v, value)])\n"
            "ctx, w = scaled_dot_product_attention(q, k, v, mask, self.dropout)\n"
            "self.attention_weights = w.detach()\n"
            "out = self.w_o.bias\n"
            "for c, wo in zip(ctx.unbind(1), self.w_o.weight.chunk(self.num_heads, dim=1)):\n"
            "    out = out + c @ wo.t()\n"
            "return out",
        ),
        on="short",
    ),
    "lambda dropout that knows the mode": edit("nn.Dropout(dropout)", "lambda w: F.dropout(w, dropout, training=self.training)", on="short"),
    "dropout skipped when p = 0": edit("(dropout)", "… if dropout > 0 else None", on="short"),
    "dropout Identity when p = 0": edit("(dropout)", "… if dropout else nn.Identity()", on="short"),
    "partial": edits(
        ("class", "from functools import partial\n…"),
        ("nn.Dropout(", "partial(F.dropout, p="),
        (", self.dropout", ", partial(self.dropout, training=self.training)"),
        on="short",
    ),
    "dropout in place": edit("(dropout)", "(dropout, inplace=False)", on="short"),
    "attention function held as attribute, mask expanded": edits(
        ("(dropout)", "…\nself.attend = scaled_dot_product_attention"),
        (
            "scaled_dot_product_attention(q, k, v, mask",
            "self.attend(q, k, v, mask if mask is None else mask.expand(q.size(0), self.num_heads, q.size(2), k.size(2))",
        ),
        on="short",
    ),
    "2-D masks unsqueezed out of place": edit("None):", "…\n    if mask is not None:\n        while mask.dim() < 4: mask = mask.unsqueeze(0)", on="short"),
    "base class of one's own, kwargs": edits(
        ("class MultiHeadAttention…", "class Base(nn.Module):\n    def extra_repr(self): return f'heads={self.num_heads}'\nclass MultiHeadAttention(Base):"),
        (", value, mask=None", "=None, value=None, mask=None, **kwargs"),
        on="short",
    ),
    "forward(*args, **kwargs) to _forward": """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super(MultiHeadAttention, self).__init__()
                d_k, rest = divmod(d_model, num_heads)
                if rest:
                    raise ValueError("num_heads must divide d_model")
                self.config = dict(d_model=d_model, num_heads=num_heads, d_k=d_k)
                self.w_q = nn.Linear(d_model, num_heads * d_k)
                self.w_k = nn.Linear(d_model, num_heads * d_k)
                self.w_v = nn.Linear(d_model, num_heads * d_k)
                self.w_o = nn.Linear(num_heads * d_k, d_model)
                self.dropout = nn.Dropout(dropout)
                self.calls = 0
            def forward(self, *args, **kwargs):
                self.calls += 1
                return self._forward(*args, **kwargs)
            def _forward(self, query, key, value, mask=None):
                h = self.config["num_heads"]
                heads = {
                    n: split_heads(getattr(self, n)(x), h)
                    for n, x in {"w_q": query, "w_k": key, "w_v": value}.items()
                }
                output, weights = scaled_dot_product_attention(*heads.values(), mask, self.dropout)
                setattr(self, "attention_weights", weights.detach())
                return self.w_o(merge_heads(output))
    """,
    "ValueError subclass": edits(
        ("class", "class HeadsError(ValueError): pass\nclass"), ('if d_model…"no")', "if d_model % num_heads: raise HeadsError(d_model)"), on="short"
    ),
    "weights detached with no_grad clone and on the cpu": edit(
        "self.attention_weights…", "with torch.no_grad(): self.attention_weights = weights.clone()", on="short"
    ),
    "F.sdpa with identity for the weights inside MHA (only nn.MultiheadAttention is barred)": edits(
        (
            "def mine…softmax(-1)",
            "def attend(q, k, v, mask, dropout):\n"
            "    eye = torch.eye(k.size(-2), dtype=k.dtype, device=k.device).expand(*k.shape[:-1], k.size(-2))\n"
            "    w = dropout(F.scaled_dot_product_attention(q, k, eye, attn_mask=mask))",
        ),
        ("= mine", "= attend"),
        on="own attention: dropout first, softmax later",
    ),
    "local copies of the functions pasted into the cell": edits(
        ("def mine", "def my_attention"),
        ("s = dropout…", "s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))"),
        ("return w", "if dropout is not None:\n    w = dropout(w)\n…"),
        ("= mine", "= my_attention"),
        on="own attention: dropout first, softmax later",
    ),
    "class attribute for the weights, hooks": """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError("no")
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)
                self.register_forward_hook(lambda m, i, o: None)
            attention_weights = None
            def _keep(self, w):
                self.attention_weights = w.detach()
            def forward(self, query, key, value, mask=None):
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self._keep(weights)
                return self.w_o(merge_heads(out))
    """,
    "extra non-persistent buffer and attributes": edit(
        "(dropout)", "…\nself.register_buffer('scale', torch.tensor(1.0), persistent=False); self.d_model = d_model; self.name = 'mha'", on="short"
    ),
    "keeps weights with requires_grad_(False) after detach, typed": edit(
        "self.attention_weights…", "self.attention_weights: torch.Tensor = weights.detach().requires_grad_(False)", on="short"
    ),
    "dropout in a list with explicit F.dropout mode": edits(
        ("nn.Dropout(dropout)", "[dropout]"), (", self.dropout", ", lambda w: F.dropout(w, p=self.dropout[0], training=self.training)"), on="short"
    ),
    "unpacks layers from a ModuleList kept as well (same modules twice)": edit(
        "(dropout)", "…\nself.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v, self.w_o])", on="short"
    ),
    "layers in a ModuleList first, names after": edit(
        "self.w_q =…w_o = nn.Linear(d_model, d_model)",
        "self.layers = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4)); self.w_q, self.w_k, self.w_v, self.w_o = self.layers",
        on="short",
    ),
    "lazy attribute through __getattr__-free dict, dataclass config": edits(
        (
            "class",
            "from dataclasses import dataclass\n"
            "@dataclass\n"
            "class Config:\n"
            "    d_model: int\n"
            "    num_heads: int\n"
            "    @property\n"
            "    def d_k(self): return self.d_model // self.num_heads\n"
            "class",
        ),
        ("num_heads = num_heads", "config = Config(d_model, num_heads); self.num_heads = self.config.num_heads"),
        on="short",
    ),
    "mask made 4-D and additive by own attention": edits(
        (
            "class",
            "def mine(q, k, v, mask=None, dropout=None):\n"
            '    s = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5\n'
            "    if mask is not None:\n"
            "        s = s + torch.zeros(mask.shape, dtype=s.dtype, device=s.device).masked_fill(~mask, -1e9)\n"
            "    w = torch.softmax(s, -1)\n"
            "    w = dropout(w) if dropout is not None else w\n"
            '    return torch.einsum("bhqk,bhkd->bhqd", w, v), w\n'
            "…",
        ),
        ("scaled_dot_product_attention", "mine"),
        on="short",
    ),
    "local class nesting: Head objects slice the shared layers": """
        class MultiHeadAttention(nn.Module):
            class Head:
                def __init__(self, i, d_k):
                    self.s = slice(i * d_k, (i + 1) * d_k)
                def __call__(self, w, x):
                    return F.linear(x, w.weight[self.s], w.bias[self.s])
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError(num_heads, d_model)
                self.w_q, self.w_k, self.w_v, self.w_o = map(lambda _: nn.Linear(d_model, d_model), range(4))
                self.heads = [self.Head(i, d_model // num_heads) for i in range(num_heads)]
                self.drop = nn.Dropout(dropout)
            def forward(self, query, key, value, mask=None):
                q, k, v = (
                    torch.stack([head(w, x) for head in self.heads], 1)
                    for w, x in zip((self.w_q, self.w_k, self.w_v), (query, key, value))
                )
                out, w = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.drop)
                self.attention_weights = w.detach()
                return self.w_o(torch.cat(out.unbind(1), -1))
    """,
}
