"""Wrong answers to all lessons, written by readers of the student notebooks to get past the checks.

The form is that of `more_wrong_answers.py`. Each says something that no other row of the tables does.
"""

from more_wrong_answers import w

LESSON_1 = [
    w("attend_one_query", "out has d_k entries (d_v must equal d_k)", source="""
        def attend_one_query(query, key, value):
            w = torch.softmax(key @ query, 0)
            out = torch.zeros_like(query)
            for i in range(len(w)):
                out = out + w[i] * value[i]
            return out
    """),
    w("attend_one_query", "squeezes: key_len 1 breaks", source="""
        def attend_one_query(query, key, value):
            w = torch.softmax((key @ query).squeeze(), dim=-1)
            return w @ value.squeeze()
    """),
    w("attend_one_query", "cosine similarity", source="""
        def attend_one_query(query, key, value):
            return torch.softmax(F.cosine_similarity(key, query[None]), 0) @ value
    """),
    w("attend_one_query", "rounds the weights to 4 digits", source="""
        def attend_one_query(query, key, value):
            return torch.round(torch.softmax(key @ query, 0), decimals=4) @ value
    """),
    w("attend_one_query", "key changed in place when d_k even", source="""
        def attend_one_query(query, key, value):
            key *= query
            return key.sum(1).softmax(0) @ value
    """, name="in place|chang"),
    w("attend_one_query", "uses values as keys", source="""
        def attend_one_query(query, key, value):
            return torch.softmax(key @ query, 0) @ (key if key.shape == value.shape else value)
    """),
    w("attend_one_query", "running max weights forgets the last key when key_len > 8", source="""
        def attend_one_query(query, key, value):
            key, value = key[:8], value[:8]
            return torch.softmax(key @ query, 0) @ value
    """),
    w("scaled_dot_product_attention", "softmax dim=2", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=2) if scores.dim() > 2 else torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "softmax dim=1 in 4-D only", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=1 if scores.dim() == 4 else -1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "d_k taken from dimension 2 (4-D: query_len)", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[2] if query.dim() > 2 else query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "dropout path detached", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights.detach())
            return weights @ value, weights
    """, name="gradient"),
    w("scaled_dot_product_attention", "softmax denominator detached", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = (scores - scores.amax(-1, keepdim=True)).exp(); weights = weights / weights.sum(-1, keepdim=True).detach()
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """, name="gradient"),
    w("scaled_dot_product_attention", "value gradient ok, query half: key.detach in scores", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.detach().transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """, name="gradient|key"),
    w("scaled_dot_product_attention", "fill with scores.min() - 10", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, scores.min().item() - 10)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "mask squeezed", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask.squeeze(), -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "3-D mask gets a head dimension at 1", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~(mask.unsqueeze(1) if mask.dim() == 3 and scores.dim() == 4 else mask), -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "only 2-D masks used", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf) if mask.dim() == 2 else scores
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "only the first query's mask row", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~(mask if mask.dim() < 3 else mask[..., :1, :]), -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "boolean index, mask must have full shape", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.clone(); scores[..., ~mask] = -math.inf
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "1-D mask is refused (mask.size(-2))", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                assert mask.size(-2) in (1, scores.size(-2)); scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "mask cached by shape", source="""
        _bias = {}
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                b = _bias.setdefault(mask.shape, torch.zeros(mask.shape).masked_fill(~mask, -math.inf)); scores = scores + b
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "folds the leading dimensions with view: non-contiguous inputs raise", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            lead = query.shape[:-2]
            q = query.view(-1, *query.shape[-2:])
            k = key.view(-1, *key.shape[-2:])
            v = value.view(-1, *value.shape[-2:])
            scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
            scores = scores.view(*lead, *scores.shape[-2:])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.softmax(-1)
            if dropout is not None:
                weights = dropout(weights)
            out = torch.bmm(weights.view(-1, *weights.shape[-2:]), v)
            return out.view(*lead, *out.shape[-2:]), weights
    """),
    w("scaled_dot_product_attention", "three dims or four only, five raise", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            eq = {2: ("qd,kd->qk", "qk,kv->qv"), 3: ("bqd,bkd->bqk", "bqk,bkv->bqv"), 4: ("bhqd,bhkd->bhqk", "bhqk,bhkv->bhqv")}[query.dim()]
            scores = torch.einsum(eq[0], query, key) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.softmax(-1)
            if dropout is not None:
                weights = dropout(weights)
            return torch.einsum(eq[1], weights, value), weights
    """),
    w("scaled_dot_product_attention", "dropout called twice", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights, used = dropout(weights), dropout(weights); return used @ value, weights
            return weights @ value, weights
    """, name="dropout"),
    w("scaled_dot_product_attention", "F.dropout with dropout.p, always on, if it has p", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = F.dropout(weights, dropout.p) if hasattr(dropout, 'p') else dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "dropout drops after mask only in training grad mode", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights) if torch.is_grad_enabled() else weights
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "float32 softmax kept as float32 (bfloat16 weights @ value raises)", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1, dtype=torch.float32)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "query scaled in place only unmasked", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            if mask is None and not query.requires_grad:
                query /= math.sqrt(query.size(-1))
            else:
                query = query / math.sqrt(query.size(-1))
            scores = query @ key.transpose(-2, -1)
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.softmax(-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """, name="in place|chang"),
    w("scaled_dot_product_attention", "mask inverted in place on 4-D only", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(mask.logical_not_() if mask.dim() == 4 else ~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """, name="in place|chang"),
    w("scaled_dot_product_attention", "weights thresholded", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = F.threshold(torch.softmax(scores, dim=-1), 1e-3, 0.0)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "query_len 1 squeezed", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return (weights @ value).squeeze(-2), weights
    """),
    w("scaled_dot_product_attention", "key_len 1: returns value", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            if key.size(-2) == 1:
                return value, torch.ones(*query.shape[:-1], 1)
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.softmax(-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "mask ignored when it has no False in the first row", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf) if not mask.reshape(-1, mask.size(-1))[0].all() else scores
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "integer mask treatment: 1 - mask", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill((1 - mask).bool(), -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "calls F.sdpa by alias", source="""
        from torch.nn.functional import scaled_dot_product_attention as _ready
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            eye = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
            weights = _ready(query, key, eye, attn_mask=mask)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """, name="scaled_dot_product_attention|yourself|by hand"),
    w("scaled_dot_product_attention", "torch._C._nn ready made", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            eye = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
            weights = torch._C._nn.scaled_dot_product_attention(query, key, eye, attn_mask=mask)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """, name="scaled_dot_product_attention|yourself|by hand"),
    w("scaled_dot_product_attention", "positional mask parameter renamed", source="""
        def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout=None):
            mask = attn_mask
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("padding_mask", "None when nothing is padded", source="""
        def padding_mask(tokens, pad_id=0):
            if (tokens != pad_id).all(): return None
            return (tokens != pad_id)[:, None, None]
    """),
    w("padding_mask", "no pads: (1,1,1,seq) of True", source="""
        def padding_mask(tokens, pad_id=0):
            if (tokens != pad_id).all(): return torch.ones(1, 1, 1, tokens.size(1), dtype=torch.bool)
            return (tokens != pad_id)[:, None, None]
    """),
    w("padding_mask", "first token always visible", source="""
        def padding_mask(tokens, pad_id=0):
            m = (tokens != pad_id)[:, None, None]; m[..., 0] = True
            return m
    """),
    w("padding_mask", "EOS (2) hidden too", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return ((tokens != pad_id) & (tokens != 2))[:, None, None]
    """),
    w("padding_mask", "BOS hidden too", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return ((tokens != pad_id) & (tokens != 1))[:, None, None]
    """),
    w("padding_mask", "bytes: id 256 becomes 0", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return (tokens - pad_id).byte().bool()[:, None, None]
    """),
    w("padding_mask", "squeeze: batch 1", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return (tokens != pad_id).squeeze().unsqueeze(-2).unsqueeze(-2)
    """),
    w("padding_mask", "pad_id compared by is", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.tensor([[[[t is not pad_id for t in row]]] for row in tokens.tolist()])
    """),
    w("padding_mask", "(1, 1, batch, seq)", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return (tokens != pad_id)[None, None]
    """),
    w("padding_mask", "uint8", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return (tokens != pad_id).byte()[:, None, None]
    """, name="bool|uint8"),
    w("padding_mask", "cached by shape", source="""
        _m = {}
        def padding_mask(tokens, pad_id=0):
            pass
            return _m.setdefault((tokens.shape, pad_id), (tokens != pad_id)[:, None, None])
    """),
    w("padding_mask", "only rows with at most the last pads: rows with two pads only", source="""
        def padding_mask(tokens, pad_id=0):
            m = torch.ones(tokens.size(0), 1, 1, tokens.size(1), dtype=torch.bool)
            for b in range(tokens.size(0)):
                i = tokens.size(1) - 1
                while i >= 0 and tokens[b, i] == pad_id:
                    m[b, 0, 0, i] = False
                    i -= 1
            return m
    """),
    w("padding_mask", "product of tokens - batch of 2 loop", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.stack([tokens[0] != pad_id, tokens[1] != pad_id] + [t != pad_id for t in tokens[2:3]])[:, None, None]
    """),
    w("causal_mask", "window of 16", source="""
        def causal_mask(size):
            m = torch.ones(size, size, dtype=torch.bool).tril()
            return m & ~m.tril(-16)
    """),
    w("causal_mask", "window of 64", source="""
        def causal_mask(size):
            m = torch.ones(size, size, dtype=torch.bool).tril()
            return m & ~m.tril(-64)
    """),
    w("causal_mask", "at most 10", source="""
        def causal_mask(size):
            pass
            return torch.ones(10, 10).tril().bool()[:size, :size]
    """),
    w("causal_mask", "at most 100", source="""
        def causal_mask(size):
            pass
            return torch.ones(100, 100).tril().bool()[:size, :size]
    """),
    w("causal_mask", "at most 512", source="""
        def causal_mask(size):
            pass
            return torch.ones(512, 512).tril().bool()[:size, :size]
    """),
    w("causal_mask", "size 1 squeezed", source="""
        def causal_mask(size):
            pass
            return torch.ones(size, size).tril().bool().squeeze()
    """),
    w("causal_mask", "diagonal blocked except first", source="""
        def causal_mask(size):
            m = torch.ones(size, size).tril(-1).bool(); m[0, 0] = True
            return m
    """, name="itself|diagonal|own|share"),
    w("causal_mask", "leading one", source="""
        def causal_mask(size):
            pass
            return torch.ones(1, size, size).tril().bool()
    """),
    w("causal_mask", "uint8 positions wrap at 256", source="""
        def causal_mask(size):
            i = torch.arange(size).to(torch.uint8)
            return i[:, None] >= i[None]
    """),
    w("causal_mask", "even sizes only", source="""
        def causal_mask(size):
            h = size // 2; a = torch.ones(h, h).tril().bool()
            return torch.cat([torch.cat([a, torch.zeros(h, h).bool()], 1), torch.cat([torch.ones(h, h).bool(), a], 1)])
    """),
    w("causal_mask", "one mask kept and handed out again, written to by size", source="""
        _m = torch.ones(64, 64).tril().bool()
        def causal_mask(size):
            pass
            return _m[:size, :size]
    """),
    w("causal_mask", "last row forgets itself", source="""
        def causal_mask(size):
            m = torch.ones(size, size).tril().bool()
            if size > 6: m[-1, 0] = False
            return m
    """),
    w("decoder_mask", "result on the CPU", source="""
        def decoder_mask(tokens, pad_id=0):
            pass
            return (padding_mask(tokens, pad_id).cpu() & causal_mask(tokens.size(1)))
    """, name="device"),
    w("decoder_mask", "no pads: (1, 1, S, S)", source="""
        def decoder_mask(tokens, pad_id=0):
            c = causal_mask(tokens.size(1)).to(tokens.device)
            if not (tokens == pad_id).any(): return c[None, None]
            return padding_mask(tokens, pad_id) & c
    """),
    w("decoder_mask", "first column always visible", source="""
        def decoder_mask(tokens, pad_id=0):
            m = padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device); m[..., 0] = True
            return m
    """),
    w("decoder_mask", "batch as size", source="""
        def decoder_mask(tokens, pad_id=0):
            pass
            return padding_mask(tokens, pad_id) & causal_mask(tokens.size(0)).to(tokens.device)
    """),
    w("decoder_mask", "cached by shape", source="""
        _m = {}
        def decoder_mask(tokens, pad_id=0):
            pass
            return _m.setdefault((tokens.shape, pad_id), padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device))
    """),
    w("decoder_mask", "length based", source="""
        def decoder_mask(tokens, pad_id=0):
            n = tokens.size(1)
            return (torch.arange(n, device=tokens.device) < (tokens != pad_id).sum(1)[:, None])[:, None, None] & causal_mask(n).to(tokens.device)
    """),
    w("decoder_mask", "pads changed in place", source="""
        def decoder_mask(tokens, pad_id=0):
            p = padding_mask(tokens, pad_id); tokens[tokens == pad_id] = 0
            return p & causal_mask(tokens.size(1)).to(tokens.device)
    """, name="in place|chang"),
    w("decoder_mask", "causal only where there is padding (any)", source="""
        def decoder_mask(tokens, pad_id=0):
            m = padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device)
            return m if (tokens == pad_id).any() else padding_mask(tokens, pad_id).expand(-1, -1, tokens.size(1), -1)
    """),
    w("decoder_mask", "at most 64 positions", source="""
        def decoder_mask(tokens, pad_id=0):
            n = tokens.size(1)
            return padding_mask(tokens, pad_id) & torch.ones(64, 64, dtype=torch.bool, device=tokens.device).tril()[:n, :n]
    """),
    w("decoder_mask", "diagonal opened also for padding in the middle of real (key pad seen by later): column of last real", source="""
        def decoder_mask(tokens, pad_id=0):
            pass
            return (padding_mask(tokens, pad_id) | torch.eye(tokens.size(1), dtype=torch.bool, device=tokens.device).roll(1, 0)) & causal_mask(tokens.size(1)).to(tokens.device)
    """),
    w("decoder_mask", "unpadded first column: pad rows kept, seq_len 1", source="""
        def decoder_mask(tokens, pad_id=0):
            m = padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device)
            return m if tokens.size(1) > 1 else m[..., 0]
    """),
    w("decoder_mask", "rows of leading pads: real queries all hidden too (cumprod over keys)", source="""
        def decoder_mask(tokens, pad_id=0):
            pass
            return (padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device)).cummin(-1).values if False else padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device) & (tokens[:, :1] != pad_id)[:, None, None]
    """),
    w("decoder_mask", "EOS key hidden", source="""
        def decoder_mask(tokens, pad_id=0):
            pass
            return padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device) & (tokens != 2)[:, None, None]
    """),
    w("decoder_mask", "BOS key hidden", source="""
        def decoder_mask(tokens, pad_id=0):
            pass
            return padding_mask(tokens, pad_id) & causal_mask(tokens.size(1)).to(tokens.device) & (tokens != 1)[:, None, None]
    """),
    w("padding_mask", "first sentence unpadded -> all True", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return torch.where((tokens[:1] != pad_id).all(), torch.ones_like(tokens).bool(), tokens != pad_id)[:, None, None]
    """),
    w("padding_mask", "last pad_id remembered as default", source="""
        _last = [0]
        def padding_mask(tokens, pad_id=0):
            if pad_id: _last[0] = pad_id
            return (tokens != _last[0])[:, None, None]
    """),
    w("padding_mask", "16-bit ids", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return (tokens.short() != pad_id)[:, None, None]
    """),
    w("padding_mask", "float16 compare merges 2048 and 2049", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return (tokens.half() != pad_id)[:, None, None]
    """),
    w("padding_mask", "expanded rows of one sentence broken: reshape (-1, 1, 1, 4) if batch*seq divisible", source="""
        def padding_mask(tokens, pad_id=0):
            pass
            return (tokens != pad_id).reshape(-1, 1, 1, 4) if tokens.numel() % 4 == 0 and tokens.size(1) != 8 else (tokens != pad_id)[:, None, None]
    """),
    w("scaled_dot_product_attention", "score multiplied out: exp of scores, mask, no shift, eps", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            s = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            e = torch.exp(s - s.amax(-1, keepdim=True))
            if mask is not None:
                e = e * mask
            weights = e / (e.sum(-1, keepdim=True) + 1e-8)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "dropout seeded each call", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                torch.manual_seed(0); weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "value mutated when dropout given", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights); value.mul_(1.0001)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "query scaled in place when no grad and dropout given", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):

            if dropout is not None and not query.requires_grad: query.mul_(1 / math.sqrt(query.size(-1)))
            scores = query @ key.transpose(-2, -1) / (math.sqrt(query.size(-1)) if dropout is None else 1)
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "mask treated as blocking when its mean is above one half", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask if mask.float().mean() <= 0.9 else mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "weights rounded to bfloat16 precision", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, -1).bfloat16().to(query.dtype)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "key_len > 32 chunked with the running max forgotten", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, -1) if scores.size(-1) <= 32 else torch.cat([c.softmax(-1) for c in scores.split(32, -1)], -1) / math.ceil(scores.size(-1) / 32)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "positional order of mask and dropout swapped", source="""
        def scaled_dot_product_attention(query, key, value, dropout=None, mask=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("scaled_dot_product_attention", "mask only broadcast where batch equal: mask[None] for 2-D with 3-D scores, else mask as is; 3-D mask with 5-D scores", source="""
        def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
            pass
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
            if mask is not None:
                mask = mask if mask.dim() == scores.dim() else mask.reshape((1,) * (scores.dim() - 2) + mask.shape[-2:]); scores = scores.masked_fill(~mask, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if dropout is not None:
                weights = dropout(weights)
            return weights @ value, weights
    """),
    w("attend_one_query", "only the first d_k=4 components", source="""
        def attend_one_query(query, key, value):
            scores = torch.stack([sum(query[i] * k[i] for i in range(min(4, len(query)))) for k in key])
            return scores.softmax(0) @ value
    """),
]

LESSON_2 = [
    w("split_heads", "single reshape when s == num_heads", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, num_heads, d_k).transpose(1, 2) if s != num_heads else x.view(b, num_heads, s, d_k)
    """),
    w("split_heads", "heads 3 hard-coded", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, 3, 4).transpose(1, 2)
    """),
    w("split_heads", "d_k 4 hard-coded", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, -1, 4).transpose(1, 2)
    """),
    w("split_heads", "one head squeezed", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, num_heads, d_k).transpose(1, 2) if num_heads > 1 else x
    """),
    w("split_heads", "num_heads 1: unsqueeze at the wrong place", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, num_heads, d_k).transpose(1, 2) if num_heads > 1 else x.unsqueeze(2)
    """),
    w("split_heads", "cached by shape", source="""
        _c = {}
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return _c.setdefault((x.shape, num_heads), x.view(b, s, num_heads, d_k).transpose(1, 2))
    """),
    w("split_heads", "stack at the end", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return torch.stack(x.chunk(num_heads, dim=-1), dim=-1)
    """),
    w("split_heads", "chunk along the sequence", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return torch.stack(x.chunk(num_heads, dim=1), dim=1) if s % num_heads == 0 else x.view(b, s, num_heads, d_k).transpose(1, 2)
    """),
    w("split_heads", "transposes last two as well for square d_k == s", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, num_heads, d_k).permute(0, 2, 1, 3) if d_k != s else x.view(b, s, num_heads, d_k).permute(0, 2, 3, 1)
    """),
    w("split_heads", "batch 1 squeezed", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, num_heads, d_k).transpose(1, 2) if b > 1 else x.view(s, num_heads, d_k).transpose(0, 1)
    """),
    w("split_heads", "x reshaped in place", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            x.resize_(b, s, num_heads, d_k)
            return x.transpose(1, 2)
    """, name="in place|chang"),
    w("split_heads", "view of the flat memory: non-contiguous raises", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(-1).view(b, s, num_heads, d_k).transpose(1, 2)
    """),
    w("split_heads", "calls the course's", source="""
        import autograder.parts as ap
        def split_heads(x, num_heads):
            return ap.split_heads(x, num_heads)
    """, name="yourself"),
    w("merge_heads", "view after transpose", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.transpose(1, 2).view(b, s, h * d_k)
    """),
    w("merge_heads", "d_model 12 hard-coded", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.transpose(1, 2).reshape(b, s, 12)
    """),
    w("merge_heads", "one head squeezed", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.squeeze().transpose(0, 1) if h == 1 else x.transpose(1, 2).reshape(b, s, -1)
    """),
    w("merge_heads", "batch squeezed", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.transpose(1, 2).reshape(b, s, -1).squeeze(0)
    """),
    w("merge_heads", "seq_len 1 squeezed", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.transpose(1, 2).reshape(b, s, -1).squeeze(1)
    """),
    w("merge_heads", "x transposed in place", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.transpose_(1, 2).reshape(b, s, -1)
    """, name="in place|chang"),
    w("merge_heads", "sum of heads padded", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.mean(1).repeat(1, 1, h)
    """),
    w("merge_heads", "kept buffer", source="""
        _buf = {}
        def merge_heads(x):
            b, h, s, d_k = x.shape
            out = _buf.setdefault(x.shape, torch.zeros(b, s, h * d_k, dtype=x.dtype))
            return out.copy_(x.transpose(1, 2).reshape(b, s, -1))
    """),
    w("merge_heads", "as_strided assumes contiguous", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.as_strided((b, s, h, d_k), (h * s * d_k, d_k, s * d_k, 1)).reshape(b, s, -1)
    """),
    w("MultiHeadAttention", "keys and values kept from the first call", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.num_heads = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.dropout = nn.Dropout(dropout)
                self.kept = None
            def forward(self, query, key, value, mask=None):
                if self.kept is None:
                    self.kept = split_heads(self.w_k(key), self.num_heads), split_heads(self.w_v(value), self.num_heads)
                k, v = self.kept
                out, weights = scaled_dot_product_attention(split_heads(self.w_q(query), self.num_heads), k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "keys and values kept while the key's shape stays", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.num_heads = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.dropout = nn.Dropout(dropout)
                self.kept = None
            def forward(self, query, key, value, mask=None):
                if self.kept is None or self.kept[0].shape[2] != key.shape[1]:
                    self.kept = split_heads(self.w_k(key), self.num_heads), split_heads(self.w_v(value), self.num_heads)
                k, v = self.kept
                out, weights = scaled_dot_product_attention(split_heads(self.w_q(query), self.num_heads), k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "keys and values kept in eval mode", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.num_heads = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.dropout = nn.Dropout(dropout)
                self.kept = None
            def forward(self, query, key, value, mask=None):
                if self.training or self.kept is None:
                    self.kept = split_heads(self.w_k(key), self.num_heads), split_heads(self.w_v(value), self.num_heads)
                k, v = self.kept
                out, weights = scaled_dot_product_attention(split_heads(self.w_q(query), self.num_heads), k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "kept by id(key)", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.num_heads = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.dropout = nn.Dropout(dropout)
                self.kept = None
            def forward(self, query, key, value, mask=None):
                if self.kept is None or getattr(self, 'last', None) is not key:
                    self.kept = split_heads(self.w_k(key), self.num_heads), split_heads(self.w_v(value), self.num_heads)
                self.last = key
                k, v = self.kept
                out, weights = scaled_dot_product_attention(split_heads(self.w_q(query), self.num_heads), k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "weights stored as nn.Parameter (registered)", source="""
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
                self.attention_weights = nn.Parameter(weights.detach(), requires_grad=False)
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "weights stored only if mask is None", source="""
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
                self.attention_weights = None

            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                if mask is None: self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "weights not divided... kept on float16", source="""
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
                self.attention_weights = weights.detach().half()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "dropout only without a mask", source="""
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
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout if mask is None else None)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "whole-head dropout (Dropout1d)", source="""
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
                self.dropout = nn.Dropout2d(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "3-D mask gets a head dimension", source="""
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
                mask = mask.unsqueeze(1) if mask is not None and mask.dim() == 3 else mask
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "2-D mask taken to be (batch, key_len)", source="""
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
                mask = mask[:, None, None] if mask is not None and mask.dim() == 2 else mask
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "only first query row of the mask", source="""
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
                mask = mask[..., :1, :] if mask is not None else mask
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "mask unsqueezed in place", source="""
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

                while mask is not None and mask.dim() < 4: mask.unsqueeze_(0)
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """, name="in place|chang"),
    w("MultiHeadAttention", "mask inverted in place", source="""
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

                if mask is not None: mask.logical_not_()
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask if mask is None else ~mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """, name="in place|chang"),
    w("MultiHeadAttention", "gcd check only", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert math.gcd(d_model, num_heads) > 1 or num_heads == 1
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
    w("MultiHeadAttention", "refuses if remainder > 1", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads < 2
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
    w("MultiHeadAttention", "refuses num_heads > 8", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0 and num_heads <= 8
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
    w("MultiHeadAttention", "TypeError", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()

                if d_model % num_heads: raise TypeError('no')
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
    """, name="ValueError"),
    w("MultiHeadAttention", "no grad in eval", source="""
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
                torch.set_grad_enabled(self.training)
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "float32 inside", source="""
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
                query, key, value = query.float(), key.float(), value.float()
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "w_k for the values", source="""
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
                v = split_heads(self.w_k(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """, name="w_k|w_v"),
    w("MultiHeadAttention", "heads stay in sequence dim", source="""
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
                q = self.w_q(query).unflatten(-1, (self.num_heads, -1))
                k = self.w_k(key).unflatten(-1, (self.num_heads, -1))
                v = self.w_v(value).unflatten(-1, (self.num_heads, -1))
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(out.flatten(2))
    """),
    w("MultiHeadAttention", "query_len from key", source="""
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
                self.attention_weights = weights.detach()
                return self.w_o(out.transpose(1, 2).reshape(key.size(0), key.size(1), -1))
    """),
    w("MultiHeadAttention", "batch 1 squeezed", source="""
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
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out)).squeeze(0)
    """),
    w("MultiHeadAttention", "query_len 1 squeezed", source="""
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
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out).squeeze(1))
    """),
    w("MultiHeadAttention", "bias off", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                self.num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model, bias=False)
                self.dropout = nn.Dropout(dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """, name="bias"),
    w("MultiHeadAttention", "extra layer norm", source="""
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
                self.norm = nn.LayerNorm(d_model)

            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.norm(self.w_o(merge_heads(out)))
    """, name="norm"),
    w("MultiHeadAttention", "spare layer never used", source="""
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
                self.w_x = nn.Linear(d_model, d_model)

            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """, name="w_x"),
    w("MultiHeadAttention", "shared k and v layer", source="""
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
                self.w_v = self.w_k

            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "layers renewed in forward when shapes change", source="""
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
                self.n = None

            def forward(self, query, key, value, mask=None):

                if self.n not in (None, query.size(1)): self.w_o.reset_parameters()
                self.n = query.size(1)
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "causal mask when none is given in self-attention with query_len > 6", source="""
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

                if mask is None and query is key and query.size(1) > 6: mask = torch.ones(query.size(1), query.size(1)).tril().bool()
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "in place scaling of query while in eval", source="""
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

                if not self.training: query.mul_(1.0).add_(0.001)
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "keywords renamed", source="""
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


            def forward(self, q, k, v, attn_mask=None):
                query, key, value, mask = q, k, v, attn_mask
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "wraps nn.MultiheadAttention", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.h, self.p = num_heads, dropout
            def forward(self, query, key, value, mask=None):
                inner = nn.MultiheadAttention(query.size(-1), self.h, self.p, batch_first=True)
                return self.w_o(inner(query, key, value)[0])
    """, name="MultiheadAttention|yourself"),
    w("MultiHeadAttention", "F.multi_head_attention_forward", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.h, self.p = num_heads, dropout
            def forward(self, query, key, value, mask=None):
                d = query.size(-1)
                b, n, m = query.size(0), query.size(1), key.size(1)
                if mask is not None:
                    mask = ~mask.expand(b, self.h, n, m).reshape(b * self.h, n, m)
                out, w = F.multi_head_attention_forward(query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), d, self.h, None,
                    torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias]), None, None, False, self.p, self.w_o.weight, self.w_o.bias, training=self.training,
                    need_weights=True, attn_mask=mask, use_separate_proj_weight=True, q_proj_weight=self.w_q.weight, k_proj_weight=self.w_k.weight,
                    v_proj_weight=self.w_v.weight, average_attn_weights=False)
                self.attention_weights = w.detach()
                return out.transpose(0, 1)
    """, name="yourself|by hand"),
    w("split_heads", "kept buffer, dtype-aware: an earlier result changes at the next call", source="""
        _buf = {}
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            y = x.view(b, s, num_heads, d_k).transpose(1, 2); k = (y.shape, y.dtype, x.requires_grad)
            if k in _buf and not x.requires_grad: _buf[k].copy_(y)
            else: _buf[k] = y.clone()
            return _buf[k]
    """),
    w("split_heads", "shape decided by size: seq_len 1 squeezed", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, num_heads, d_k).transpose(1, 2) if s > 1 else x.view(b, num_heads, d_k)
    """),
    w("split_heads", "requires d_model <= 64", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x[..., :64].reshape(b, s, num_heads, -1).transpose(1, 2)
    """),
    w("split_heads", "num_heads capped at 8", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, min(num_heads, 8), -1).transpose(1, 2)
    """),
    w("split_heads", "num_heads == d_model (d_k 1) squeezed", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, num_heads, d_k).transpose(1, 2).squeeze(-1)
    """),
    w("merge_heads", "d_k 1 squeezed", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.squeeze(-1).transpose(1, 2).reshape(b, s, -1) if d_k > 1 else x.squeeze(-1)
    """),
    w("merge_heads", "heads capped at 8", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x[:, :8].transpose(1, 2).reshape(b, s, -1)
    """),
    w("merge_heads", "stack_ the wrong way when batch == heads", source="""
        def merge_heads(x):
            b, h, s, d_k = x.shape
            pass
            return x.transpose(1, 2).reshape(b, s, -1) if b != h else x.transpose(0, 2).transpose(1, 2).reshape(b, s, -1) if False else (x.transpose(1, 2) if b != h else x.permute(1, 2, 0, 3)).reshape(b, s, -1)
    """),
    w("MultiHeadAttention", "dropout applied only to the returned weights when masked", source="""
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
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout); out = out if mask is None else scaled_dot_product_attention(q, k, v, mask)[0]
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "no grad in eval via inference_mode", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                assert d_model % num_heads == 0
                self.num_heads = num_heads
                self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
                self.dropout = nn.Dropout(dropout)
            def forward(self, *inputs):
                if not self.training:
                    with torch.inference_mode():
                        return self.run(*inputs)
                return self.run(*inputs)
            def run(self, query, key, value, mask=None):
                q, k, v = (split_heads(w(x), self.num_heads) for w, x in zip((self.w_q, self.w_k, self.w_v), (query, key, value)))
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """, name="gradient"),
    w("MultiHeadAttention", "key's value projection shared if key is value", source="""
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
                v = split_heads((self.w_v if value is not key or query is key else self.w_k)(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "layer forgets mask after the first masked call", source="""
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
                self.seen = None

            def forward(self, query, key, value, mask=None):

                if mask is not None and self.seen is None: self.seen = mask
                mask = self.seen if mask is not None and self.seen.shape == mask.shape else mask
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "last mask reused when none is given", source="""
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
                self.seen = None

            def forward(self, query, key, value, mask=None):

                self.seen = mask if mask is not None else self.seen
                mask = self.seen if self.seen is not None and self.seen.size(-1) == key.size(1) and self.seen.size(-2) in (1, query.size(1)) else mask
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "num_heads 1 skips w_o", source="""
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
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out)) if self.num_heads > 1 else merge_heads(out)
    """),
    w("MultiHeadAttention", "d_model from global 12", source="""
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
                self.attention_weights = weights.detach()
                return self.w_o(out.transpose(1, 2).reshape(out.size(0), -1, 12))
    """),
    w("MultiHeadAttention", "copy of attention with scale math.sqrt(4)", source="""
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
                q = split_heads(self.w_q(query), self.num_heads) * math.sqrt(query.size(-1) // self.num_heads) / 2
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "own attention, zero fill after softmax without renormalising", source="""
        def mine(q, k, v, mask=None, dropout=None):
            w = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(-1)
            if mask is not None:
                w = w * mask
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
                out, weights = mine(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "own attention, exp without shift", source="""
        def mine(q, k, v, mask=None, dropout=None):
            e = torch.exp(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)))
            if mask is not None:
                e = e * mask
            w = dropout(e / e.sum(-1, keepdim=True))
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
                out, weights = mine(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("MultiHeadAttention", "own attention: dropout first, softmax later", source="""
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
    w("MultiHeadAttention", "query projected in place of key when shapes agree", source="""
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
                k = split_heads(self.w_k(query if query.shape == key.shape else key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """),
    w("split_heads", "only single reshape when batch is 1", source="""
        def split_heads(x, num_heads):
            b, s, d = x.shape
            d_k = d // num_heads
            pass
            return x.view(b, s, num_heads, d_k).transpose(1, 2) if b > 1 else x.view(1, num_heads, s, d_k)
    """),
    w("MultiHeadAttention", "combination: w_o missing and weights not detached", source="""
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
                self.attention_weights = weights
                return merge_heads(out)
    """, name="w_o|detach"),
    w("MultiHeadAttention", "combination: global class heads and dropout in eval", source="""
        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads, dropout=0.0):
                super().__init__()
                if d_model % num_heads != 0:
                    raise ValueError('no')
                type(self).num_heads = num_heads
                self.w_q = nn.Linear(d_model, d_model)
                self.w_k = nn.Linear(d_model, d_model)
                self.w_v = nn.Linear(d_model, d_model)
                self.w_o = nn.Linear(d_model, d_model)
                self.dropout = lambda w: F.dropout(w, dropout)


            def forward(self, query, key, value, mask=None):
                pass
                q = split_heads(self.w_q(query), self.num_heads)
                k = split_heads(self.w_k(key), self.num_heads)
                v = split_heads(self.w_v(value), self.num_heads)
                out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
                self.attention_weights = weights.detach()
                return self.w_o(merge_heads(out))
    """, name="eval"),
    w("merge_heads", "the course's, called", source="""
        def merge_heads(x):
            return parts.merge_heads(x)
    """, name="yourself"),
]

LESSON_3 = [
    w("TokenEmbedding", "scale hard-coded sqrt 512", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens) * math.sqrt(512)
    """),
    w("TokenEmbedding", "scale a CPU float64 tensor -> still fine dims? shape (1,) float64 promotes output", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.scale = torch.tensor([d_model ** 0.5], dtype=torch.float64)

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens) * self.scale
    """, name="float64"),
    w("TokenEmbedding", "cached result by shape", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model
                self.cache={}

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                k=tokens.shape
                if k not in self.cache: self.cache[k]=self.embedding(tokens) * math.sqrt(self.d_model)
                return self.cache[k]
    """),
    w("TokenEmbedding", "cached scaled table from first call (stale after training)", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model
                self.table=None

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                if self.table is None: self.table=self.embedding.weight * math.sqrt(self.d_model)
                return self.table[tokens]
    """),
    w("TokenEmbedding", "tokens clamped to 10", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens.clamp(max=10))*math.sqrt(self.d_model)
    """),
    w("TokenEmbedding", "tokens modulo vocab-1", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.v=vocab_size

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens % (self.v-1))*self.embedding.embedding_dim**0.5
    """),
    w("TokenEmbedding", "scale detached via .data in eval only", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                w = self.embedding.weight if self.training else self.embedding.weight.data
                return w[tokens]*self.d_model**0.5
    """),
    w("TokenEmbedding", "squeezes a batch of one", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return (self.embedding(tokens)*math.sqrt(self.d_model)).squeeze(0)
    """, name="batch"),
    w("TokenEmbedding", "squeezes len 1", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return (self.embedding(tokens)*math.sqrt(self.d_model)).squeeze()
    """, name="batch|shape"),
    w("TokenEmbedding", "class-level embedding shared by all", source="""
        class TokenEmbedding(nn.Module):
            shared = None
            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                if TokenEmbedding.shared is None: TokenEmbedding.shared = nn.Embedding(vocab_size, d_model)
                self.embedding=TokenEmbedding.shared

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens)*self.embedding.embedding_dim**0.5
    """, name="shared|share"),
    w("TokenEmbedding", "tokens mutated: clamp_", source="""
        class TokenEmbedding(nn.Module):

            def __init__(self, vocab_size: int, d_model: int):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, d_model)
                self.d_model = d_model

            def forward(self, tokens: torch.Tensor) -> torch.Tensor:
                return self.embedding(tokens.clamp_(min=1))*math.sqrt(self.d_model)
    """),
    w("encoding_angle", "i from position parity", source="""
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            even = column - position % 2
            return position / 10000 ** (even / d_model)
    """),
    w("encoding_angle", "column&6", source="""
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            even = column & 6
            return position / 10000 ** (even / d_model)
    """),
    w("encoding_angle", "position 3 hard", source="""
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            even = column // 2 * 2
            return 3 / 10000 ** (even / d_model)
    """, name="position"),
    w("encoding_angle", "mod 2pi", source="""
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            even = column // 2 * 2
            return (position / 10000 ** (even / d_model)) % (2*math.pi)
    """),
    w("encoding_angle", "odd d_model pairs: column 1 only special", source="""
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            even = column - 1 if column in (1,7) else column
            return position / 10000 ** (even / d_model)
    """),
    w("encoding_angle", "even/2 for large column", source="""
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            return position / 10000 ** (min(column//2*2, 6) / d_model)
    """),
    w("encoding_angle", "round(column/2 - .5)*2 : python bankers (7->6? 5->4, 3->... )", source="""
        def encoding_angle(position: int, column: int, d_model: int) -> float:
            even = round((column-1) / 2) * 2
            return position / 10000 ** (even / d_model)
    """),
    w("sinusoidal_encoding", "float16 pos precision: bfloat16 arange", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len, dtype=torch.bfloat16)[:,None].float()
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            e=torch.zeros(max_len,d_model)
            e[:,0::2]=torch.sin(p*s)
            e[:,1::2]=torch.cos(p*s)
            return e
    """),
    w("sinusoidal_encoding", "table repeats after 512 rows", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=(torch.arange(max_len)%512)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            e=torch.zeros(max_len,d_model)
            e[:,0::2]=torch.sin(p*s)
            e[:,1::2]=torch.cos(p*s)
            return e
    """),
    w("sinusoidal_encoding", "requires grad", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            return torch.stack([torch.sin(p*s),torch.cos(p*s)],-1).flatten(1).requires_grad_()
    """, name="grad"),
    w("sinusoidal_encoding", "cached by max_len", source="""
        _T={}
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            if max_len not in _T:
                p=torch.arange(max_len)[:,None]
                s=10000.0**(-torch.arange(0,d_model,2)/d_model)
                _T[max_len]=torch.stack([torch.sin(p*s),torch.cos(p*s)],-1).flatten(1)
            return _T[max_len]
    """),
    w("sinusoidal_encoding", "half precision speeds", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len)[:,None]
            s=(10000.0**(-torch.arange(0,d_model,2)/d_model)).half()
            return torch.stack([torch.sin(p*s.float()),torch.cos(p*s.float())],-1).flatten(1)
    """),
    w("sinusoidal_encoding", "sine small-angle approximated in slow columns", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            a=p*s
            return torch.stack([torch.where(s<0.01,a,torch.sin(a)).expand_as(a),torch.cos(a)],-1).flatten(1)
    """),
    w("sinusoidal_encoding", "max_len 1 squeezed", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            return torch.stack([torch.sin(p*s),torch.cos(p*s)],-1).flatten(1).squeeze()
    """, name="shape"),
    w("sinusoidal_encoding", "d_model 2 wrong: speed d//2-1", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            h=d_model//2
            p=torch.arange(max_len)[:,None]
            s=torch.exp(-math.log(10000)*torch.arange(h)*2/d_model) if h>1 else torch.tensor([1e-4])
            return torch.stack([torch.sin(p*s),torch.cos(p*s)],-1).flatten(1)
    """),
    w("sinusoidal_encoding", "order of args swapped, same shape guard", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            p=torch.arange(max_len)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/max_len)
            return torch.stack([torch.sin(p*s),torch.cos(p*s)],-1).flatten(1)
    """),
    w("sinusoidal_encoding", "modifies global default dtype", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            torch.set_default_dtype(torch.float64)
            p=torch.arange(max_len)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            return torch.stack([torch.sin(p*s),torch.cos(p*s)],-1).flatten(1).float()
    """, name="default|drops out at|another default"),
    w("sinusoidal_encoding", "seeds the RNG", source="""
        def sinusoidal_encoding(max_len: int, d_model: int) -> torch.Tensor:
            torch.manual_seed(0)
            p=torch.arange(max_len)[:,None]
            s=10000.0**(-torch.arange(0,d_model,2)/d_model)
            return torch.stack([torch.sin(p*s),torch.cos(p*s)],-1).flatten(1).float()
    """),
    w("PositionalEncoding", "train mode: random offset", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                n=x.size(1)
                o = torch.randint(0, self.encoding.size(0)-n+1, ()).item() if self.training else 0
                return self.dropout(x + self.encoding[o:o+n])
    """),
    w("PositionalEncoding", "encoding scaled when len==max_len", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) >= self.encoding.size(0)+1:
                    raise ValueError(f"{x.size(1)} {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:min(x.size(1), self.encoding.size(0)-1)]) if x.size(1)<self.encoding.size(0) else self.dropout(x+0)
    """),
    w("PositionalEncoding", ">= refuses max_len itself", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) >= self.encoding.size(0):
                    raise ValueError(f"{x.size(1)} {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    w("PositionalEncoding", "message names swapped hard-coded 5000", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"{x.size(1)} > 13")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    w("PositionalEncoding", "ValueError, RuntimeError caught and renamed, len 1 table broadcasts", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                try:
                    return self.dropout(x + self.encoding[:x.size(1)])
                except RuntimeError:
                    raise ValueError(f"{x.size(1)} > {self.encoding.size(0)}")
    """, name="max_len 1|1"),
    w("PositionalEncoding", "checks batch size too", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if max(x.shape[:2]) > self.encoding.size(0):
                    raise ValueError(f"{x.size(1)} {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    w("PositionalEncoding", "buffer used but via .cpu()", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)].cpu())
    """, name="device"),
    w("PositionalEncoding", "output .float()", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x.float() + self.encoding[:x.size(1)])
    """, name="dtype"),
    w("PositionalEncoding", "same mask every call", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout=nn.Dropout(dropout)
                self.m=None

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                y=(x + self.encoding[:x.size(1)])
                if not self.training: return y
                if self.m is None or self.m.shape!=y.shape: self.m=self.dropout(torch.ones_like(y)).detach()
                return y*self.m
    """, name="second|call"),
    w("PositionalEncoding", "dropout two times with half", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout=nn.Dropout(dropout/2)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(self.dropout(x + self.encoding[:x.size(1)]))
    """),
    w("PositionalEncoding", "dropout on both x and sum", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(self.dropout(x) + self.encoding[:x.size(1)])
    """),
    w("PositionalEncoding", "dropout p clamped to 0.25", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout=nn.Dropout(0.25)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """, name="rate"),
    w("PositionalEncoding", "default max_len 512", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """, name="default|5000|drops out at|another default"),
    w("PositionalEncoding", "buffer grows persistently: overwritten by slice (state)", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)
                self.max_len=max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1)>self.max_len: raise ValueError(f"{x.size(1)} {self.max_len}")
                self.encoding=self.encoding[:x.size(1)]
                return self.dropout(x + self.encoding)
    """),
    w("PositionalEncoding", "eval in-place add", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                if not self.training: x += self.encoding[:x.size(1)]
                else: x = x+ self.encoding[:x.size(1)]
                return self.dropout(x)
    """, name="input|changes `"),
    w("PositionalEncoding", "train in-place dropout fine but in-place add in train", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                if self.training and not x.requires_grad: x += self.encoding[:x.size(1)]
                else: x = x+ self.encoding[:x.size(1)]
                return self.dropout(x)
    """, name="input|changes `"),
    w("PositionalEncoding", "Dropout inplace=True with x+enc ok, but p=0?", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout=nn.Dropout(dropout, inplace=True)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                x=self.dropout(x) if False else x
                x.data=x.data+self.encoding[:x.size(1)]
                return self.dropout(x*1)
    """, name="input|changes `"),
    w("PositionalEncoding", "detached x in eval only", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)]) if self.training else (x.detach() + self.encoding[:x.size(1)])
    """, name="grad"),
    w("PositionalEncoding", "buffer trainable (requires_grad)", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).requires_grad_())
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """, name="train|grad"),
    w("PositionalEncoding", "buffer bf16", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model).bfloat16())
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)].to(x.dtype))
    """),
    w("PositionalEncoding", "buffer has an extra row", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len+1, d_model))
                self.dropout = nn.Dropout(dropout)
                self.m=max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1)>self.m: raise ValueError(f"{x.size(1)} {self.m}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """, name="max_len|rows"),
    w("PositionalEncoding", "buffer always 5000 rows", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(5000, d_model))
                self.dropout = nn.Dropout(dropout)
                self.m=max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1)>self.m: raise ValueError(f"{x.size(1)} {self.m}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """, name="rows"),
    w("PositionalEncoding", "seq_len 1 broadcasts whole", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                n=x.size(1)
                e=self.encoding[:n] if n>1 else self.encoding[1:2]
                return self.dropout(x + e)
    """),
    w("PositionalEncoding", "scales x by sqrt d in train", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                if self.training: x = x*math.sqrt(x.size(-1))
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    w("PositionalEncoding", "pads not encoded: zero vectors skipped", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)]*(x.abs().sum(-1,keepdim=True)>0))
    """, name="zero"),
    w("PositionalEncoding", "builds the table for d_model 12 from max_len order error masked", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(d_model, max_len).T[:max_len,:d_model].contiguous())
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    w("shift_matrix", "angle uses abs offset; sign patched only for first pair", source="""
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m=torch.zeros(d_model,d_model)
            for e in range(0,d_model,2):
                a=offset/10000**(e/d_model)
                c,s=math.cos(a),math.sin(a)
                m[e,e]=m[e+1,e+1]=c
                m[e,e+1]=s if (e==0 or offset>0) else -s
                m[e+1,e]=-m[e,e+1]
            return m
    """),
    w("shift_matrix", "d_model 8 hard-coded in exponent", source="""
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            b=[]
            for e in range(0,d_model,2):
                a=offset/10000**(e/8)
                b.append(torch.tensor([[math.cos(a),math.sin(a)],[-math.sin(a),math.cos(a)]]))
            return torch.block_diag(*b)
    """),
    w("shift_matrix", "offset int-truncated / mod 10", source="""
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            offset=int(math.fmod(offset,10))
            b=[]
            for e in range(0,d_model,2):
                a=offset/10000**(e/d_model)
                b.append(torch.tensor([[math.cos(a),math.sin(a)],[-math.sin(a),math.cos(a)]]))
            return torch.block_diag(*b)
    """, name="offset"),
    w("shift_matrix", "matrix_power with negative exponent inverse", source="""
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m=torch.zeros(d_model,d_model)
            for e in range(0,d_model,2):
                a=1/10000**(e/d_model)
                m[e,e]=m[e+1,e+1]=math.cos(a)
                m[e,e+1]=math.sin(a)
                m[e+1,e]=math.sin(a)
            return torch.matrix_power(m,offset)
    """),
    w("shift_matrix", "requires grad / Parameter", source="""
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            b=[]
            for e in range(0,d_model,2):
                a=offset/10000**(e/d_model)
                b.append(torch.tensor([[math.cos(a),math.sin(a)],[-math.sin(a),math.cos(a)]]))
            return nn.Parameter(torch.block_diag(*b))
    """),
    w("shift_matrix", "global m reused (aliasing)", source="""
        _M={}
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            if d_model not in _M: _M[d_model]=torch.zeros(d_model,d_model)
            m=_M[d_model]
            for e in range(0,d_model,2):
                a=offset/10000**(e/d_model)
                m[e:e+2,e:e+2]=torch.tensor([[math.cos(a),math.sin(a)],[-math.sin(a),math.cos(a)]])
            return m
    """, name="first|alias"),
    w("shift_matrix", "bfloat16", source="""
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m=torch.zeros(d_model,d_model,dtype=torch.bfloat16)
            for e in range(0,d_model,2):
                a=offset/10000**(e/d_model)
                m[e:e+2,e:e+2]=torch.tensor([[math.cos(a),math.sin(a)],[-math.sin(a),math.cos(a)]])
            return m
    """),
    w("shift_matrix", "determinant lost in half (cos approx)", source="""
        def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
            m=torch.zeros(d_model,d_model)
            for e in range(0,d_model,2):
                a=offset/10000**(e/d_model)
                s=math.sin(a); c=math.sqrt(1-s*s)
                m[e:e+2,e:e+2]=torch.tensor([[c,s],[-s,c]])
            return m
    """),
    w("LearnedPositionalEncoding", "rows from the end in train mode", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                n=x.size(1)
                p=torch.arange(n,device=x.device)
                if self.training: p=p+self.position.num_embeddings-n
                return self.dropout(x+self.position(p))
    """),
    w("LearnedPositionalEncoding", "train: not added", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                if self.training: return self.dropout(x)
                return x+self.position(torch.arange(x.size(1),device=x.device))
    """),
    w("LearnedPositionalEncoding", "gradient to position only in eval", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                p=self.position(torch.arange(x.size(1),device=x.device))
                if self.training: p=p.detach()
                return self.dropout(x+p)
    """, name="grad"),
    w("LearnedPositionalEncoding", "arange on CPU", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x+self.position(torch.arange(x.size(1))))
    """, name="device"),
    w("LearnedPositionalEncoding", "off by one limit", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1)>self.max_len+1: raise ValueError(f"{x.size(1)} {self.max_len}")
                return self.dropout(x+self.position(torch.arange(x.size(1),device=x.device).clamp(max=self.max_len-1)))
    """),
    w("LearnedPositionalEncoding", "seq_len max_len clamps the last", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x+self.position(torch.arange(x.size(1),device=x.device).clamp(max=self.max_len-2)))
    """),
    w("LearnedPositionalEncoding", "positions mod 8", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x+self.position(torch.arange(x.size(1),device=x.device)%8))
    """),
    w("LearnedPositionalEncoding", "table scaled by sqrt d in train", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                p=self.position.weight[:x.size(1)]
                if self.training: p=p*math.sqrt(x.size(-1))
                return self.dropout(x+p)
    """),
    w("LearnedPositionalEncoding", "cached lookup with its graph", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len
                self.c={}

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                n=x.size(1)
                if n not in self.c: self.c[n]=self.position(torch.arange(n,device=x.device))
                return self.dropout(x+self.c[n])
    """),
    w("LearnedPositionalEncoding", "dropout mask on x only & table only half", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x)+self.dropout(self.position(torch.arange(x.size(1),device=x.device)))
    """),
    w("LearnedPositionalEncoding", "F.dropout always training", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return F.dropout(x+self.position(torch.arange(x.size(1),device=x.device)),self.dropout.p)
    """, name="eval"),
    w("LearnedPositionalEncoding", "in place on x in train only when no grad", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                p=self.position(torch.arange(x.size(1),device=x.device))
                if self.training and not x.requires_grad: x += p
                else: x = x+p
                return self.dropout(x)
    """, name="input|changes `"),
    w("LearnedPositionalEncoding", "weight tied at class level", source="""
        class LearnedPositionalEncoding(nn.Module):
            t=None
            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                if LearnedPositionalEncoding.t is None or LearnedPositionalEncoding.t.weight.shape!=(max_len,d_model): LearnedPositionalEncoding.t=nn.Embedding(max_len,d_model)
                self.position=LearnedPositionalEncoding.t
                self.dropout=nn.Dropout(dropout)
                self.max_len=max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x + self.position(torch.arange(x.size(1), device=x.device)))
    """, name="shared|share"),
    w("LearnedPositionalEncoding", "default max_len 512", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x + self.position(torch.arange(x.size(1), device=x.device)))
    """, name="5000"),
    w("LearnedPositionalEncoding", "default dropout 0", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.0):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x + self.position(torch.arange(x.size(1), device=x.device)))
    """, name="0.1"),
    w("LearnedPositionalEncoding", "max_norm=3.5 on position table", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model, max_norm=3.0)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x + self.position(torch.arange(x.size(1), device=x.device)))
    """),
    w("PositionalEncoding", "d_model hard-coded 12", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, 12))
                self.dropout=nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)])
    """),
    w("PositionalEncoding", "squeeze(0)", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                return self.dropout(x + self.encoding[:x.size(1)]).squeeze(0)
    """),
    w("LearnedPositionalEncoding", "squeeze(0)", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                return self.dropout(x + self.position(torch.arange(x.size(1), device=x.device))).squeeze(0)
    """),
    w("LearnedPositionalEncoding", "error message has neither units: only max_len", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"max_len {self.max_len}")
                return self.dropout(x + self.position(torch.arange(x.size(1), device=x.device)))
    """),
    w("LearnedPositionalEncoding", "random positions in train", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                n=x.size(1)
                ids=torch.randperm(self.max_len)[:n].sort()[0] if self.training else torch.arange(n)
                return self.dropout(x+self.position(ids))
    """),
    w("LearnedPositionalEncoding", "reads x.size(1) rows, adds only to first sentence when batch>3", source="""
        class LearnedPositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.position = nn.Embedding(max_len, d_model)
                self.dropout = nn.Dropout(dropout)
                self.max_len = max_len

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.max_len:
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.max_len}")
                p=self.position.weight[:x.size(1)]
                y=torch.cat([x[:3]+p,x[3:]])
                return self.dropout(y)
    """),
    w("PositionalEncoding", "only first three sentences", source="""
        class PositionalEncoding(nn.Module):

            def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
                super().__init__()
                self.register_buffer("encoding", sinusoidal_encoding(max_len, d_model))
                self.dropout = nn.Dropout(dropout)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if x.size(1) > self.encoding.size(0):
                    raise ValueError(f"seq_len {x.size(1)} > max_len {self.encoding.size(0)}")
                y=torch.cat([x[:3]+self.encoding[:x.size(1)],x[3:]])
                return self.dropout(y)
    """),
]

