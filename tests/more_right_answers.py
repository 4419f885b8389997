"""More right answers to lessons 1 to 3, found by trying; each must earn all points of its exercise, in silence.

`note` says what makes a case debatable.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Right:
    """One right answer that is not the solution: what is different, and its whole source."""

    exercise: str
    what: str
    source: str
    note: str = ""


def right(exercise, what, source, note=""):
    return Right(exercise, what, dedent(source).strip(), note)


def attn(what, body, note=""):
    head = "def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):\n"
    return Right("scaled_dot_product_attention", what, head + "\n".join("    " + l for l in dedent(body).strip().splitlines()), note)


TAIL = """
if dropout is not None:
    weights = dropout(weights)
return weights @ value, weights
"""


def soft(what, body, note=""):
    """Weights without dropout; the usual tail follows."""
    return attn(what, dedent(body).strip() + "\n" + TAIL, note)


LESSON_1 = [
    soft("softmax in float32, then back, as in many libraries", """
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    """),
    right("attend_one_query", "logsumexp", """
        def attend_one_query(query, key, value):
            scores = torch.mv(key, query)
            return torch.exp(scores - torch.logsumexp(scores, 0)) @ value
    """),
    right("attend_one_query", "float64 inside", """
        def attend_one_query(query, key, value):
            q, k, v = query.double(), key.double(), value.double()
            return (torch.softmax(k @ q, 0)[:, None] * v).sum(0).to(value.dtype)
    """),
    right("attend_one_query", "NumPy", """
        import numpy as np
        def attend_one_query(query, key, value):
            s = key.numpy() @ query.numpy()
            w = np.exp(s - s.max())
            return torch.from_numpy((w / w.sum()) @ value.numpy())
    """),
    right("attend_one_query", "running (online) softmax", """
        def attend_one_query(query, key, value):
            top, total, output = -math.inf, 0.0, torch.zeros_like(value[0])
            for k, v in zip(key, value):
                score = torch.dot(query, k).item()
                new = max(top, score)
                old = math.exp(top - new) if top > -math.inf else 0.0
                e = math.exp(score - new)
                output, total, top = output * old + e * v, total * old + e, new
            return output / total
    """),
    right("attend_one_query", "a dictionary, functools.reduce, a lambda", """
        from functools import reduce
        attend_one_query = lambda query, key, value: reduce(
            torch.add, [w * v for w, v in zip((key * query).sum(1).softmax(0), value)])
    """),
    right("attend_one_query", "exponentials without a shift, no_grad, prints", """
        @torch.no_grad()
        def attend_one_query(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            print("shapes", query.shape, key.shape, value.shape)
            e = torch.exp(torch.einsum("i,ji->j", query, key))
            p = e / e.sum()
            assert abs(p.sum().item() - 1) < 1e-5
            return torch.matmul(p, value)
    """),
    right("attend_one_query", "tensordot, an added batch dimension", """
        def attend_one_query(query, key, value):
            w = F.softmax(torch.tensordot(key, query, dims=1).unsqueeze(0), dim=1)
            return torch.mm(w, value).squeeze(0)
    """),
    soft("logsumexp", """
        scores = torch.matmul(query, key.mT) / query.size(-1) ** 0.5
        if mask is not None:
            scores = torch.where(mask, scores, torch.tensor(-torch.inf, dtype=scores.dtype))
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    """),
    soft("d_k^(-1/4) on both sides", """
        s = query.size(-1) ** -0.25
        scores = (query * s) @ (key * s).transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1)
    """),
    soft("key scaled first, rsqrt, F.softmax with dtype", """
        scores = query @ (key * torch.rsqrt(torch.tensor(float(key.shape[-1]), dtype=key.dtype))).mT
        if mask is not None:
            scores = scores.masked_fill(torch.logical_not(mask), torch.finfo(scores.dtype).min / 2)
        weights = F.softmax(scores, dim=-1, dtype=scores.dtype)
    """),
    soft("zeroed exponentials, then normalised", """
        scores = query @ key.mT / math.sqrt(key.size(-1))
        if mask is None:
            mask = torch.ones_like(scores, dtype=torch.bool)
        scores = scores - scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True)
        e = scores.masked_fill(~mask, -1e4).exp() * mask
        weights = e / e.sum(-1, keepdim=True)
    """),
    soft("max-shifted, 1e-9 under the fraction line", """
        scores = query @ key.mT / math.sqrt(key.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == False, -1e9)
        e = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
        weights = e / (e.sum(dim=-1, keepdim=True) + 1e-9)
    """),
    soft("zeroes the weights after the softmax and normalises again", """
        weights = torch.softmax(query @ key.mT / math.sqrt(key.size(-1)), -1)
        if mask is not None:
            weights = weights * mask
            weights = weights / weights.sum(-1, keepdim=True)
    """, "loses to underflow when a blocked score is larger by 100; same rule as DESIGN's expectation"),
    soft("log of the mask added", """
        scores = query @ key.mT / math.sqrt(key.size(-1))
        if mask is not None:
            scores = scores + mask.to(scores.dtype).log()
        weights = scores.softmax(-1)
    """),
    soft("additive mask built by masked_fill of zeros (SDPA's docstring)", """
        L, S = query.size(-2), key.size(-2)
        bias = torch.zeros(L, S, dtype=query.dtype, device=query.device)
        if mask is not None:
            bias = torch.zeros(mask.shape, dtype=query.dtype, device=query.device).masked_fill(mask.logical_not(), float("-inf"))
        weights = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.size(-1)))
        weights += bias
        weights = torch.softmax(weights, dim=-1)
    """),
    soft("softmax over the queries of the transposed scores", """
        scores = key @ query.mT / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask.expand(*query.shape[:-1], key.size(-2)).mT, -1e9)
        weights = scores.softmax(-2).mT
    """),
    soft("broadcast products, no matmul", """
        scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1).div(query.shape[-1] ** 0.5)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e15)
        weights = scores.softmax(dim=scores.dim() - 1)
    """),
    attn("three nested loops over flattened leading dimensions", """
        lead = query.shape[:-2]
        tq, tk, d = query.size(-2), key.size(-2), query.size(-1)
        full = torch.ones(*lead, tq, tk, dtype=torch.bool) if mask is None else mask.expand(*lead, tq, tk)
        q, k, m = query.reshape(-1, tq, d), key.reshape(-1, tk, d), full.reshape(-1, tq, tk)
        rows = []
        for b in range(q.size(0)):
            for i in range(tq):
                scores = torch.stack([(q[b, i] * k[b, j]).sum() / math.sqrt(d) if m[b, i, j]
                                      else torch.tensor(-math.inf, dtype=q.dtype) for j in range(tk)])
                rows.append(torch.softmax(scores, 0))
        weights = torch.stack(rows).reshape(*lead, tq, tk)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights
    """),
    attn("dropout row by row", """
        scores = query @ key.mT / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        if dropout is not None:
            weights = torch.stack([dropout(row) for row in weights.unbind(-2)], dim=-2)
        return weights @ value, weights
    """),
    attn("a NamedTuple, annotated", """
        from typing import NamedTuple
        class Attended(NamedTuple):
            output: torch.Tensor
            weights: torch.Tensor
        scores: torch.Tensor = query @ key.mT / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = weights if dropout is None else dropout(weights)
        return Attended(weights @ value, weights)
    """),
    attn("the returned weights are detached", """
        scores = query @ key.mT / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if dropout is not None:
            weights = dropout(weights)
        return weights @ value, weights.detach()
    """),
    right("scaled_dot_product_attention", "a callable object with helpers and state it does not use", """
        class _Attention:
            calls = 0
            def scores(self, q, k):
                return torch.einsum("...id,...jd->...ij", q, k).mul_(q.size(-1) ** -0.5)
            def __call__(self, query, key, value, mask=None, dropout=None):
                self.calls += 1
                s = self.scores(query, key)
                s = s if mask is None else s.masked_fill_(~mask, -1e9)
                w = s.softmax(-1)
                w = (dropout or (lambda x: x))(w)
                return w @ value, w
        scaled_dot_product_attention = _Attention()
    """),
    right("scaled_dot_product_attention", "keyword-only extras, *args, a decorator", """
        import functools
        def logged(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            return inner
        @logged
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None, *, scale=None, eps=0.0):
            scale = scale or 1.0 / math.sqrt(query.shape[-1])
            attn = torch.matmul(query, key.transpose(-1, -2)) * scale
            if mask is not None:
                attn = attn.masked_fill(mask.eq(0), -1e9)
            attn = nn.Softmax(dim=-1)(attn)
            if dropout is not None:
                attn = dropout(attn)
            return torch.matmul(attn, value), attn
    """),
    right("scaled_dot_product_attention", "a custom autograd.Function for the softmax", """
        class _Softmax(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                e = (x - x.amax(-1, keepdim=True)).exp()
                p = e / e.sum(-1, keepdim=True)
                ctx.save_for_backward(p)
                return p
            @staticmethod
            def backward(ctx, g):
                (p,) = ctx.saved_tensors
                return p * (g - (g * p).sum(-1, keepdim=True))
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            s = query @ key.mT / math.sqrt(query.size(-1))
            if mask is not None:
                s = s.masked_fill(~mask, -1e9)
            w = _Softmax.apply(s)
            if dropout is not None:
                w = dropout(w)
            return w @ value, w
    """),
    right("scaled_dot_product_attention", "chunks of queries, preallocated", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            n, m = query.size(-2), key.size(-2)
            if mask is not None:
                mask = mask.expand(*query.shape[:-1], m)
            pieces = []
            for lo in range(0, n, 2):
                part = query[..., lo : lo + 2, :] @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
                if mask is not None:
                    part = part.masked_fill(~mask[..., lo : lo + 2, :], -1e10)
                pieces.append(part.softmax(-1))
            weights = torch.cat(pieces, -2)
            if dropout is not None:
                weights = dropout(weights)
            return torch.einsum("...qk,...kd->...qd", weights, value), weights
    """),
    right("scaled_dot_product_attention", "torch.vmap over the leading dimensions", """
        def _one(q, k):
            return q @ k.T / math.sqrt(q.shape[-1])
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            f = _one
            for _ in range(query.dim() - 2):
                f = torch.vmap(f)
            scores = f(query, key)
            if mask is not None:
                scores = scores.masked_fill(~mask, -1e9)
            weights = scores.softmax(-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "exp2 with log2(e), baddbmm", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            lead = query.shape[:-2]
            q, k = query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:])
            s = torch.baddbmm(q.new_zeros(1), q, k.mT, beta=0, alpha=math.log2(math.e) / math.sqrt(q.size(-1)))
            s = s.view(*lead, *s.shape[-2:])
            if mask is not None:
                s = s.masked_fill(~mask, -math.inf)
            e = torch.exp2(s - s.amax(-1, keepdim=True))
            w = e / e.sum(-1, keepdim=True)
            if dropout is not None:
                w = dropout(w)
            return w @ value, w
    """),
    right("padding_mask", "isin", "def padding_mask(tokens, pad_id=0):\n    return ~torch.isin(tokens, torch.tensor([pad_id], dtype=tokens.dtype))[:, None, None]"),
    right("padding_mask", "where and reshape", "def padding_mask(tokens, pad_id=0):\n    return torch.where(tokens == pad_id, False, True).reshape(tokens.size(0), 1, 1, tokens.size(1))"),
    right("padding_mask", "a difference as bool", "def padding_mask(tokens, pad_id=0):\n    return (tokens - pad_id).bool().unsqueeze(-2).unsqueeze(-2)"),
    right("padding_mask", "preallocated, index assignment", "def padding_mask(tokens, pad_id=0):\n    m = torch.full((tokens.shape[0], 1, 1, tokens.shape[1]), True)\n    m[:, 0, 0][tokens == pad_id] = False\n    return m"),
    right("padding_mask", "map over NumPy", "def padding_mask(tokens, pad_id=0):\n    import numpy as np\n    return torch.from_numpy(np.not_equal(tokens.cpu().numpy(), pad_id))[:, np.newaxis, np.newaxis, :].to(tokens.device)"),
    right("causal_mask", "cumulative sum of the identity", "def causal_mask(size):\n    return torch.eye(size).cumsum(1).mT.bool()" ),
    right("causal_mask", "tril_indices", "def causal_mask(size):\n    m = torch.zeros((size, size), dtype=torch.bool)\n    i = torch.tril_indices(size, size)\n    m[i[0], i[1]] = True\n    return m"),
    right("causal_mask", "nested lists", "def causal_mask(size):\n    return torch.tensor([[j <= i for j in range(size)] for i in range(size)])"),
    right("causal_mask", "additive mask compared with 0", "def causal_mask(size):\n    return torch.full((size, size), float('-inf')).triu(1) == 0"),
    right("causal_mask", "ge of aranges on a device argument", "def causal_mask(size, device=None):\n    r = torch.arange(size, device=device)\n    return r.unsqueeze(1).ge(r)"),
    right("causal_mask", "lru_cache", "import functools\n@functools.lru_cache(maxsize=None)\ndef causal_mask(size):\n    return torch.tril(torch.ones(size, size)).to(torch.bool)"),
    right("decoder_mask", "loops", """
        def decoder_mask(tokens, pad_id=0):
            b, t = tokens.shape
            m = torch.zeros(b, 1, t, t, dtype=torch.bool, device=tokens.device)
            for n in range(b):
                for i in range(t):
                    for j in range(i + 1):
                        m[n, 0, i, j] = tokens[n, j] != pad_id
            return m
    """),
    right("decoder_mask", "blocked masks joined by or", """
        def decoder_mask(tokens, pad_id=0):
            blocked = (tokens == pad_id)[:, None, None, :] | torch.triu(torch.ones(tokens.size(1), tokens.size(1), device=tokens.device), 1).bool()
            return ~blocked
    """),
    right("decoder_mask", "tril of the expanded padding mask", "def decoder_mask(tokens, pad_id=0):\n    t = tokens.shape[1]\n    return padding_mask(tokens, pad_id).expand(-1, 1, t, t).tril()"),
    right("decoder_mask", "minimum of both", "def decoder_mask(tokens, pad_id=0):\n    a, b = padding_mask(tokens, pad_id), causal_mask(tokens.size(1)).to(tokens.device)\n    return torch.minimum(a.int(), b.int()).bool()"),
    right("decoder_mask", "padding queries may see themselves", "def decoder_mask(tokens, pad_id=0):\n    m = padding_mask(tokens, pad_id=pad_id) & causal_mask(tokens.size(1)).to(tokens.device)\n    return m | (torch.eye(tokens.size(1), device=tokens.device).bool() & (tokens == pad_id)[:, None, :, None])"),
    right("decoder_mask", "padding queries see everything", "def decoder_mask(tokens, pad_id=0):\n    m = padding_mask(tokens, pad_id=pad_id) & causal_mask(tokens.size(1)).to(tokens.device)\n    return m | (tokens == pad_id)[:, None, :, None]"),
    right("decoder_mask", "where with a zero tensor, expand of causal first", "def decoder_mask(tokens, pad_id=0):\n    past = causal_mask(tokens.shape[-1]).to(tokens.device)\n    return past[None, None] * (tokens != pad_id).view(-1, 1, 1, tokens.shape[-1])"),
]


