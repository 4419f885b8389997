"""Right answers to all lessons, written by readers of the student notebooks to be as unlike the solutions as can be.

The form is that of `more_right_answers.py`.
"""

from more_right_answers import right

LESSON_1 = [
    right("attend_one_query", "shifted exp by hand", """
        def attend_one_query(query, key, value):
            s = key.mv(query)
            e = (s - s.max()).exp()
            return (e / e.sum()).matmul(value)
    """),
    right("attend_one_query", "einsum with keyword", """
        def attend_one_query(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
            return torch.einsum("k,kv->v", torch.einsum("d,kd->k", query, key).softmax(dim=-1), value)
    """),
    right("attend_one_query", "loops with logsumexp", """
        def attend_one_query(query, key, value):
            s = torch.stack([sum(q * x for q, x in zip(query, k)) for k in key])
            w = torch.exp(s - torch.logsumexp(s, 0))
            out = torch.zeros_like(value[0])
            for a, v in zip(w, value):
                out += a * v
            return out
    """),
    right("attend_one_query", "online softmax", """
        def attend_one_query(query, key, value):
            m, z, acc = None, 0.0, 0.0
            for k, v in zip(key, value):
                s = torch.dot(query, k)
                new = s if m is None else torch.maximum(m, s)
                c = 0.0 if m is None else torch.exp(m - new)
                e = torch.exp(s - new)
                z, acc, m = z * c + e, acc * c + e * v, new
            return acc / z
    """),
    right("attend_one_query", "F.linear and nn.Softmax", """
        def attend_one_query(query, key, value):
            soft = nn.Softmax(dim=0)
            return F.linear(soft(F.linear(query, key)), value.t())
    """),
    right("attend_one_query", "sum with a python start, index loop", """
        def attend_one_query(query, key, value):
            scores = [torch.inner(query, key[i]) for i in range(key.shape[0])]
            w = F.softmax(torch.stack(scores), dim=0)
            out = 0
            for i in range(key.shape[0]):
                out = out + w[i] * value[i]
            return out
    """),
    right("attend_one_query", "F.sdpa for one query (nothing forbids it in 1.1)", """
        def attend_one_query(query, key, value):
            return F.scaled_dot_product_attention(query[None], key, value, scale=1.0)[0]
    """),
    right("attend_one_query", "log_softmax and unsqueeze", """
        def attend_one_query(query, key, value):
            w = F.log_softmax((key * query).sum(-1), dim=0).exp().unsqueeze(1)
            return torch.mul(w, value).sum(dim=0)
    """),
    right("scaled_dot_product_attention", "masked_fill on mask == 0, np.sqrt", """
        import numpy as np
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = torch.matmul(query, key.mT) / np.sqrt(key.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(mask == 0, float('-inf'))
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "torch.sqrt of a tensor", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-1, -2) / torch.sqrt(torch.tensor(query.size(-1)))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "torch.sqrt of a tensor with dtype", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-1, -2) / torch.tensor(query.size(-1), dtype=query.dtype).sqrt()
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "einsum", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = torch.einsum('...qd,...kd->...qk', query, key) * query.shape[-1] ** -0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return torch.einsum('...qk,...kv->...qv', weights, value), weights
    """),
    right("scaled_dot_product_attention", "fourth roots on both", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = (query * query.size(-1) ** -0.25) @ (key * key.size(-1) ** -0.25).transpose(-2, -1)
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "where with new_tensor", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = torch.where(mask, scores, scores.new_tensor(-1e9))
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "where with finfo", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "additive bias made with log", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores + mask.to(scores.dtype).log()
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "additive -1e9", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores + (1.0 - mask.to(scores.dtype)) * -1e9
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "HF float32 softmax cast back (visible precision float32)", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = F.softmax(scores, dim=-1, dtype=torch.float32 if scores.dtype != torch.float64 else None).to(query.dtype)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "HF idiom exactly: float32 softmax, cast back also for float64", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "own softmax", """
        def stable_softmax(x):
            e = torch.exp(x - x.amax(dim=-1, keepdim=True).detach())
            return e / e.sum(dim=-1, keepdim=True)

        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = stable_softmax(scores)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "in-place on own scores", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores.masked_fill_(mask.logical_not(), -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "index assignment on a clone, broadcast mask", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.clone(); scores[~mask.expand_as(scores)] = float('-inf')
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "functools and lambdas", """
        from functools import partial
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = (lambda s: F.softmax(s, -1))(scores)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "identity dropout", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            dropout = dropout or (lambda w: w)
            bias = 0 if mask is None else torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, -torch.inf)
            weights = dropout(((query / query.size(-1) ** 0.5) @ key.transpose(-2, -1) + bias).softmax(-1))
            return (weights @ value, weights)
    """),
    right("scaled_dot_product_attention", "namedtuple", """
        from collections import namedtuple
        Attention = namedtuple("Attention", "output weights")
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            scores = query.matmul(key.transpose(-2, -1)).div(query.size(-1) ** 0.5)
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not(), float("-inf"))
            weights = nn.Softmax(dim=-1)(scores)
            if dropout is not None:
                weights = dropout(weights)
            return Attention(weights.matmul(value), weights)
    """),
    right("scaled_dot_product_attention", "list returned", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "flatten leading dims with reshape and bmm", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            *lead, q_len, d_k = query.shape
            k_len = key.shape[-2]
            q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))
            scores = torch.baddbmm(torch.zeros(1, dtype=q.dtype, device=q.device), q, k.mT, beta=0, alpha=1 / math.sqrt(d_k))
            if mask is not None:
                mask = torch.broadcast_to(mask, (*lead, q_len, k_len)).reshape(-1, q_len, k_len)
                scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.softmax(2).reshape(*lead, q_len, k_len)
            if dropout is not None:
                weights = dropout(weights)
            return torch.bmm(weights.reshape(-1, q_len, k_len), v).reshape(*lead, q_len, -1), weights
    """),
    right("scaled_dot_product_attention", "recursion over leading dims, list of rows", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            if mask is not None:
                mask = mask.expand(*query.shape[:-1], key.shape[-2])
            weights = _weights(query, key, mask)
            if dropout is not None:
                weights = dropout(weights)
            return torch.matmul(weights, value), weights
        def _weights(q, k, m):
            if q.dim() > 2:
                return torch.stack([_weights(q[i], k[i], None if m is None else m[i]) for i in range(len(q))])
            rows = []
            for i in range(len(q)):
                s = torch.stack([q[i].dot(k[j]) for j in range(len(k))]) / len(q[i]) ** 0.5
                if m is not None:
                    s = s.masked_fill(~m[i], -math.inf)
                rows.append(s.softmax(0))
            return torch.stack(rows)
    """),
    right("scaled_dot_product_attention", "vmap", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            scores = torch.matmul(query, torch.swapaxes(key, -1, -2))
            scores = torch.mul(scores, torch.rsqrt(torch.tensor(float(query.shape[-1]), dtype=query.dtype, device=query.device)))
            blocked = torch.zeros((), dtype=torch.bool, device=query.device) if mask is None else torch.logical_not(mask)
            weights = torch.softmax(torch.masked_fill(scores, blocked, -1e30), dim=-1)
            weights = weights if dropout is None else dropout(weights)
            return torch.matmul(weights, value), weights
    """),
    right("scaled_dot_product_attention", "callable object", r'''
        class Attention:
            """Stateless."""
            def __call__(self, query, key, value, mask=None, dropout=None):
                w = self.weights(query, key, mask)
                w = dropout(w) if dropout is not None else w
                return w @ value, w
            @staticmethod
            def weights(query, key, mask):
                s = query @ key.transpose(-2, -1) * (1 / math.sqrt(key.size(-1)))
                return (s if mask is None else s.where(mask, -math.inf)).softmax(-1)
        scaled_dot_product_attention = Attention()
    '''),
    right("scaled_dot_product_attention", "multiply by mask then add", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores * mask + -1e9 * ~mask
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "subtract an infinite penalty via where, keyword args", """
        def scaled_dot_product_attention(*args, **kwargs):
            return _attend(*args, **kwargs)
        def _attend(query, key, value, mask=None, dropout=None):
            logits = torch.einsum("...id,...jd->...ij", query, key) / query.size(-1) ** 0.5
            if mask is not None:
                logits = logits - torch.where(mask, 0.0, 1e9).to(logits.dtype)
            attn = torch.exp(F.log_softmax(logits, dim=-1))
            if dropout is not None:
                attn = dropout(attn)
            return torch.einsum("...ij,...jd->...id", attn, value), attn
    """),
    right("scaled_dot_product_attention", "nan_to_num and re-mask for empty rows", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, -1).nan_to_num()
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "float32 up-cast for half precision, cast back", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            wide = torch.promote_types(query.dtype, torch.float32)
            scores = query.to(wide) @ key.to(wide).transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.softmax(-1).to(query.dtype)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("padding_mask", "ne and unsqueeze", """
        def padding_mask(tokens, pad_id=0):
            pass
            return tokens.ne(pad_id).unsqueeze(1).unsqueeze(1)
    """),
    right("padding_mask", "view", """
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.logical_not(torch.eq(tokens, pad_id)).view(tokens.size(0), 1, 1, -1)
    """),
    right("padding_mask", "~(==) reshape -1 batch", """
        def padding_mask(tokens, pad_id=0):
            pass
            return (~(tokens == pad_id)).reshape(-1, 1, 1, tokens.shape[-1])
    """),
    right("padding_mask", "where", """
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.where(tokens == pad_id, False, True)[:, None, None, ...]
    """),
    right("padding_mask", "loops with new_ones", """
        def padding_mask(tokens, pad_id=0):
            mask = tokens.new_ones(tokens.size(0), 1, 1, tokens.size(1), dtype=torch.bool)
            for b, row in enumerate(tokens):
                for i, t in enumerate(row):
                    if t == pad_id:
                        mask[b, 0, 0, i] = False
            return mask
    """),
    right("padding_mask", "isin", """
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.isin(tokens, torch.tensor([pad_id], device=tokens.device), invert=True)[:, None, None]
    """),
    right("padding_mask", "subtraction bool", """
        def padding_mask(tokens, pad_id=0):
            pass
            return (tokens - pad_id).bool()[:, None][:, None]
    """),
    right("padding_mask", "numpy", """
        import numpy as np
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.from_numpy(np.expand_dims(tokens.cpu().numpy() != pad_id, (1, 2))).to(tokens.device)
    """),
    right("padding_mask", "indexing by ellipsis and movedim", """
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.movedim((tokens != pad_id)[..., None, None], 1, -1)
    """),
    right("causal_mask", "arange compare", """
        def causal_mask(size):
            pass
            return torch.arange(size) <= torch.arange(size).unsqueeze(1)
    """),
    right("causal_mask", "triu == 0", """
        def causal_mask(size):
            pass
            return torch.triu(torch.ones(size, size), diagonal=1) == 0
    """),
    right("causal_mask", "~triu bool", """
        def causal_mask(size):
            pass
            return ~torch.ones((size, size), dtype=torch.bool).triu(1)
    """),
    right("causal_mask", "pytorch's helper", """
        def causal_mask(size):
            pass
            return nn.Transformer.generate_square_subsequent_mask(size) == 0
    """),
    right("causal_mask", "numpy tri", """
        import numpy as np
        def causal_mask(size):
            pass
            return torch.from_numpy(np.tri(size, dtype=bool))
    """),
    right("causal_mask", "list comprehension", """
        def causal_mask(size):
            pass
            return torch.tensor([[j <= i for j in range(size)] for i in range(size)])
    """),
    right("causal_mask", "tril_indices", """
        def causal_mask(size):
            m = torch.zeros(size, size, dtype=torch.bool); m[tuple(torch.tril_indices(size, size))] = True
            return m
    """),
    right("causal_mask", "cumsum of eye transposed", """
        def causal_mask(size):
            pass
            return torch.eye(size).cumsum(0).bool()
    """),
    right("causal_mask", "lru_cache", """
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def causal_mask(size):
            pass
            return torch.ones(size, size, dtype=torch.bool).tril_()
    """),
    right("causal_mask", "outer compare, ge.outer", """
        def causal_mask(size):
            pass
            return torch.greater_equal(*torch.meshgrid(torch.arange(size), torch.arange(size), indexing='ij'))
    """),
    right("decoder_mask", "own masks, arange", """
        def decoder_mask(tokens, pad_id=0):
            i = torch.arange(tokens.size(1), device=tokens.device)
            return (i[:, None] >= i)[None, None] & (tokens != pad_id)[:, None, None]
    """),
    right("decoder_mask", "logical_and, keywords", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return torch.logical_and(padding_mask(tokens=tokens, pad_id=pad_id), causal_mask(size=tokens.shape[-1]).to(device=tokens.device))
    """),
    right("decoder_mask", "product of bools", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return padding_mask(tokens, pad_id) * causal_mask(tokens.size(1)).to(tokens.device)
    """),
    right("decoder_mask", "padding queries blocked as well", """
        def decoder_mask(tokens, pad_id=0):
            p = padding_mask(tokens, pad_id)
            return p & p.mT & causal_mask(tokens.size(1)).to(tokens.device)
    """),
    right("decoder_mask", "diagonal opened so no row is empty", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return (padding_mask(tokens, pad_id) | torch.eye(tokens.size(1), dtype=torch.bool, device=tokens.device)) & causal_mask(tokens.size(1)).to(tokens.device)
    """),
    right("decoder_mask", "tril of the expanded padding mask", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return padding_mask(tokens, pad_id).expand(-1, 1, tokens.size(1), -1).tril()
    """),
    right("decoder_mask", "minimum", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return torch.minimum(padding_mask(tokens, pad_id), causal_mask(tokens.size(1)).to(tokens.device))
    """),
    right("decoder_mask", "de Morgan", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return ~(~padding_mask(tokens, pad_id) | ~causal_mask(tokens.size(1)).to(tokens.device))
    """),
    right("decoder_mask", "masked_fill", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return causal_mask(tokens.size(1)).to(tokens.device).expand(tokens.size(0), 1, -1, -1).masked_fill(~padding_mask(tokens, pad_id), False)
    """),
    right("decoder_mask", "reduce over *args", """
        from functools import reduce
        import operator
        def decoder_mask(tokens, pad_id=0):
            masks = padding_mask(tokens, pad_id), causal_mask(tokens.size(-1)).to(tokens.device)
            return reduce(operator.and_, masks)
    """),
    right("decoder_mask", "list of sentences stacked", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return torch.stack([(causal_mask(len(t)).to(t.device) & (t != pad_id))[None] for t in tokens])
    """),
    right("decoder_mask", "loops over lists, on the tokens' device", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return torch.tensor([[[[t != pad_id and j <= i for j, t in enumerate(r)] for i in range(len(r))]] for r in tokens.tolist()], device=tokens.device)
    """),
    right("decoder_mask", "branch on the presence of padding", """
        def decoder_mask(tokens, pad_id=0):
            p, c = padding_mask(tokens, pad_id), causal_mask(tokens.size(1)).to(tokens.device)
            return (p & c) if (tokens == pad_id).any() else c.expand(tokens.size(0), 1, -1, -1)
    """),
    right("decoder_mask", "new_zeros and loops", """
        def decoder_mask(tokens, pad_id=0):
            batch, n = tokens.shape
            mask = torch.zeros(batch, 1, n, n, dtype=torch.bool, device=tokens.device)
            for i in range(n):
                mask[:, 0, i, : i + 1] = tokens[:, : i + 1] != pad_id
            return mask
    """),
    right("decoder_mask", "type_as / to(other)", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(padding_mask(tokens, pad_id))
    """),
    right("decoder_mask", "with torch.device context", """
        def decoder_mask(tokens, pad_id=0):
            p = padding_mask(tokens, pad_id)
            with tokens.device:
                c = torch.ones(tokens.size(1), tokens.size(1)).tril().bool()
            return p & c
    """),
    right("decoder_mask", "causal mask by to(device=..., non_blocking)", """
        def decoder_mask(tokens, pad_id=0):
            pass
            return causal_mask(tokens.size(1)).to(device=tokens.device, non_blocking=True)[None, None].logical_and(padding_mask(tokens, pad_id))
    """),
    right("decoder_mask", "cuda-only via .type: p.new_tensor of the causal mask's list", """
        def decoder_mask(tokens, pad_id=0):
            p = padding_mask(tokens, pad_id)
            return p & p.new_tensor(causal_mask(tokens.size(1)).tolist())
    """),
    right("decoder_mask", "empty rows see their past", """
        def decoder_mask(tokens, pad_id=0):
            m = padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device)
            return torch.where(m.any(-1, keepdim=True) | (tokens != pad_id)[:, None, :, None], m, causal_mask(tokens.size(1)).to(tokens.device))
    """),
    right("decoder_mask", "cached causal by size and device", """
        from functools import lru_cache
        @lru_cache
        def _past(n, device):
            return causal_mask(n).to(device)
        def decoder_mask(tokens, pad_id=0):
            pass
            return padding_mask(tokens, pad_id) & _past(tokens.size(1), tokens.device)
    """),
    right("padding_mask", "list then tensor on the device", """
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.tensor([[[[t != pad_id for t in row]]] for row in tokens.tolist()], dtype=torch.bool, device=tokens.device)
    """),
    right("padding_mask", "keyword-only style and clone", """
        def padding_mask(tokens, pad_id=0):
            pass
            return tokens.clone().ne_(pad_id).to(torch.bool).unflatten(1, (1, 1, -1))
    """),
    right("padding_mask", "masked_fill of ones", """
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.ones_like(tokens, dtype=torch.bool).masked_fill_(tokens.eq(pad_id), False).unsqueeze(1).unsqueeze(2)
    """),
    right("padding_mask", "xor and sign", """
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.bitwise_xor(tokens, torch.full_like(tokens, pad_id)).sign().abs().bool()[:, None, None]
    """),
    right("causal_mask", "vmap-like stack of rows", """
        def causal_mask(size):
            pass
            return torch.stack([torch.cat([torch.ones(i + 1), torch.zeros(size - i - 1)]) for i in range(size)]).bool()
    """),
    right("causal_mask", "full and tril keyword", """
        def causal_mask(size):
            pass
            return torch.full((size, size), True).tril(diagonal=0)
    """),
    right("causal_mask", "logical_not of upper, via masked_fill", """
        def causal_mask(size):
            pass
            return torch.zeros(size, size).masked_fill(torch.ones(size, size).triu(1).bool(), float('-inf')).eq(0)
    """),
    right("causal_mask", "cdist/sub", """
        def causal_mask(size):
            pass
            return (torch.arange(size).view(-1, 1) - torch.arange(size)).ge(0)
    """),
    right("attend_one_query", "double loop with floats kept as tensors", """
        def attend_one_query(query, key, value):
            exps, total = [], 0
            top = max((query * k).sum() for k in key)
            for k in key:
                e = ((query * k).sum() - top).exp()
                exps.append(e)
                total = total + e
            out = torch.zeros(value.shape[1], dtype=value.dtype, device=value.device)
            for e, v in zip(exps, value):
                out = out + e / total * v
            return out
    """),
    right("attend_one_query", "bmm", """
        def attend_one_query(query, key, value):
            scores = torch.bmm(query.view(1, 1, -1), key.t().unsqueeze(0))
            return torch.bmm(nn.functional.softmax(scores, -1), value.unsqueeze(0)).view(-1)
    """),
    right("attend_one_query", "tensordot", """
        def attend_one_query(query, key, value):
            return torch.tensordot(torch.tensordot(key, query, dims=([1], [0])).softmax(0), value, dims=1)
    """),
    right("scaled_dot_product_attention", "additive mask -1e9 in query dtype, where on zeros_like", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores + torch.zeros_like(scores).masked_fill(~mask, float('-inf'))
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "out-of-place via torch.masked.softmax-like manual", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = (lambda e: e / e.sum(-1, keepdim=True))(torch.exp(scores - scores.max(-1, keepdim=True)[0]))
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "math by autograd function? decorator", r'''
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            """doc"""
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    '''),
    right("scaled_dot_product_attention", "decorated", """
        import functools
        def noted(f):
            @functools.wraps(f)
            def g(*a, **k):
                g.calls += 1
                return f(*a, **k)
            g.calls = 0
            return g
        @noted
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "type hints", """
        def scaled_dot_product_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None, dropout=None) -> tuple[torch.Tensor, torch.Tensor]:
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "extra keyword argument scale=None", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None, scale=None):
            pass
            scores = query @ key.transpose(-2, -1) * (scale or query.size(-1) ** -0.5)
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "list comprehension over batch via unbind, 2-D base case with addmm", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = torch.matmul(query.mul(1 / math.sqrt(query.size(-1))), key.transpose(-1, -2))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2), weights
    """),
    right("scaled_dot_product_attention", "broadcast products instead of matmul", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / query.size(-1) ** 0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "F.linear-free movedim", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.movedim(-1, 0).softmax(0).movedim(0, -1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "fill relative to the row's own maximum: blocked = max - 1e4", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = torch.where(mask, scores, scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True).detach() - 1e4)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "sparse: softmax over the visible keys only", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
            if mask is None:
                mask = scores.new_ones((), dtype=torch.bool)
            mask = mask.broadcast_to(scores.shape)
            top = scores.masked_fill(~mask, -math.inf).amax(-1, keepdim=True)
            e = (scores - top).clamp(max=0).exp() * mask
            weights = e / e.sum(-1, keepdim=True)
            weights = weights if dropout is None else dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "mask added as -inf with where on a 0-dim CPU tensor", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = torch.where(mask, scores, torch.tensor(-math.inf, dtype=scores.dtype))
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    right("scaled_dot_product_attention", "bfloat16: 0-dim float64 tensors do not promote", """
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, torch.tensor(-1e9).item())
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
]