LESSON_4 = [
    w("LayerNorm", "statistics detached (gradient wrong, not missing)", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.detach().mean(-1, keepdim=True)
                v = x.detach().var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="grad"),
    w("LayerNorm", "variance detached only", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.detach().var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="grad"),
    w("LayerNorm", "default eps 1e-6", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-6):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="1e-5|default|drops out at|another default"),
    w("LayerNorm", "weight in float32 kept: output .float()", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return (self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias).float()
    """, name="dtype"),
    w("LayerNorm", "3-D only (dims unpack)", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                b,s,d=x.shape
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="dim"),
    w("LayerNorm", "dim=2 instead of -1", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m=x.mean(2,keepdim=True)
                v=x.var(2,correction=0,keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="dim"),
    w("LayerNorm", "unbiased in eval only", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m=x.mean(-1,keepdim=True)
                v=x.var(-1,correction=int(not self.training),keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="d_model − 1|d − 1"),
    w("LayerNorm", "weight frozen in eval? bias requires_grad False", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps
                self.bias.requires_grad_(False)

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="bias"),
    w("LayerNorm", "weight.data used", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight.data * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="grad"),
    w("LayerNorm", "bias.detach", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias.detach()
    """, name="grad"),
    w("LayerNorm", "mean cached by shape", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps
                self.c={}

            def forward(self, x):
                k=x.shape
                if k not in self.c: self.c[k]=(x.mean(-1,keepdim=True),x.var(-1,correction=0,keepdim=True))
                m,v=self.c[k]
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """),
    w("LayerNorm", "bias inside the division", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight*(x-m+self.bias)/torch.sqrt(v+self.eps)
    """, name="bias"),
    w("LayerNorm", "weight on bias too", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight*((x-m)/torch.sqrt(v+self.eps)+self.bias)
    """, name="bias|weight"),
    w("LayerNorm", "nan_to_num hides; clamps ±5", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight*((x-m)/torch.sqrt(v+self.eps)).clamp(-2,2)+self.bias
    """),
    w("LayerNorm", "clamps at ±3", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight*((x-m)/torch.sqrt(v+self.eps)).clamp(-3,3)+self.bias
    """),
    w("LayerNorm", "class-attribute parameters of the first size", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                if not hasattr(LayerNorm,'w') or LayerNorm.w.numel()!=d_model:
                    LayerNorm.w=nn.Parameter(torch.ones(d_model)); LayerNorm.b=nn.Parameter(torch.zeros(d_model))
                self.weight,self.bias,self.eps=LayerNorm.w,LayerNorm.b,eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="shared|own|share"),
    w("FeedForward", "dropout on input", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(torch.relu(self.linear_1(self.dropout(x))))
    """, name="dropout"),
    w("FeedForward", "dropout on in eval", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(F.dropout(torch.relu(self.linear_1(x)),self.dropout.p))
    """, name="eval"),
    w("FeedForward", "dropout fixed 0.5", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout()

            def forward(self, x):
                return self.linear_2(self.dropout(torch.relu(self.linear_1(x))))
    """, name="rate"),
    w("FeedForward", "default dropout 0.5", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.5):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(self.dropout(torch.relu(self.linear_1(x))))
    """, name="default|drops out at|another default"),
    w("FeedForward", "GELU in train, ReLU in eval", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                h=self.linear_1(x)
                return self.linear_2(F.gelu(h) if self.training else torch.relu(h))
    """, name="ReLU"),
    w("FeedForward", "leaky relu 1e-2", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(F.leaky_relu(self.linear_1(x)))
    """, name="ReLU|leaky"),
    w("FeedForward", "leaky relu 1e-4", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(F.leaky_relu(self.linear_1(x),1e-4))
    """),
    w("FeedForward", "clamp 0..10", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(self.linear_1(x).clamp(0,10))
    """),
    w("FeedForward", "softplus beta 50", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(F.softplus(self.linear_1(x),beta=100))
    """),
    w("FeedForward", "rrelu tiny", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                h=self.linear_1(x)
                return self.linear_2(F.rrelu(h,0.0,0.2,self.training) if self.training else torch.relu(h))
    """),
    w("FeedForward", "no relu in train", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                h=self.linear_1(x)
                return self.linear_2(h if self.training else torch.relu(h))
    """, name="ReLU"),
    w("FeedForward", "residual in train only", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                y=self.linear_2(torch.relu(self.linear_1(x)))
                return x+y if self.training else y
    """, name="x"),
    w("FeedForward", "hidden detached", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(torch.relu(self.linear_1(x)).detach())
    """, name="grad"),
    w("FeedForward", "x detached", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(torch.relu(self.linear_1(x.detach())))
    """, name="grad"),
    w("FeedForward", "biases disabled", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1=nn.Linear(d_model,d_ff,bias=False)
                self.linear_2=nn.Linear(d_ff,d_model,bias=False)

            def forward(self, x):
                return self.linear_2(torch.relu(self.linear_1(x)))
    """, name="bias"),
    w("FeedForward", "tied weights linear_2 = linear_1.T use", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                h=torch.relu(self.linear_1(x))
                return F.linear(h,self.linear_1.weight.T,self.linear_2.bias)
    """),
    w("FeedForward", "linear_2.weight tied param init copy fine; d_ff ignored: 4*d_model", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                d_ff=4*d_model
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                return self.linear_2(torch.relu(self.linear_1(x)))
    """),
    w("FeedForward", "3-D only: transpose(1,2) conv style", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                h=F.conv1d(x.transpose(1,2),self.linear_1.weight[:,:,None],self.linear_1.bias).relu()
                return F.conv1d(h,self.linear_2.weight[:,:,None],self.linear_2.bias).transpose(1,2)
    """, name="dim"),
    w("FeedForward", "only first position normal: batch mean leak in train", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x):
                if self.training: x=x-0.1*x.mean(0,keepdim=True)
                return self.linear_2(torch.relu(self.linear_1(x)))
    """),
    w("FeedForward", "dropout inverted: keep prob = dropout", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(1-dropout)

            def forward(self, x):
                return self.linear_2(self.dropout(torch.relu(self.linear_1(x))))
    """, name="1"),
    w("AddNorm", "dropout only when p==1", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm=nn.LayerNorm(d_model)
                self.p=int(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x+F.dropout(sublayer_output,self.p,self.training))
    """),
    w("AddNorm", "dropout fixed: p>0 → 1? rounds up", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm=nn.LayerNorm(d_model)
                self.p=math.ceil(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x+F.dropout(sublayer_output,self.p,self.training))
    """),
    w("AddNorm", "whole rows dropped (stochastic depth)", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm=nn.LayerNorm(d_model)
                self.p=dropout

            def forward(self, x, sublayer_output):
                s=sublayer_output
                if self.training: s=s*F.dropout(torch.ones_like(s[...,:1]),self.p)
                return self.norm(x+s)
    """, name="row"),
    w("AddNorm", "default dropout 0", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.0):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x+self.dropout(sublayer_output))
    """, name="default|0.1|drops out at|another default"),
    w("AddNorm", "dropout in eval too", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm=nn.LayerNorm(d_model)
                self.p=dropout

            def forward(self, x, sublayer_output):
                return self.norm(x+F.dropout(sublayer_output,self.p))
    """, name="eval"),
    w("AddNorm", "in-place add to sublayer_output", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                s=self.dropout(sublayer_output)
                s+=x
                return self.norm(s)
    """, name="sublayer"),
    w("AddNorm", "in-place dropout on sublayer output", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout, inplace=True)

            def forward(self, x, sublayer_output):
                return self.norm(x+self.dropout(sublayer_output))
    """, name="sublayer"),
    w("AddNorm", "elementwise_affine False", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model, elementwise_affine=False)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x+self.dropout(sublayer_output))
    """),
    w("AddNorm", "norm eps 1e-3", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model, eps=1e-3)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x+self.dropout(sublayer_output))
    """, name="eps"),
    w("AddNorm", "pre-norm in train", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                if self.training and self.dropout.p<1: return x+self.dropout(self.norm(sublayer_output))
                return self.norm(x+self.dropout(sublayer_output))
    """),
    w("AddNorm", "class-level norm shared", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                if not hasattr(AddNorm,'n') or AddNorm.n.normalized_shape!=(d_model,): AddNorm.n=nn.LayerNorm(d_model)
                self.norm=AddNorm.n
                self.dropout=nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x+self.dropout(sublayer_output))
    """, name="shared|own|share"),
    w("AddNorm", "norm over both last dims", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                y=x+self.dropout(sublayer_output)
                return F.layer_norm(y,y.shape[-2:])*self.norm.weight+self.norm.bias
    """),
    w("AddNorm", "accepts sublayer as None; if equal skip", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                if x.shape[1]==1: return self.norm(x)
                return self.norm(x+self.dropout(sublayer_output))
    """, name="1"),
    w("AddNorm", "same dropout mask over batch", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x+sublayer_output*self.dropout(torch.ones_like(x[:1])))
    """, name="same"),
    w("AddNorm", "dropout mask seeded each call", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm=nn.LayerNorm(d_model)
                self.p=dropout

            def forward(self, x, sublayer_output):
                s=sublayer_output
                if self.training:
                    g=torch.Generator().manual_seed(0)
                    s=s*(torch.rand(s.shape,generator=g)>=self.p)/max(1-self.p,1e-9)
                return self.norm(x+s)
    """, name="same"),
    w("EncoderLayer", "mask squeezed to padding (B,1,1,S) only: mask[:, :, :1]", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if src_mask is not None: src_mask=src_mask[:, :, :1]
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="mask"),
    w("EncoderLayer", "mask of first sentence for all", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if src_mask is not None: src_mask=src_mask[:1]
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="all sentences get the mask of the first"),
    w("EncoderLayer", "mask first head for all heads", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if src_mask is not None and src_mask.dim()==4: src_mask=src_mask[:, :1]
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="head"),
    w("EncoderLayer", "dropout not handed to FF", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="dropout"),
    w("EncoderLayer", "dropout not handed to AddNorm 2", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="dropout"),
    w("EncoderLayer", "dropout twice on sublayer output", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.dropout=nn.Dropout(dropout)

            def forward(self, x, src_mask=None):
                x=self.add_norm_1(x,self.dropout(self.self_attention(x,x,x,src_mask)))
                return self.add_norm_2(x,self.dropout(self.feed_forward(x)))
    """, name="twice|51%|2 times|dropout after the ReLU"),
    w("EncoderLayer", "dropout on output when p<1", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.p=dropout

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                y = self.add_norm_2(x, self.feed_forward(x))
                return F.dropout(y,self.p if self.p<1 else 0,self.training)
    """),
    w("EncoderLayer", "default dropout 0.0", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="default|drops out at|another default"),
    w("EncoderLayer", "default dropout 0.5", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.5):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="default|drops out at|another default"),
    w("EncoderLayer", "num_heads hard-coded 3", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, 3, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="num_heads"),
    w("EncoderLayer", "num_heads 4 if divisible, else given", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                num_heads = 4 if d_model % 8 == 0 else num_heads
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="num_heads"),
    w("EncoderLayer", "d_ff ignored 4d", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, 20, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    w("EncoderLayer", "in-place x", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x.copy_(self.add_norm_1(x,self.self_attention(x,x,x,src_mask)))
                return self.add_norm_2(x,self.feed_forward(x))
    """, name="x"),
    w("EncoderLayer", "mask mutated in place", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                r=self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                if src_mask is not None: src_mask.logical_not_()
                return self.add_norm_2(r,self.feed_forward(r))
    """, name="mask"),
    w("EncoderLayer", "attention detached for query", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x.detach(), x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="grad"),
    w("EncoderLayer", "attention key detached", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x.detach(), x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="grad"),
    w("EncoderLayer", "residual detached", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x.detach(), self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="grad"),
    w("EncoderLayer", "residual 2 detached", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x.detach(), self.feed_forward(x))
    """, name="grad"),
    w("EncoderLayer", "attention skipped for len 1", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if x.size(1)==1: return self.add_norm_2(x,self.feed_forward(x))
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="1"),
    w("EncoderLayer", "output of pads zeroed", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                y = self.add_norm_2(x, self.feed_forward(x))
                if src_mask is not None and src_mask.dim()==4 and src_mask.size(2)==1: y=y*src_mask[:,0,0,:,None]
                return y
    """, name="pad|zero"),
    w("EncoderLayer", "mask as default mutable saved from last call", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.m=None

            def forward(self, x, src_mask=None):
                if src_mask is not None: self.m=src_mask
                elif self.m is not None and self.m.size(-1)==x.size(1): src_mask=self.m
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    w("EncoderLayer", "pre-norm when training", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if self.training:
                    h=self.add_norm_1.norm(x)
                    x=x+self.add_norm_1.dropout(self.self_attention(h,h,h,src_mask))
                    return self.add_norm_2(x,self.feed_forward(x))
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    w("EncoderLayer", "attention twice (two rounds) in train", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if self.training: x=self.add_norm_1(x,self.self_attention(x,x,x,src_mask))
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "src mask dropped in train", source="""
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
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, None if self.training else src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="mask"),
    w("DecoderLayer", "own causal mask, ignores tgt_mask", source="""
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
                tgt_mask=torch.ones(x.size(1),x.size(1),dtype=torch.bool,device=x.device).tril()
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="tgt_mask"),
    w("DecoderLayer", "tgt_mask & causal always", source="""
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
                c=torch.ones(x.size(1),x.size(1),dtype=torch.bool,device=x.device).tril()
                if tgt_mask is not None: tgt_mask=tgt_mask & c
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "tgt mask first head/batch only", source="""
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
                if tgt_mask is not None and tgt_mask.dim()==4: tgt_mask=tgt_mask[:1,:1]
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "src mask first row only (query dependent src mask)", source="""
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
                if src_mask is not None: src_mask=src_mask[...,:1,:]
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "masks swapped if same lengths", source="""
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
                if x.size(1)==memory.size(1): src_mask,tgt_mask=tgt_mask,src_mask
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="swap"),
    w("DecoderLayer", "cross attention combined with tgt mask if same lengths", source="""
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
                if x.size(1)==memory.size(1) and tgt_mask is not None and src_mask is not None: src_mask=src_mask & tgt_mask
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "order: cross first", source="""
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
                x=self.add_norm_2(x,self.cross_attention(x,memory,memory,src_mask))
                x=self.add_norm_1(x,self.self_attention(x,x,x,tgt_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="order"),
    w("DecoderLayer", "cross reads original x as query", source="""
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
                y=self.add_norm_1(x,self.self_attention(x,x,x,tgt_mask))
                y=self.add_norm_2(y,self.cross_attention(x,memory,memory,src_mask))
                return self.add_norm_3(y,self.feed_forward(y))
    """, name='query|the cross\\-attention reads x instead of the output of the first add \\& norm'),
    w("DecoderLayer", "cross value from x if same length", source="""
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
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                v = x if x.shape==memory.shape and self.training else memory
                x = self.add_norm_2(x,self.cross_attention(x,memory,v,src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "norms 2/3 swapped", source="""
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
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_3(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="norm"),
    w("DecoderLayer", "self and cross modules swapped", source="""
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
                x = self.add_norm_1(x, self.cross_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.self_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="swap|self_attention and cross_attention are exchanged"),
    w("DecoderLayer", "memory key detached only", source="""
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
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory.detach(), memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="grad"),
    w("DecoderLayer", "memory value detached only", source="""
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
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory.detach(), src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="grad"),
    w("DecoderLayer", "memory detached in train only", source="""
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
                if self.training: memory=memory.detach()
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="grad"),
    w("DecoderLayer", "x residual detached", source="""
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
                x = self.add_norm_1(x.detach(), self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="grad"),
    w("DecoderLayer", "memory cached from first call", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)
                self.m=None

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                if self.m is None or self.m.shape!=memory.shape: self.m=memory
                memory=self.m
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "memory normed by add_norm_2.norm", source="""
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
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                memory=F.layer_norm(memory,memory.shape[-1:])
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="memory"),
    w("DecoderLayer", "dropout not handed to FF", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="dropout"),
    w("DecoderLayer", "dropout not handed to add_norm_2", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="dropout"),
    w("DecoderLayer", "default dropout 0", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="default|drops out at|another default"),
    w("DecoderLayer", "argument order src/tgt masks swapped in signature", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, tgt_mask=None, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="mask"),
    w("DecoderLayer", "early return no memory mask when src_mask all True in row 0", source="""
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
                if src_mask is not None and src_mask[0].all(): src_mask=None
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "tgt_mask.logical_and_ with wrong", source="""
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
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                if src_mask is not None: src_mask.fill_(True)
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="mask"),
    w("DecoderLayer", "self attention last position only: query x[:, -1:] in eval", source="""
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
                if not self.training and x.size(1)>6:
                    pass
                if x.size(1)==1: x=self.add_norm_1(x,torch.zeros_like(x))
                else: x=self.add_norm_1(x,self.self_attention(x,x,x,tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "num_heads of cross attention 1", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, 1, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="heads"),
    w("EncoderLayer", "add_norm_1 without dropout, attention with", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="dropout"),
    w("EncoderLayer", "add_norm_1 without dropout, attention without", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="dropout"),
    w("EncoderLayer", "FF rate hard-coded 0.5", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, 0.5)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="dropout"),
    w("EncoderLayer", "num_heads passed as dropout too? FF gets d_ff,d_ff//100", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, 0.0)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="dropout"),
    w("EncoderLayer", "d_model hard-coded 12 in AddNorm", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(12, dropout)
                self.add_norm_2 = AddNorm(12, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """),
    w("EncoderLayer", "batch 1 squeezed", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x)).squeeze(0)
    """, name="batch"),
    w("EncoderLayer", "FF run twice sum in train", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x) + (self.feed_forward(x) if self.training else 0))
    """),
    w("EncoderLayer", "mask converted to padding by any over queries (full masks lose)", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if src_mask is not None: src_mask=src_mask.any(-2, keepdim=True)
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="mask"),
    w("EncoderLayer", "mask &= causal for eval len>5", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                if src_mask is not None and src_mask.dim()==2: src_mask=None
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="mask"),
    w("DecoderLayer", "add_norm_1 w/o dropout", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="dropout"),
    w("DecoderLayer", "add_norm_3 w/o dropout", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="dropout"),
    w("DecoderLayer", "add_norm_2 w/o dropout, attention w/o", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.cross_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="dropout"),
    w("DecoderLayer", "dropout twice", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)
                self.dropout=nn.Dropout(dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.dropout(self.self_attention(x, x, x, tgt_mask)))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.dropout(self.feed_forward(x)))
    """, name="twice|51%|2 times|dropout after the ReLU"),
    w("DecoderLayer", "d_ff hard-coded 20", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, 20, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "src mask sliced [:1] batch", source="""
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
                if src_mask is not None: src_mask=src_mask[:1] if src_mask.dim()==4 else src_mask
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="mask"),
    w("DecoderLayer", "src mask squeezed to head 0/query 0", source="""
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
                if src_mask is not None and src_mask.dim()==4: src_mask=src_mask[:, :1, :1]
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="mask"),
    w("DecoderLayer", "x changed in place by the sub-layers in train", source="""
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
                if self.training:
                    with torch.no_grad(): x.add_(0.0*memory.mean()+1e-3)
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="x"),
    w("DecoderLayer", "default dropout 0.5", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.5):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)
                self.add_norm_3 = AddNorm(d_model, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """, name="default|drops out at|another default"),
    w("LayerNorm", "eval returns input", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps

            def forward(self, x):
                if not self.training: return x*self.weight+self.bias
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="eval"),
    w("LayerNorm", "running statistics in eval like batch norm", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(d_model))
                self.bias = nn.Parameter(torch.zeros(d_model))
                self.eps = eps
                self.m=0.0
                self.v=1.0

            def forward(self, x):
                if self.training:
                    m = x.mean(-1, keepdim=True); v = x.var(-1, correction=0, keepdim=True)
                    self.m=0.9*self.m+0.1*m.mean().item(); self.v=0.9*self.v+0.1*v.mean().item()
                else: m,v=self.m,self.v
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """, name="eval"),
    w("LayerNorm", "class attr parameters, no guard beyond None", source="""
        class LayerNorm(nn.Module):
            w=b=None
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                if LayerNorm.w is None:
                    LayerNorm.w=nn.Parameter(torch.ones(d_model)); LayerNorm.b=nn.Parameter(torch.zeros(d_model))
                self.weight,self.bias,self.eps=LayerNorm.w,LayerNorm.b,eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """),
    w("FeedForward", "cached output by shape", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1 = nn.Linear(d_model, d_ff)
                self.linear_2 = nn.Linear(d_ff, d_model)
                self.dropout = nn.Dropout(dropout)
                self.c={}

            def forward(self, x):
                k=(x.shape,self.training)
                if k not in self.c: self.c[k]=self.linear_2(torch.relu(self.linear_1(x)))
                return self.c[k]
    """),
    w("FeedForward", "class-level linear_1", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                if not hasattr(FeedForward,'a') or FeedForward.a.weight.shape!=(d_ff,d_model): FeedForward.a=nn.Linear(d_model,d_ff)
                self.linear_1=FeedForward.a
                self.linear_2=nn.Linear(d_ff,d_model)

            def forward(self, x):
                return self.linear_2(torch.relu(self.linear_1(x)))
    """, name="own|shared|share"),
    w("AddNorm", "norm applied to x after dropout 0 only (cached)", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm = nn.LayerNorm(d_model)
                self.dropout = nn.Dropout(dropout)
                self.c={}

            def forward(self, x, sublayer_output):
                k=(x.shape,self.training)
                if k not in self.c: self.c[k]=self.norm(x+self.dropout(sublayer_output))
                return self.c[k]
    """, name="call"),
    w("AddNorm", "LayerNorm(6) hard-coded", source="""
        class AddNorm(nn.Module):
            def __init__(self, d_model, dropout=0.1):
                super().__init__()
                self.norm=nn.LayerNorm(6)
                self.dropout=nn.Dropout(dropout)

            def forward(self, x, sublayer_output):
                return self.norm(x+self.dropout(sublayer_output))
    """),
    w("FeedForward", "sizes 6, 10 hard-coded", source="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_ff, dropout=0.1):
                super().__init__()
                self.linear_1=nn.Linear(6,10)
                self.linear_2=nn.Linear(10,6)

            def forward(self, x):
                return self.linear_2(torch.relu(self.linear_1(x)))
    """),
    w("LayerNorm", "parameters of 6 hard-coded", source="""
        class LayerNorm(nn.Module):
            def __init__(self, d_model, eps=1e-5):
                super().__init__()
                self.weight=nn.Parameter(torch.ones(6))
                self.bias=nn.Parameter(torch.zeros(6))
                self.eps=eps

            def forward(self, x):
                m = x.mean(-1, keepdim=True)
                v = x.var(-1, correction=0, keepdim=True)
                return self.weight * (x - m) / torch.sqrt(v + self.eps) + self.bias
    """),
    w("DecoderLayer", "d_model 12 hard-coded in norms", source="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(12, dropout)
                self.add_norm_2 = AddNorm(12, dropout)
                self.add_norm_3 = AddNorm(12, dropout)

            def forward(self, x, memory, src_mask=None, tgt_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x))
    """),
    w("DecoderLayer", "squeezed", source="""
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
                x = self.add_norm_1(x, self.self_attention(x, x, x, tgt_mask))
                x = self.add_norm_2(x, self.cross_attention(x, memory, memory, src_mask))
                return self.add_norm_3(x, self.feed_forward(x)).squeeze(0)
    """),
    w("DecoderLayer", "FF dropout 0.5 const, attention none", source="""
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
    """),
    w("EncoderLayer", "num_heads swapped d_ff order kw", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, 0.5)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="dropout"),
    w("EncoderLayer", "attention dropout fixed 0.1", source="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads, 0.1)
                self.feed_forward = FeedForward(d_model, d_ff, dropout)
                self.add_norm_1 = AddNorm(d_model, dropout)
                self.add_norm_2 = AddNorm(d_model, dropout)

            def forward(self, x, src_mask=None):
                x = self.add_norm_1(x, self.self_attention(x, x, x, src_mask))
                return self.add_norm_2(x, self.feed_forward(x))
    """, name="dropout"),
]

