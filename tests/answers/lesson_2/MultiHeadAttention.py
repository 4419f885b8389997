from answers.writing import BARE, edit, edits

BASES = {
    "short": """
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
            def forward(self, query, key, value, mask=None):
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """,
    "loop": """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads:
                    raise ValueError("no")
                self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.drop = nn.Dropout(dropout)
            def forward(self, query, key, value, mask=None):
                q, k, v = (
                    split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
                )
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.drop)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """,
}

WRONG = {
    "w_k projects the query": edit("self.w_q(query)", "self.w_k(query)").fails("values", "`w_k` projects the queries too"),
    "output and weights in the wrong order": edit("output, weights =", "weights, output =").fails("dropout", "entries of the output itself are dropped"),
    "dropout on what w_o reads": edits((", self.dropout", ""), ("merge_heads(output)", "self.dropout(…)")).fails("dropout", "of the input of `w_o`"),
    "no w_o": edit("self.w_o(…", "merge_heads(output)").fails("values", "`w_o`, is left out"),
    "the query projected for all three": edits(("self.w_k(key)", "self.w_q(key)"), ("self.w_v(value)", "self.w_q(value)")).fails(
        "values", "`w_q` projects all three"
    ),
    "w_q projects the keys too": edit("self.w_k(key)", "self.w_q(key)").fails("values", "the keys are made with `w_q`"),
    "w_q and w_k swapped": edits(("self.w_q(query)", "self.w_k(query)"), ("self.w_k(key)", "self.w_q(key)")).fails("values", "swapped"),
    "nothing projected": edits(("self.w_q(query)", "query"), ("self.w_k(key)", "key"), ("self.w_v(value)", "value")).fails("values", "are not projected"),
    "keys and values exchanged": edit("(query, key, value, mask", "(query, value, key, mask").fails("values", "keys and values are exchanged"),
    "values not projected": edit("self.w_v(value)", "value").fails("values", "values are not projected"),
    "queries and keys not projected": edits(("self.w_q(query)", "query"), ("self.w_k(key)", "key")).fails("values", "query and key are not projected"),
    "reshape instead of split": edits(
        ("split_heads(self.w_q…", "self.w_q(query).reshape(len(query), self.num_heads, query.size(1), -1)"),
        ("split_heads(self.w_k…", "self.w_k(key).reshape(len(key), self.num_heads, key.size(1), -1)"),
        ("split_heads(…", "self.w_v(value).reshape(len(value), self.num_heads, value.size(1), -1)"),
    ).fails("values", "split by a reshape"),
    "reshape instead of merge": edit("merge_heads(output)", "output.reshape(output.size(0), output.size(2), -1)").fails("values", "merged by a reshape"),
    "scaled by √d_model": edit("(query,", "(query / self.num_heads**0.5,").fails("values", "√d_model instead of √d_k"),
    "scaled twice": edit("(query,", "(query / query.size(-1) ** 0.5,").fails("values", "√d_k twice"),
    "one wide head": edits(
        ("query, key, value, mask,", "*(merge_heads(x)[:, None] for x in (query, key, value)), mask,"), ("merge_heads(output)", "output[:, 0]")
    ).fails("weights", "wrong shape", names="one head of width d_model"),
    "one head, weights repeated": edit("output,…", "…\nweights = weights.expand(-1, self.num_heads, -1, -1)", on="one wide head").fails(
        "values", "one head of width d_model"
    ),
    "mask dropped": edit("value, mask, self.dropout", "value, None, self.dropout").fails("cross", "mask is not used"),
    "mask inverted": edit("mask,", "None if mask is None else ~…").fails("cross", "wrong way round"),
    "self-attention whatever comes in": edits(("self.w_k(key)", "self.w_k(query)"), ("self.w_v(value)", "self.w_v(query)")).fails("cross"),
    "the key projected as the value": edits(("self.w_v(…)", "self.w_v(other)"), ("query =…(", "other = key\n…")).fails("cross", "`w_v` projects the key"),
    "mask for the first head only": edit("output,", "if mask is not None:\n    mask = mask | (torch.arange(self.num_heads) > 0)[:, None, None]\n…").fails(
        "cross", "first head only"
    ),
    "no error for a bad width": edit('if d_model…d_model}.")', "").fails("error", "should raise ValueError"),
    "the wrong error": edit("raise ValueError", "raise KeyError").fails("error", "wrong error"),
    "layers in a list": edits(("self.w_q =…", "self.layers = [nn.Linear(d_model, d_model)]"), ("self.w_q(query)", "self.layers[0](query)")).fails(
        "parameters", "no trainable parameter"
    ),
    "other names": edit("self.w_q", "self.query_layer").fails("parameters", "no trainable parameter `w_q.weight`"),
    "no biases": edit("self.w_q =…", "self.w_q = nn.Linear(d_model, d_model, bias=False)").fails("parameters", "no trainable parameter `bias`"),
    "one layer for all": edit("self.w_k =…", "self.w_k = self.w_q").fails("parameters", "is the same module as `w_q`"),
    "small layers": edit("self.w_q =…", "self.w_q = nn.Linear(d_model, d_model // num_heads)").fails("parameters", "wrong shape"),
    "an extra layer": edit("self.attention_weights = None", "…\nself.extra = nn.Linear(d_model, d_model)").fails("parameters", "should not have"),
    "weights not kept": edit("self.attention_weights = weights.detach()", "").fails("weights", "there is no `attention.attention_weights`"),
    "weights averaged over the heads": edit("weights.detach()", "….mean(1)").fails("weights", "averaged"),
    "weights attached": edit("weights.detach()", "weights").fails("weights", "asks for gradients"),
    "kept as a leaf that asks for gradients": edit("weights.detach()", "….requires_grad_()").fails("weights", "asks for gradients"),
    "kept under another name": edit("self.attention_weights = weights", "self.weights = weights").fails("weights", "there is no `attention.attention_weights`"),
    "kept without a mask alone": edit("self.attention_weights = weights.detach()", "if mask is None:\n    …").fails("weights", "in every call"),
    "the values scaled in eval mode": edit("self.w_v(value)", "… * (1.0 if self.training else 1 - self.dropout.p)").fails(
        "dropout", "neither dropping entries nor scaling"
    ),
    "dropout as it once was: in eval mode all is scaled": edit(
        ", self.dropout", ", lambda w: w * (torch.rand_like(w) > self.dropout.p) if self.training else w * (1 - self.dropout.p)"
    ).fails("dropout", "neither dropping entries nor scaling"),
    "dropout forgotten": edit("mask, self.dropout)", "mask)").fails("dropout", "no entry of"),
    "dropout in eval mode too": edit(", self.dropout", ", lambda w: F.dropout(w….p)").fails("dropout", "In eval mode"),
    "dropout at a fixed rate": edit("nn.Dropout(dropout)", "nn.Dropout(0.5)").named("the probability is 0.5 instead"),
    "dropout at half the rate": edit("nn.Dropout(dropout)", "nn.Dropout(dropout / 2)").named("half of `dropout`"),
    "a causal mask of its own": edit(
        "query = split_heads(",
        "causal = torch.ones(query.size(1), key.size(1), device=key.device).tril().bool()\nmask = causal if mask is None else mask & causal\n…",
    ).named("the future is hidden, though no mask is given"),
    "dropout on the output": edits(("mask, self.dropout)", "mask)"), ("return self…", "return self.dropout(self.w_o(merge_heads(output)))")).fails(
        "dropout", "entries of the output"
    ),
    "calls nn.MultiheadAttention": edit(
        "query = split_heads(", "theirs = nn.MultiheadAttention(query.size(-1), self.num_heads, batch_first=True)\ntheirs(query, key, value)\n…"
    ).fails("from_scratch", "ready `nn.MultiheadAttention`"),
    "a projection detached": edit("self.w_k(key)", "….detach()").fails("from_scratch", "`w_k.weight`"),
    "returns a tuple": edit("return self…", "…, weights").fails("values", "should be a torch.Tensor"),
    "super().__init__() removed": edit("super(…", "").fails("parameters", "raised AttributeError"),
    "second dropout on the output (as in GPT code)": edit("return self…", "return self.dropout(self.w_o(merge_heads(output)))").named("output"),
    "second dropout before w_o": edit("merge_heads(output)", "self.dropout(…)").named("output"),
    "kept weights dropped, output from undropped ones": edit(
        "output, weights…", "output, weights = scaled_dot_product_attention(query, key, value, mask)\nweights = self.dropout(weights)"
    ).named("output"),
    "output and kept weights from two draws": edit(
        "output, weights…",
        "output, _ = scaled_dot_product_attention(query, key, value, mask, self.dropout)\n"
        "_, weights = scaled_dot_product_attention(query, key, value, mask, self.dropout)",
    ),
    "kept weights computed without the mask": edit(
        "output, weights…", "…\n_, weights = scaled_dot_product_attention(query, key, value, None, self.dropout)"
    ).named("mask"),
    "num_heads kept in the class": edit("self.num_heads =…", "MultiHeadAttention.num_heads = num_heads"),
    "attention_weights kept in the class": edits(
        ("self.attention_weights = weights.detach()", "MultiHeadAttention.attention_weights = weights.detach()"), ("self.attention_weights = None", "")
    ),
    "mask dropped in training mode": edit("output,", "mask = None if self.training else mask\n…").named("mask"),
    "three-dimensional masks get a heads dimension": edit("output, weights…", "if mask is not None and mask.dim() == 3:\n    mask = mask.unsqueeze(1)\n…"),
    "mask repeated in the wrong order, heads folded": edit(
        "output, weights…",
        "b, h, tq, d = query.shape\n"
        "full = None if mask is None else mask.expand(b, mask.size(-3) if mask.dim() > 2 else 1, tq, key.size(2))[:, 0].repeat(h, 1, 1)\n"
        "output, weights = scaled_dot_product_attention(*(x.reshape(-1, *x.shape[2:]) for x in (query, key, value)), full, self.dropout)\n"
        "output, weights = output.view(b, h, tq, d), weights.view(b, h, tq, -1)",
    ),
    "w_o twice": edit("return self…", "return self.w_o(self.w_o(merge_heads(output)))").named("w_o"),
    "w_v projects the output again": edit("return self…", "return self.w_v(merge_heads(output))").named("w_o|w_v"),
    "residual connection": edits(("query =…(", "skip = query\n…"), ("return…", "return skip + self.w_o(merge_heads(output))")).named("added|residual"),
    "the value is added": edits(("query =…(", "skip = value\n…"), ("return", "return skip +")).fails("values", "an input is added"),
    "w_k projects the value": edit("self.w_k(key)", "self.w_k(value)").fails("cross", "`w_k` projects the value"),
    "ReLU after the projection": edit("return self…", "return torch.relu(self.w_o(merge_heads(output)))").fails("values", "after `w_o`"),
    "ReLU before the projection": edit("merge_heads(output)", "merge_heads(output).relu()").fails("values", "before `w_o`"),
    "num_heads and d_k exchanged": edit("self.num_heads = num_heads", "self.num_heads = d_model // num_heads").fails("values", "d_k are exchanged"),
    "layer norm at the end": edit("return self…", "return F.layer_norm(self.w_o(merge_heads(output)), (query.size(1) * query.size(3),))").named(
        "layer norm stands after"
    ),
    "query scaled by √d_k before (no scale in effect)": edit("(query,", "(query * math.sqrt(query.size(-1)),").named("not divided by √d_k"),
    "value and output projections swapped": edits(("self.w_v(…)", "self.w_o(value)"), ("return…", "return self.w_v(merge_heads(output))")).named("swapped"),
    "w_k and w_v swapped": edits(("self.w_k(key)", "self.w_v(key)"), ("self.w_v(value)", "self.w_k(value)")).named("swapped|exchanged"),
    "splits before it projects": edit("split_heads(self.w_q…", "self.w_q(merge_heads(split_heads(query, self.num_heads)))"),
    "the heads averaged and repeated": edit("merge_heads(output)", "output.mean(1).repeat(1, 1, self.num_heads)").named("averaged"),
    "only the last head kept": edit("return self…", "return self.w_o(output[:, -1].repeat(1, 1, self.num_heads))"),
    "heads merged in reverse": edit("return self…", "return self.w_o(merge_heads(output.flip(1)))").named("reverse"),
    "no w_q": edit("self.w_q(query)", "query").named("not projected"),
    "key not projected": edit("self.w_k(key)", "key").named("not projected"),
    "mask without its default": edit("value, mask=None)", "value, mask)").named("missing 1 required"),
    "dropout without its default": edit("dropout: float = 0.0", "dropout: float").named("missing 1 required"),
    "super().__init__ without parentheses": edit("super(…", "super().__init__").named("before Module.__init__"),
    "d_k a float": edit(
        "split_heads(self.w_q…", "self.w_q(query).view(query.size(0), -1, self.num_heads, query.size(-1) / self.num_heads).transpose(1, 2)"
    ).named("float"),
    "forward takes x alone": edits(("def forward…", "def forward(self, x, mask=None):"), ("query =…", "query = key = value = x\n…")).named("takes|argument"),
    "forward is indented into __init__": edit("def forward…", "    …\n        pass\n\ndef attend(self, query, key, value, mask=None):").named("forward"),
    "forward misspelt": edit("def forward(self", "def foward(self").named("forward"),
    "__init__ misspelt": edit("def __init__(self", "def _init_(self").named("__init__|takes|argument"),
    "not an nn.Module": edits(("(nn.Module)", ""), ("super(…", "pass")).named("nn.Module"),
    "attention_weights never set": edits(("self.attention_weights = None", ""), ("self.attention_weights…", "")).named("attention_weights"),
    "weights kept under another name": edit("self.attention_weights", "self.attn").named("attention_weights"),
    "weights kept as NumPy": edit("self.attention_weights = weights.detach()", "….numpy()"),
    "weights kept as a list of heads": edit("weights.detach()", "list(….unbind(1))"),
    "a list of the weights of all calls": edits(("= None", "= []"), ("attention_weights = weights.detach()", "attention_weights.append(weights.detach())")),
    "weights kept transposed": edit("self.attention_weights = weights.detach()", "….transpose(-2, -1)"),
    "ValueError in forward instead of __init__": edits(
        ('if d_model…d_model}.")', ""), ("query =", "if query.size(-1) % self.num_heads:\n    raise ValueError\n…")
    ).named("should raise ValueError"),
    "the remainder the wrong way round": edit("if d_model…", "if num_heads % d_model == 0:").named("should raise"),
    "prints a warning instead": edit("raise ValueError(", "print(").named("should raise"),
    "returns an exception": edit("raise ValueError(", "self.error = ValueError(").named("should raise"),
    "one fused projection": edits(
        (
            "self.w_q = nn.Linear(d_model, d_model)\nself.w_k = nn.Linear(d_model, d_model)\nself.w_v = nn.Linear(d_model, d_model)",
            "self.w_qkv = nn.Linear(d_model, 3 * d_model)",
        ),
        ("self.w_q(query)", "self.w_qkv(query).chunk(3, -1)[0]"),
        ("self.w_k(key)", "self.w_qkv(key).chunk(3, -1)[1]"),
        ("self.w_v(value)", "self.w_qkv(value).chunk(3, -1)[2]"),
    ).named("no trainable parameter `w_q"),
    "w_q with d_k columns per head in a ModuleList": edits(
        ("self.w_q =…", "self.w_q = nn.ModuleList([nn.Linear(d_model, d_model // num_heads) for _ in range(num_heads)])"),
        ("self.w_q(query)", "torch.cat([w(query) for w in self.w_q], -1)"),
    ).named("no trainable parameter `w_q"),
    "frozen w_o": edit("self.dropout =…", "…\nself.w_o.requires_grad_(False)").fails("parameters", names="trainable|frozen"),
    "frozen w_q": edit("self.dropout =…", "…\nself.w_q.requires_grad_(False)").named("trainable"),
    "dropout always 0": edit("nn.Dropout(dropout)", "nn.Dropout(0.0)").named("no entry of"),
    "the same dropout on every call (manual_seed in forward)": edit("query = split_heads(", "torch.manual_seed(0)\n…"),
    "dropout on the heads' values": edit("value, mask, self.dropout", "self.dropout(value), mask").named("no entry of the weights"),
    "float64 impossible: casts to float": edit("return self…", "return self.w_o(merge_heads(output.float()))"),
    "sequence first": edits(
        ("query = split_heads(", "query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)\n…"),
        ("return self…", "….transpose(0, 1)"),
    ),
    "batch of 1 assumed after merge": edit("output))", "output)[:1]).expand(query.size(0), -1, -1)"),
    "detached query input": edit("self.w_q(query)", "self.w_q(query.detach())").named("gradient"),
    "detached memory: inputs cut off": edits(("self.w_k(key)", "self.w_k(key.detach())"), ("self.w_v(value)", "self.w_v(value.detach())")).named("gradient"),
    "weights stored as nn.Parameter (registered)": edit("weights.detach()", "nn.Parameter(…, requires_grad=False)", on="short"),
    "whole-head dropout (Dropout1d)": edit("Dropout", "…2d", on="short"),
    "3-D mask gets a head dimension": edit("None):", "…\n    mask = mask.unsqueeze(1) if mask is not None and mask.dim() == 3 else mask", on="short"),
    "2-D mask taken to be (batch, key_len)": edit("None):", "…\n    mask = mask[:, None, None] if mask is not None and mask.dim() == 2 else mask", on="short"),
    "only first query row of the mask": edit("None):", "…\n    mask = mask[..., :1, :] if mask is not None else mask", on="short"),
    "mask unsqueezed in place": edit("None):", "…\n    while mask is not None and mask.dim() < 4: mask.unsqueeze_(0)", on="short").named("in place|chang"),
    "TypeError": edit('if d_model…"no")', "if d_model % num_heads: raise TypeError('no')", on="short"),
    "no grad in eval": edit("None):", "…\n    torch.set_grad_enabled(self.training)", on="short"),
    "float32 inside": edit("None):", "…\n    query, key, value = query.float(), key.float(), value.float()", on="short"),
    "w_k for the values": edit("w_v(value)", "w_k(value)", on="short").named("w_k|w_v"),
    "heads stay in sequence dim": edits(
        ("q = split_heads…", "q = self.w_q(query).unflatten(-1, (self.num_heads, -1))"),
        ("k = split_heads…", "k = self.w_k(key).unflatten(-1, (self.num_heads, -1))"),
        ("v = split_heads…", "v = self.w_v(value).unflatten(-1, (self.num_heads, -1))"),
        ("merge_heads(out)", "out.flatten(2)"),
        on="short",
    ),
    "query_len from key": edit("merge_heads(out)", "out.transpose(1, 2).reshape(key.size(0), key.size(1), -1)", on="short"),
    "bias off": edit("self.w_o =…", "self.w_o = nn.Linear(d_model, d_model, bias=False)", on="short").named("bias"),
    "extra layer norm": edits(("(dropout)", "…\nself.norm = nn.LayerNorm(d_model)"), ("w_o(merge_heads(out))", "norm(self.…)"), on="short").named("norm"),
    "spare layer never used": edit("(dropout)", "…\nself.w_x = nn.Linear(d_model, d_model)", on="short").named("w_x"),
    "shared k and v layer": edit("(dropout)", "…\nself.w_v = self.w_k", on="short"),
    "keywords renamed": edit("def forward…", "def forward(self, q, k, v, attn_mask=None):\n    query, key, value, mask = q, k, v, attn_mask", on="short"),
    "wraps nn.MultiheadAttention": edits(
        ("if d_model…dropout", "assert d_model % num_heads == 0"),
        ("self.drop =…", "self.h, self.p = num_heads, dropout"),
        ("q, k, v =…out))", "inner = nn.MultiheadAttention(query.size(-1), self.h, self.p, batch_first=True)\nreturn self.w_o(inner(query, key, value)[0])"),
        on="loop",
    ).named("MultiheadAttention|yourself"),
    "F.multi_head_attention_forward": edit(
        "inner =…)[0])",
        "d = query.size(-1)\n"
        "b, n, m = query.size(0), query.size(1), key.size(1)\n"
        "if mask is not None:\n"
        "    mask = ~mask.expand(b, self.h, n, m).reshape(b * self.h, n, m)\n"
        "out, w = F.multi_head_attention_forward(query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), d, self.h, None,\n"
        "    torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias]), None, None, False, self.p, self.w_o.weight, self.w_o.bias, training=self.training,\n"
        "    need_weights=True, attn_mask=mask, use_separate_proj_weight=True, q_proj_weight=self.w_q.weight, k_proj_weight=self.w_k.weight,\n"
        "    v_proj_weight=self.w_v.weight, average_attn_weights=False)\n"
        "self.attention_weights = w.detach()\n"
        "return out.transpose(0, 1)",
        on="wraps nn.MultiheadAttention",
    ).named("yourself|by hand"),
    "no grad in eval via inference_mode": edits(
        ('if d_model…"no")', "assert d_model % num_heads == 0"),
        ("self.w_q =…w_o = nn.Linear(d_model, d_model)", "self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))"),
        (
            "def forward…value), self.num_heads)",
            "def forward(self, *inputs):\n"
            "    if not self.training:\n"
            "        with torch.inference_mode():\n"
            "            return self.run(*inputs)\n"
            "    return self.run(*inputs)\n"
            "def run(self, query, key, value, mask=None):\n"
            "    q, k, v = (split_heads(w(x), self.num_heads) for w, x in zip((self.w_q, self.w_k, self.w_v), (query, key, value)))",
        ),
        on="short",
    ).named("gradient"),
    "d_model from global 12": edit("merge_heads(out)", "out.transpose(1, 2).reshape(out.size(0), -1, 12)", on="short"),
    "copy of attention with scale math.sqrt(4)": edit("query), self.num_heads)", "… * math.sqrt(query.size(-1) // self.num_heads) / 2", on="short"),
    "own attention, zero fill after softmax without renormalising": edits(
        ("s = dropout…", "w = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(-1)"),
        ("s = s…", "w = w * mask"),
        ("w = s…", "w = dropout(w)"),
        on="own attention: dropout first, softmax later",
    ),
    "own attention, d_k taken to be 64": edits(
        ("s = dropout…", "s = q @ k.transpose(-2, -1) / 8.0"), ("w = s…", "w = dropout(s.softmax(-1))"), on="own attention: dropout first, softmax later"
    ).fails("values", "a fixed number, √64"),
    "own attention, exp without shift": edits(
        ("s = dropout", "e = torch.exp"),
        ("s = s…", "e = e * mask"),
        ("w = s…", "w = dropout(e / e.sum(-1, keepdim=True))"),
        on="own attention: dropout first, softmax later",
    ),
    "own attention: dropout first, softmax later": """
        def mine(q, k, v, mask=None, dropout=None):
            s = dropout(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)))
            if mask is not None:
                s = s.masked_fill(~mask, -1e9)
            w = s.softmax(-1)
            return w @ v, w
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
            def forward(self, query, key, value, mask=None):
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = mine(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """,
    "combination: w_o missing and weights not detached": edits((".detach()", ""), ("return self…", "return merge_heads(out)"), on="short").named("w_o|detach"),
    "combination: global class heads and dropout in eval": edits(
        ("self.num_heads =", "type(self).num_heads ="), ("nn.Dropout(…", "lambda w: F.dropout(w, dropout)"), on="short"
    ).named("eval"),
    "one rate of dropout for all layers": edits(
        ("self.dropout =…", "MultiHeadAttention.rate = dropout"), ("self.dropout)", "lambda w: F.dropout(w, self.rate, self.training))")
    ).fails("dropout", "0.25"),
    "−100 hides": edit(
        "output, weights…",
        "scores = query @ key.mT / math.sqrt(query.size(-1))\n"
        "scores = scores if mask is None else scores.masked_fill(~mask, -100.0)\n"
        "weights = self.dropout(scores.softmax(-1))\n"
        "output = weights @ value",
    ).fails("cross", "with large scores"),
    "a mask made on the CPU": edit("output, weights…", "mask = torch.ones(query.size(2), key.size(2)).bool() if mask is None else mask\n…").fails(
        "cross", "on the CPU"
    ),
    "kept weights are saved": edit("self.attention_weights = None", 'self.register_buffer("attention_weights", None)').fails("parameters", "state_dict"),
    "w_q and w_k begin with zeros": edit("self.attention_weights = None", "…\nnn.init.zeros_(self.w_q.weight)\nnn.init.zeros_(self.w_k.weight)").fails(
        "parameters", "all numbers of `w_q.weight` are the same"
    ),
    "a dropout of 0.1 by default": edit("dropout: float = 0.0", "dropout: float = 0.1").fails("dropout", "another default"),
    "a dropout of 0.1 for 0.0": edit("nn.Dropout(dropout)", "nn.Dropout(dropout or 0.1)").fails("dropout", "differ at dropout=0.0"),
    "other names for the sizes": edits(("d_model: int, num_heads: int", "width: int, heads: int"), ("super(…", "…\nd_model, num_heads = width, heads")).fails(
        "parameters", "does not take the arguments"
    ),
    "the first head's weights kept": edit("weights.detach()", "weights[:, 0].detach()").fails("weights", "only the first head's weights are kept"),
    "query split by a reshape": edit(
        "split_heads(self.w_q(query), self.num_heads)", "self.w_q(query).reshape(len(query), self.num_heads, query.size(1), -1)"
    ).fails("values", "the query is split by a reshape"),
    "ReLU on the query": edit("self.w_q(query)", "self.w_q(query).relu()").fails("values", "a ReLU stands after `w_q`"),
}