LESSON_2 = [
    right("MultiHeadAttention", "the weights in a buffer", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.num_heads = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.dropout = nn.Dropout(dropout)
                self.register_buffer("attention_weights", None)

            def forward(self, query, key, value, mask=None):
                q, k, v = (split_heads(w(x), self.num_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
                output, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(output))
    """),
    right("split_heads", "reshape permute", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.reshape(b, s, num_heads, d_k).permute(0, 2, 1, 3)
    """),
    right("split_heads", "unflatten", """
        def split_heads(x, num_heads):
            return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)
    """),
    right("split_heads", "stack of chunks", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return torch.stack(x.chunk(num_heads, dim=-1), dim=1)
    """),
    right("split_heads", "stack of slices", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return torch.stack([x[..., i * d_k:(i + 1) * d_k] for i in range(num_heads)], 1)
    """),
    right("split_heads", "unfold", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.unfold(2, d_k, d_k).transpose(1, 2)
    """),
    right("split_heads", "cat of unsqueezed, contiguous", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return torch.cat([h.unsqueeze(1) for h in torch.split(x, d_k, dim=2)], dim=1).contiguous()
    """),
    right("split_heads", "einsum for the transpose", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return torch.einsum('bshd->bhsd', x.reshape(b, s, num_heads, d_k))
    """),
    right("split_heads", "gather with index", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x[:, :, torch.arange(d, device=x.device).view(num_heads, d_k)].movedim(2, 1)
    """),
    right("split_heads", "empty_like and fill", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            out = x.new_empty(b, num_heads, s, d_k)
            for i in range(num_heads): out[:, i] = x[:, :, i * d_k:(i + 1) * d_k]
            return out
    """),
    right("split_heads", "tensor_split, vstack", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return torch.stack(torch.tensor_split(x, num_heads, dim=-1)).transpose(0, 1)
    """),
    right("split_heads", "loop over batches", """
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return torch.stack([row.view(s, num_heads, d_k).swapaxes(0, 1) for row in x.contiguous()])
    """),
    right("merge_heads", "cat of unbind", """
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return torch.cat(x.unbind(1), dim=-1)
    """),
    right("merge_heads", "contiguous view", """
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.transpose(1, 2).contiguous().view(b, s, -1)
    """),
    right("merge_heads", "permute reshape", """
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return torch.permute(x, (0, 2, 1, 3)).reshape((b, s, h * d_k))
    """),
    right("merge_heads", "flatten -2", """
        def merge_heads(x):
            return x.swapaxes(-3, -2).flatten(start_dim=-2)
    """),
    right("merge_heads", "einsum", """
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return torch.einsum('bhsd->bshd', x).reshape(b, s, h * d_k)
    """),
    right("merge_heads", "hstack per batch and token", """
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return torch.stack([torch.stack([torch.cat([x[i, j, t] for j in range(h)]) for t in range(s)]) for i in range(b)])
    """),
    right("merge_heads", "new_zeros", """
        def merge_heads(x):
            b, h, s, d_k = x.shape
            out = x.new_zeros(b, s, h * d_k)
            for i in range(h): out[..., i * d_k:(i + 1) * d_k] = x[:, i]
            return out
    """),
    right("merge_heads", "cat of list comprehension in a lambda", """
        merge_heads = lambda x: torch.cat([x[:, i] for i in range(x.size(1))], dim=2)
    """),
    right("merge_heads", "clone then reshape", """
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.movedim(1, 2).clone(memory_format=torch.contiguous_format).view(b, s, -1)
    """),
    right("MultiHeadAttention", "deepcopies (AT's clones)", """
        import copy
        def clones(m, n): return nn.ModuleList(copy.deepcopy(m) for _ in range(n))
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = clones(nn.Linear(d_model, d_model), 4)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "setattr in a loop", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                for n in ('w_q', 'w_k', 'w_v', 'w_o'): setattr(self, n, nn.Linear(d_model, d_model))
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "add_module, xavier", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                for n in 'qkvo': self.add_module('w_' + n, nn.Linear(d_model, d_model, bias=True)); nn.init.xavier_uniform_(self._modules['w_' + n].weight)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "a Linear subclass", """
        class Projection(nn.Linear):
            def __init__(self, d): super().__init__(d, d)
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = (Projection(d_model) for _ in range(4))
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "weights as a property", """
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
                out, self._weights = scaled_dot_product_attention(self._heads(self.w_q, query), self._heads(self.w_k, key), self._heads(self.w_v, value), mask=mask, dropout=self.drop)
                return self.w_o(merge_heads(out))
            def _heads(self, w, x):
                return split_heads(w(x), self.h)
    """),
    right("MultiHeadAttention", "everything by einsum, own code, no helper called", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if num_heads * (d_model // num_heads) != d_model:
                    raise ValueError
                self.num_heads, self.p = num_heads, dropout
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
            def forward(self, query, key, value, mask=None):
                cut = lambda t: t.unflatten(-1, (self.num_heads, -1))
                q, k, v = cut(self.w_q(query)), cut(self.w_k(key)), cut(self.w_v(value))
                scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.size(-1) ** 0.5
                if mask is not None:
                    scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
                weights = F.dropout(scores.softmax(-1), self.p, self.training)
                self.attention_weights = weights.data
                return self.w_o(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))
    """),
    right("MultiHeadAttention", "fused projection by concatenated weights", """
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
    """),
    right("MultiHeadAttention", "loop over the heads, joined at the end, dropout once on the stack", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.num_heads = num_heads
                self.w_q, self.w_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
                self.w_v, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)
                self.attention_weights = torch.empty(0)
            def forward(self, query, key, value, mask=None):
                if mask is not None:
                    mask = mask.expand(query.size(0), self.num_heads, query.size(1), key.size(1))
                outs, ws = [], []
                for i, (q, k, v) in enumerate(zip(*(w(x).chunk(self.num_heads, -1) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))))):
                    o, w = scaled_dot_product_attention(q, k, v, None if mask is None else mask[:, i], self.dropout)
                    outs.append(o)
                    ws.append(w)
                self.attention_weights = torch.stack(ws, dim=1).detach()
                return self.w_o(torch.cat(outs, dim=-1))
    """),
    right("MultiHeadAttention", "heads folded into the batch (d2l)", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError(f"{d_model} % {num_heads}")
                self.n = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = [nn.Linear(d_model, d_model) for _ in range(4)]
                self.dropout = nn.Dropout(dropout)
            def forward(self, query, key, value, mask=None):
                B, T, S = query.shape[0], query.shape[1], key.shape[1]
                fold = lambda t: t.reshape(B, -1, self.n, t.size(-1) // self.n).permute(0, 2, 1, 3).reshape(B * self.n, -1, t.size(-1) // self.n)
                m = None if mask is None else mask.expand(B, self.n, T, S).reshape(B * self.n, T, S)
                out, w = scaled_dot_product_attention(fold(self.w_q(query)), fold(self.w_k(key)), fold(self.w_v(value)), m, self.dropout)
                self.attention_weights = w.reshape(B, self.n, T, S).detach()
                return self.w_o(out.reshape(B, self.n, T, -1).permute(0, 2, 1, 3).reshape(B, T, -1))
    """),
    right("MultiHeadAttention", "w_o head by head, summed", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert not d_model % num_heads
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)
            def forward(self, query, key, value, mask=None):
                q, k, v = (split_heads(f(x), self.num_heads) for f, x in [(self.w_q, query), (self.w_k, key), (self.w_v, value)])
                ctx, w = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = w.detach()
                out = self.w_o.bias
                for c, wo in zip(ctx.unbind(1), self.w_o.weight.chunk(self.num_heads, dim=1)):
                    out = out + c @ wo.t()
                return out
    """),
    right("MultiHeadAttention", "lambda dropout that knows the mode", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = lambda w: F.dropout(w, dropout, training=self.training)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "dropout skipped when p = 0", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout) if dropout > 0 else None


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "dropout Identity when p = 0", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout) if dropout else nn.Identity()


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "partial", """
        from functools import partial
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = partial(F.dropout, p=dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, partial(self.dropout, training=self.training))
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "dropout in place", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout, inplace=False)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "attention function held as attribute, mask expanded", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)
                self.attend = scaled_dot_product_attention

            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = self.attend(q, k, v, mask if mask is None else mask.expand(q.size(0), self.num_heads, q.size(2), k.size(2)), self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "2-D masks unsqueezed out of place", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):

                if mask is not None:
                    while mask.dim() < 4: mask = mask.unsqueeze(0)
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "base class of one's own, kwargs", """
        class Base(nn.Module):
            def extra_repr(self): return f'heads={self.num_heads}'
        class MultiHeadAttention(Base):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key=None, value=None, mask=None, **kwargs):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "forward(*args, **kwargs) to _forward", """
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
                heads = {n: split_heads(getattr(self, n)(x), h) for n, x in {"w_q": query, "w_k": key, "w_v": value}.items()}
                output, weights = scaled_dot_product_attention(*heads.values(), mask, self.dropout)
                setattr(self, "attention_weights", weights.detach())
                return self.w_o(merge_heads(output))
    """),
    right("MultiHeadAttention", "ValueError subclass", """
        class HeadsError(ValueError): pass
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()

                if d_model % num_heads: raise HeadsError(d_model)
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "weights detached with no_grad clone and on the cpu", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)

                with torch.no_grad(): self.attention_weights = weights.clone()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "F.sdpa with identity for the weights inside MHA (only nn.MultiheadAttention is barred)", """
        def attend(q, k, v, mask, dropout):
            eye = torch.eye(k.size(-2), dtype=k.dtype, device=k.device).expand(*k.shape[:-1], k.size(-2))
            w = dropout(F.scaled_dot_product_attention(q, k, eye, attn_mask=mask))
            return w @ v, w

        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = attend(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "local copies of the functions pasted into the cell", """
        def my_attention(q, k, v, mask=None, dropout=None):
            s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            if mask is not None:
                s = s.masked_fill(~mask, -1e9)
            w = s.softmax(-1)
            if dropout is not None:
                w = dropout(w)
            return w @ v, w

        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = my_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "class attribute for the weights, hooks", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)
                self.register_forward_hook(lambda m, i, o: None)

            attention_weights = None
            def _keep(self, w): self.attention_weights = w.detach()
            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self._keep(weights)
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "extra non-persistent buffer and attributes", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)
                self.register_buffer('scale', torch.tensor(1.0), persistent=False); self.d_model = d_model; self.name = 'mha'

            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "keeps weights with requires_grad_(False) after detach, typed", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights: torch.Tensor = weights.detach().requires_grad_(False)
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "dropout in a list with explicit F.dropout mode", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = [dropout]


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, lambda w: F.dropout(w, p=self.dropout[0], training=self.training))
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "unpacks layers from a ModuleList kept as well (same modules twice)", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)
                self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v, self.w_o])

            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "layers in a ModuleList first, names after", """
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.layers = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4)); self.w_q, self.w_k, self.w_v, self.w_o = self.layers
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "lazy attribute through __getattr__-free dict, dataclass config", """
        from dataclasses import dataclass
        @dataclass
        class Config:
            d_model: int
            num_heads: int
            @property
            def d_k(self): return self.d_model // self.num_heads
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.config = Config(d_model, num_heads); self.num_heads = self.config.num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "mask made 4-D and additive by own attention", """
        def mine(q, k, v, mask=None, dropout=None):
            s = torch.einsum('bhqd,bhkd->bhqk', q, k) * q.size(-1) ** -0.5
            if mask is not None:
                s = s + torch.zeros(mask.shape, dtype=s.dtype, device=s.device).masked_fill(~mask, -1e9)
            w = torch.softmax(s, -1)
            w = dropout(w) if dropout is not None else w
            return torch.einsum('bhqk,bhkd->bhqd', w, v), w

        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = mine(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    right("MultiHeadAttention", "local class nesting: Head objects slice the shared layers", """
        class MultiHeadAttention(nn.Module):
            class Head:
                def __init__(self, i, d_k): self.s = slice(i * d_k, (i + 1) * d_k)
                def __call__(self, w, x): return F.linear(x, w.weight[self.s], w.bias[self.s])
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0: raise ValueError(num_heads, d_model)
                self.w_q, self.w_k, self.w_v, self.w_o = map(lambda _: nn.Linear(d_model, d_model), range(4))
                self.heads = [self.Head(i, d_model // num_heads) for i in range(num_heads)]
                self.drop = nn.Dropout(dropout)
            def forward(self, query, key, value, mask=None):
                q, k, v = (torch.stack([head(w, x) for head in self.heads], 1) for w, x in zip((self.w_q, self.w_k, self.w_v), (query, key, value)))
                out, w = scaled_dot_product_attention(q, k, v, mask=mask, dropout=self.drop)
                self.attention_weights = w.detach()
                return self.w_o(torch.cat(out.unbind(1), -1))
    """),
    right("merge_heads", "reduce with cat", """
        from functools import reduce
        def merge_heads(x):
            return reduce(lambda a, b: torch.cat((a, b), dim=-1), x.unbind(dim=1))
    """),
    right("split_heads", "keyword names, type hints, -1 for the batch", """
        def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
            *lead, s, d = x.size()
            return x.reshape(-1, s, num_heads, d // num_heads).permute(0, 2, 1, 3)
    """),
]