def layer(what, init="", forward="", note="", top="", pre=""):
    source = f"""
{dedent(top).strip()}
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("no")
        self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
{chr(10).join("        " + line for line in dedent(init).strip().splitlines()) or "        pass"}

    def forward(self, query, key, value, mask=None):
{chr(10).join("        " + line for line in dedent(forward).strip().splitlines())}
"""
    return Right("MultiHeadAttention", what, source.strip(), note)


USUAL = """
q, k, v = (split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
out, weights = scaled_dot_product_attention(q, k, v, mask, self.drop)
self.attention_weights = weights.detach()
return self.w_o(merge_heads(out))
"""

LESSON_2 = [
    right("split_heads", "einops-like loop over tokens", """
        def split_heads(x, num_heads):
            b, t, d = x.shape
            return torch.stack([x[:, i].reshape(b, num_heads, d // num_heads) for i in range(t)], dim=2)
    """),
    right("split_heads", "tensor_split", "def split_heads(x, num_heads):\n    return torch.stack(torch.tensor_split(x, num_heads, dim=-1)).movedim(0, 1)"),
    right("split_heads", "split by d_k, list comprehension, cat of unsqueezed", "def split_heads(x, num_heads):\n    d_k = x.shape[-1] // num_heads\n    return torch.cat([part.unsqueeze(1) for part in x.split(d_k, -1)], 1)"),
    right("split_heads", "unfold", "def split_heads(x, num_heads):\n    d_k = x.size(2) // num_heads\n    return x.unfold(2, d_k, d_k).transpose(1, 2)"),
    right("split_heads", "index_select", "def split_heads(x, num_heads):\n    d_k = x.size(-1) // num_heads\n    return torch.stack([x.index_select(-1, torch.arange(i * d_k, (i + 1) * d_k)) for i in range(num_heads)], 1)"),
    right("split_heads", "a product with one-hot matrices", "def split_heads(x, num_heads):\n    d = x.size(-1)\n    eye = torch.eye(d, dtype=x.dtype).view(d, num_heads, -1)\n    return torch.einsum('btd,dhk->bhtk', x, eye)"),
    right("split_heads", "swapaxes, contiguous, -1", "def split_heads(x, num_heads):\n    return x.reshape(len(x), -1, num_heads, x.shape[-1] // num_heads).swapaxes(1, 2).contiguous()"),
    right("merge_heads", "movedim and flatten", "def merge_heads(x):\n    return x.movedim(1, 2).flatten(start_dim=-2)"),
    right("merge_heads", "einsum with one-hot matrices", "def merge_heads(x):\n    b, h, t, k = x.shape\n    eye = torch.eye(h * k, dtype=x.dtype).view(h, k, h * k)\n    return torch.einsum('bhtk,hkd->btd', x, eye)"),
    right("merge_heads", "loop, new_zeros", "def merge_heads(x):\n    b, h, t, k = x.shape\n    out = x.new_zeros(b, t, h * k)\n    for i in range(h):\n        out[:, :, i * k : (i + 1) * k] = x[:, i]\n    return out"),
    right("merge_heads", "stack on a last dimension", "def merge_heads(x):\n    return torch.stack(x.unbind(1), dim=2).reshape(x.shape[0], x.shape[2], -1)"),
    right("merge_heads", "hstack per token, concat", "def merge_heads(x):\n    return torch.stack([torch.cat([x[:, h, t] for h in range(x.size(1))], dim=1) for t in range(x.size(2))], dim=1)"),
    right("merge_heads", "einops-like permute, clone, view", "def merge_heads(x):\n    B, H, T, D = x.size()\n    return x.permute(0, 2, 1, 3).clone(memory_format=torch.contiguous_format).view(B, T, H * D)"),
    layer("zero-initialised w_o (GPT-style residual output)", "self.drop = nn.Dropout(dropout)\nnn.init.zeros_(self.w_o.weight)\nnn.init.zeros_(self.w_o.bias)", USUAL, "the contract states no initial values"),
    layer("xavier and zero biases", "self.drop = nn.Dropout(dropout)\nfor w in (self.w_q, self.w_k, self.w_v, self.w_o):\n    nn.init.xavier_uniform_(w.weight)\n    nn.init.zeros_(w.bias)", USUAL),
    layer("weights from N(0, 1)", "self.drop = nn.Dropout(dropout)\nfor w in self.parameters():\n    nn.init.normal_(w)", USUAL, "the contract states no initial values"),
    layer("weights from N(0, 0.02)", "self.drop = nn.Dropout(dropout)\nfor w in self.parameters():\n    nn.init.normal_(w, std=0.02)", USUAL),
    layer("identity projections", "self.drop = nn.Dropout(dropout)\nfor w in (self.w_q, self.w_k, self.w_v, self.w_o):\n    nn.init.eye_(w.weight)\n    nn.init.zeros_(w.bias)", USUAL, "the contract states no initial values"),
    layer("orthogonal projections, the same for q and k", "self.drop = nn.Dropout(dropout)\nfor w in (self.w_q, self.w_k, self.w_v, self.w_o):\n    nn.init.orthogonal_(w.weight)\nself.w_k.load_state_dict(self.w_q.state_dict())", USUAL, "the contract states no initial values"),
    layer("a buffer for the weights", "self.drop = nn.Dropout(dropout)\nself.register_buffer('attention_weights', None, persistent=False)", USUAL),
    layer("a property over a private attribute", "self.drop = nn.Dropout(dropout)\nself._w = None", """
        q, k, v = (split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        out, self._w = scaled_dot_product_attention(q, k, v, mask, self.drop)
        return self.w_o(merge_heads(out))

    @property
    def attention_weights(self):
        return None if self._w is None else self._w.detach()
    """.replace("\n    @property", "\n@@")) if False else right("MultiHeadAttention", "a property over a private attribute", """
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
                q, k, v = (split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
                out, self._w = scaled_dot_product_attention(q, k, v, mask, self.drop)
                return self.w_o(merge_heads(out))
    """),
    layer("weights kept through .data on the CPU", "self.drop = nn.Dropout(dropout)", USUAL.replace("weights.detach()", "weights.data.cpu()")),
    layer("weights kept by a forward hook of a submodule", "self.attend = _Attend(dropout)\nself.attend.register_forward_hook(lambda m, i, o: setattr(self, 'attention_weights', o[1].detach()))", """
        q, k, v = (split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        return self.w_o(merge_heads(self.attend(q, k, v, mask)[0]))
    """, top="""
class _Attend(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.drop = nn.Dropout(p)
    def forward(self, q, k, v, mask):
        return scaled_dot_product_attention(q, k, v, mask, self.drop)
"""),
    layer("F.scaled_dot_product_attention for the output, products for the weights", "self.drop = nn.Dropout(dropout)", """
        q, k, v = (split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        eye = torch.eye(k.size(2), dtype=k.dtype).expand(*k.shape[:2], -1, -1)
        weights = self.drop(F.scaled_dot_product_attention(q, k, eye, attn_mask=mask))
        self.attention_weights = weights.detach()
        return self.w_o(merge_heads(weights @ v))
    """, "exercise 2.3 forbids nn.MultiheadAttention only"),
    layer("fused weights by torch.cat when query is key is value", "self.drop = nn.Dropout(dropout)", """
        if query is key and key is value:
            w = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight])
            b = torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])
            q, k, v = F.linear(query, w, b).chunk(3, dim=-1)
        else:
            q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        q, k, v = split_heads(q, self.h), split_heads(k, self.h), split_heads(v, self.h)
        out, weights = scaled_dot_product_attention(q, k, v, mask, self.drop)
        self.attention_weights = weights.detach()
        return self.w_o(merge_heads(out))
    """),
    layer("raw products with the weights, no call of the layers", "self.drop = nn.Dropout(dropout)", """
        q = query @ self.w_q.weight.T + self.w_q.bias
        k = key @ self.w_k.weight.T + self.w_k.bias
        v = value @ self.w_v.weight.T + self.w_v.bias
        out, weights = scaled_dot_product_attention(*(split_heads(x, self.h) for x in (q, k, v)), mask, self.drop)
        self.attention_weights = weights.detach()
        return merge_heads(out) @ self.w_o.weight.T + self.w_o.bias
    """),
    layer("w_o head by head, summed", "self.drop = nn.Dropout(dropout)", """
        q, k, v = (split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        out, weights = scaled_dot_product_attention(q, k, v, mask, self.drop)
        self.attention_weights = weights.detach()
        w = self.w_o.weight.view(-1, self.h, self.d_k)
        return torch.einsum("bhtk,dhk->btd", out, w) + self.w_o.bias
    """),
    layer("loops over batch and heads", "self.drop = nn.Dropout(dropout)", """
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        b, n, m = query.size(0), query.size(1), key.size(1)
        full = torch.ones(b, self.h, n, m, dtype=torch.bool) if mask is None else mask.expand(b, self.h, n, m)
        outs, kept = [], []
        for i in range(b):
            row, w = [], []
            for j in range(self.h):
                c = slice(j * self.d_k, (j + 1) * self.d_k)
                s = q[i, :, c] @ k[i, :, c].T / self.d_k**0.5
                p = self.drop(s.masked_fill(~full[i, j], -1e9).softmax(-1))
                row.append(p @ v[i, :, c])
                w.append(p)
            outs.append(torch.cat(row, -1))
            kept.append(torch.stack(w))
        self.attention_weights = torch.stack(kept).detach()
        return self.w_o(torch.stack(outs))
    """),
    layer("own Bernoulli dropout", "", """
        q, k, v = (split_heads(w(x), self.h) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        def drop(w):
            if not self.training or self.p == 0:
                return w
            return w * torch.bernoulli(torch.full_like(w, 1 - self.p)) / (1 - self.p)
        out, weights = scaled_dot_product_attention(q, k, v, mask, drop)
        self.attention_weights = weights.detach()
        return self.w_o(merge_heads(out))
    """),
    layer("functools.partial, nn.Identity without dropout", "self.drop = nn.Dropout(dropout) if dropout > 0 else nn.Identity()\nself.attend = functools.partial(scaled_dot_product_attention, dropout=self.drop)", """
        heads = functools.partial(split_heads, num_heads=self.h)
        out, weights = self.attend(heads(self.w_q(query)), heads(self.w_k(key)), heads(self.w_v(value)), mask)
        self.attention_weights = weights.detach().clone()
        return self.w_o(merge_heads(out))
    """, top="import functools"),
    layer("scores scaled in w_q's output, log-space softmax", "self.drop = nn.Dropout(p=dropout)", """
        q = split_heads(self.w_q(query) / math.sqrt(self.d_k), self.h)
        k, v = split_heads(self.w_k(key), self.h), split_heads(self.w_v(value), self.h)
        s = torch.einsum("bhqd,bhkd->bhqk", q, k)
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), torch.finfo(s.dtype).min)
        w = self.drop(s.log_softmax(-1).exp())
        self.attention_weights = w.detach()
        return self.w_o(torch.einsum("bhqk,bhkd->bqhd", w, v).reshape(query.shape))
    """),
    right("MultiHeadAttention", "dataclass-like, annotations, defaults for key and value, **kwargs", """
        from typing import Optional
        class MultiHeadAttention(nn.Module):
            attention_weights: Optional[torch.Tensor] = None
            heads: int
            def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0, **kwargs) -> None:
                if d_model % num_heads != 0:
                    raise ValueError("d_model % num_heads != 0")
                super().__init__(**kwargs)
                self.heads, self.width, self.extra = num_heads, d_model, {"made": True}
                self.dropout = nn.Dropout(dropout)
                self.w_o, self.w_v, self.w_k, self.w_q = [nn.Linear(in_features=d_model, out_features=d_model) for _ in "okvq"]
            def forward(self, query, key=None, value=None, mask=None):
                key = query if key is None else key
                value = key if value is None else value
                q, k, v = map(lambda p: split_heads(p[0](p[1]), self.heads), [(self.w_q, query), (self.w_k, key), (self.w_v, value)])
                output, self.attention_weights = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.dropout)
                self.attention_weights = self.attention_weights.detach()
                return self.w_o(merge_heads(output))
            def extra_repr(self):
                return f"heads={self.heads}"
    """),
    right("MultiHeadAttention", "a subclass of a base class, hooks, prints and warnings", """
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
                o, w = scaled_dot_product_attention(self._heads(query, self.w_q), self._heads(key, self.w_k), self._heads(value, self.w_v), mask, self.drop)
                self.attention_weights = w.detach()
                return self.w_o(merge_heads(o))
    """),
    right("MultiHeadAttention", "non-trainable extras", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if not (d_model / num_heads).is_integer():
                    raise ValueError("num_heads must divide d_model")
                self.num_heads = nn.Parameter(torch.tensor(num_heads), requires_grad=False)
                self.w_q, self.w_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
                self.w_v, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
                self.dropout = nn.Sequential(nn.Identity(), nn.Dropout(dropout))
            def forward(self, query, key, value, mask=None):
                h = int(self.num_heads)
                o, w = scaled_dot_product_attention(split_heads(self.w_q(query), h), split_heads(self.w_k(key), h), split_heads(self.w_v(value), h), mask, self.dropout)
                self.attention_weights = w.clone().detach()
                return self.w_o(merge_heads(o)).contiguous()
    """),
]

LONG = 'raise ValueError(f"sequence of {n} tokens, but max_len is {m}")'
LESSON_3 = [
    right("TokenEmbedding", "sparse gradients", """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model, sparse=True)
            def forward(self, tokens):
                return self.embedding(tokens) * self.embedding.embedding_dim**0.5
    """, "sparse=True changes the gradient's layout only"),
    right("TokenEmbedding", "small start, N(0, 1/√d)", """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
            def forward(self, tokens):
                return self.embedding(tokens).mul(math.sqrt(self.embedding.weight.shape[1]))
    """),
    right("TokenEmbedding", "zeros at the start", """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                nn.init.zeros_(self.embedding.weight)
                self.d = d_model
            def forward(self, tokens):
                return self.embedding(tokens) * self.d**0.5
    """, "the contract states no initial values"),
    right("TokenEmbedding", "in place on its own output, a buffer for the scale", """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model)
                self.register_buffer("scale", torch.tensor(d_model).sqrt())
            def forward(self, tokens):
                out = self.embedding(tokens)
                out *= self.scale
                return out
    """),
    right("TokenEmbedding", "scaled table looked up", """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
            def forward(self, tokens):
                return (self.embedding.weight * self.embedding.embedding_dim**0.5)[tokens]
    """),
    right("TokenEmbedding", "a loop over tokens, torch.stack", """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.scale = torch.sqrt(torch.tensor(float(d_model)))
            def forward(self, tokens):
                return torch.stack([torch.stack([self.embedding.weight[t] * self.scale for t in row]) for row in tokens])
    """),
    right("TokenEmbedding", "dataclass", """
        from dataclasses import dataclass
        @dataclass(eq=False)
        class TokenEmbedding(nn.Module):
            vocab_size: int
            d_model: int
            def __post_init__(self):
                super().__init__()
                self.embedding = nn.Embedding(self.vocab_size, self.d_model)
            def forward(self, tokens):
                return self.embedding(tokens) * math.sqrt(self.d_model)
    """),
    right("TokenEmbedding", "nn.Embedding subclass inside, scale by grad", """
        class _Table(nn.Embedding):
            def forward(self, x):
                return super().forward(x) * self.embedding_dim ** 0.5
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model):
                super().__init__()
                self.embedding = _Table(vocab_size, d_model)
            def forward(self, tokens):
                return self.embedding(tokens)
    """),
    right("encoding_angle", "float32 torch arithmetic", "def encoding_angle(position, column, d_model):\n    return torch.tensor(float(position)) / torch.pow(torch.tensor(10000.0), torch.tensor(column // 2 * 2 / d_model))"),
    right("encoding_angle", "bit mask, 1e4, reciprocal power", "def encoding_angle(position, column, d_model):\n    return position * 1e4 ** -((column & ~1) / d_model)"),
    right("encoding_angle", "Decimal", "from decimal import Decimal\ndef encoding_angle(position, column, d_model):\n    return Decimal(position) / Decimal(10000) ** (Decimal(column - column % 2) / Decimal(d_model))"),
    right("encoding_angle", "repeated multiplication by the pair's factor", "def encoding_angle(position, column, d_model):\n    angle, factor = float(position), 10000 ** (-2 / d_model)\n    for _ in range(column // 2):\n        angle *= factor\n    return angle"),
    right("encoding_angle", "divmod, numpy float32 0-d array", "import numpy as np\ndef encoding_angle(position, column, d_model):\n    i, _ = divmod(column, 2)\n    return np.asarray(np.float32(position) / np.float32(10000) ** np.float32(2 * i / d_model))"),
    right("encoding_angle", "if/else on odd columns, a one-entry tensor in float64", "def encoding_angle(position, column, d_model):\n    if column % 2 == 1:\n        column -= 1\n    return torch.tensor([position / 10000 ** (column / d_model)], dtype=torch.float64)"),
    right("sinusoidal_encoding", "rotation from row to row, float32", """
        def sinusoidal_encoding(max_len, d_model):
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
            s, c = torch.zeros_like(w), torch.ones_like(w)
            rows = []
            for _ in range(max_len):
                rows.append(torch.stack([s, c], -1).flatten())
                s, c = s * w.cos() + c * w.sin(), c * w.cos() - s * w.sin()
            return torch.stack(rows)
    """),
    right("sinusoidal_encoding", "complex exponentials", """
        def sinusoidal_encoding(max_len, d_model):
            w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            z = torch.exp(1j * torch.arange(max_len)[:, None] * w)
            return torch.stack([z.imag, z.real], -1).reshape(max_len, d_model)
    """),
    right("sinusoidal_encoding", "complex64 powers", """
        def sinusoidal_encoding(max_len, d_model):
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            z = torch.polar(torch.ones_like(w), w)[None].repeat(max_len, 1).cumprod(0) / torch.polar(torch.ones_like(w), w)
            return torch.view_as_real(z).flip(-1).flatten(1).float()
    """),
    right("sinusoidal_encoding", "repeat_interleave, a phase of π/2 on odd columns", """
        def sinusoidal_encoding(max_len, d_model):
            column = torch.arange(d_model)
            speed = torch.exp(-(column // 2 * 2) * (math.log(10000.0) / d_model))
            return torch.sin(torch.arange(max_len).float()[:, None] * speed + (column % 2) * (math.pi / 2))
    """),
    right("sinusoidal_encoding", "torch.where over all columns", """
        def sinusoidal_encoding(max_len, d_model):
            c = torch.arange(d_model)
            angle = torch.arange(max_len)[:, None] / 10000 ** ((c - c % 2) / d_model)
            return torch.where(c % 2 == 0, angle.sin(), angle.cos())
    """),
    right("sinusoidal_encoding", "nested lists and math", """
        def sinusoidal_encoding(max_len, d_model):
            return torch.tensor([[(math.sin, math.cos)[j % 2](i / 10000 ** ((j - j % 2) / d_model)) for j in range(d_model)] for i in range(max_len)])
    """),
    right("sinusoidal_encoding", "column by column with encoding_angle", """
        def sinusoidal_encoding(max_len, d_model):
            columns = []
            for c in range(d_model):
                angles = torch.tensor([encoding_angle(p, c, d_model) for p in range(max_len)])
                columns.append(torch.cos(angles) if c % 2 else torch.sin(angles))
            return torch.stack(columns, dim=1)
    """),
    right("sinusoidal_encoding", "empty table, slices, linspace exponents, logspace", """
        def sinusoidal_encoding(max_len, d_model):
            table = torch.empty((max_len, d_model), dtype=torch.float32)
            steps = d_model // 2
            speed = torch.logspace(0, -4 * (steps - 1) / steps, steps)
            angles = torch.outer(torch.linspace(0, max_len - 1, max_len), speed)
            table[:, ::2], table[:, 1::2] = angles.sin(), angles.cos()
            return table
    """),
    right("sinusoidal_encoding", "half the exponents written as 2i over arange(d_model)", """
        def sinusoidal_encoding(max_len, d_model):
            speed = (10000.0 ** (-2 * torch.arange(d_model) / d_model))[: d_model // 2]
            angle = torch.arange(max_len).unsqueeze(1) * speed
            return torch.stack((angle.sin(), angle.cos()), 2).view(max_len, d_model)
    """),
    right("sinusoidal_encoding", "float32 exponent by cumulative products", """
        def sinusoidal_encoding(max_len, d_model):
            speed = torch.full((d_model // 2,), 10000.0 ** (-2 / d_model)).cumprod(0).roll(1)
            speed[0] = 1.0
            pe = torch.zeros(max_len, d_model)
            angle = torch.arange(max_len)[:, None] * speed
            pe[:, 0::2] = angle.sin()
            pe[:, 1::2] = angle.cos()
            return pe
    """),
    right("PositionalEncoding", "the table not persistent, a leading 1", f"""
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.drop = nn.Dropout(dropout)
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).unsqueeze(0), persistent=False)
            def forward(self, x):
                n, m = x.shape[1], self.encoding.shape[1]
                if n > m:
                    {LONG}
                return self.drop(x + self.encoding[:, :n])
    """),
    right("PositionalEncoding", "a clone added in place, dropout in place", f"""
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.dropout = nn.Dropout(p=dropout, inplace=True)
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.max_len = max_len
            def forward(self, x):
                n, m = x.size(1), self.max_len
                if not n <= m:
                    {LONG}
                y = x.clone()
                y += self.encoding[:n].to(x.dtype)
                return self.dropout(y)
    """),
    right("PositionalEncoding", "a table in float64, cast on use", f"""
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).double())
                self.p = dropout
            def forward(self, x):
                n, m = x.size(1), len(self.encoding)
                if n > m:
                    {LONG}
                return F.dropout(x + self.encoding[:n].to(x), p=self.p, training=self.training)
    """),
    right("PositionalEncoding", "an own error class, a pre-hook for the check", """
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
    """),
    right("PositionalEncoding", "F.embedding, requires_grad_(False), a list of messages", """
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
                return self.dropout(F.embedding(torch.arange(seq_len, device=x.device), self.encoding).expand(batch, -1, -1) + x)
    """),
    right("PositionalEncoding", "own dropout by torch.rand, a loop over positions", f"""
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.rate = dropout
            def forward(self, x):
                n, m = x.size(1), self.encoding.size(0)
                if n > m:
                    {LONG}
                y = torch.stack([x[:, i] + self.encoding[i] for i in range(n)], 1)
                if self.training:
                    y = y * (torch.rand_like(y) >= self.rate) / (1 - self.rate)
                return y
    """),
    right("PositionalEncoding", "nn.Sequential for what follows the sum", f"""
        class _Add(nn.Module):
            def __init__(self, outer):
                super().__init__()
                self.table = lambda: outer.encoding
            def forward(self, x):
                return x + self.table()[: x.size(1)]
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.steps = nn.Sequential(_Add(self), nn.Dropout(dropout))
            def forward(self, x):
                n, m = x.size(1), self.encoding.size(0)
                if n > m:
                    {LONG}
                return self.steps(x)
    """),
    right("PositionalEncoding", "dropout by multiplying with a dropped tensor of ones", f"""
        class PositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                n, m = x.size(1), self.encoding.size(0)
                if n > m:
                    {LONG}
                y = x + self.encoding[:n]
                return y * self.dropout(torch.ones_like(y))
    """),
    right("shift_matrix", "matrix_exp of a generator", """
        def shift_matrix(offset, d_model):
            w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            g = torch.zeros(d_model, d_model)
            i = torch.arange(0, d_model, 2)
            g[i, i + 1], g[i + 1, i] = w, -w
            return torch.matrix_exp(offset * g)
    """),
    right("shift_matrix", "a power of the one-step matrix", """
        def shift_matrix(offset, d_model):
            step = torch.block_diag(*[torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
                                      for a in (encoding_angle(1, 2 * i, d_model) for i in range(d_model // 2))])
            return torch.linalg.matrix_power(step, offset)
    """),
    right("shift_matrix", "repeated products, transposed for negative offsets", """
        def shift_matrix(offset, d_model):
            one = torch.zeros(d_model, d_model)
            for e in range(0, d_model, 2):
                a = 10000 ** (-e / d_model)
                one[e, e] = one[e + 1, e + 1] = math.cos(a)
                one[e, e + 1], one[e + 1, e] = math.sin(a), -math.sin(a)
            result = torch.eye(d_model)
            for _ in range(abs(offset)):
                result = result @ (one if offset > 0 else one.T)
            return result
    """),
    right("shift_matrix", "complex numbers", """
        def shift_matrix(offset, d_model):
            z = torch.exp(1j * offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model))
            m = torch.diag_embed(z.real.repeat_interleave(2))
            s = torch.stack([z.imag, torch.zeros_like(z.imag)], 1).flatten()[:-1]
            return m + torch.diag(s, 1) - torch.diag(s, -1)
    """),
    right("shift_matrix", "Kronecker products", """
        def shift_matrix(offset, d_model):
            m = torch.zeros(d_model, d_model)
            for i in range(d_model // 2):
                a = encoding_angle(offset, 2 * i, d_model)
                one = torch.zeros(d_model // 2, d_model // 2)
                one[i, i] = 1
                m += torch.kron(one, torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]))
            return m
    """),
    right("shift_matrix", "least squares in float64 on far-apart positions", """
        def shift_matrix(offset, d_model):
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            def table(p):
                a = p[:, None] * w
                return torch.stack([a.sin(), a.cos()], -1).flatten(1)
            p = torch.arange(0, 60000, 37, dtype=torch.float64)
            return torch.linalg.lstsq(table(p), table(p + offset)).solution.T
    """, "float64; entries off the blocks are about 1e-15"),
    right("shift_matrix", "float64 NumPy, cast", """
        def shift_matrix(offset, d_model):
            import numpy as np
            m = np.zeros((d_model, d_model))
            for c in range(d_model):
                a = offset / np.power(10000, (c - c % 2) / d_model)
                m[c, c] = np.cos(a)
                m[c, c + 1 if c % 2 == 0 else c - 1] = np.sin(a) * (1 if c % 2 == 0 else -1)
            return torch.from_numpy(m.astype(np.float32))
    """),
    right("LearnedPositionalEncoding", "zeros at the start", f"""
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                nn.init.zeros_(self.position.weight)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                n, m = x.size(1), self.position.num_embeddings
                if n > m:
                    {LONG}
                return self.dropout(x + self.position(torch.arange(n, device=x.device)))
    """, "the contract states no initial values"),
    right("LearnedPositionalEncoding", "N(0, 0.02), index_select, position ids kept as a buffer", f"""
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                nn.init.normal_(self.position.weight, std=0.02)
                self.register_buffer("ids", torch.arange(max_len), persistent=False)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                n, m = x.size(-2), len(self.ids)
                if n > m:
                    {LONG}
                return self.dropout(x + self.position.weight.index_select(0, self.ids[:n]))
    """),
    right("LearnedPositionalEncoding", "IndexError turned into ValueError", """
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                try:
                    rows = self.position(torch.arange(x.size(1), device=x.device))
                except IndexError as error:
                    raise ValueError(f"{x.size(1)} > {self.position.weight.size(0)}") from error
                return self.dropout(x + rows)
    """),
    right("LearnedPositionalEncoding", "sparse gradients", f"""
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model, sparse=True)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                n, m = x.size(1), self.position.num_embeddings
                if n > m:
                    {LONG}
                return self.dropout(x + self.position(torch.arange(n, device=x.device)))
    """, "sparse=True changes the gradient's layout only"),
    right("LearnedPositionalEncoding", "one-hot product, started from the sinusoids", f"""
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.position = nn.Embedding.from_pretrained(sinusoidal_encoding(max_len, d_model), freeze=False)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                n, m = x.size(1), self.position.num_embeddings
                if n > m:
                    {LONG}
                return self.dropout(x + torch.eye(m)[:n].to(x) @ self.position.weight)
    """),
    right("LearnedPositionalEncoding", "a subclass of PositionalEncoding's idea: cumsum of ones for ids", f"""
        class LearnedPositionalEncoding(nn.Module):
            def __init__(self, d_model, max_len=5000, dropout=0.1):
                super().__init__()
                self.add_module("position", nn.Embedding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)
            def forward(self, x):
                n, m = x.size(1), self.position.num_embeddings
                if n > m:
                    {LONG}
                ids = torch.ones_like(x[..., 0], dtype=torch.long).cumsum(1) - 1
                return self.dropout(self.position(ids).add(x))
    """),
]

RIGHT = {"01_attention": LESSON_1, "02_multi_head_attention": LESSON_2, "03_positional_encoding": LESSON_3}