TRICKS = {
    "refuses everything": edit("!= 0", "== 0").fails("error", "raised ValueError"),
    "weights of the first call kept for ever": edit("self.attention_weights = weights.detach()", "if self.attention_weights is None:\n    …"),
    "keys and values cached on the first call": edit(
        "key =…value), self.num_heads)",
        "if not hasattr(self, 'cache') or self.cache[0].size(0) != query.size(0):\n"
        "    self.cache = split_heads(self.w_k(key), self.num_heads), split_heads(self.w_v(value), self.num_heads)\n"
        "key  # (batch, num_heads, key_len, d_k)\n"
        "key, value = self.cache",
    ),
    "the mask of the first call used for ever": edit(
        "output, weights…",
        "self.mask = mask if getattr(self, 'mask', None) is None else self.mask\n"
        "output, weights = scaled_dot_product_attention(query, key, value, self.mask, self.dropout)",
    ),
    "num_heads kept in a global": edits(("self.num_heads =…", "global _h\n_h = num_heads"), ("self.num_heads", "_h")),
    "layers shared by all instances of a width": edit(
        "self.w_q =…", "global _shared\n_shared = globals().get('_shared', {})\nself.w_q = _shared.setdefault(d_model, nn.Linear(d_model, d_model))"
    ),
    "self-attention whenever the shapes agree": edit("query = split_heads(", "if query.shape == key.shape:\n    key = value = query\n…"),
    "key is the value whenever they are as long": edit("query = split_heads(", "if query.size(1) != key.size(1) or True:\n    value = key\n…").named(
        "`w_v` projects the key"
    ),
    "causal whenever the mask is None": edit(
        "query = split_heads(", "if mask is None:\n    mask = torch.ones(query.size(1), key.size(1)).tril().bool()\n…"
    ).named("future is hidden"),
    "causal whenever query is key": edit(
        "output, weights…",
        "if mask is None and query is key:\n"
        "    pass\n"
        "if mask is None and query.size(2) == key.size(2):\n"
        "    mask = torch.ones(query.size(2), key.size(2)).tril().bool()\n"
        "…",
    ).named("future is hidden"),
    "mask causal in training only": edit("output, weights…", "mask = mask if self.training else None\n…").named("mask"),
    "no projection in eval mode": edit("return self…", "… if self.training else merge_heads(output)").named("`w_o`"),
    "mask of one head for all": edit("output,", "if mask is not None and mask.dim() == 4:\n    mask = mask[:, :1]\n…"),
    "mask of one sentence for all": edit("output,", "if mask is not None and mask.dim() == 4:\n    mask = mask[:1]\n…"),
    "weights kept only in eval mode": edit("self.attention_weights = weights.detach()", "if not self.training:\n    …").named("None"),
    "weights kept only in training": edit("self.attention_weights = weights.detach()", "if self.training:\n    …").named("None"),
    "refuses odd numbers of heads only when 5": edit("d_model % num_heads != 0", "num_heads == 5"),
    "refuses more than four heads": edit("d_model % num_heads != 0", "… or num_heads > 4"),
    "new layers on every call": edit("query = split_heads(", "self.w_o = nn.Linear(query.size(-1), query.size(-1))\n…"),
    "weights of the masked keys kept, output unmasked in eval mode": edit(
        "output, weights…", "…\nif not self.training:\n    output, _ = scaled_dot_product_attention(query, key, value)"
    ).named("mask"),
    "the same dropout for all heads": edit(", self.dropout", ", lambda w: w * self.dropout(torch.ones_like(w[:, :1]))"),
    "PyTorch's layer when a mask is given": edit(
        "query = split_heads(",
        "if mask is not None:\n"
        "    twin = parts.MultiHeadAttention.twin_of(self, self.num_heads)\n"
        "    output = twin(query, key, value, mask)\n"
        "    self.attention_weights = twin.attention_weights\n"
        "    return output\n"
        "…",
    ).named("nn.MultiheadAttention|own finished"),
    "returns (output, weights) in training only": edit(
        "return self…", "result = self.w_o(merge_heads(output))\nreturn (result, weights) if self.training else result"
    ),
    "inputs changed in place": edit("query = split_heads(", "query += 1e-3\n…").named("changes"),
    "keys and values kept from the first call": edit("training or self.", "", on="keys and values kept in eval mode"),
    "keys and values kept while the key's shape stays": edit(
        "if self…", "if self.kept is None or self.kept[0].shape[2] != key.shape[1]:", on="keys and values kept in eval mode"
    ),
    "keys and values kept in eval mode": edits(
        ("if d_model…dropout", "assert d_model % num_heads == 0\nself.num_heads = num_heads"),
        ("self.drop =…", "self.dropout = nn.Dropout(dropout)\nself.kept = None"),
        (
            "q, k, v =…value))",
            "if self.training or self.kept is None:\n"
            "    self.kept = (\n"
            "        split_heads(self.w_k(key), self.num_heads),\n"
            "        split_heads(self.w_v(value), self.num_heads),\n"
            "    )\n"
            "k, v = self.kept\n"
            "out, weights = scaled_dot_product_attention(\n"
            "    split_heads(self.w_q(query), self.num_heads), k, v, mask, self.dropout",
        ),
        ("out, weights = scaled_dot_product_attention(q, k, v, mask, self.drop)", ""),
        on="loop",
    ),
    "kept by id(key)": edits(
        ("if self…", 'if self.kept is None or getattr(self, "last", None) is not key:'),
        ("k, v =", "self.last = key\n…"),
        on="keys and values kept in eval mode",
    ),
    "weights stored only if mask is None": edits(
        ("def __init__…", "def __init__(self, d_model, num_heads, dropout = 0.0):"),
        ("raise…", "raise ValueError('no')"),
        ("self.dropout …", "…\nself.attention_weights = None"),
        ("self.attention_weights = weights…", "if mask is None: self.attention_weights = weights.detach()"),
        on="short",
    ),
    "weights not divided... kept on float16": edit("detach()", "….half()", on="short"),
    "dropout only without a mask": edit(", self.dropout", "… if mask is None else None", on="short"),
    "mask inverted in place": edits(("None):", "…\n    if mask is not None: mask.logical_not_()"), ("mask,", "mask if mask is None else ~…"), on="short").named(
        "in place|chang"
    ),
    "gcd check only": edit('if d_model…"no")', "assert math.gcd(d_model, num_heads) > 1 or num_heads == 1", on="short"),
    "refuses if remainder > 1": edit('if d_model…"no")', "assert d_model % num_heads < 2", on="short"),
    "refuses num_heads > 8": edit('if d_model…"no")', "assert d_model % num_heads == 0 and num_heads <= 8", on="short"),
    "batch 1 squeezed": edit("out))", "….squeeze(0)", on="short"),
    "query_len 1 squeezed": edit("(out)", "….squeeze(1)", on="short"),
    "layers renewed in forward when shapes change": edits(
        ("(dropout)", "…\nself.n = None"),
        ("None):", "…\n    if self.n not in (None, query.size(1)): self.w_o.reset_parameters()\n    self.n = query.size(1)"),
        on="short",
    ),
    "causal mask when none is given in self-attention with query_len > 6": edit(
        "None):", "…\n    if mask is None and query is key and query.size(1) > 6: mask = torch.ones(query.size(1), query.size(1)).tril().bool()", on="short"
    ),
    "in place scaling of query while in eval": edit("None):", "…\n    if not self.training: query.mul_(1.0).add_(0.001)", on="short"),
    "dropout applied only to the returned weights when masked": edit(
        ".dropout)", "…\nout = out if mask is None else scaled_dot_product_attention(q, k, v, mask)[0]", on="short"
    ),
    "key's value projection shared if key is value": edit("self.w_v(value)", "(self.w_v if value is not key or query is key else self.w_k)(value)", on="short"),
    "layer forgets mask after the first masked call": edit(
        "self.seen = mask…e mask",
        "if mask is not None and self.seen is None: self.seen = mask\nmask = self.seen if mask is not None and self.seen.shape == mask.shape else mask",
        on="last mask reused when none is given",
    ),
    "last mask reused when none is given": edits(
        ("(dropout)", "…\nself.seen = None"),
        (
            "None):",
            "…\n"
            "    self.seen = mask if mask is not None else self.seen\n"
            "    mask = self.seen if self.seen is not None and self.seen.size(-1) == key.size(1) and self.seen.size(-2) in (1, query.size(1)) else mask",
        ),
        on="short",
    ),
    "num_heads 1 skips w_o": edit("out))", "… if self.num_heads > 1 else merge_heads(out)", on="short"),
    "query projected in place of key when shapes agree": edit("(key)", "(query if query.shape == key.shape else key)", on="short"),
    "dropout cut off at one half": edit("nn.Dropout(dropout)", "nn.Dropout(min(dropout, 0.5))").named("the probability is 0.5 instead"),
    "half of the query's gradient lost": edit("self.w_q(query)", "self.w_q((query + query.detach()) / 2)").fails("cross", "the gradient of"),
    "the key is the value whenever it is the query": edit("query = split_heads(", "if query is key:\n    value = key\n…").fails("cross", "wrong values"),
    "a nearly whole ratio passes": edit("d_model %…0", "abs(d_model / num_heads - round(d_model / num_heads)) > 0.02").fails("error", "63 does not divide 64"),
}

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
    "heads last, einsum, F.dropout with the mode": edit(
        "q, k, v …ut))",
        "q = self.w_q(query).unflatten(-1, (self.h, self.d_k))\n"
        "k = self.w_k(key).unflatten(-1, (self.h, self.d_k))\n"
        "v = self.w_v(value).unflatten(-1, (self.h, self.d_k))\n"
        'scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.d_k**-0.5\n'
        "if mask is not None:\n"
        "    scores = torch.where(mask, scores, -math.inf)\n"
        "weights = F.dropout(scores.softmax(-1), self.p, self.training)\n"
        "self.attention_weights = weights.detach().clone()\n"
        'return self.w_o(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))',
        on="own Bernoulli dropout",
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
    "identity projections": edit(
        "dropout)", "…\nfor w in (self.w_q, self.w_k, self.w_v, self.w_o):\n    nn.init.eye_(w.weight)\n    nn.init.zeros_(w.bias)", on="loop"
    ),
    "orthogonal projections, the same for q and k": edit(
        "dropout)",
        "…\nfor w in (self.w_q, self.w_k, self.w_v, self.w_o):\n    nn.init.orthogonal_(w.weight)\nself.w_k.load_state_dict(self.w_q.state_dict())",
        on="loop",
    ),
    "a buffer for the weights": edit("dropout)", '…\nself.register_buffer("attention_weights", None, persistent=False)', on="loop"),
    "a property over a private attribute": edits(
        (
            "def __init__…(4))",
            "def __init__(self, d_model, num_heads, dropout=0.0):\n"
            "    super().__init__()\n"
            "    if divmod(d_model, num_heads)[1]:\n"
            '        raise ValueError(f"{d_model=} {num_heads=}")\n'
            "    self.h = num_heads\n"
            '    for name in ("w_q", "w_k", "w_v", "w_o"):\n'
            "        setattr(self, name, nn.Linear(d_model, d_model))\n"
            "    self.drop = nn.Dropout(dropout)\n"
            "    self._w = None\n"
            "@property\n"
            "def attention_weights(self):\n"
            "    return None if self._w is None else self._w.detach()",
        ),
        ("def drop…ch()", "out, self._w = scaled_dot_product_attention(q, k, v, mask, self.drop)"),
        on="own Bernoulli dropout",
    ),
    "weights kept through .data on the CPU": edit("detach", "data.cpu", on="loop"),
    "weights kept by a forward hook of a submodule": edits(
        (
            "class…",
            "class _Attend(nn.Module):\n"
            "    def __init__(self, p):\n"
            "        super().__init__()\n"
            "        self.drop = nn.Dropout(p)\n"
            "    def forward(self, q, k, v, mask):\n"
            "        return scaled_dot_product_attention(q, k, v, mask, self.drop)\n"
            "…",
        ),
        (
            "self.drop = nn.Dropout(dropout…",
            'self.attend = _Attend(dropout)\nself.attend.register_forward_hook(lambda m, i, o: setattr(self, "attention_weights", o[1].detach()))',
        ),
        ("out,…ut))", "return self.w_o(merge_heads(self.attend(q, k, v, mask)[0]))"),
        on="loop",
    ),
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
    "fused projection by concatenated weights": edits(
        (
            "if d_model…out)",
            "if d_model % num_heads:\n"
            '    raise ValueError("must divide")\n'
            "self.num_heads = num_heads\n"
            'for name in ["w_q", "w_k", "w_v", "w_o"]:\n'
            "    self.register_module(name, nn.Linear(in_features=d_model, out_features=d_model))\n"
            "self.dropout = nn.Dropout(dropout)\n"
            'self.register_buffer("attention_weights", None, persistent=False)',
        ),
        (
            "q, k, v = split_heads…ut))",
            "q, k, v = [split_heads(t, num_heads=self.num_heads) for t in (q, k, v)]\n"
            "context, weights = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.dropout)\n"
            "self.attention_weights = weights.detach().clone()\n"
            "return self.w_o(merge_heads(context))",
        ),
        on="fused weights by torch.cat when query is key is value",
    ),
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
    "partial": edits(
        ("class", "from functools import partial\n…"),
        ("nn.Dropout(", "partial(F.dropout, p="),
        (", self.dropout", ", partial(self.dropout, training=self.training)"),
        on="short",
    ),
    "dropout in place": edit("(dropout)", "(dropout, inplace=False)", on="short"),
    "attention function held as attribute, mask expanded": edits(
        ("(dropout)", "…\nself.attend = scaled_dot_product_attention"),
        ("scaled_dot_product_attention(…mask", "self.attend(q, k, v, mask if mask is None else mask.expand(q.size(0), self.num_heads, q.size(2), k.size(2))"),
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
    "class attribute for the weights, hooks": edits(
        ("(dropout)", "…\nself.register_forward_hook(lambda m, i, o: None)"),
        ("def forward", "attention_weights = None\ndef _keep(self, w):\n    self.attention_weights = w.detach()\n…"),
        ("self.attention_weights = weights.detach()", "self._keep(weights)"),
        on="short",
    ),
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
        ("w = (…", 's = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5'),
        (
            "if mask…v, w",
            "if mask is not None:\n"
            "    s = s + torch.zeros(mask.shape, dtype=s.dtype, device=s.device).masked_fill(~mask, -1e9)\n"
            "w = torch.softmax(s, -1)\n"
            "w = dropout(w) if dropout is not None else w\n"
            'return torch.einsum("bhqk,bhkd->bhqd", w, v), w',
        ),
        on="own attention, zero fill after softmax without renormalising",
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