LESSON_3 = [
    right("TokenEmbedding", "F.embedding with scale first", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return F.embedding(tokens, self.embedding.weight * math.sqrt(self.d_model))
    """),
    right("TokenEmbedding", "index the weight", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding.weight[tokens] * self.embedding.embedding_dim ** 0.5
    """),
    right("TokenEmbedding", "one-hot matmul", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                one = F.one_hot(tokens, self.embedding.num_embeddings).to(self.embedding.weight.dtype)
                return one @ self.embedding.weight * self.embedding.embedding_dim ** 0.5
    """),
    right("TokenEmbedding", "from_pretrained unfrozen, small init", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding.from_pretrained(torch.randn(vocab_size, d_model) / d_model**0.5, freeze=False)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens).mul(self.embedding.embedding_dim ** 0.5)
    """),
    right("TokenEmbedding", "in-place mul_ on own result", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens).mul_(math.sqrt(self.d_model))
    """),
    right("TokenEmbedding", "scale buffer non persistent", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.register_buffer('scale', torch.tensor(math.sqrt(d_model)), persistent=False)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens) * self.scale
    """),
    right("TokenEmbedding", "index_select & view", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding.weight.index_select(0, tokens.reshape(-1)).view(*tokens.shape, -1) * math.sqrt(self.d_model)
    """),
    right("TokenEmbedding", "torch.sqrt of tensor", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens) * torch.sqrt(torch.tensor(float(self.d_model)))
    """),
    right("TokenEmbedding", "numpy sqrt", """
        import numpy as np
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.scale = np.sqrt(d_model)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens) * self.scale
    """),
    right("TokenEmbedding", "scale by Lambda in Sequential sharing name", """
        import functools
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.scale = functools.partial(torch.mul, other=d_model**0.5)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.scale(self.embedding(tokens))
    """),
    right("TokenEmbedding", "einsum", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return torch.einsum('bsd,->bsd', self.embedding(tokens), self.embedding.weight.new_tensor(self.embedding.embedding_dim).sqrt())
    """),
    right("TokenEmbedding", "inherits from helper base", """
        class WithRoot(nn.Module):
            @property
            def root(self): return self.embedding.embedding_dim ** 0.5
        class TokenEmbedding(WithRoot):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens) * self.root
    """),
    right("TokenEmbedding", "forward(self, *args) delegating via tokens kw", """
        class TokenEmbedding(nn.Module):
            def __init__(self, vocab_size, d_model, **kwargs):
                super().__init__()
                self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model, **kwargs)
                self.vocab_size, self.d_model = vocab_size, d_model
            def forward(self, tokens):
                return torch.stack([self.embedding(row) * self.d_model ** .5 for row in tokens])
    """),
    right("TokenEmbedding", "embedding subclass", """
        class E(nn.Embedding):
            pass
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = E(vocab_size, d_model)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens)*self.embedding.embedding_dim**.5
    """),
    right("TokenEmbedding", "sum of d root by norm of ones", """
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens) * torch.ones(self.d_model, device=tokens.device).norm().to(self.embedding.weight.dtype)
    """),
    right("encoding_angle", "exp log", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            i = column // 2
            return position * math.exp(-2 * i / d_model * math.log(10000))
    """),
    right("encoding_angle", "divmod", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            i, _ = divmod(column, 2)
            return position * 10000 ** (-2 * i / d_model)
    """),
    right("encoding_angle", "bit and", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            return position / pow(10000, (column & ~1) / d_model)
    """),
    right("encoding_angle", "torch scalar .item()", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            return (torch.tensor(float(position), dtype=torch.float64) / 10000.0 ** (torch.tensor(column - column % 2) / d_model)).item()
    """),
    right("encoding_angle", "numpy float", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            import numpy as np
            return np.float64(position) / np.power(10000., (column - column % 2) / d_model)
    """),
    right("encoding_angle", "if odd", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            if column % 2 == 1:
                column -= 1
            return position / 10000 ** (column / d_model)
    """),
    right("encoding_angle", "loop of factors", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            step = 10000 ** (-2 / d_model)
            angle = float(position)
            for _ in range(column // 2):
                angle *= step
            return angle
    """),
    right("encoding_angle", "0-d float32 tensor returned (a number?)", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            return torch.tensor(position / 10000 ** (column // 2 * 2 / d_model))
    """),
    right("encoding_angle", "Fraction exponent", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            from fractions import Fraction
            return position / 10000 ** float(Fraction(column // 2 * 2, d_model))
    """),
    right("encoding_angle", "cached speed (right)", """
        from functools import lru_cache
        @lru_cache(None)
        def _s(i, d): return 10000 ** (2 * i / d)
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            return position / _s(column // 2, d_model)
    """),
    right("encoding_angle", "lambda", """
        encoding_angle = lambda position, column, d_model: position / 10000 ** ((column - column % 2) / d_model)
    """),
    right("encoding_angle", "floor", """
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            return position / math.pow(10000, 2 * math.floor(column / 2) / d_model)
    """),
    right("sinusoidal_encoding", "stack flatten", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            return torch.stack((torch.sin(p*s), torch.cos(p*s)), dim=-1).flatten(1)
    """),
    right("sinusoidal_encoding", "double loop", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            return torch.tensor([[(math.cos if c % 2 else math.sin)(encoding_angle(p, c, d_model)) for c in range(d_model)] for p in range(max_len)])
    """),
    right("sinusoidal_encoding", "numpy float64 cast", """
        import numpy as np
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p = np.arange(max_len)[:, None]
            i = np.arange(d_model)[None] // 2 * 2
            a = p / np.power(10000, i / d_model)
            a[:, 0::2] = np.sin(a[:, 0::2])
            a[:, 1::2] = np.cos(a[:, 1::2])
            return torch.from_numpy(a).float()
    """),
    right("sinusoidal_encoding", "complex exponential", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            z = torch.polar(torch.ones(max_len, d_model // 2, dtype=torch.float64), torch.outer(torch.arange(max_len, dtype=torch.float64), w))
            return torch.stack([z.imag, z.real], -1).reshape(max_len, d_model).float()
    """),
    right("sinusoidal_encoding", "exp log outer sin phase", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            c = torch.arange(d_model)
            w = torch.exp(-math.log(10000.0) * (c // 2 * 2) / d_model)
            return torch.sin(torch.outer(torch.arange(max_len).float(), w) + math.pi / 2 * (c % 2))
    """),
    right("sinusoidal_encoding", "torch.where", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            c = torch.arange(d_model)
            a = torch.arange(max_len)[:, None] / 10000 ** ((c - c % 2) / d_model)
            return torch.where(c % 2 == 0, a.sin(), a.cos())
    """),
    right("sinusoidal_encoding", "repeat_interleave", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            w = torch.pow(10000.0, -torch.arange(0, d_model, 2).float() / d_model).repeat_interleave(2)
            a = torch.arange(max_len).float().unsqueeze(1) * w
            a[:, ::2].sin_()
            a[:, 1::2].cos_()
            return a
    """),
    right("sinusoidal_encoding", "view_as_real of exp(i) swapped", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            w = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
            z = torch.exp(1j * torch.outer(torch.arange(max_len).float(), w))
            return torch.view_as_real(z).flip(-1).flatten(1)
    """),
    right("sinusoidal_encoding", "meshgrid", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p, i = torch.meshgrid(torch.arange(max_len), torch.arange(d_model // 2), indexing='ij')
            a = p / 10000 ** (2 * i / d_model)
            out = torch.empty(max_len, d_model)
            out[:, ::2], out[:, 1::2] = a.sin(), a.cos()
            return out
    """),
    right("sinusoidal_encoding", "einsum + rearranged cat (transpose)", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            a = torch.einsum('p,i->pi', torch.arange(max_len).double(), torch.logspace(0, -4 * (d_model - 2) / d_model, d_model // 2, dtype=torch.float64))
            return torch.cat([a.sin().T[:, None], a.cos().T[:, None]], 1).reshape(d_model, max_len).T.float()
    """),
    right("sinusoidal_encoding", "recurrence by rotation, float64", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            r = torch.complex(w.cos(), w.sin())
            z = torch.ones_like(r)
            rows = []
            for _ in range(max_len):
                rows.append(torch.stack([z.imag, z.real], -1).flatten())
                z = z * r
            return torch.stack(rows).float()
    """),
    right("sinusoidal_encoding", "vmap", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            c = torch.arange(d_model)
            f = lambda p: torch.where(c % 2 == 0, torch.sin(p / 10000 ** (c // 2 * 2 / d_model)), torch.cos(p / 10000 ** (c // 2 * 2 / d_model)))
            return torch.vmap(f)(torch.arange(max_len))
    """),
    right("sinusoidal_encoding", "no_grad decorator", """
        @torch.no_grad()
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            e = torch.zeros(max_len, d_model)
            e[:, 0::2] = torch.sin(p*s)
            e[:, 1::2] = torch.cos(p*s)
            return e
    """),
    right("sinusoidal_encoding", "Annotated Transformer", """
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            pe = torch.zeros(max_len, d_model)
            position = torch.arange(0, max_len).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
            pe[:, 0::2] = torch.sin(position * div_term)
            pe[:, 1::2] = torch.cos(position * div_term)
            return pe
    """),
    right("PositionalEncoding", "buffer with leading 1", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model)[None])
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.shape[1], self.encoding.shape[1]
                if n > m:
                    raise ValueError(f"{n=} {m=}")
                return self.dropout(x + self.encoding[:, :n])
    """),
    right("PositionalEncoding", "non-persistent, F.dropout", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model), persistent=False)
                self.p = dropout

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.shape[1], self.encoding.shape[0]
                if n > m:
                    raise ValueError("sequence of length %d, but the table has %d rows" % (n, m))
                return F.dropout(x + self.encoding.narrow(0, 0, n), p=self.p, training=self.training)
    """),
    right("PositionalEncoding", "own dropout with bernoulli", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.p = dropout

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                y = torch.add(x, self.encoding[:x.size(1)])
                if self.training and self.p > 0:
                    keep = torch.bernoulli(torch.full_like(y, 1 - self.p))
                    y = y * keep / (1 - self.p)
                return y
    """),
    right("PositionalEncoding", "inplace dropout on own sum", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout, inplace=True)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    right("PositionalEncoding", "index_select with arange and to dtype", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                rows = self.encoding.index_select(0, torch.arange(x.size(1), device=x.device))
                return self.dropout(x + rows.to(x))
    """),
    right("PositionalEncoding", "own table in a static method, kw only dropout", """
        class PositionalEncoding(nn.Module):
            @staticmethod
            def table(n, d):
                p = torch.arange(n).unsqueeze(1); s = 10000.0 ** (-torch.arange(0, d, 2) / d)
                return torch.stack([(p*s).sin(), (p*s).cos()], -1).view(n, d)
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.max_len = max_len
                self.register_buffer("encoding", self.table(max_len, d_model))
                self.drop = nn.Dropout(p=dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if (seq_len := x.size(-2)) > self.max_len:
                    raise ValueError(f"Sequence too long: {seq_len} tokens for max_len={self.max_len}")
                return self.drop(self.encoding[:seq_len] + x)
    """),
    right("PositionalEncoding", "clone and +=", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                y = x.clone()
                y += self.encoding[None, :x.size(1)]
                return self.dropout(y)
    """),
    right("PositionalEncoding", "expand per batch", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                rows = self.encoding[:x.size(1)].unsqueeze(0).expand(x.size(0), -1, -1)
                return self.dropout(torch.stack([x, rows]).sum(0))
    """),
    right("PositionalEncoding", "Sequential dropout, multiline message", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len=max_len, d_model=d_model))
                self.dropout = nn.Sequential(nn.Dropout(dropout))

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    right("PositionalEncoding", "nn.Buffer", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.encoding = nn.Buffer(sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    right("PositionalEncoding", "subclass of ValueError", """
        class TooLong(ValueError):
            def __init__(self, n, m): super().__init__(f'{n} tokens > {m}')

        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise TooLong(x.size(1), self.encoding.size(0))
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    right("PositionalEncoding", "try/except with size error", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), len(self.encoding)
                try:
                    assert n <= m
                except AssertionError as e:
                    raise ValueError(f"{n} > max_len {m}") from e
                return self.dropout(x + self.encoding[:n])
    """),
    right("PositionalEncoding", "message with thousands and units e.g. 'len=17/13'", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), len(self.encoding)
                if n > m: raise ValueError("seq_len=" + str(n) + "/max_len=" + str(m))
                return self.dropout(x + self.encoding[:n])
    """),
    right("PositionalEncoding", "ValueError with several args", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), len(self.encoding)
                if n > m: raise ValueError("seq_len", n, "max_len", m)
                return self.dropout(x + self.encoding[:n])
    """),
    right("PositionalEncoding", "addcmul & functional with requires_grad_(False)", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).requires_grad_(False))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(torch.addcmul(x, self.encoding[:x.size(1)], torch.ones((), device=x.device, dtype=x.dtype)))
    """),
    right("PositionalEncoding", "float64 buffer cast at use? keeps float32 buffer; x.new", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)].to(device=x.device, dtype=x.dtype))
    """),
    right("PositionalEncoding", "extra attrs and a repr, dropout first defined", """
        class PositionalEncoding(nn.Module):
            def extra_repr(self): return f'd_model={self.d_model}'
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.dropout, self.d_model = nn.Dropout(dropout), d_model
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).detach().clone())

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    right("PositionalEncoding", "torch.lerp / baddbmm style", """
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(sum([x, self.encoding[:x.size(1), :]]))
    """),
    right("shift_matrix", "block_diag comprehension via encoding_angle", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            rot = lambda a: torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
            return torch.block_diag(*(rot(encoding_angle(offset, 2 * i, d_model)) for i in range(d_model // 2)))
    """),
    right("shift_matrix", "vectorised assignment", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            a = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            m = torch.zeros(d_model, d_model)
            e = torch.arange(0, d_model, 2)
            m[e, e] = m[e + 1, e + 1] = a.cos()
            m[e, e + 1] = a.sin()
            m[e + 1, e] = -a.sin()
            return m
    """),
    right("shift_matrix", "diag_embed", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            a = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            s = torch.stack([a.sin(), torch.zeros_like(a)], -1).flatten()[:-1]
            return torch.diag(a.cos().repeat_interleave(2)) + torch.diag(s, 1) - torch.diag(s, -1)
    """),
    right("shift_matrix", "float64 result", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            a = offset * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            return torch.block_diag(*torch.stack([torch.stack([a.cos(), a.sin()], -1), torch.stack([-a.sin(), a.cos()], -1)], 1))
    """),
    right("shift_matrix", "matrix_exp of generator", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            g = torch.block_diag(*[torch.tensor([[0., x], [-x, 0.]], dtype=torch.float64) for x in w.tolist()])
            return torch.matrix_exp(offset * g).float()
    """),
    right("shift_matrix", "kron free: numpy", """
        import numpy as np
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m = np.zeros((d_model, d_model), dtype=np.float32)
            for e in range(0, d_model, 2):
                a = offset / 10000 ** (e / d_model)
                m[e:e+2, e:e+2] = [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
            return torch.from_numpy(m)
    """),
    right("shift_matrix", "matrix power float64", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
            m = torch.block_diag(*[torch.tensor([[math.cos(x), math.sin(x)], [-math.sin(x), math.cos(x)]], dtype=torch.float64) for x in w.tolist()])
            return torch.matrix_power(m if offset >= 0 else m.T, abs(offset)).float()
    """),
    right("shift_matrix", "nested lists", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m = [[0.0] * d_model for _ in range(d_model)]
            for r in range(d_model):
                a = encoding_angle(offset, r, d_model)
                m[r][r] = math.cos(a)
                m[r][r ^ 1] = -math.sin(a) if r % 2 else math.sin(a)
            return torch.tensor(m)
    """),
    right("shift_matrix", "scipy-like: complex view", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            z = torch.polar(torch.ones(d_model // 2), offset / 10000 ** (torch.arange(0, d_model, 2) / d_model))
            b = torch.stack([z.real, z.imag, -z.imag, z.real], -1).view(-1, 2, 2)
            out = torch.zeros(d_model // 2, 2, d_model // 2, 2)
            idx = torch.arange(d_model // 2)
            out[idx, :, idx] = b
            return out.reshape(d_model, d_model)
    """),
    right("shift_matrix", "from sinusoidal tables: E(k) rows by own table", """
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            a = torch.tensor([encoding_angle(offset, c, d_model) for c in range(d_model)])
            J = torch.block_diag(*[torch.tensor([[0., 1.], [-1., 0.]])] * (d_model // 2))
            return torch.diag(a.cos()) + torch.diag(a.sin()) @ J
    """),
    right("LearnedPositionalEncoding", "weight slice", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x + self.position.weight[:x.size(1)])
    """),
    right("LearnedPositionalEncoding", "buffer of ids", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.register_buffer("ids", torch.arange(max_len).unsqueeze(0), persistent=False)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), self.position.num_embeddings
                if n > m: raise ValueError(f"{n} > {m}")
                return self.dropout(x + self.position(self.ids[:, :n]))
    """),
    right("LearnedPositionalEncoding", "persistent ids buffer", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.register_buffer("ids", torch.arange(max_len))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), self.position.num_embeddings
                if n > m: raise ValueError(f"{n} > {m}")
                return self.dropout(x + self.position(self.ids[:n]))
    """),
    right("LearnedPositionalEncoding", "expanded ids (B,S)", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                ids = torch.arange(x.size(1), device=x.device).expand(x.shape[:2])
                return self.dropout(x + self.position(ids))
    """),
    right("LearnedPositionalEncoding", "cumsum ids", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                ids = torch.ones(x.shape[:2], dtype=torch.long, device=x.device).cumsum(1) - 1
                return self.dropout(x + self.position(ids))
    """),
    right("LearnedPositionalEncoding", "F.embedding, small init, F.dropout", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                nn.init.normal_(self.position.weight, std=0.02)
                self.p = dropout

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), self.position.weight.size(0)
                if not n <= m: raise ValueError(f"{n} does not fit into {m}")
                return F.dropout(x + F.embedding(torch.arange(n, device=x.device), self.position.weight), self.p, self.training)
    """),
    right("LearnedPositionalEncoding", "zero init", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                nn.init.zeros_(self.position.weight)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x + self.position(torch.arange(x.size(1), device=x.device)))
    """),
    right("LearnedPositionalEncoding", "loop over positions", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                rows = [x[:, i] + self.position(torch.tensor(i, device=x.device)) for i in range(x.size(1))]
                return self.dropout(torch.stack(rows, dim=1))
    """),
    right("LearnedPositionalEncoding", "one-hot matmul eye", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                sel = torch.eye(self.max_len, device=x.device, dtype=x.dtype)[:x.size(1)]
                return self.dropout(torch.einsum('sm,md->sd', sel, self.position.weight) + x)
    """),
    right("LearnedPositionalEncoding", "inheritance from a base with hook", """
        class LearnedPositionalEncoding(nn.Module):
            def checked(self, x):
                if x.size(1) > self.max_len:
                    raise ValueError('The sequence length {} exceeds max_len {}'.format(x.size(1), self.max_len))
                return x
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.dropout(self.checked(x) + self.position.weight.narrow(0, 0, x.size(1)))
    """),
    right("LearnedPositionalEncoding", "sinusoidal start (trainable)", """
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding.from_pretrained(sinusoidal_encoding(max_len, d_model), freeze=False)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                n, m = x.size(1), self.position.num_embeddings
                if n > m: raise ValueError(f"{n} > {m}")
                return self.dropout(x + self.position(torch.arange(n).to(x.device)))
    """),
]

LESSON_4 = [
    right("EncoderLayer", "every part called by keyword", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model=d_model, num_heads=num_heads, dropout=dropout)
                self.feed_forward = FeedForward(d_model=d_model, d_ff=d_ff, dropout=dropout)
                self.add_norm_1 = AddNorm(d_model=d_model, dropout=dropout)
                self.add_norm_2 = AddNorm(d_model=d_model, dropout=dropout)
            def forward(self, x, src_mask=None):
                attended = self.self_attention(query=x, key=x, value=x, mask=src_mask)
                x = self.add_norm_1(x=x, sublayer_output=attended)
                return self.add_norm_2(x=x, sublayer_output=self.feed_forward(x=x))
    """),
    right("AddNorm", "a norm by hand with a very small eps", """
        class Norm(nn.Module):
            def __init__(self, d_model, eps=1e-12):
                super().__init__()
                self.weight, self.bias, self.eps = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model)), eps
            def forward(self, x):
                mean, var = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
                return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias

        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = Norm(d_model)
                self.dropout = nn.Dropout(dropout)
            def forward(self, x, sublayer_output):
                return self.norm(x + self.dropout(sublayer_output))
    """),
    right("LayerNorm", "var_mean", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                v, m = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
                return (x - m) * torch.rsqrt(v + self.eps) * self.weight + self.bias
    """),
    right("LayerNorm", "addcmul", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                c = x - x.mean(-1, keepdim=True)
                n = c * (c.square().mean(-1, keepdim=True) + self.eps).rsqrt()
                return torch.addcmul(self.bias, self.weight, n)
    """),
    right("LayerNorm", "unbiased=False with unsqueeze", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1)[..., None]
                v = x.var(-1, unbiased=False)[..., None]
                return self.weight * ((x - m) / (v + self.eps) ** 0.5) + self.bias
    """),
    right("LayerNorm", "einsum", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                d = x.shape[-1]
                c = x - torch.einsum('...d->...', x).unsqueeze(-1) / d
                v = torch.einsum('...d,...d->...', c, c).unsqueeze(-1) / d
                return self.weight * c / (v + self.eps).sqrt() + self.bias
    """),
    right("LayerNorm", "centring matrix", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                d = x.size(-1)
                C = torch.eye(d, dtype=x.dtype, device=x.device) - 1 / d
                c = x @ C
                return c / torch.sqrt((c * c).mean(-1, keepdim=True) + self.eps) * self.weight + self.bias
    """),
    right("LayerNorm", "std correction=0 squared", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                s = x.std(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / (s ** 2 + self.eps) ** .5 + self.bias
    """),
    right("LayerNorm", "std_mean unbiased=False squared", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                c = x - x.mean(-1, keepdim=True)
                v = c.norm(dim=-1, keepdim=True) ** 2 / x.size(-1)
                return self.weight * c / torch.sqrt(v + self.eps) + self.bias
    """),
    right("LayerNorm", "computes in float64 then casts back", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                y = x.double()
                m = y.mean(-1, keepdim=True)
                v = y.var(-1, correction=0, keepdim=True)
                return ((y - m) / (v + self.eps).sqrt()).to(x.dtype) * self.weight + self.bias
    """),
    right("LayerNorm", "property & method helper", """
        class LayerNorm(nn.Module):
            def _norm(self, x):
                mu = x.sum(-1, keepdim=True).div(self.d_model)
                return (x - mu).div(((x - mu) ** 2).sum(-1, keepdim=True).div(self.d_model).add(self.eps).sqrt())
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.register_parameter('weight', nn.Parameter(torch.ones(d_model)))
                self.register_parameter('bias', nn.Parameter(torch.zeros(d_model)))
                self.d_model, self.eps = d_model, eps

            def forward(self, x):
                return torch.mul(self._norm(x), self.weight).add(self.bias)
    """),
    right("LayerNorm", "reshape loop over rows", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                rows = x.reshape(-1, x.shape[-1])
                out = [(r - r.mean()) / torch.sqrt(((r - r.mean()) ** 2).mean() + self.eps) * self.weight + self.bias for r in rows]
                return torch.stack(out).reshape(x.shape)
    """),
    right("LayerNorm", "eps 0-d buffer non persistent", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.register_buffer('eps', torch.tensor(eps), persistent=False)

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """),
    right("LayerNorm", "E[x²]−E[x]² after subtracting first column (shifted, stable)", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                y = x - x[..., :1]
                m = y.mean(-1, keepdim=True)
                v = ((y * y).mean(-1, keepdim=True) - m * m).clamp(min=0)
                return self.weight * (y - m) / torch.sqrt(v + self.eps) + self.bias
    """),
    right("LayerNorm", "correction d-1 multiplied back", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                d = x.size(-1)
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, keepdim=True) * (d - 1) / d
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """),
    right("LayerNorm", "cov-free lambda, reset_parameters", """
        class LayerNorm(nn.Module):
            def reset_parameters(self):
                nn.init.ones_(self.weight)
                nn.init.zeros_(self.bias)
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.empty(d_model))
                self.bias = nn.Parameter(torch.empty(d_model))
                self.eps = eps
                self.reset_parameters()

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """),
    right("FeedForward", "no dropout", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)

            def forward(self, x):
                return self.linear_2(self.linear_1(x).relu())
    """),
    right("FeedForward", "Sequential with names sharing", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.activation = nn.Sequential(nn.ReLU(), nn.Dropout(dropout))

            def forward(self, x):
                return self.linear_2(self.activation(self.linear_1(x)))
    """),
    right("FeedForward", "Sequential holding the same layers", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.net = nn.Sequential(self.linear_1, nn.ReLU(), nn.Dropout(dropout), self.linear_2)

            def forward(self, x):
                return self.net(x)
    """),
    right("FeedForward", "nn.Sequential subclass with OrderedDict", """
        from collections import OrderedDict
        class FeedForward(nn.Sequential):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__(OrderedDict(linear_1=nn.Linear(d_model, d_ff), relu=nn.ReLU(inplace=True), drop=nn.Dropout(dropout), linear_2=nn.Linear(d_ff, d_model)))
    """),
    right("FeedForward", "inplace relu + F.dropout", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.p = dropout

            def forward(self, x):
                return self.linear_2(F.dropout(F.relu(self.linear_1(x), inplace=True), self.p, self.training, inplace=False))
    """),
    right("FeedForward", "dropout before relu (commutes)", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(torch.relu(self.dropout(self.linear_1(x))))
    """),
    right("FeedForward", "maximum with zero tensor", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                h = self.linear_1(x)
                return self.linear_2(self.dropout(torch.maximum(h, torch.zeros_like(h))))
    """),
    right("FeedForward", "einsum weights", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                h = torch.einsum('...d,fd->...f', x, self.linear_1.weight) + self.linear_1.bias
                h = torch.where(h > 0, h, 0.0)
                return torch.einsum('...f,df->...d', self.dropout(h), self.linear_2.weight) + self.linear_2.bias
    """),
    right("FeedForward", "flatten/unflatten addmm", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                y = x.reshape(-1, x.size(-1))
                h = torch.addmm(self.linear_1.bias, y, self.linear_1.weight.t()).clamp_min(0)
                return torch.addmm(self.linear_2.bias, self.dropout(h), self.linear_2.weight.t()).reshape(x.shape)
    """),
    right("FeedForward", "threshold & hidden mask multiply", """
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                h = self.linear_1(x)
                h = h * (h > 0)
                return self.linear_2(F.threshold(self.dropout(h), 0.0, 0.0))
    """),
    right("AddNorm", "own dropout by hand", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(normalized_shape=d_model)
                self.p = dropout

            def forward(self, x, sublayer_output):
                s = sublayer_output
                if self.training and self.p:
                    if self.p == 1: s = torch.zeros_like(s)
                    else: s = s * (torch.rand_like(s) >= self.p) / (1 - self.p)
                return self.norm(torch.add(x, s))
    """),
    right("AddNorm", "own LayerNorm from the lesson", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = LayerNorm(d_model)
                self.dropout = nn.Dropout(p=dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x + self.dropout(sublayer_output))
    """),
    right("AddNorm", "in-place on own tensor", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                y = x.clone()
                y += self.dropout(sublayer_output)
                return self.norm(y)
    """),
    right("AddNorm", "F.dropout & list shape", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm([d_model])
                self.p = dropout

            def forward(self, x, sublayer_output):
                return self.norm(sum((x, F.dropout(sublayer_output, p=self.p, training=self.training))))
    """),
    right("AddNorm", "dropout clone inplace", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout, inplace=True)

            def forward(self, x, sublayer_output):
                s = self.dropout(sublayer_output.clone())
                return self.norm(s.add_(x))
    """),
    right("AddNorm", "eps 1e-6", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model, eps=1e-6)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x + self.dropout(sublayer_output))
    """),
    right("AddNorm", "own inner norm class", """
        class MyNorm(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d)); self.bias = nn.Parameter(torch.zeros(d))
            def forward(self, x):
                c = x - x.mean(-1, keepdim=True)
                return self.weight * c / torch.sqrt(c.pow(2).mean(-1, keepdim=True) + 1e-5) + self.bias
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = MyNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x + self.dropout(sublayer_output))
    """),
    right("AddNorm", "stack sum", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(torch.stack([x, self.dropout(sublayer_output)], 0).sum(0))
    """),
    right("AddNorm", "dropout mask of ones multiplied", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(torch.addcmul(x, sublayer_output, self.dropout(torch.ones_like(sublayer_output))))
    """),
    right("AddNorm", "ModuleDict alias and type hints", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm, self.dropout = nn.LayerNorm(d_model), nn.Identity() if dropout == 0 else nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                residual, out = x, self.dropout(sublayer_output)
                return self.norm.forward(residual + out)
    """),
    right("EncoderLayer", "attention without dropout", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    right("EncoderLayer", "keywords", """
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
    """),
    right("EncoderLayer", "setattr loop", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                for i in (1, 2): setattr(self, f'add_norm_{i}', AddNorm(d_model, dropout))

            def forward(self, x, src_mask=None):
                for norm, f in ((self.add_norm_1, lambda t: self.self_attention(t, t, t, src_mask)), (self.add_norm_2, self.feed_forward)):
                    x = norm(x, f(x))
                return x
    """),
    right("EncoderLayer", "deepcopy of the add norm", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                import copy
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = copy.deepcopy(self.add_norm_1)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    right("EncoderLayer", "super with sublayer helper base", """
        class Base(nn.Module):
            def run(self, i, x, s): return getattr(self, f'add_norm_{i}')(x, s)
        class EncoderLayer(Base):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.run(1, x, self.self_attention(*[x] * 3, src_mask))
                return self.run(2, x, self.feed_forward(x))
    """),
    right("EncoderLayer", "mask expanded to full", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if src_mask is not None:
                    src_mask = src_mask.expand(*([x.size(0), -1] if src_mask.dim() == 4 else []), *([x.size(1)] * 2)) if src_mask.dim() in (2, 4) else src_mask
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    right("EncoderLayer", "all-true mask for None", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if src_mask is None:
                    src_mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device)
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    right("EncoderLayer", "args forwarding", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **ignored):
                super().__init__()
                for name, part in dict(self_attention=MultiHeadAttention(d_model, num_heads, dropout), feed_forward=FeedForward(d_model, d_ff, dropout), add_norm_1=AddNorm(d_model, dropout), add_norm_2=AddNorm(d_model, dropout)).items():
                    self.add_module(name, part)
            def attend(self, x, *args, **kwargs):
                return self.self_attention(x, x, x, *args, **kwargs)
            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.attend(x, mask=src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    right("EncoderLayer", "functools.reduce", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                import functools
                steps = [(self.add_norm_1, lambda t: self.self_attention(t, t, t, src_mask)), (self.add_norm_2, self.feed_forward)]
                return functools.reduce(lambda t, s: s[0](t, s[1](t)), steps, x)
    """),
    right("EncoderLayer", "wired by hand w/o AddNorm call (uses .norm and .dropout)", """
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1.norm(x + self.add_norm_1.dropout(self.self_attention(x, x, x, src_mask)))
                return self.add_norm_2.norm(x + self.add_norm_2.dropout(self.feed_forward(x)))
    """),
    right("DecoderLayer", "keywords", """
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
                x = self.add_norm_1(x, self.self_attention(query=x, key=x, value=x, mask=tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(query=x, key=memory, value=memory, mask=src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    right("DecoderLayer", "separate names, no attention dropout", """
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.cross_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                attended = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                crossed = self.add_norm_2(attended, self.cross_attention(attended, memory, memory, src_mask))
                return self.add_norm_3(crossed, self.feed_forward(crossed))
    """),
    right("DecoderLayer", "dropout kw 0 to attention 'dropout=0.0', add_module", """
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                for n in ('self_attention', 'cross_attention'): self.add_module(n, MultiHeadAttention(d_model, num_heads, dropout=0.0))
                self.add_norm_3, self.add_norm_2, self.add_norm_1 = AddNorm(d_model, dropout), AddNorm(d_model, dropout), AddNorm(d_model, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    right("DecoderLayer", "inherits from EncoderLayer-like base", """
        class DecoderLayer(nn.Module):
            @staticmethod
            def step(norm, attention, x, source, mask):
                return norm(x, attention(x, source, source, mask))
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                [self.__setattr__(f'add_norm_{i}', AddNorm(d_model, dropout)) for i in range(1, 4)]

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.step(self.add_norm_1, self.self_attention, x, x, tgt_mask)
                x = self.step(self.add_norm_2, self.cross_attention, x, memory, src_mask)
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    right("DecoderLayer", "extends the lesson's EncoderLayer", """
        class DecoderLayer(EncoderLayer):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__(d_model, num_heads, d_ff, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    right("DecoderLayer", "stores attention and extra attr", """
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)
                self.d_model = d_model
                self.num_heads = num_heads

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                self.last_shape = tuple(x.shape)
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    right("DecoderLayer", "causal/True masks built for None", """
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
                ones = lambda q, k: torch.ones(q, k, dtype=torch.bool, device=x.device)
                t, s = x.size(1), memory.size(1)
                tgt_mask = ones(t, t) if tgt_mask is None else tgt_mask
                src_mask = ones(t, s) if src_mask is None else src_mask
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    right("DecoderLayer", "generator of steps", """
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
                for norm, sub in ((self.add_norm_1, lambda h: self.self_attention(h, h, h, tgt_mask)), (self.add_norm_2, lambda h: self.cross_attention(h, memory, memory, src_mask)), (self.add_norm_3, self.feed_forward)):
                    x = norm(x, sub(x))
                return x
    """),
    right("LayerNorm", "mean by (x / d).sum", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                d = x.size(-1)
                m = (x / d).sum(-1, keepdim=True)
                v = ((x - m) ** 2 / d).sum(-1, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """),
    right("LayerNorm", "mean by matmul with full 1/d", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                avg = x.new_full((x.size(-1), 1), 1 / x.size(-1))
                c = x - x @ avg
                return self.weight * c / torch.sqrt((c * c) @ avg + self.eps) + self.bias
    """),
    right("LayerNorm", "mean by einsum with 1/d weight", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                w = torch.full_like(self.weight, 1 / self.weight.numel())
                c = x - torch.einsum('...d,d->...', x, w)[..., None]
                v = torch.einsum('...d,d->...', c ** 2, w)[..., None]
                return self.weight * c / torch.sqrt(v + self.eps) + self.bias
    """),
    right("LayerNorm", "multiply by reciprocal", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                r = 1 / x.size(-1)
                m = x.sum(-1, keepdim=True) * r
                c = x - m
                return c.mul(torch.rsqrt(c.pow(2).sum(-1, keepdim=True) * r + self.eps)).mul(self.weight).add(self.bias)
    """),
    right("LayerNorm", "scale folded: x*scale + shift", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                scale = self.weight * torch.rsqrt(v + self.eps)
                return x * scale + (self.bias - m * scale)
    """),
    right("LayerNorm", "logarithm: exp(-.5*log(var+eps))", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.bias + self.weight * (x - m) * torch.exp(-0.5 * torch.log(v + self.eps))
    """),
    right("LayerNorm", "hypot", """
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.hypot(v.sqrt(), torch.full_like(v, self.eps ** 0.5)) + self.bias
    """),
    right("AddNorm", "hand-made dropout dividing by max(1-p, tiny)", """
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.p = dropout

            def forward(self, x, sublayer_output):
                s = sublayer_output
                if self.training: s = s * torch.bernoulli(torch.full_like(s, 1 - self.p)) / max(1 - self.p, 1e-12)
                return self.norm(s + x)
    """),
]

LESSON_5 = [
    right("count_parameters", "by address", """
        def count_parameters(model):
            return sum({p.data_ptr(): p.numel() for p in model.parameters() if p.requires_grad}.values())
    """),
    right("initialize_parameters", "rows and columns, two dimensions", """
        def initialize_parameters(model):
            for p in model.parameters():
                if p.dim() == 2:
                    nn.init.xavier_uniform_(p)
    """),
    right("Encoder", "deepcopies", """
        import copy
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                layer = EncoderLayer(d_model, num_heads, d_ff, dropout)
                self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])

            def forward(self, x, src_mask=None):
                for i in range(len(self.layers)):
                    x = self.layers[i](x, src_mask=src_mask)
                return x
    """),
    right("Encoder", "append, reduce, extra attributes", """
        from functools import reduce
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.num_layers, self.d_model, self.dropout = num_layers, d_model, dropout
                self.layers = nn.ModuleList()
                for _ in range(num_layers):
                    self.layers.append(EncoderLayer(d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout))

            def forward(self, x: torch.Tensor, src_mask: torch.Tensor | None = None) -> torch.Tensor:
                return reduce(lambda h, layer: layer(h, src_mask), self.layers, x)
    """),
    right("Encoder", "ModuleList subclass and recursion", """
        class Stack(nn.ModuleList):
            def run(self, x, *rest):
                for layer in self:
                    x = layer(x, *rest)
                return x

        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = Stack([EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])

            def forward(self, x, src_mask=None):
                return self.layers.run(x, src_mask)
    """),
    right("Encoder", "common base class", """
        class _Stack(nn.Module):
            def __init__(self, make, num_layers):
                super().__init__()
                self.layers = nn.ModuleList(make() for _ in range(num_layers))
            def forward(self, x, *args, **kw):
                for layer in self.layers:
                    x = layer(x, *args, **kw)
                return x

        class Encoder(_Stack):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__(lambda: EncoderLayer(d_model, num_heads, d_ff, dropout), num_layers)
            def forward(self, x, src_mask=None):
                return super().forward(x, src_mask)
    """),
    right("Encoder", "keeps outputs of all layers in a list", """
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = nn.ModuleList([])
                self.layers.extend(EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))

            def forward(self, x, src_mask=None):
                outputs = [x]
                for layer in self.layers:
                    outputs.append(layer(outputs[-1], src_mask))
                return outputs[-1]
    """),
    right("Encoder", "mask omitted when None; while loop", """
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout) for i in range(num_layers)])
            def forward(self, x, src_mask=None):
                i = 0
                while i < len(self.layers):
                    x = self.layers[i](x) if src_mask is None else self.layers[i](x, src_mask)
                    i += 1
                return x
    """),
    right("Encoder", "xavier in the constructor, names by add_module", """
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = nn.ModuleList()
                for i in range(num_layers):
                    self.layers.add_module(str(i), EncoderLayer(d_model, num_heads, d_ff, dropout))
                for p in self.parameters():
                    if p.dim() > 1:
                        nn.init.xavier_uniform_(p)
            def forward(self, x, src_mask=None):
                for _, layer in self.layers.named_children():
                    x = layer(x, src_mask)
                return x
    """),
    right("Decoder", "keywords", """
        class Decoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout=dropout) for _ in range(num_layers)])
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                out = x
                for layer in self.layers:
                    out = layer(out, memory=memory, tgt_mask=tgt_mask, src_mask=src_mask)
                return out
    """),
    right("Decoder", "partial", """
        from functools import partial, reduce
        class Decoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                make = partial(DecoderLayer, d_model, num_heads, d_ff, dropout)
                self.layers = nn.ModuleList(make() for _ in range(num_layers))
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                return reduce(lambda h, l: l(h, memory, src_mask, tgt_mask), self.layers, x)
    """),
    right("Decoder", "deepcopy re-initialised", """
        import copy
        def clones(module, n):
            return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])

        class Decoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.layers = clones(DecoderLayer(d_model, num_heads, d_ff, dropout), num_layers)
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                for layer in self.layers:
                    x = layer(x, memory, src_mask, tgt_mask)
                return x
    """),
    right("Decoder", "subclassed from a stack, __call__ hints", """
        class Stacked(nn.Module):
            layers: nn.ModuleList
            def fold(self, x, *args):
                for layer in self.layers:
                    x = layer(x, *args)
                return x

        class Decoder(Stacked):
            def __init__(self, num_layers: int, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1) -> None:
                super(Decoder, self).__init__()
                self.layers = nn.ModuleList(map(lambda _: DecoderLayer(d_model, num_heads, d_ff, dropout), range(num_layers)))
            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                return self.fold(x, memory, src_mask, tgt_mask)
    """),
    right("Transformer", "target embedding IS the source embedding module when shared", """
        class Transformer(nn.Module):
            def __init__(self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048,
                         dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False):
                super().__init__()
                self.pad_id = pad_id

                if share_embeddings:
                    if src_vocab_size != tgt_vocab_size:
                        raise ValueError("sizes differ")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = self.src_embedding if share_embeddings else TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.output_projection.weight = self.src_embedding.embedding.weight

            def encode(self, src):
                return self.encoder(self.positional_encoding(self.src_embedding(src)), padding_mask(src, self.pad_id))

            def decode(self, tgt, memory, src):
                h = self.decoder(self.positional_encoding(self.tgt_embedding(tgt)), memory,
                                 tgt_mask=decoder_mask(tgt, pad_id=self.pad_id), src_mask=padding_mask(src, pad_id=self.pad_id))
                return self.output_projection(h)

            def forward(self, src, tgt):
                memory = self.encode(src)
                return self.decode(tgt, memory, src)
    """),
    right("Transformer", "log-probabilities? no: F.linear, hand-made masks, properties, shared through register_parameter", """
        class Transformer(nn.Module):
            def __init__(self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048,
                         dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False):
                super().__init__()
                self.pad_id = pad_id

                if share_embeddings and not src_vocab_size == tgt_vocab_size:
                    raise ValueError
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)

                self.share_embeddings = share_embeddings
                if share_embeddings:
                    table = nn.Parameter(torch.empty(src_vocab_size, d_model))
                    nn.init.xavier_uniform_(table)
                    for layer in (self.src_embedding.embedding, self.tgt_embedding.embedding, self.output_projection):
                        layer.weight = table

            @property
            def d_model(self):
                return self.output_projection.in_features

            def _src_mask(self, src):
                return (src != self.pad_id)[:, None, None, :]

            def _tgt_mask(self, tgt):
                n = tgt.size(-1)
                past = torch.ones(n, n, dtype=torch.bool, device=tgt.device).tril()
                return (tgt != self.pad_id)[:, None, None, :] & past

            def encode(self, src):
                return self.encoder(self.positional_encoding(self.src_embedding(src)), self._src_mask(src))

            def decode(self, tgt, memory, src):
                x = self.decoder(self.positional_encoding(self.tgt_embedding(tgt)), memory, self._src_mask(src), self._tgt_mask(tgt))
                return F.linear(x, self.output_projection.weight, self.output_projection.bias)

            def forward(self, src, tgt):
                return self.decode(memory=self.encode(src=src), tgt=tgt, src=src)
    """),
    right("Transformer", "log_softmax out (same predictions)", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask)).log_softmax(-1)
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "helper _embed, einsum projection", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                return self.encoder(self._embed(src, self.src_embedding), padding_mask(src, self.pad_id))

            def _embed(self, tokens, table):
                return self.positional_encoding(table(tokens))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                h = self.decoder(x, memory, src_mask, tgt_mask)
                return torch.einsum('btd,vd->btv', h, self.output_projection.weight) + self.output_projection.bias
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "checks vocabularies after building; ValueError subclass", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                class VocabularyError(ValueError): pass
                if share_embeddings:
                    if src_vocab_size != tgt_vocab_size: raise VocabularyError('no')
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "tie the other way round", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.src_embedding.embedding.weight = self.tgt_embedding.embedding.weight = self.output_projection.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "xavier in the constructor, sizes as attributes", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                for p in self.parameters():
                    if p.dim() > 1:
                        nn.init.xavier_uniform_(p)
                self.d_model, self.max_len, self.dropout, self.config = d_model, max_len, dropout, {'heads': num_heads}
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "last mask kept as a harmless attribute; vectors of padding not special", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                self.last_masks = src_mask, tgt_mask
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "a non-persistent causal buffer of max_len", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                self.register_buffer('past', torch.ones(max_len, max_len).tril().bool(), persistent=False)
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask = padding_mask(src, self.pad_id)
                n = tgt.size(1)
                tgt_mask = padding_mask(tgt, self.pad_id) & self.past[:n, :n]
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "masks of pad queries too (rows of padding not masked, ones see all)", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask = padding_mask(src, self.pad_id).expand(-1, 1, src.size(1), -1)[:, :, :1]
                tgt_mask = decoder_mask(tgt, self.pad_id)
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "inherits from a mixin with encode", """
        class _Enc:
            def encode(self, src):
                return self.encoder(self.positional_encoding(self.src_embedding(src)), padding_mask(src, self.pad_id))

        class Transformer(_Enc, nn.Module):
            def __init__(self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048,
                         dropout=0.1, max_len=5000, pad_id=0, share_embeddings=False):
                super().__init__()
                self.pad_id = pad_id
                if share_embeddings and src_vocab_size != tgt_vocab_size: raise ValueError('x')
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    w = self.src_embedding.embedding.weight
                    setattr(self.tgt_embedding.embedding, 'weight', w)
                    setattr(self.output_projection, 'weight', w)

            def decode(self, tgt, memory, src):
                x = self.positional_encoding(self.tgt_embedding(tgt))
                x = self.decoder(x, memory, padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id))
                return self.output_projection(x)

            def forward(self, src, tgt):
                return self.decode(tgt, self.encode(src), src)
    """),
    right("initialize_parameters", "apply over modules, recurse=False", """
        def initialize_parameters(model: nn.Module) -> None:
            def init(m):
                for p in m.parameters(recurse=False):
                    if p.dim() >= 2:
                        nn.init.xavier_uniform_(p)
            model.apply(init)
    """),
    right("initialize_parameters", "by hand with no_grad and fans", """
        def initialize_parameters(model: nn.Module) -> None:
            with torch.no_grad():
                for name, p in model.named_parameters():
                    if p.ndim < 2:
                        continue
                    fan_in, fan_out = nn.init._calculate_fan_in_and_fan_out(p)
                    bound = (6 / (fan_in + fan_out)) ** 0.5
                    p.uniform_(-bound, bound)
    """),
    right("initialize_parameters", "on .data", """
        def initialize_parameters(model: nn.Module) -> None:
            [nn.init.xavier_uniform_(p.data) for p in model.parameters() if len(p.shape) > 1]
    """),
    right("initialize_parameters", "rand copied", """
        @torch.no_grad()
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    rec = p[0][0].numel()
                    b = math.sqrt(6.0 / (rec * (p.size(0) + p.size(1))))
                    p.copy_((2 * torch.rand_like(p) - 1) * b)
    """),
    right("initialize_parameters", "returns the model too, gain 1.0, filter", """
        def initialize_parameters(model: nn.Module) -> None:
            for p in filter(lambda q: q.dim() > 1, model.parameters()):
                nn.init.xavier_uniform_(p, gain=1.0)
            return model
    """),
    right("initialize_parameters", "own generator from global RNG", """
        def initialize_parameters(model: nn.Module) -> None:
            g = torch.Generator().manual_seed(int(torch.randint(2**31, ())))
            for p in model.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p, generator=g)
    """),
    right("count_parameters", "set of ids", """
        def count_parameters(model):
            seen, total = set(), 0
            for module in model.modules():
                for p in module._parameters.values():
                    if p is not None and p.requires_grad and id(p) not in seen:
                        seen.add(id(p))
                        total += p.numel()
            return total
    """),
    right("count_parameters", "math.prod", """
        def count_parameters(model: nn.Module) -> int:
            return int(sum(math.prod(p.size()) for _, p in model.named_parameters() if p.requires_grad is True))
    """),
    right("count_parameters", "set of named with duplicates", """
        def count_parameters(model):
            unique = {p for _, p in model.named_parameters(remove_duplicate=False)}
            return sum(map(torch.numel, filter(lambda p: p.requires_grad, unique)))
    """),
    right("count_parameters", "numpy prod", """
        import numpy as np
        def count_parameters(model):
            n = 0
            for p in model.parameters():
                if not p.requires_grad:
                    continue
                n += int(np.prod(p.shape))
            return n
    """),
    right("count_parameters", "nelement, all minus frozen", """
        def count_parameters(model):
            total = sum(p.nelement() for p in model.parameters())
            frozen = sum(p.nelement() for p in model.parameters() if not p.requires_grad)
            return total - frozen
    """),
    right("Transformer", "logits shifted by a constant", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                logits = self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                return logits - logits.max(-1, keepdim=True).values.detach()
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "pad id also as a buffer", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                self.register_buffer('pad', torch.tensor(pad_id), persistent=False)
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask = src.ne(self.pad)[:, None, None]
                tgt_mask = decoder_mask(tgt, self.pad_id)
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("Transformer", "typed, keywords, memory tuple", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.src_embedding(src))
                return self.encoder(x, padding_mask(src, self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                memory: torch.Tensor = self.encode(src=src)
                logits: torch.Tensor = self.decode(tgt=tgt, memory=memory, src=src)
                return logits
                ### END SOLUTION
    '''),
    right("Transformer", "a Sequential holds embedding and positions out of the module tree", r'''
        class Transformer(nn.Module):
            """The encoder-decoder Transformer (§3).

            Attributes:
                src_embedding, tgt_embedding: TokenEmbedding.
                positional_encoding: PositionalEncoding, used for both sides.
                encoder: Encoder.
                decoder: Decoder.
                output_projection: nn.Linear(d_model, tgt_vocab_size).
                pad_id: the token that nothing attends to.
            """

            def __init__(
                self,
                src_vocab_size,
                tgt_vocab_size,
                d_model=512,
                num_heads=8,
                num_layers=6,
                d_ff=2048,
                dropout=0.1,
                max_len=5000,
                pad_id=0,
                share_embeddings=False,
            ):
                """Make the parts.

                Args:
                    max_len: positions of the longest sequence; the positional encoding refuses longer ones.
                    share_embeddings: one matrix for both embeddings and the output layer (§3.4).

                Raises:
                    ValueError: the embeddings are to be shared, but the vocabularies differ in size.
                """
                super().__init__()
                self.pad_id = pad_id
                # TODO: refuse what cannot be shared; the six parts; the sharing. About twelve lines.
                ### BEGIN SOLUTION
                if share_embeddings and src_vocab_size != tgt_vocab_size:
                    raise ValueError(f"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.")
                self.src_embedding = TokenEmbedding(src_vocab_size, d_model)
                self.tgt_embedding = TokenEmbedding(tgt_vocab_size, d_model)
                self.positional_encoding = PositionalEncoding(d_model, max_len, dropout)
                self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout)
                self.output_projection = nn.Linear(d_model, tgt_vocab_size)
                if share_embeddings:
                    self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight
                    self.output_projection.weight = self.src_embedding.embedding.weight
                ### END SOLUTION

            def encode(self, src):
                """Read the source: (batch, src_len) token ids → memory (batch, src_len, d_model)."""
                # TODO: embed, add positions, encode under the source's mask. Two lines are enough.
                ### BEGIN SOLUTION
                front = nn.Sequential(self.src_embedding, self.positional_encoding)
                return self.encoder(front(src), src_mask=padding_mask(src, pad_id=self.pad_id))
                ### END SOLUTION

            def decode(self, tgt, memory, src):
                """Predict the next token at every position of the target.

                Args:
                    tgt: (batch, tgt_len) token ids.
                    memory: (batch, src_len, d_model), from `encode`.
                    src: (batch, src_len) token ids, which say where the memory is padding.

                Returns:
                    logits: (batch, tgt_len, tgt_vocab_size)
                """
                # TODO: embed, add positions, decode under both masks, project. About four lines.
                ### BEGIN SOLUTION
                x = self.positional_encoding(self.tgt_embedding(tgt))
                src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)
                return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))
                ### END SOLUTION

            def forward(self, src, tgt):
                """Encode, then decode: two (batch, …_len) → logits (batch, tgt_len, tgt_vocab_size)."""
                # TODO: one line.
                ### BEGIN SOLUTION
                return self.decode(tgt, self.encode(src), src)
                ### END SOLUTION
    '''),
    right("initialize_parameters", "numpy's numbers", """
        import numpy as np
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    fan_out, fan_in = p.shape[0], p.shape[1]
                    field = p[0, 0].numel()
                    b = math.sqrt(6 / ((fan_in + fan_out) * field))
                    with torch.no_grad():
                        p.copy_(torch.from_numpy(np.random.uniform(-b, b, tuple(p.shape))))
    """),
    right("initialize_parameters", "uniform_, unique by id", """
        def initialize_parameters(model: nn.Module) -> None:
            done = set()
            for m in model.modules():
                for name, p in m.named_parameters(recurse=False):
                    if p.dim() > 1 and id(p) not in done:
                        done.add(id(p))
                        nn.init.xavier_uniform_(getattr(m, name))
    """),
    right("count_parameters", "dict by id", """
        def count_parameters(model):
            return sum({id(p): p.numel() for p in model.parameters() if p.requires_grad}.values())
    """),
    right("Encoder", "Sequential-like call with star", """
        class Encoder(nn.Module):
            def __init__(self, num_layers, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                factory = lambda: EncoderLayer(d_model, num_heads, d_ff, dropout=dropout)
                self.layers = nn.ModuleList([factory() for _ in range(num_layers)])
                self.config = dict(num_layers=num_layers, d_model=d_model)
            def forward(self, x, src_mask=None):
                h = x.clone()
                for layer in iter(self.layers):
                    h = layer.forward(h, src_mask)
                return h
    """),
]

LESSON_6 = [
    right("label_smoothed_loss", "always in float64", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logits = logits.double().flatten(0, 1)
            return F.cross_entropy(logits, labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing)
    """),
    right("label_smoothed_loss", "always in float32", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            lp = F.log_softmax(logits, dim=-1, dtype=torch.float32)
            keep = labels != pad_id
            lp, y = lp[keep], labels[keep]
            return (1 - smoothing) * F.nll_loss(lp, y) - smoothing * lp.mean()
    """),
    right("teacher_forcing", "narrow, clones, list", """
        def teacher_forcing(tgt):
            n = tgt.size(1) - 1
            return [tgt.narrow(1, 0, n).clone(), tgt.narrow(1, 1, n).contiguous()]
    """),
    right("teacher_forcing", "namedtuple", """
        from typing import NamedTuple
        class Forced(NamedTuple):
            decoder_input: torch.Tensor
            labels: torch.Tensor

        def teacher_forcing(tgt):
            return Forced(labels=tgt[..., 1:], decoder_input=tgt[..., :-1])
    """),
    right("teacher_forcing", "roll, then cut", """
        def teacher_forcing(tgt):
            return tgt[:, :-1], torch.roll(tgt, shifts=-1, dims=1)[:, :-1]
    """),
    right("teacher_forcing", "unbind and stack", """
        def teacher_forcing(tgt):
            cols = tgt.unbind(1)
            return torch.stack(cols[:-1], 1), torch.stack(cols[1:], 1)
    """),
    right("teacher_forcing", "index_select / arange", """
        def teacher_forcing(tgt):
            i = torch.arange(tgt.shape[1] - 1, device=tgt.device)
            return tgt.index_select(1, i), tgt[:, i + 1]
    """),
    right("teacher_forcing", "unfold", """
        def teacher_forcing(tgt):
            pairs = tgt.unfold(1, 2, 1)
            return pairs[..., 0], pairs[..., 1]
    """),
    right("label_smoothed_loss", "(B, V, T) form", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, label_smoothing=smoothing)
    """),
    right("label_smoothed_loss", "module", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.shape[-1]
            return nn.CrossEntropyLoss(ignore_index=pad_id, label_smoothing=smoothing)(logits.reshape(-1, V), labels.reshape(-1))
    """),
    right("label_smoothed_loss", "gather", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """),
    right("label_smoothed_loss", "nll_loss + mean", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            lp = F.log_softmax(logits, -1).flatten(0, 1)
            y = labels.flatten()
            nll = F.nll_loss(lp, y, ignore_index=pad_id)
            smooth = -lp.mean(-1)[y != pad_id].mean()
            return (1 - smoothing) * nll + smoothing * smooth
    """),
    right("label_smoothed_loss", "scatter of soft labels, soft cross_entropy", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.size(-1)
            real = labels != pad_id
            x, y = logits[real], labels[real]
            q = torch.full_like(x, smoothing / V).scatter_(1, y[:, None], 1 - smoothing + smoothing / V)
            return F.cross_entropy(x, q)
    """),
    right("label_smoothed_loss", "one_hot and einsum", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.size(-1)
            q = (1 - smoothing) * F.one_hot(labels, V).to(logits.dtype) + smoothing / V
            q = q * (labels != pad_id).unsqueeze(-1)
            return -torch.einsum('btv,btv->', q, logits.log_softmax(-1)) / (labels != pad_id).sum()
    """),
    right("label_smoothed_loss", "KLDivLoss plus entropy", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            V = logits.size(-1)
            real = labels != pad_id
            x, y = logits[real].log_softmax(-1), labels[real]
            q = F.one_hot(y, V).to(x.dtype) * (1 - smoothing) + smoothing / V
            kl = nn.KLDivLoss(reduction='sum')(x, q)
            entropy = -torch.xlogy(q, q).sum()
            return (kl + entropy) / len(y)
    """),
    right("label_smoothed_loss", "logits.view", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            return F.cross_entropy(logits.view(-1, logits.size(-1)), labels.reshape(-1), ignore_index=pad_id, label_smoothing=smoothing)
    """),
    right("label_smoothed_loss", "sum over counts with masked_fill and logsumexp", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            lse = logits.logsumexp(-1)
            right = torch.take_along_dim(logits, labels.unsqueeze(-1), -1).squeeze(-1)
            each = lse - (1 - smoothing) * right - smoothing * logits.mean(-1)
            pad = labels.eq(pad_id)
            return each.masked_fill(pad, 0.0).sum() / (~pad).sum()
    """),
    right("label_smoothed_loss", "labels to -100 on a copy", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            y = labels.masked_fill(labels == pad_id, -100)
            return F.cross_entropy(logits.permute(0, 2, 1), y, label_smoothing=smoothing, reduction='sum') / (y != -100).sum()
    """),
    right("label_smoothed_loss", "loops", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            total, n = 0.0, 0
            for z, row in zip(logits, labels):
                for zt, y in zip(z, row.tolist()):
                    if y != pad_id:
                        lp = zt - zt.logsumexp(0)
                        total = total - (1 - smoothing) * lp[y] - smoothing * lp.mean()
                        n += 1
            return total / n
    """),
    right("label_smoothed_loss", "float32 upcast of halfs? keep; mean of selected", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            keep = labels.ne(pad_id)
            return F.cross_entropy(logits[keep], labels[keep], label_smoothing=smoothing)
    """),
    right("learning_rate", "branches, math.pow", """
        def learning_rate(step, d_model, warmup_steps):
            if step < 1:
                step = 1
            if step < warmup_steps:
                return math.pow(d_model, -0.5) * step * math.pow(warmup_steps, -1.5)
            return 1 / math.sqrt(d_model * step)
    """),
    right("learning_rate", "numpy float", """
        import numpy as np
        def learning_rate(step, d_model, warmup_steps):
            step = np.maximum(step, 1)
            return np.power(float(d_model), -0.5) * np.minimum(np.power(float(step), -0.5), step * np.power(float(warmup_steps), -1.5))
    """),
    right("learning_rate", "torch item", """
        def learning_rate(step, d_model, warmup_steps):
            s = torch.tensor(float(step)).clamp(min=1)
            return (d_model**-0.5 * torch.minimum(s.rsqrt(), s * warmup_steps**-1.5)).item()
    """),
    right("learning_rate", "sorted, or", """
        def learning_rate(step, d_model, warmup_steps):
            s = step or 1
            return sorted([s**-0.5, s * warmup_steps**-1.5])[0] / d_model**0.5
    """),
    right("learning_rate", "lru_cache", """
        import functools
        @functools.lru_cache(None)
        def learning_rate(step, d_model, warmup_steps):
            step = 1 if step == 0 else step
            return (d_model ** (-0.5)) * min(step ** (-0.5), step * (warmup_steps ** (-1.5)))
    """),
    right("train_step", "zero_grad first, None", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train(True)
            optimizer.zero_grad(set_to_none=True)
            x, y = teacher_forcing(tgt)
            logits = model(src, x)
            loss = label_smoothed_loss(logits=logits, labels=y, pad_id=pad_id, smoothing=smoothing)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters=model.parameters(), max_norm=max_grad_norm)
            optimizer.step()
            return float(loss)
    """),
    right("train_step", "zero_grad last, zeros", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            x, y = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, x), y, pad_id, smoothing)
            loss.backward()
            nn.utils.clip_grad_norm_(list(model.parameters()), max_grad_norm)
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
            return loss.detach().cpu().tolist()
    """),
    right("train_step", "model.zero_grad, F.cross_entropy of its own", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            model.zero_grad()
            logits = model(src, tgt[:, :-1])
            loss = F.cross_entropy(logits.transpose(1, 2), tgt[:, 1:], ignore_index=pad_id, label_smoothing=smoothing)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            return loss.item()
    """),
    right("train_step", "clip by hand", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            grads = [p.grad for p in model.parameters() if p.grad is not None]
            norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
            if norm > max_grad_norm:
                for g in grads:
                    g.mul_(max_grad_norm / (norm + 1e-6))
            optimizer.step()
            return loss.item()
    """),
    right("train_step", "torch.autograd.grad, assigned", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            x, y = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, x), y, pad_id, smoothing)
            params = [p for p in model.parameters() if p.requires_grad]
            for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
                p.grad = g
            nn.utils.clip_grad_norm_(params, max_grad_norm)
            optimizer.step()
            return loss.item()
    """),
    right("train_step", "closure given to step, computed once", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            def closure():
                optimizer.zero_grad()
                x, y = teacher_forcing(tgt)
                loss = label_smoothed_loss(model(src, x), y, pad_id, smoothing)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
                return loss
            return optimizer.step(closure).item()
    """),
    right("train_step", "restores the mode afterwards", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            before = model.training
            model.train()
            x, y = teacher_forcing(tgt)
            with torch.enable_grad():
                loss = label_smoothed_loss(model(src, x), y, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            model.train(before)
            return loss.item()
    """),
    right("train_step", "moves the batch to the model's device; clip of all params in groups", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            device = next(model.parameters()).device
            src, tgt = src.to(device), tgt.to(device)
            x, y = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, x), y, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            params = [p for group in optimizer.param_groups for p in group['params']]
            nn.utils.clip_grad_norm_(params, max_grad_norm)
            optimizer.step()
            return loss.item()
    """),
    right("train_step", "hooks? no: get_total_norm helper functions", """
        def _clip(params, limit):
            flat = torch.cat([p.grad.flatten() for p in params])
            factor = torch.clamp(limit / (flat.norm() + 1e-12), max=1.0)
            for p in params:
                p.grad = p.grad * factor

        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            _clip([p for p in model.parameters() if p.grad is not None], max_grad_norm)
            optimizer.step()
            return loss.item()
    """),
    right("train_step", "retain_graph and foreach off", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=float(max_grad_norm), norm_type=2.0, foreach=False)
            optimizer.step()
            return loss.item()
    """),
    right("evaluate", "decorator", """
        @torch.no_grad()
        def evaluate(model, batches, pad_id=0):
            mode = model.training
            model.eval()
            total = correct = count = 0
            for src, tgt in batches:
                x, y = teacher_forcing(tgt)
                logits = model(src, x)
                mask = y.ne(pad_id)
                total += F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=pad_id, reduction='sum').item()
                correct += ((logits.argmax(-1) == y) & mask).sum().item()
                count += mask.sum().item()
            model.train(mode)
            return total / count, correct / count
    """),
    right("evaluate", "inference_mode, try/finally, smoothed loss with 0", """
        def evaluate(model, batches, pad_id=0):
            was = model.training
            model.eval()
            loss = hits = n = 0.0
            try:
                with torch.inference_mode():
                    for src, tgt in batches:
                        x, y = teacher_forcing(tgt)
                        z = model(src, x)
                        real = int((y != pad_id).sum())
                        loss += float(label_smoothed_loss(z, y, pad_id, 0.0)) * real
                        hits += int((z.max(-1)[1].eq(y) & y.ne(pad_id)).sum())
                        n += real
            finally:
                model.train(was)
            return loss / n, hits / n
    """),
    right("evaluate", "mode of every module", """
        def evaluate(model, batches, pad_id=0):
            modes = {m: m.training for m in model.modules()}
            model.eval()
            preds, labs, losses = [], [], []
            with torch.no_grad():
                for src, tgt in iter(batches):
                    z = model(src, tgt[:, :-1])
                    y = tgt[:, 1:]
                    r = y != pad_id
                    preds.append(z.topk(1, -1).indices[..., 0][r]); labs.append(y[r])
                    losses.append(F.nll_loss(z.log_softmax(-1)[r], y[r], reduction='none'))
            for m, t in modes.items():
                m.training = t
            p, y = torch.cat(preds), torch.cat(labs)
            return torch.cat(losses).mean().item(), (p == y).double().mean().item()
    """),
    right("evaluate", "returns a list; weighted means", """
        def evaluate(model, batches, pad_id=0):
            was = model.training
            _ = model.eval()
            rows = []
            with torch.no_grad():
                for src, tgt in batches:
                    x, y = teacher_forcing(tgt)
                    z, r = model(src, x), y != pad_id
                    n = r.sum().item()
                    rows.append((n, F.cross_entropy(z[r], y[r]).item(), (z[r].argmax(-1) == y[r]).float().mean().item()))
            model.train(mode=was)
            n = sum(r[0] for r in rows)
            return [sum(r[0] * r[k] for r in rows) / n for k in (1, 2)]
    """),
    right("evaluate", "set_grad_enabled restored", """
        def evaluate(model, batches, pad_id=0):
            grad, mode = torch.is_grad_enabled(), model.training
            torch.set_grad_enabled(False)
            model.eval()
            a = b = c = 0
            for batch in batches:
                src, tgt = batch
                x, y = teacher_forcing(tgt)
                z = model(src, x).flatten(0, 1)
                y = y.flatten()
                keep = (y != pad_id).nonzero().squeeze(1)
                z, y = z[keep], y[keep]
                a += F.cross_entropy(z, y, reduction='sum').item(); b += (z.argmax(1) == y).sum().item(); c += keep.numel()
            torch.set_grad_enabled(grad)
            model.train(mode)
            return a / c, b / c
    """),
    right("label_smoothed_loss", "in double and back", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            return F.cross_entropy(logits.double().flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing).to(logits.dtype)
    """),
    right("label_smoothed_loss", "reduction none", """
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            each = F.cross_entropy(logits.mT, labels, reduction='none', ignore_index=pad_id, label_smoothing=smoothing)
            return each.sum() / labels.ne(pad_id).sum()
    """),
    right("teacher_forcing", "EOS in the input replaced by what the label is (padding)", """
        def teacher_forcing(tgt):
            return tgt[:, :-1] * 1, tgt[:, 1:] + 0
    """),
    right("train_step", "nll of log_softmax, model.forward", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model = model.train()
            [setattr(p, 'grad', None) for p in model.parameters()]
            logp = model(src, tgt[:, :-1]).log_softmax(-1)
            y = tgt[:, 1:]
            real = y != pad_id
            nll = -logp.gather(-1, y.unsqueeze(-1)).squeeze(-1)[real]
            loss = ((1 - smoothing) * nll - smoothing * logp.mean(-1)[real]).mean()
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm, error_if_nonfinite=False)
            optimizer.step()
            value = loss.item()
            del loss
            return value
    """),
    right("train_step", "backward with inputs, both zero_grads", """
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward(inputs=[p for p in model.parameters() if p.requires_grad])
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            optimizer.zero_grad()
            return loss.item()
    """),
    right("train_step", "eval afterwards (the mode afterwards is free)", r'''
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0) -> float:
            """Train the model on one batch (§5), in train mode.

            Args:
                model: `model(src, decoder_input)` → logits (batch, tgt_len − 1, vocab_size).
                optimizer: of the model's parameters.
                src: (batch, src_len) token ids.
                tgt: (batch, tgt_len) token ids, from BOS to EOS, padded with `pad_id`.
                max_grad_norm: the length that all gradients together are clipped to.

            Returns:
                the loss before the step, a float.
            """
            # TODO: train mode, shift, logits, loss, gradients (fresh ones), clip, step. About eight lines.
            ### BEGIN SOLUTION
            model.train()
            decoder_input, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            model.eval()
            return loss.item()
            ### END SOLUTION
    '''),
    right("train_step", "is the returned loss numpy? float()", r'''
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0) -> float:
            """Train the model on one batch (§5), in train mode.

            Args:
                model: `model(src, decoder_input)` → logits (batch, tgt_len − 1, vocab_size).
                optimizer: of the model's parameters.
                src: (batch, src_len) token ids.
                tgt: (batch, tgt_len) token ids, from BOS to EOS, padded with `pad_id`.
                max_grad_norm: the length that all gradients together are clipped to.

            Returns:
                the loss before the step, a float.
            """
            # TODO: train mode, shift, logits, loss, gradients (fresh ones), clip, step. About eight lines.
            ### BEGIN SOLUTION
            model.train()
            decoder_input, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            return float(loss.detach().numpy())
            ### END SOLUTION
    '''),
    right("evaluate", "helper generator and sums", """
        def _each(model, batches, pad_id):
            for src, tgt in batches:
                x, y = teacher_forcing(tgt)
                with torch.no_grad():
                    z = model(src, x)
                keep = y.flatten() != pad_id
                each = F.cross_entropy(z.flatten(0, 1), y.flatten(), reduction='none')[keep]
                yield each.sum().item(), (z.argmax(dim=2).flatten() == y.flatten())[keep].sum().item(), keep.sum().item()

        def evaluate(model, batches, pad_id=0):
            mode = model.training
            model.eval()
            loss, hits, n = map(sum, zip(*_each(model, batches, pad_id)))
            model.train(mode)
            return loss / n, hits / n
    """),
    right("evaluate", "accumulates tensors on the device", """
        def evaluate(model, batches, pad_id=0):
            was = model.training
            model.eval()
            l = h = n = 0
            with torch.no_grad():
                for src, tgt in batches:
                    x, y = teacher_forcing(tgt)
                    lp = model(src, x).log_softmax(-1)
                    w = (y != pad_id).to(lp.dtype)
                    l = l - (lp.gather(-1, y[..., None])[..., 0] * w).sum()
                    h = h + ((lp.argmax(-1) == y) * w).sum()
                    n = n + w.sum()
            model.train(was)
            return (l / n).item(), float(h / n)
    """),
    right("learning_rate", "Fraction-free: exp/log", """
        def learning_rate(step, d_model, warmup_steps):
            s = step if step > 0 else 1
            return math.exp(-0.5 * math.log(d_model) + min(-0.5 * math.log(s), math.log(s) - 1.5 * math.log(warmup_steps)))
    """),
]