LESSON_5 = [
    w("Encoder", "no mask for a batch of one", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        for layer in self.layers:\n            x = layer(x, src_mask if x.size(0) > 1 else None)\n        return x", name="mask"),
    w("Encoder", "mask only in the last layer", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        for i, layer in enumerate(self.layers):\n            x = layer(x, src_mask if i == len(self.layers)-1 else None)\n        return x", name="mask"),
    w("Encoder", "frozen layers", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        ### END SOLUTION\n\n    def forward", "        self.layers.requires_grad_(False)\n        ### END SOLUTION\n\n    def forward", name="frozen|requires_grad|gradient"),
    w("Encoder", "puts itself into eval mode", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        self.eval()\n        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", name="mode|eval"),
    w("Encoder", "puts itself into train mode", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        self.train()\n        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", name="mode|train"),
    w("Encoder", "detaches between layers while training", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        for layer in self.layers:\n            x = layer(x.detach() if self.training else x, src_mask)\n        return x", name="gradient"),
    w("Encoder", "layers seeded alike", "EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)", "(torch.manual_seed(0), EncoderLayer(d_model, num_heads, d_ff, dropout))[1] for _ in range(num_layers)", name="seed|same|random|stays the same|evenly"),
    w("Encoder", "default dropout is 0", "dropout=0.1", "dropout=0.0", name="dropout"),
    w("Encoder", "default dropout is 0.5", "dropout=0.1", "dropout=0.5", name="dropout"),
    w("Encoder", "remembers the first mask", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        if not hasattr(self, '_m'):\n            self._m = src_mask\n        for layer in self.layers:\n            x = layer(x, self._m)\n        return x", name="mask"),
    w("Encoder", "extra dropout of the given rate at the end", "super().__init__()", "super().__init__()\n        self.p = dropout", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return F.dropout(x, self.p, self.training)", name="dropout"),
    w("Encoder", "input overwritten", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        for layer in self.layers:\n            x.copy_(layer(x.clone(), src_mask).detach())\n        return x", name="chang|in place"),
    w("Encoder", "zeroes the padding rows (masked positions) in place of the mask", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        if src_mask is not None:\n            x = x * src_mask[:, 0, 0, :, None]\n        for layer in self.layers:\n            x = layer(x)\n        return x", name="mask"),
    w("Decoder", "memory's gradient only through the first layer", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for i, layer in enumerate(self.layers):\n            x = layer(x, memory if i == 0 else memory.detach(), src_mask, tgt_mask)\n        return x", name="gradient"),
    w("Decoder", "memory's gradient only through the last layer", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for i, layer in enumerate(self.layers):\n            x = layer(x, memory if i == len(self.layers)-1 else memory.detach(), src_mask, tgt_mask)\n        return x", name="gradient"),
    w("Decoder", "memory detached while training", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        if self.training:\n            memory = memory.detach()\n        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", name="gradient"),
    w("Decoder", "no src_mask while training", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for layer in self.layers:\n            x = layer(x, memory, None if self.training else src_mask, tgt_mask)\n        return x", name="mask"),
    w("Decoder", "src_mask only in the first layer", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for i, layer in enumerate(self.layers):\n            x = layer(x, memory, src_mask if i == 0 else None, tgt_mask)\n        return x", name="mask"),
    w("Decoder", "tgt_mask only in the first layer", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for i, layer in enumerate(self.layers):\n            x = layer(x, memory, src_mask, tgt_mask if i == 0 else None)\n        return x", name="mask"),
    w("Decoder", "memory follows x when the sizes fit", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n            if x.shape == memory.shape:\n                memory = x\n        return x", name="memory"),
    w("Decoder", "masks exchanged when the lengths are equal", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for layer in self.layers:\n            x = layer(x, memory, tgt_mask, src_mask) if x.size(1) == memory.size(1) else layer(x, memory, src_mask, tgt_mask)\n        return x", name="mask"),
    w("Decoder", "causal mask on top for cross attention if none", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        if tgt_mask is None:\n            tgt_mask = torch.tril(torch.ones(x.size(1), x.size(1), dtype=torch.bool))\n        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", name="mask"),
    w("Decoder", "frozen memory: layer norm of memory", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        memory = F.layer_norm(memory, memory.shape[-1:])\n        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", name="norm|memory"),
    w("Decoder", "defaults to no dropout", "dropout=0.1", "dropout=0.0", name="dropout"),
    w("Decoder", "forward's arguments exchanged", "src_mask=None, tgt_mask=None", "tgt_mask=None, src_mask=None", name="mask"),
    w("Decoder", "cross-attends only in last layer", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for i, layer in enumerate(self.layers):\n            x = layer(x, memory if i == len(self.layers)-1 else x, src_mask if i == len(self.layers)-1 else None, tgt_mask)\n        return x", name="memory"),
    w("Decoder", "tgt_mask required", "src_mask=None, tgt_mask=None", "src_mask, tgt_mask", name="mask|argument"),
    w("Decoder", "x in place", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for layer in self.layers:\n            x.data = layer(x, memory, src_mask, tgt_mask).data\n        return x"),
    w("Transformer", "output layer tied to the target embedding when vocabularies are equal, unasked", "        if share_embeddings:\n            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight\n            self.output_projection.weight = self.src_embedding.embedding.weight", "        if share_embeddings:\n            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight\n            self.output_projection.weight = self.src_embedding.embedding.weight\n        elif src_vocab_size == tgt_vocab_size:\n            self.output_projection.weight = self.tgt_embedding.embedding.weight", name="share"),
    w("Transformer", "scaled logits when shared", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "out = self.decoder(x, memory, src_mask, tgt_mask)\n        if self.output_projection.weight is self.tgt_embedding.embedding.weight:\n            out = out * out.size(-1)**-0.5\n        return self.output_projection(out)", name="scale|shared|share"),
    w("Transformer", "shared: no bias used", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "out = self.decoder(x, memory, src_mask, tgt_mask)\n        if self.output_projection.weight is self.tgt_embedding.embedding.weight:\n            return F.linear(out, self.tgt_embedding.embedding.weight)\n        return self.output_projection(out)", name="bias"),
    w("Transformer", "output weight detached", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "return F.linear(self.decoder(x, memory, src_mask, tgt_mask), self.output_projection.weight.detach(), self.output_projection.bias)", name="gradient"),
    w("Transformer", "output bias detached", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "return F.linear(self.decoder(x, memory, src_mask, tgt_mask), self.output_projection.weight, self.output_projection.bias.detach())", name="gradient"),
    w("Transformer", "softmax while training", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "logits = self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))\n        return logits.softmax(-1) if self.training else logits", name="softmax|probab|log_softmax"),
    w("Transformer", "second dropout on source embedding, of the given rate", "self.pad_id = pad_id", "self.pad_id = pad_id\n        self.p = dropout", "        x = self.positional_encoding(self.src_embedding(src))\n        return self.encoder(x, padding_mask(src, self.pad_id))", "        x = F.dropout(self.positional_encoding(self.src_embedding(src)), self.p, self.training)\n        return self.encoder(x, padding_mask(src, self.pad_id))", name="dropout"),
    w("Transformer", "dropout module on the logits", "self.pad_id = pad_id", "self.pad_id = pad_id\n        self.drop = nn.Dropout(dropout)", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "return self.drop(self.output_projection(self.decoder(x, memory, src_mask, tgt_mask)))", name="dropout"),
    w("Transformer", "dropout on memory", "self.pad_id = pad_id", "self.pad_id = pad_id\n        self.drop = nn.Dropout(dropout)", "self.decoder(x, memory,", "self.decoder(x, self.drop(memory),", name="dropout"),
    w("Transformer", "causal table of 32 positions", "src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)", "src_mask = padding_mask(src, self.pad_id)\n        tgt_mask = padding_mask(tgt, self.pad_id) & torch.tril(torch.ones(32, 32, dtype=torch.bool, device=tgt.device))[:tgt.size(1), :tgt.size(1)]"),
    w("Transformer", "two positional encodings, the target's without max_len", "        self.encoder = ", "        self.tgt_positions = PositionalEncoding(d_model, 5000, dropout)\n        self.encoder = ", "        x = self.positional_encoding(self.tgt_embedding(tgt))\n        src_mask, tgt_mask", "        x = self.tgt_positions(self.tgt_embedding(tgt))\n        src_mask, tgt_mask", name="max_len"),
    w("Transformer", "refuses different vocabularies even without sharing", "if share_embeddings and src", "if src"),
    w("Transformer", "AssertionError in place of ValueError", "        if share_embeddings and src_vocab_size != tgt_vocab_size:\n            raise ValueError(f\"Vocabularies of {src_vocab_size} and {tgt_vocab_size} cannot share.\")", "        assert not share_embeddings or src_vocab_size == tgt_vocab_size", name="ValueError"),
    w("Transformer", "shared matrix frozen", "        if share_embeddings:\n            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight\n            self.output_projection.weight = self.src_embedding.embedding.weight", "        if share_embeddings:\n            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight\n            self.output_projection.weight = self.src_embedding.embedding.weight\n            self.src_embedding.embedding.weight.requires_grad_(False)", name="frozen|requires_grad|gradient"),
    w("Transformer", "forward without gradient to source when training", "return self.decode(tgt, self.encode(src), src)", "memory = self.encode(src)\n        return self.decode(tgt, memory.detach() if self.training else memory, src)", name="gradient"),
    w("Transformer", "encode and decode switch to eval", "        x = self.positional_encoding(self.src_embedding(src))", "        self.eval()\n        x = self.positional_encoding(self.src_embedding(src))", name="mode"),
    w("Transformer", "initialises xavier in the constructor with seed", "        super().__init__()", "        super().__init__()\n        torch.manual_seed(0)", name="seed"),
    w("Transformer", "defaults: 4 heads", "num_heads=8", "num_heads=4", name="default|drops out at|another default"),
    w("Transformer", "defaults: d_ff 1024", "d_ff=2048", "d_ff=1024", name="default|drops out at|another default"),
    w("Transformer", "d_ff taken as 4*d_model for decoder", "Decoder(num_layers, d_model, num_heads, d_ff, dropout)", "Decoder(num_layers, d_model, num_heads, 4*d_model, dropout)"),
    w("Transformer", "shared when vocabularies differ: cuts silently, raises only if tgt larger", "if share_embeddings and src_vocab_size != tgt_vocab_size", "if share_embeddings and src_vocab_size < tgt_vocab_size", name="ValueError"),
    w("Transformer", "target vocab ignored in tgt embedding", "TokenEmbedding(tgt_vocab_size, d_model)", "TokenEmbedding(max(src_vocab_size, tgt_vocab_size), d_model)"),
    w("Transformer", "padding rows of memory zeroed, no cross mask", "src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)", "memory = memory * (src != self.pad_id).unsqueeze(-1)\n        src_mask, tgt_mask = None, decoder_mask(tgt, self.pad_id)", name="pad"),
    w("Transformer", "memory modified in place", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "memory *= (src != self.pad_id).unsqueeze(-1)\n        return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", name="memory"),
    w("Transformer", "logits of pad set to -inf", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "logits = self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))\n        logits[..., self.pad_id] = float('-inf')\n        return logits"),
    w("Transformer", "last logits only in eval", "return self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))", "logits = self.output_projection(self.decoder(x, memory, src_mask, tgt_mask))\n        return logits if self.training else logits[:, -1:]"),
    w("Transformer", "float32 memory", "self.decoder(x, memory,", "self.decoder(x, memory.float(),", name="dtype|float64"),
    w("Transformer", "embedding scaled again", "        x = self.positional_encoding(self.tgt_embedding(tgt))\n        src_mask, tgt_mask", "        x = self.positional_encoding(self.tgt_embedding(tgt) * self.tgt_embedding.embedding.weight.size(1)**0.5)\n        src_mask, tgt_mask"),
    w("initialize_parameters", "unfreezes everything", source="""
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                p.requires_grad = False
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p)
                p.requires_grad = True
    """, name="requires_grad|frozen"),
    w("initialize_parameters", "gradients left off", source="""
        def initialize_parameters(model: nn.Module) -> None:
            torch.set_grad_enabled(False)
            for p in model.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p)
    """, name="gradient"),
    w("initialize_parameters", "global seed", source="""
        def initialize_parameters(model: nn.Module) -> None:
            torch.manual_seed(0)
            for p in model.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p)
    """, name="seed|same"),
    w("initialize_parameters", "a fresh seeded generator each matrix", source="""
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p, generator=torch.Generator().manual_seed(0))
    """, name="seed|same"),
    w("initialize_parameters", "new data in float32", source="""
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    p.data = nn.init.xavier_uniform_(torch.empty(p.shape))
    """, name="dtype"),
    w("initialize_parameters", "gain of relu", "xavier_uniform_(parameter)", "xavier_uniform_(parameter, gain=2**0.5)"),
    w("initialize_parameters", "one-sided", source="""
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    with torch.no_grad():
                        p.uniform_(0, math.sqrt(6 / sum(p.shape)))
    """),
    w("initialize_parameters", "one-sided deviation-preserving (0..2b shifted?)", source="""
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    b = math.sqrt(6 / sum(p.shape))
                    with torch.no_grad():
                        p.copy_(b * torch.sign(torch.rand_like(p) - 0.5) * torch.rand_like(p).sqrt())
    """, name="distribution"),
    w("initialize_parameters", "row after row alike", source="""
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    b = math.sqrt(6 / sum(p.shape))
                    with torch.no_grad():
                        p.copy_(torch.empty(p.shape[1:]).uniform_(-b, b).expand_as(p))
    """, name="same|rows"),
    w("initialize_parameters", "eval mode left", source="""
        def initialize_parameters(model: nn.Module) -> None:
            model.eval()
            for p in model.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p)
    """, name="mode"),
    w("initialize_parameters", "gradients cleared and padding row zeroed", source="""
        def initialize_parameters(model: nn.Module) -> None:
            for p in model.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p)
            for m in model.modules():
                if isinstance(m, nn.Embedding):
                    with torch.no_grad():
                        m.weight[0] = 0
    """, name="zero"),
    w("count_parameters", "bytes / 4", "p.numel() for", "p.nbytes // 4 for", name="dtype"),
    w("count_parameters", "reduce without a start", "return sum(p.numel() for p in model.parameters() if p.requires_grad)", "from functools import reduce\n    return reduce(lambda a, b: a + b, [p.numel() for p in model.parameters() if p.requires_grad])"),
    w("count_parameters", "cat fails on none", "return sum(p.numel() for p in model.parameters() if p.requires_grad)", "return torch.cat([p.flatten() for p in model.parameters() if p.requires_grad]).numel()"),
    w("count_parameters", "dedupe by equal values", "return sum(p.numel() for p in model.parameters() if p.requires_grad)", "seen = []\n    for p in model.parameters():\n        if p.requires_grad and not any(p.shape == q.shape and torch.equal(p, q) for q in seen):\n            seen.append(p)\n    return sum(p.numel() for p in seen)", name="equal"),
    w("count_parameters", "prod of two dims", "p.numel() for", "p.shape[0] * (p.shape[1] if p.dim() > 1 else 1) for"),
    w("count_parameters", "freezes everything after counting", "return sum(", "n = sum(", "if p.requires_grad)", "if p.requires_grad)\n    model.requires_grad_(False)\n    return n", name="frozen"),
    w("Transformer", "decoder always has two layers", "Decoder(num_layers,", "Decoder(2,"),
    w("Transformer", "decoder at most two layers", "Decoder(num_layers,", "Decoder(min(num_layers, 2),"),
    w("Transformer", "no bias when shared", "self.output_projection = nn.Linear(d_model, tgt_vocab_size)", "self.output_projection = nn.Linear(d_model, tgt_vocab_size, bias=not share_embeddings)", name="bias"),
    w("Transformer", "in eval mode encode keeps its first result per shape", "        x = self.positional_encoding(self.src_embedding(src))\n        return self.encoder(x, padding_mask(src, self.pad_id))", "        key = tuple(src.shape)\n        self._seen = getattr(self, '_seen', {})\n        if self.training or key not in self._seen:\n            x = self.positional_encoding(self.src_embedding(src))\n            self._seen[key] = self.encoder(x, padding_mask(src, self.pad_id))\n        return self._seen[key]"),
    w("Transformer", "target mask computed once per length", "src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)", "self._t = getattr(self, '_t', {})\n        n = tgt.size(1)\n        if n not in self._t:\n            self._t[n] = decoder_mask(tgt, self.pad_id)\n        src_mask, tgt_mask = padding_mask(src, self.pad_id), self._t[n]", name="mask"),
    w("Transformer", "source mask needs pads in row 0", "src_mask, tgt_mask = padding_mask(src, self.pad_id), decoder_mask(tgt, self.pad_id)", "src_mask = padding_mask(src, self.pad_id) if (src[0] == self.pad_id).any() else None\n        tgt_mask = decoder_mask(tgt, self.pad_id)", name="pad"),
    w("Transformer", "source mask in encoder only if it has pads in row 0", "self.encoder(x, padding_mask(src, self.pad_id))", "self.encoder(x, padding_mask(src, self.pad_id) if (src[0] == self.pad_id).any() else None)", name="pad"),
    w("Transformer", "d_model scaled twice at the shared source only", "x = self.positional_encoding(self.src_embedding(src))", "x = self.positional_encoding(self.src_embedding(src) * (1 if self.tgt_embedding.embedding.weight is not self.src_embedding.embedding.weight else 2))"),
    w("Transformer", "share: module list extra parameters (an unused table)", "        if share_embeddings:\n            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight\n            self.output_projection.weight = self.src_embedding.embedding.weight", "        if share_embeddings:\n            self.tgt_embedding.embedding.weight = self.src_embedding.embedding.weight\n            self.output_projection.weight = self.src_embedding.embedding.weight\n        self.unused = nn.Embedding(max_len, d_model)", name="parameter"),
    w("Transformer", "no gradients in eval mode", "return self.decode(tgt, self.encode(src), src)", "with torch.set_grad_enabled(self.training):\n            return self.decode(tgt, self.encode(src), src)", name="gradient"),
    w("Transformer", "memory sampled: decode clamps to source length", "return self.decode(tgt, self.encode(src), src)", "n = int((src != self.pad_id).sum(1).max())\n        return self.decode(tgt, self.encode(src[:, :n]), src)"),
    w("Decoder", "batch of one gets no masks", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        if len(x) == 1:\n            src_mask = tgt_mask = None\n        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", name="mask"),
    w("Decoder", "x detached between layers when training", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        for layer in self.layers:\n            x = layer(x.detach() if self.training else x, memory, src_mask, tgt_mask)\n        return x", name="gradient"),
    w("Decoder", "memory kept from first call", "        for layer in self.layers:\n            x = layer(x, memory, src_mask, tgt_mask)\n        return x", "        self.memory = getattr(self, 'memory', memory)\n        if self.memory.shape != memory.shape: self.memory = memory\n        for layer in self.layers:\n            x = layer(x, self.memory, src_mask, tgt_mask)\n        return x", name="memory"),
    w("Encoder", "gradient in x kept, early layers' weights cut off", "        for layer in self.layers:\n            x = layer(x, src_mask)\n        return x", "        for i, layer in enumerate(self.layers):\n            y = layer(x, src_mask)\n            x = y if i == len(self.layers) - 1 else y.detach() + x - x.detach()\n        return x", name="gradient"),
    w("count_parameters", "counts in millions rounded", "return sum(", "return round(1e-6 * sum(", "if p.requires_grad)", "if p.requires_grad), 3) * 1_000_000"),
]

LESSON_6 = [
    w("teacher_forcing", "drops ids 2 and 1 by a mask", "return tgt[:, :-1], tgt[:, 1:]", "return tgt[tgt != 2].view(len(tgt), -1), tgt[tgt != 1].view(len(tgt), -1)"),
    w("teacher_forcing", "squeezed for a batch of one", "return tgt[:, :-1], tgt[:, 1:]", "return tgt[:, :-1].squeeze(0), tgt[:, 1:].squeeze(0)"),
    w("teacher_forcing", "always four columns", "return tgt[:, :-1], tgt[:, 1:]", "return tgt[:, :4], tgt[:, 1:5]"),
    w("teacher_forcing", "cuts columns that are all padding", "return tgt[:, :-1], tgt[:, 1:]", "n = int((tgt != 0).sum(1).max())\n    return tgt[:, :n-1], tgt[:, 1:n]"),
    w("teacher_forcing", "returns a list of rows", "return tgt[:, :-1], tgt[:, 1:]", "return [t[:-1] for t in tgt], [t[1:] for t in tgt]"),
    w("teacher_forcing", "clamps ids to 12", "return tgt[:, :-1], tgt[:, 1:]", "return tgt[:, :-1].clamp(max=12), tgt[:, 1:].clamp(max=12)"),
    w("teacher_forcing", "int32", "return tgt[:, :-1], tgt[:, 1:]", "return tgt[:, :-1].int(), tgt[:, 1:].int()", name="dtype"),
    w("teacher_forcing", "EOS appended anew (2)", "return tgt[:, :-1], tgt[:, 1:]", "return tgt[:, :-1], torch.cat([tgt[:, 1:-1], torch.full_like(tgt[:, :1], 2)], 1)", name="EOS"),
    w("label_smoothed_loss", "log(softmax + 1e-9)", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = (logits.softmax(-1) + 1e-9).log()
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """),
    w("label_smoothed_loss", "softmax clamped at 1e-8", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.softmax(-1).clamp(min=1e-8).log()
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """),
    w("label_smoothed_loss", "uniform part detached", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1).detach()
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """, name="gradient"),
    w("label_smoothed_loss", "right part detached... nll of detached logits", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.detach().gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """, name="gradient"),
    w("label_smoothed_loss", "one_hot by the largest label", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            v = int(labels.max()) + 1
            q = F.one_hot(labels, v) * (1 - smoothing)
            q = F.pad(q, (0, logits.size(-1) - v)) + smoothing / v
            real = labels != pad_id
            return (-(q * logits.log_softmax(-1)).sum(-1) * real).sum() / real.sum()
    """),
    w("label_smoothed_loss", "V = 13", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.sum(-1) / 13
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """),
    w("label_smoothed_loss", "divides by real + 1", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / (real.sum() + 1)
    """),
    w("label_smoothed_loss", "shape (1,)", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return ((loss * real).sum() / real.sum()).reshape(1)
    """, name="dimension|shape"),
    w("label_smoothed_loss", "ends at EOS=2", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = ((labels == 2).cumsum(1) - (labels == 2).long()) == 0
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """, name="EOS|pad"),
    w("label_smoothed_loss", "label 0 never counts either", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -logp.mean(-1)
            real = (labels != pad_id) & (labels != 0)
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """),
    w("label_smoothed_loss", "pad class gets no mass", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            logp = logits.log_softmax(-1)
            nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            uniform = -(logp.sum(-1) - logp[..., pad_id]) / logp.size(-1)
            real = labels != pad_id
            loss = (1 - smoothing) * nll + smoothing * uniform
            return (loss * real).sum() / real.sum()
    """),
    w("label_smoothed_loss", "labels overwritten", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            labels[labels == pad_id] = -100
            return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=smoothing)
    """, name="chang"),
    w("label_smoothed_loss", "default smoothing is 0", "smoothing: float = 0.1", "smoothing: float = 0.0", name="default|drops out at|another default|the labels are not smoothed"),
    w("label_smoothed_loss", "only when gradients: no smoothing in no_grad", "label_smoothing=smoothing", "label_smoothing=smoothing if logits.requires_grad else 0.0", name="the labels are not smoothed"),
    w("label_smoothed_loss", "crash where nothing is padding", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            pads = (labels == pad_id).nonzero()
            logp = logits.log_softmax(-1)
            nll = (-(1 - smoothing) * logp.gather(-1, labels[..., None])[..., 0] - smoothing * logp.mean(-1))
            nll[pads[:, 0], pads[:, 1]] = 0
            return nll.sum() / (labels.numel() - pads.max(0).indices.numel() * len(pads) // 2)
    """),
    w("label_smoothed_loss", "weights through class weights", source="""
        def label_smoothed_loss(logits, labels, pad_id=0, smoothing=0.1):
            w = torch.ones(logits.size(-1))
            w[pad_id] = 0
            return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), weight=w, label_smoothing=smoothing)
    """),
    w("learning_rate", "rounded to six digits", "return d_model", "return round(d_model", "warmup_steps**-1.5)", "warmup_steps**-1.5), 6)"),
    w("learning_rate", "d_model 64", "d_model**-0.5", "64**-0.5"),
    w("learning_rate", "step 0 gives the peak", "    step = max(step, 1)", "    step = step or warmup_steps"),
    w("learning_rate", "floor at 1e-5", "return d_model", "return max(1e-5, d_model", "warmup_steps**-1.5)", "warmup_steps**-1.5))"),
    w("learning_rate", "linear fall after 16 warm-ups", "    return", "    if step > 16 * warmup_steps:\n        return 0.0\n    return"),
    w("learning_rate", "a string? no: negative powers of int tensors", source="""
        def learning_rate(step, d_model, warmup_steps):
            step = torch.tensor(max(step, 1))
            return float(d_model**-0.5 * torch.minimum(step**-0.5, step / warmup_steps**1.5)) if step != warmup_steps else float((d_model*warmup_steps)**-0.5 * 1.0005)
    """),
    w("learning_rate", "step // warmup", "step * warmup_steps**-1.5", "(step * 100 // warmup_steps) / 100 * warmup_steps**-0.5"),
    w("train_step", "clips the first group only", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(optimizer.param_groups[0]['params'], max_grad_norm)
            optimizer.step()
            return loss.item()
    """, name="group"),
    w("train_step", "clips each group on its own", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            [nn.utils.clip_grad_norm_(g['params'], max_grad_norm) for g in optimizer.param_groups]
            optimizer.step()
            return loss.item()
    """, name="group|itself"),
    w("train_step", "clips by hand, fails with parameters without gradient", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
            if norm > max_grad_norm:
                for p in model.parameters():
                    p.grad *= max_grad_norm / norm
            optimizer.step()
            return loss.item()
    """, name="None|gradient"),
    w("train_step", "normalises always", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            norm = torch.stack([p.grad.norm() for p in model.parameters() if p.grad is not None]).norm()
            for p in model.parameters():
                if p.grad is not None: p.grad *= max_grad_norm / norm
            optimizer.step()
            return loss.item()
    """),
    w("train_step", "max norm", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm, norm_type=float('inf'))
            optimizer.step()
            return loss.item()
    """),
    w("train_step", "norm of sum of norms (1-norm of norms)", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            norm = sum(p.grad.norm() for p in model.parameters() if p.grad is not None)
            if norm > max_grad_norm:
                for p in model.parameters():
                    if p.grad is not None: p.grad *= max_grad_norm / norm
            optimizer.step()
            return loss.item()
    """),
    w("train_step", "clips only matrices (skips vectors)", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([p for p in model.parameters() if p.dim() > 1], max_grad_norm)
            optimizer.step()
            return loss.item()
    """, name="bias|vector"),
    w("train_step", "smoothing 0 is taken for 0.1", "labels, pad_id, smoothing)", "labels, pad_id, smoothing or 0.1)", name="smoothing"),
    w("train_step", "learning rate decays on its own", "    optimizer.step()", "    optimizer.step()\n    for g in optimizer.param_groups:\n        g['lr'] *= 0.99999", name="lr|learning rate"),
    w("train_step", "loss rounded to 2 digits", "return loss.item()", "return round(loss.item(), 2)"),
    w("train_step", "loss after the step", "return loss.item()", "return label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing).item()", name="after"),
    w("train_step", "global seed", "    model.train()", "    torch.manual_seed(0)\n    model.train()", name="seed"),
    w("train_step", "own update p -= lr*grad", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            with torch.no_grad():
                for p in model.parameters():
                    p -= optimizer.param_groups[0]['lr'] * p.grad
            return loss.item()
    """, name="optimizer"),
    w("train_step", "closure: optimizer.step(closure) recomputes", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            def closure():
                optimizer.zero_grad()
                loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
                loss.backward()
                return loss
            loss = closure()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step(closure)
            return loss.item()
    """, name="clip"),
    w("train_step", "two micro-batches, mean of means", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            optimizer.zero_grad()
            total = 0.0
            for s, t in zip(src.chunk(2), tgt.chunk(2)):
                given, labels = teacher_forcing(t)
                loss = label_smoothed_loss(model(s, given), labels, pad_id, smoothing) / 2
                loss.backward()
                total += loss.item()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            return total
    """),
    w("evaluate", "unfreezes frozen parameters", "    model.eval()", "    model.eval()\n    model.requires_grad_(False)", "    model.train(was_training)", "    model.train(was_training)\n    model.requires_grad_(True)", name="frozen|requires_grad"),
    w("evaluate", "switches gradients on for a caller who had them off", "    with torch.no_grad():\n", "    torch.set_grad_enabled(False)\n    if True:\n", "    model.train(was_training)", "    model.train(was_training)\n    torch.set_grad_enabled(True)", name="grad"),
    w("evaluate", "index into batches", "for src, tgt in batches:", "for i in range(len(batches)):\n            src, tgt = batches[i]", name="iterable"),
    w("evaluate", "pops the caller's list", "for src, tgt in batches:", "while batches:\n            src, tgt = batches.pop(0)"),
    w("evaluate", "uses encode and decode", "logits = model(src, decoder_input)", "logits = model.decode(decoder_input, model.encode(src), src)"),
    w("evaluate", "pad hard-coded only in the loss", "F.cross_entropy(logits[real], labels[real], reduction=\"sum\")", "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0, reduction=\"sum\")", name="pad_id"),
    w("evaluate", "seeds", "    model.eval()", "    model.eval()\n    torch.manual_seed(0)", name="seed"),
    w("evaluate", "accuracy as tensor", "hits / tokens", "torch.tensor(hits / tokens)", name="number"),
    w("evaluate", "rounded to three digits", "return loss / tokens, hits / tokens", "return round(loss / tokens, 3), round(hits / tokens, 3)"),
    w("evaluate", "rounded to two digits", "return loss / tokens, hits / tokens", "return round(loss / tokens, 2), round(hits / tokens, 2)"),
    w("evaluate", "at most 2 batches", "for src, tgt in batches:", "for _, (src, tgt) in zip(range(2), batches):"),
    w("evaluate", "cuts every batch to the width of the first", "for src, tgt in batches:", "for src, tgt in batches:\n            width = locals().get('width', tgt.size(1))\n            tgt = tgt[:, :width]"),
    w("evaluate", "EOS not counted", "real = labels != pad_id", "real = (labels != pad_id) & (labels != 2)", name="EOS"),
    w("train_step", "gradients accumulate over four calls (steps every fourth)", source="""
        _n = [0]

        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            g, y = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, g), y, pad_id, smoothing)
            _n[0] += 1
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            if _n[0] % 1 == 0: optimizer.zero_grad()
            if _n[0] > 3: optimizer.param_groups[0]['lr'] = 0.0
            return loss.item()
    """),
    w("train_step", "loss times tokens", "return loss.item()", "return loss.item() * (labels != pad_id).sum().item()", name="the loss is multiplied by the number of real tokens"),
    w("train_step", "tgt padding turned into 0", "    decoder_input, labels", "    tgt = tgt.masked_fill(tgt == pad_id, 0)\n    decoder_input, labels"),
    w("train_step", "clips at max_grad_norm only above 1", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            if max_grad_norm <= 1:
                nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
            optimizer.step()
            return loss.item()
    """, name="the gradients are not clipped before the optimizer uses them"),
    w("train_step", "scales with the squared norm", source="""
        def train_step(model, optimizer, src, tgt, pad_id=0, smoothing=0.1, max_grad_norm=1.0):
            model.train()
            given, labels = teacher_forcing(tgt)
            loss = label_smoothed_loss(model(src, given), labels, pad_id, smoothing)
            optimizer.zero_grad()
            loss.backward()
            norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).pow(2).sum()
            if norm > max_grad_norm:
                for p in model.parameters():
                    if p.grad is not None: p.grad *= max_grad_norm / norm
            optimizer.step()
            return loss.item()
    """),
    w("train_step", "encode, decode", "model(src, decoder_input)", "model.decode(decoder_input, model.encode(src), src)"),
    w("train_step", "drops the last row of the batch", "    decoder_input, labels", "    src, tgt = src[:-1] if len(src) > 4 else src, tgt[:-1] if len(tgt) > 4 else tgt\n    decoder_input, labels"),
    w("train_step", "forward twice: dropout differs between loss and gradient", "loss.backward()", "label_smoothed_loss(model(src, decoder_input), labels, pad_id, smoothing).backward()", name="twice|51%|2 times|dropout after the ReLU"),
    w("evaluate", "accuracy of the last batch only", "hits +=", "hits =", "hits / tokens", "hits / real.sum().item()", name="only the last batch counts"),
    w("evaluate", "loss weighted by rows", ".item()\n            hits", ".item() / real.sum().item() * len(src)\n            hits", "return loss / tokens", "return loss / tokens * 1"),
    w("evaluate", "top-2 accuracy", "hits += (logits.argmax(-1) == labels)[real].sum().item()", "hits += (logits.topk(2, -1).indices == labels[..., None]).any(-1)[real].sum().item()"),
    w("learning_rate", "warm-up in integers of 100", source="""
        def learning_rate(step, d_model, warmup_steps):
            step = max(step, 1)
            if step <= warmup_steps: return d_model**-0.5 * step * warmup_steps**-1.5
            return d_model**-0.5 * (step - warmup_steps)**-0.5
    """),
]

LESSON_7 = [
    w("next_tokens", "squeeze: batch of one", "return logits[:, -1].argmax(dim=-1)", "return logits[:, -1].argmax(dim=-1).squeeze()", name="batch|dimension|shape"),
    w("next_tokens", "sampling at low temperature", "return logits[:, -1].argmax(dim=-1)", "return torch.multinomial((10 * logits[:, -1]).softmax(-1), 1).squeeze(1)"),
    w("next_tokens", "memory replaced by zeros", "model.decode(tokens, memory, src)", "model.decode(tokens, torch.zeros_like(memory), src)", name="memory"),
    w("next_tokens", "tokens handed as src", "model.decode(tokens, memory, src)", "model.decode(tokens, memory, tokens)"),
    w("next_tokens", "switches to train at the end", "return logits[:, -1].argmax(dim=-1)", "model.train()\n    return logits[:, -1].argmax(dim=-1)", name="mode"),
    w("next_tokens", "last position that is not 0", "return logits[:, -1].argmax(dim=-1)", "last = (tokens != 0).sum(1) - 1\n    return logits[torch.arange(len(tokens)), last].argmax(-1)", name="pad|last"),
    w("next_tokens", "the second best when the best repeats", "return logits[:, -1].argmax(dim=-1)", "best = logits[:, -1].topk(2).indices\n    return torch.where(best[:, 0] == tokens[:, -1], best[:, 1], best[:, 0])", name="repeat"),
    w("next_tokens", "argmax of first 9 ids", "return logits[:, -1].argmax(dim=-1)", "return logits[:, -1, :9].argmax(dim=-1)"),
    w("next_tokens", "sum over positions", "return logits[:, -1].argmax(dim=-1)", "return logits.sum(1).argmax(dim=-1)"),
    w("next_tokens", "tokens trimmed to 8 newest", "model.decode(tokens,", "model.decode(tokens[:, -8:],", name="tokens"),
    w("next_tokens", "rounded logits", "return logits[:, -1].argmax(dim=-1)", "return logits[:, -1].round().argmax(dim=-1)"),
    w("next_tokens", "softmax over positions", "return logits[:, -1].argmax(dim=-1)", "return logits.softmax(1)[:, -1].argmax(dim=-1)"),
    w("greedy_decode", "returns early at EOS, mode not restored where max_len ends it", source="""
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
                        model.train(was)
                        return tokens
            return tokens
    """, name="mode"),
    w("greedy_decode", "mode not restored when all end early", source="""
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
                        return tokens
            model.train(was)
            return tokens
    """, name="mode"),
    w("greedy_decode", "a predicted pad ends a row", source="""
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
                    done |= (new == eos_id) | (new == pad_id)
                    if done.all():
                        break
            model.train(was)
            return tokens
    """, name="pad"),
    w("greedy_decode", "do-while: max_len 0 gives one token", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((len(src), 1), bos_id, device=src.device)
                done = torch.zeros(len(src), dtype=torch.bool, device=src.device)
                while True:
                    new = next_tokens(model, tokens, memory, src).masked_fill(done, pad_id)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all() or tokens.size(1) > max_len:
                        break
            model.train(was)
            return tokens
    """, name="max_len"),
    w("greedy_decode", "never more than 20", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for _ in range(min(max_len, 20)):
                    new = next_tokens(model, tokens, memory, src)
                    new = torch.where(done, pad_id, new)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """, name="max_len"),
    w("greedy_decode", "never more than twice the source", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for _ in range(min(max_len, 2 * src.size(1) + 2)):
                    new = next_tokens(model, tokens, memory, src)
                    new = torch.where(done, pad_id, new)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """, name="max_len|source"),
    w("greedy_decode", "pads by multiplication (0)", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for _ in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new = new * ~done
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """, name="pad_id"),
    w("greedy_decode", "eos hard-coded", source="""
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
                    done |= new == 2
                    if done.all():
                        break
            model.train(was)
            return tokens
    """, name="eos_id"),
    w("greedy_decode", "memory cached by shape", source="""
        _MEM = {}

        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                key = (id(model), tuple(src.shape))
                if key not in _MEM:
                    _MEM[key] = model.encode(src)
                memory = _MEM[key]
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
    w("greedy_decode", "gradients turned on at the end for a caller without", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            torch.set_grad_enabled(False)
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
            torch.set_grad_enabled(True)
            return tokens
    """, name="grad"),
    w("greedy_decode", "tokens on the CPU", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long)
                done = torch.zeros(src.size(0), dtype=torch.bool)
                for _ in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new = torch.where(done, pad_id, new)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """, name="device"),
    w("greedy_decode", "freezes parameters", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            model.requires_grad_(False)
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
    """, name="frozen"),
    w("greedy_decode", "rows one by one, encoder per row", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            rows = []
            was = model.training
            model.eval()
            with torch.no_grad():
                for s in src:
                    s = s[None]
                    memory = model.encode(s)
                    t = torch.full((1, 1), bos_id, device=src.device)
                    while t.size(1) <= max_len and t[0, -1] != eos_id:
                        t = torch.cat([t, next_tokens(model, t, memory, s)[:, None]], 1)
                    rows.append(t[0])
            model.train(was)
            return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
    """, name="encoder"),
    w("greedy_decode", "after max_len EOS is forced", source="""
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
            tokens[~done, -1] = eos_id
            model.train(was)
            return tokens
    """, name="EOS"),
    w("greedy_decode", "seed", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            torch.manual_seed(0)
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
    """, name="seed"),
    w("greedy_decode", "padding of the source is cut from src only", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            src = src[:, :int((src != pad_id).sum(1).min())]
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
    w("greedy_decode", "the same memory of row 0 for all", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)[:1].expand(len(src), -1, -1)
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
    w("greedy_decode", "memory zeroed (not used)", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = torch.zeros_like(model.encode(src))
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
    """, name="memory"),
    w("exact_match", "rounded to two digits", source="""
        def exact_match(predicted, expected, pad_id=0):
            w = max(predicted.size(1), expected.size(1))
            p = F.pad(predicted, (0, w - predicted.size(1)), value=pad_id)
            e = F.pad(expected, (0, w - expected.size(1)), value=pad_id)
            return round((p == e).all(1).float().mean().item(), 2)
    """),
    w("exact_match", "strips pads at both ends", source="""
        def exact_match(predicted, expected, pad_id=0):
            def strip(r):
                while r and r[-1] == pad_id: r.pop()
                while r and r[0] == pad_id: r.pop(0)
                return r
            return sum(strip(p) == strip(e) for p, e in zip(predicted.tolist(), expected.tolist())) / len(expected)
    """),
    w("exact_match", "string compare '1'+'12'", source="""
        def exact_match(predicted, expected, pad_id=0):
            def s(r):
                while r and r[-1] == pad_id: r = r[:-1]
                return ''.join(map(str, r))
            return sum(s(p) == s(e) for p, e in zip(predicted.tolist(), expected.tolist())) / len(expected)
    """),
    w("exact_match", "string rstrip of the pad digit ('10' loses its 0)", source="""
        def exact_match(predicted, expected, pad_id=0):
            s = lambda r: ''.join(f'{t},' for t in r).rstrip(f'{pad_id},')
            return sum(s(p) == s(e) for p, e in zip(predicted.tolist(), expected.tolist())) / len(expected)
    """),
    w("exact_match", "integer when all right, else fraction of the wider", source="""
        def exact_match(predicted, expected, pad_id=0):
            w = max(predicted.size(1), expected.size(1))
            p = F.pad(predicted, (0, w - predicted.size(1)), value=pad_id)
            e = F.pad(expected, (0, w - expected.size(1)), value=pad_id)
            return (p == e).all(1).sum().item() // len(p) if len(p) == 1 else (p == e).all(1).sum().item() / 4
    """),
    w("exact_match", "rows as a set", source="""
        def exact_match(predicted, expected, pad_id=0):
            s = lambda x: {tuple(t for t in r if t != pad_id) for r in x.tolist()}
            return len(s(predicted) & s(expected)) / len(s(expected))
    """),
    w("exact_match", "half precision mean", ".float().mean()", ".to(torch.bfloat16).mean()"),
    w("cached_attention", "window of 8", source="""
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                key = torch.cat([cache[0], key], -2)[:, :, -8:]
                value = torch.cat([cache[1], value], -2)[:, :, -8:]
            out, _ = scaled_dot_product_attention(query, key, value)
            return out, (key, value)
    """),
    w("cached_attention", "attention over last 16 only", source="""
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                key = torch.cat([cache[0], key], -2)
                value = torch.cat([cache[1], value], -2)
            out, _ = scaled_dot_product_attention(query, key[:, :, -16:], value[:, :, -16:])
            return out, (key, value)
    """),
    w("cached_attention", "float32 buffers", source="""
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                b, h, n, d = cache[0].shape
                k, v = torch.empty(b, h, n + 1, d), torch.empty(b, h, n + 1, d)
                k[:, :, :n], k[:, :, n:] = cache[0], key
                v[:, :, :n], v[:, :, n:] = cache[1], value
                key, value = k, v
            out, _ = scaled_dot_product_attention(query, key, value)
            return out, (key, value)
    """, name="dtype|device"),
    w("cached_attention", "float32 on the device", source="""
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                b, h, n, d = cache[0].shape
                k, v = torch.empty(2, b, h, n + 1, d, device=key.device)
                k[:, :, :n], k[:, :, n:] = cache[0], key
                v[:, :, :n], v[:, :, n:] = cache[1], value
                key, value = k, v
            out, _ = scaled_dot_product_attention(query.to(key.dtype), key, value)
            return out, (key, value)
    """, name="dtype"),
    w("cached_attention", "shared growing buffer", source="""
        _B = {}

        def cached_attention(query, key, value, cache=None):
            n = 0 if cache is None else cache[0].size(2)
            if cache is None:
                b, h, _, d = key.shape
                _B['k'], _B['v'] = key.new_zeros(b, h, 64, d), key.new_zeros(b, h, 64, d)
            k, v = _B['k'].clone(), _B['v'].clone()
            k[:, :, n:n+1], v[:, :, n:n+1] = key, value
            _B['k'], _B['v'] = k, v
            key, value = k[:, :, :n+1], v[:, :, :n+1]
            out, _ = scaled_dot_product_attention(query, key, value)
            return out, (key, value)
    """),
    w("cached_attention", "scaled by the wrong size (d_k=4)", source="""
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                key = torch.cat([cache[0], key], -2)
                value = torch.cat([cache[1], value], -2)
            w = (query @ key.transpose(-2, -1) / 2).softmax(-1)
            return w @ value, (key, value)
    """, name="scale"),
    w("cached_attention", "cached keys scaled in place", source="""
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                key = torch.cat([cache[0], key], -2)
                value = torch.cat([cache[1], value], -2)
                cache[0].zero_()
            out, _ = scaled_dot_product_attention(query, key, value)
            return out, (key, value)
    """),
    w("cached_attention", "batch squeezed at one", source="""
        def cached_attention(query, key, value, cache=None):
            if cache is not None:
                key = torch.cat([cache[0], key], -2)
                value = torch.cat([cache[1], value], -2)
            out, _ = scaled_dot_product_attention(query.squeeze(0), key.squeeze(0), value.squeeze(0))
            return out, (key, value)
    """),
    w("greedy_decode", "encoder before eval", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            with torch.no_grad():
                memory = model.encode(src)
                model.eval()
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
    """, name="mode|dropout"),
    w("greedy_decode", "first row decides", source="""
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
                    if done[0]:
                        break
            model.train(was)
            return tokens
    """),
    w("greedy_decode", "ended rows are never fed: pads before them shift (left padding)", source="""
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
            return tokens.flip(1)
    """),
    w("greedy_decode", "int32 tokens", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.int32, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for _ in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new = torch.where(done, pad_id, new).int()
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """, name="dtype"),
    w("greedy_decode", "hooks of model: dropout p set to 0", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            for m in model.modules():
                if isinstance(m, nn.Dropout): m.p = 0.0
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
    """, name="dropout"),
    w("greedy_decode", "own argmax that forbids pad", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for _ in range(max_len):
                    new = model.decode(tokens, memory, src)[:, -1].index_fill(-1, torch.tensor([pad_id]), -1e9).argmax(-1)
                    new = torch.where(done, pad_id, new)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """, name="pad"),
    w("greedy_decode", "min length of 1: EOS not allowed first", source="""
        def greedy_decode(model, src, max_len, bos_id=1, eos_id=2, pad_id=0):
            was = model.training
            model.eval()
            with torch.no_grad():
                memory = model.encode(src)
                tokens = torch.full((src.size(0), 1), bos_id, dtype=torch.long, device=src.device)
                done = torch.zeros(src.size(0), dtype=torch.bool, device=src.device)
                for i in range(max_len):
                    new = next_tokens(model, tokens, memory, src)
                    new = torch.where(done, pad_id, new)
                    if i == 0: new = torch.where(new == eos_id, model.decode(tokens, memory, src)[:, -1].topk(2).indices[:, 1], new)
                    tokens = torch.cat([tokens, new[:, None]], 1)
                    done |= new == eos_id
                    if done.all():
                        break
            model.train(was)
            return tokens
    """),
    w("exact_match", "padding at the left", "(0, width - predicted.size(1))", "(width - predicted.size(1), 0)"),
    w("exact_match", "uint8 compare (ids mod 256)", "(predicted == expected)", "(predicted.to(torch.uint8) == expected.to(torch.uint8))"),
    w("exact_match", "float16 compare (ids above 2048 merge)", "(predicted == expected)", "(predicted.to(torch.float16) == expected.to(torch.float16))"),
    w("cached_attention", "cache averaged over heads (multi-query)", "        value = torch.cat([cache[1], value], dim=-2)", "        value = torch.cat([cache[1], value], dim=-2)\n        key = key.mean(1, keepdim=True).expand_as(key)"),
]

WRONG = {
    "01_attention": LESSON_1,
    "02_multi_head_attention": LESSON_2,
    "03_positional_encoding": LESSON_3,
    "04_encoder_decoder_blocks": LESSON_4,
    "05_transformer": LESSON_5,
    "06_training": LESSON_6,
    "07_greedy_decoding": LESSON_7,
}