LESSON_7 = [
    right("next_tokens", "topk", """
        def next_tokens(model, tokens, memory, src):
            return model.decode(tokens, memory, src)[:, -1, :].topk(1, dim=-1).indices.squeeze(-1)
    """),
    right("next_tokens", "max, softmax, no_grad", """
        @torch.no_grad()
        def next_tokens(model, tokens, memory, src):
            probs = F.softmax(model.decode(tokens, memory, src), dim=-1)
            _, best = probs[:, -1].max(dim=-1)
            return best
    """),
    right("next_tokens", "sort", """
        def next_tokens(model, tokens, memory, src):
            z = model.decode(tokens, memory, src).log_softmax(-1)
            return z.select(1, z.size(1) - 1).sort(dim=1, descending=True)[1][:, 0]
    """),
    right("next_tokens", "loop", """
        def next_tokens(model, tokens, memory, src):
            z = model.decode(tokens, memory, src)
            return torch.tensor([int(row[-1].argmax()) for row in z], device=tokens.device)
    """),
    right("next_tokens", "argmax everywhere, last", """
        def next_tokens(model, tokens, memory, src):
            return torch.argmax(model.decode(tokens, memory, src), -1)[:, -1]
    """),
    right("next_tokens", "keywords unused; by length", """
        def next_tokens(model, tokens, memory, src):
            length = tokens.shape[1]
            logits = model.decode(tokens, memory, src)
            return logits[:, length - 1].argmax(1)
    """),
    right("next_tokens", "inference mode", """
        @torch.inference_mode()
        def next_tokens(model, tokens, memory, src):
            return model.decode(tokens, memory, src)[:, -1].argmax(-1).clone()
    """),
    right("greedy_decode", "for/break", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for _ in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new = torch.where(done, pad_id, new)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """),
    right("greedy_decode", "preallocated, full width", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                out = src.new_full((src.shape[0], max_len + 1), pad_id)
                out[:, 0] = bos_id
                alive = torch.ones_like(out[:, 0], dtype=torch.bool)
                for t in range(1, max_len + 1):
                    if not alive.any():
                        break
                    new = next_tokens(model, out[:, :t], memory, src)
                    out[alive, t] = new[alive]
                    alive = alive & new.ne(eos_id)
            model.train(was)
            return out
    """),
    right("greedy_decode", "never stops early, cleans afterwards", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                t = torch.full_like(src[:, :1], bos_id)
                for _ in range(max_len):
                    t = torch.cat((t, next_tokens(model, t, memory, src).unsqueeze(-1)), dim=-1)
            ended = (t[:, 1:] == eos_id).long().cumsum(1)
            after = F.pad(ended, (1, 0))[:, :-1] > 0
            after = F.pad(after, (1, 0))[:, :t.size(1)]
            t[after] = pad_id
            model.train(was)
            return t
    """),
    right("greedy_decode", "rows one by one with one memory", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            rows = []
            with torch.no_grad():
                memory = model.encode(src)
                for i in range(len(src)):
                    t = torch.tensor([[bos_id]], device=src.device)
                    while t.size(1) < max_len + 1:
                        new = next_tokens(model, t, memory[i:i+1], src[i:i+1])
                        t = torch.cat([t, new.view(1, 1)], 1)
                        if new.item() == eos_id:
                            break
                    rows.append(t[0])
            model.train(was)
            return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
    """),
    right("greedy_decode", "only living rows decoded", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            try:
                with torch.no_grad():
                    memory = model.encode(src)
                    tokens = torch.full((len(src), 1), bos_id, dtype=torch.long, device=src.device)
                    alive = torch.arange(len(src), device=src.device)
                    for _ in range(max_len):
                        if alive.numel() == 0: break
                        new = torch.full((len(src),), pad_id, dtype=torch.long, device=src.device)
                        chosen = next_tokens(model, tokens[alive], memory[alive], src[alive])
                        new[alive] = chosen
                        tokens = torch.cat([tokens, new[:, None]], 1)
                        alive = alive[chosen != eos_id]
            finally:
                model.train(was)
            return tokens
    """),
    right("greedy_decode", "no_grad decorator, list of columns, stack", """
        @torch.no_grad()
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            memory = model.encode(src)
            cols = [torch.full((src.size(0),), bos_id, device=src.device)]
            open_ = torch.ones(src.size(0), dtype=torch.bool, device=src.device)
            while len(cols) <= max_len and bool(open_.any()):
                new = next_tokens(model=model, tokens=torch.stack(cols, 1), memory=memory, src=src)
                cols.append(torch.where(open_, new, torch.full_like(new, pad_id)))
                open_ = open_ & (new != eos_id)
            model.train(was)
            return torch.stack(cols, dim=1)
    """),
    right("greedy_decode", "context manager of its own, own argmax", """
        from contextlib import contextmanager
        @contextmanager
        def evaluating(model):
            modes = [(m, m.training) for m in model.modules()]
            model.eval()
            try:
                with torch.no_grad():
                    yield
            finally:
                for m, t in modes:
                    m.training = t

        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            with evaluating(model):
                memory = model.encode(src)
                t = src.new_full((len(src), 1), bos_id)
                for i in range(max_len):
                    t = torch.cat([t, model.decode(t, memory, src)[:, -1:].argmax(-1)], 1)
                    seen = (t[:, 1:] == eos_id).cumsum(1).cumsum(1) > 1
                    t[:, 1:][seen] = pad_id
                    if (t[:, 1:] == eos_id).any(1).all():
                        break
            return t
    """),
    right("greedy_decode", "generator", """
        def _steps(model, tokens, memory, src, n):
            for _ in range(n):
                new = yield tokens
                tokens = torch.cat([tokens, new.unsqueeze(1)], 1)
            yield tokens

        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((len(src), 1), bos_id, device=src.device)
                gen = _steps(model, tokens, memory, src, max_len)
                tokens = next(gen)
                ended = torch.zeros(len(src), dtype=torch.bool, device=src.device)
                for _ in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new[ended] = pad_id
                    ended.logical_or_(new == eos_id)
                    tokens = gen.send(new)
                    if ended.all(): break
            model.train(was)
            return tokens
    """),
    right("exact_match", "lists, stripped", """
        def exact_match(predicted, expected, pad_id=0):
            def strip(r):
                r = list(r)
                while r and r[-1] == pad_id:
                    r.pop()
                return r
            rows = list(zip(predicted.tolist(), expected.tolist()))
            return sum(strip(p) == strip(e) for p, e in rows) / len(rows)
    """),
    right("exact_match", "new_full", """
        def exact_match(predicted, expected, pad_id=0):
            n = max(predicted.shape[1], expected.shape[1])
            a = predicted.new_full((len(predicted), n), pad_id); a[:, :predicted.shape[1]] = predicted
            b = expected.new_full((len(expected), n), pad_id); b[:, :expected.shape[1]] = expected
            return 1.0 - (a != b).any(-1).double().mean().item()
    """),
    right("exact_match", "torch.equal per row", """
        def exact_match(predicted, expected, pad_id=0):
            w = max(predicted.size(-1), expected.size(-1))
            wide = lambda x: F.pad(x, [0, w - x.size(-1)], 'constant', pad_id)
            hits = [torch.equal(p, e) for p, e in zip(wide(predicted), wide(expected))]
            return sum(hits) / len(hits)
    """),
    right("exact_match", "common part and rest", """
        def exact_match(predicted, expected, pad_id=0):
            n = min(predicted.size(1), expected.size(1))
            ok = predicted[:, :n].eq(expected[:, :n]).all(1)
            ok &= predicted[:, n:].eq(pad_id).all(1)
            ok &= (expected[:, n:] == pad_id).all(1)
            return float(ok.float().mean())
    """),
    right("exact_match", "prod and numpy", """
        import numpy as np
        def exact_match(predicted, expected, pad_id=0):
            p, e = predicted.cpu().numpy(), expected.cpu().numpy()
            w = max(p.shape[1], e.shape[1])
            p = np.pad(p, ((0, 0), (0, w - p.shape[1])), constant_values=pad_id)
            e = np.pad(e, ((0, 0), (0, w - e.shape[1])), constant_values=pad_id)
            return float((p == e).all(axis=1).mean())
    """),
    right("exact_match", "cat; numpy float64 returned", """
        import numpy as np
        def exact_match(predicted, expected, pad_id=0):
            d = predicted.size(1) - expected.size(1)
            fill = torch.full((len(predicted), abs(d)), pad_id, dtype=predicted.dtype, device=predicted.device)
            if d < 0: predicted = torch.cat([predicted, fill], 1)
            else: expected = torch.cat([expected, fill], 1)
            return np.mean([(a == b).all().item() for a, b in zip(predicted, expected)])
    """),
    right("exact_match", "pad_sequence on all rows", """
        def exact_match(predicted, expected, pad_id=0):
            rows = nn.utils.rnn.pad_sequence([*predicted, *expected], batch_first=True, padding_value=pad_id)
            a, b = rows.chunk(2)
            return ((a - b).abs().sum(1) == 0).float().mean().item()
    """),
    right("cached_attention", "F.sdpa, list", """
        def cached_attention(query, key, value, cache=None):
            if cache:
                key, value = (torch.cat(pair, dim=2) for pair in zip(cache, (key, value)))
            return F.scaled_dot_product_attention(query, key, value), [key, value]
    """),
    right("cached_attention", "einsum, namedtuple, buffers of the right dtype", """
        from typing import NamedTuple
        class Cache(NamedTuple):
            keys: torch.Tensor
            values: torch.Tensor

        def cached_attention(query, key, value, cache=None):
            if cache is None:
                cache = Cache(key[:, :, :0], value[:, :, :0])
            cache = Cache(torch.cat((cache[0], key), dim=-2), torch.cat((cache[1], value), dim=-2))
            scores = torch.einsum('bhqd,bhkd->bhqk', query, cache.keys) * query.size(-1) ** -0.5
            return torch.einsum('bhqk,bhkd->bhqd', scores.softmax(dim=-1), cache.values), cache
    """),
    right("cached_attention", "first token shortcut", """
        def cached_attention(query, key, value, cache=None):
            if cache is None:
                return value, (key, value)
            keys = torch.concat([cache[0], key], axis=-2)
            values = torch.concat([cache[1], value], axis=-2)
            output = scaled_dot_product_attention(query, keys, values)[0]
            return output, (keys, values)
    """),
    right("cached_attention", "new_empty", """
        def cached_attention(query, key, value, cache=None):
            def longer(old, new):
                if old is None: return new.clone()
                out = new.new_empty(*old.shape[:2], old.shape[2] + 1, old.shape[3])
                out[:, :, :-1].copy_(old)
                out[:, :, -1:].copy_(new)
                return out
            old_k, old_v = cache if cache is not None else (None, None)
            k, v = longer(old_k, key), longer(old_v, value)
            out, _ = scaled_dot_product_attention(query, k, v, mask=None)
            return out, (k, v)
    """),
    right("cached_attention", "logsumexp by hand, F.pad", """
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                k = F.pad(cache[0], (0, 0, 0, 1)); k = torch.cat([k[:, :, :-1], key], 2)
                key, value = k, torch.cat([cache[1], value], 2)
            s = (query * key).sum(-1, keepdim=True) / math.sqrt(query.size(-1))
            w = (s - s.logsumexp(2, keepdim=True)).exp()
            return (w * value).sum(2, keepdim=True), (key, value)
    """),
    right("cached_attention", "all-ones mask", """
        def cached_attention(query, key, value, cache=None):
            keys, values = cache or (None, None)
            keys = key if keys is None else torch.cat([keys, key], -2)
            values = value if values is None else torch.cat([values, value], -2)
            mask = torch.ones(1, keys.size(-2), dtype=torch.bool, device=keys.device)
            out, weights = scaled_dot_product_attention(query=query, key=keys, value=values, mask=mask)
            return out, (keys, values)
    """),
    right("greedy_decode", "inference_mode decorator", """
        @torch.inference_mode()
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            if True:
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for _ in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new = torch.where(done, pad_id, new)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """),
    right("greedy_decode", "stops late, trailing columns of padding", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for _ in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new = torch.where(done, pad_id, new)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if (new == eos_id).all():
                        break
            model.train(was)
            return tokens
    """),
    right("greedy_decode", "recursion", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            def write(tokens, ended, left):
                if left == 0 or ended.all():
                    return tokens
                new = next_tokens(model, tokens, memory, src).where(~ended, pad_id)
                return write(torch.hstack([tokens, new[:, None]]), ended | (new == eos_id), left - 1)
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.tensor([[bos_id]] * len(src), device=src.device)
                tokens = write(tokens, torch.zeros(len(src), device=src.device).bool(), max_len)
            model.train(was)
            return tokens
    """),
    right("greedy_decode", "python sets of ended rows", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            rows, ended = [[bos_id] for _ in src], set()
            with torch.no_grad():
                memory = model.encode(src)
                while len(rows[0]) - 1 < max_len and len(ended) < len(rows):
                    new = next_tokens(model, torch.tensor(rows, device=src.device), memory, src).tolist()
                    for i, t in enumerate(new):
                        rows[i].append(pad_id if i in ended else t)
                        if t == eos_id: ended.add(i)
            if was:
                model.train()
            return torch.tensor(rows, device=src.device)
    """),
    right("greedy_decode", "zeros, fills by index_put, int counter", """
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            training = model.training
            model.train(False)
            with torch.set_grad_enabled(False):
                memory, n = model.encode(src), src.size(0)
                lengths = torch.zeros(n, dtype=torch.long, device=src.device)
                tokens, step = torch.ones(n, 1, dtype=torch.long, device=src.device) * bos_id, 0
                while step < max_len and (lengths == 0).any():
                    step += 1
                    nxt = next_tokens(model, tokens, memory, src)
                    nxt = nxt * (lengths == 0) + pad_id * (lengths > 0)
                    lengths[(nxt == eos_id) & (lengths == 0)] = step
                    tokens = torch.column_stack([tokens, nxt])
            model.train(training)
            return tokens
    """),
    right("next_tokens", "argsort of transposed", """
        def next_tokens(model, tokens, memory, src):
            logits = model.decode(tokens, memory, src).transpose(0, 1)[-1]
            return logits.argsort(-1)[:, -1]
    """),
    right("exact_match", "zip_longest", """
        from itertools import zip_longest
        def exact_match(predicted, expected, pad_id=0):
            same = [all(a == b for a, b in zip_longest(p, e, fillvalue=pad_id)) for p, e in zip(predicted.tolist(), expected.tolist())]
            return same.count(True) / len(same)
    """),
    right("exact_match", "sum over rows, int division of Python numbers", r'''
        def exact_match(predicted: torch.Tensor, expected: torch.Tensor, pad_id: int = 0) -> float:
            """Compute the fraction of rows that are right to the last token.

            Args:
                predicted, expected: (batch, …) token ids, padded with `pad_id`; their widths may differ.

            Returns:
                a number from 0 to 1.
            """
            # TODO: pad both to the larger width, compare rows, average. About four lines.
            ### BEGIN SOLUTION
            width = max(predicted.size(1), expected.size(1))
            predicted = F.pad(predicted, (0, width - predicted.size(1)), value=pad_id)
            expected = F.pad(expected, (0, width - expected.size(1)), value=pad_id)
            return (predicted == expected).all(dim=1).sum().item() / len(expected)
            ### END SOLUTION
    '''),
    right("cached_attention", "loops over heads", """
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
            outs = [scaled_dot_product_attention(query[:, h], key[:, h], value[:, h])[0] for h in range(query.size(1))]
            return torch.stack(outs, 1), (key, value)
    """),
]

RIGHT = {
    "01_attention": LESSON_1,
    "02_multi_head_attention": LESSON_2,
    "03_positional_encoding": LESSON_3,
    "04_encoder_decoder_blocks": LESSON_4,
    "05_transformer": LESSON_5,
    "06_training": LESSON_6,
    "07_greedy_decoding": LESSON_7,
}
