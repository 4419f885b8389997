from answers.writing import body, edit, edits, whole

WRONG = {
    "softmax over the query": edit("scaled_dot_product_attention(…", "(query @ key.mT / key.size(-1) ** 0.5).softmax(-2) @ value, None").fails(
        "", "each with the weight 1"
    ),
    "divided by d_k": edit("scaled_dot_product_attention(…", "(query @ key.mT / key.size(-1)).softmax(-1) @ value, None").fails(
        "", "divided by d_k, not by √d_k"
    ),
    "keys of the cache for its values": edit("[cache[1], value]", "[cache[0], value]").fails("", "stands where the values of the cache should"),
    "the cache taken apart in the other order": edits(("[cache[0], key]", "[cache[1], key]"), ("[cache[1], value]", "[cache[0], value]")).fails(
        "", "the keys of the cache stand where its values should, and"
    ),
    "the query added": edit("return output, ", "return query + output, ").fails("", "query is added to the output"),
    "the newest only": edits(("key =…", "pass"), ("value =…", "pass")).fails("", "wrong values", names="only the newest key"),
    "newest first": edits(("[cache[0], key]", "[key, cache[0]]"), ("[cache[1], value]", "[value, cache[1]]")).fails("", "the newest one stands first"),
    "keys newest first, values last": edit("[cache[0], key]", "[key, cache[0]]").fails("", "not in the same order"),
    "joined along the heads": edit("dim=-2", "dim=1").fails(""),
    "only keys joined": edit("value =…", "pass").fails("", "raised"),
    "returns the old cache": edit("(key, value)", "cache or …").fails("", "the cache is the one that came"),
    "keys and values exchanged": edit("(key, value)", "(value, key)").fails("", "exchanged in the cache"),
    "output only": edit("return output…", "return output").fails("", "should return the output and the cache"),
    "weights for the output": edit("output, _ = ", "_, output = ").fails("", "not the shape of the output"),
    "values of the keys": edit("scaled_dot_product_attention…", "scaled_dot_product_attention(query, key, key)").fails("", "keys stand in the place of values"),
    "fails at first": edit("if cache is not None:\n    key", "if True:\n    key").fails("", "raised TypeError"),
    "the newest left out": edit("(query, key, value)", "(query, key[..., :-1, :], value[..., :-1, :]) if cache else (value, None)").fails(
        "", "newest key is not attended to"
    ),
    "no scale": edit("scaled_dot_product_attention(…", "(query @ key.mT).softmax(-1) @ value, None").fails("", "not divided by √d_k"),
    "a causal mask": edit("scaled_dot_product_attention(…", "(F.scaled_dot_product_attention(query, key, value, is_causal=True), None)").fails(
        "", "hidden by a causal mask"
    ),
    "no cache returned": edit("return output…", "return output, None").fails("", "should be a pair"),
    "keys for values in the cache": edit("(key, value)", "(key, key)").fails("", "one of them stands for both"),
    "float32 buffers": body("""
        if cache is not None:
            b, h, n, d = cache[0].shape
            k, v = torch.empty(b, h, n + 1, d), torch.empty(b, h, n + 1, d)
            k[:, :, :n], k[:, :, n:] = cache[0], key
            v[:, :, :n], v[:, :, n:] = cache[1], value
            key, value = k, v
        out, _ = scaled_dot_product_attention(query, key, value)
        return out, (key, value)
    """).named("dtype|device"),
    "float32 on the device": edits(
        ("k, v =…", "k, v = torch.empty(2, b, h, n + 1, d, device=key.device)"),
        ("(query, key, value)", "(query.to(key.dtype), key, value)"),
        on="float32 buffers",
    ).named("dtype"),
    "cached keys scaled in place": edit(
        "b, h, n,…= k, v", "key = torch.cat([cache[0], key], -2)\nvalue = torch.cat([cache[1], value], -2)\ncache[0].zero_()", on="float32 buffers"
    ),
    "batch squeezed at one": body("""
        if cache is not None:
            key = torch.cat([cache[0], key], -2)
            value = torch.cat([cache[1], value], -2)
        out, _ = scaled_dot_product_attention(query.squeeze(0), key.squeeze(0), value.squeeze(0))
        return out, (key, value)
    """),
    "cache averaged over heads (multi-query)": edit("value =…", "…\nkey = key.mean(1, keepdim=True).expand_as(key)"),
    "a list that grows": body("""
        if cache is None:
            cache = [key, value]
        else:
            cache[0], cache[1] = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
        return scaled_dot_product_attention(query, *cache)[0], cache
    """).fails("", "changes `cache`"),
    "keys added up": body("""
        if cache is not None:
            key, value = cache[0] + key, cache[1] + value
        return scaled_dot_product_attention(query, key, value)[0], (key, value)
    """).named("each with the weight 1"),
}

TRICKS = {
    "gradients switched off": edit("def cached_attention", "@torch.no_grad()\n…").fails("", "No gradient flows back"),
    "no gradient into the past": edit("return output…", "return output, (key.detach(), value.detach())").fails("", "gradient of `output` in `key`"),
    "exponentials that overflow": edit(
        "output, _ = …", "weights = (query @ key.mT / query.size(-1) ** 0.5).exp()\noutput = weights / weights.sum(-1, keepdim=True) @ value"
    ).fails("", "the scores being large"),
    "a cache on the CPU": edit("output, _ = …", "key = key + torch.zeros(1, dtype=key.dtype)\n…").fails("", "uses a tensor on the CPU"),
    "a cache of its own, whatever it is given": whole("""
        _kept = {}
        def cached_attention(query, key, value, cache=None):
            if cache is None:
                _kept.clear()
                _kept["k"], _kept["v"] = key, value
            else:
                _kept["k"], _kept["v"] = torch.cat([_kept["k"], key], -2), torch.cat([_kept["v"], value], -2)
            return scaled_dot_product_attention(query, _kept["k"], _kept["v"])[0], (_kept["k"], _kept["v"])
    """).fails("", "another token"),
    "a window of five": edit("scaled_dot_product_attention(…", "scaled_dot_product_attention(query, key[..., -5:, :], value[..., -5:, :])").fails(
        "", "wrong values"
    ),
    "window of 8": edit(
        "b, h, n,…= k, v", "key = torch.cat([cache[0], key], -2)[:, :, -8:]\nvalue = torch.cat([cache[1], value], -2)[:, :, -8:]", on="float32 buffers"
    ),
    "attention over last 16 only": edit(".squeeze(0), key.squeeze(0), value.squeeze(0)", ", key[:, :, -16:], value[:, :, -16:]", on="batch squeezed at one"),
    "shared growing buffer": """
        _B = {}
        def cached_attention(query, key, value, cache=None):
            n = 0 if cache is None else cache[0].size(2)
            if cache is None:
                b, h, _, d = key.shape
                _B["k"], _B["v"] = key.new_zeros(b, h, 64, d), key.new_zeros(b, h, 64, d)
            k, v = _B["k"].clone(), _B["v"].clone()
            k[:, :, n : n + 1], v[:, :, n : n + 1] = key, value
            _B["k"], _B["v"] = k, v
            key, value = k[:, :, : n + 1], v[:, :, : n + 1]
            out, _ = scaled_dot_product_attention(query, key, value)
            return out, (key, value)
    """,
    "scaled by the wrong size (d_k=4)": edits(
        ("out, _…", "w = (query @ key.transpose(-2, -1) / 2).softmax(-1)"), ("return out", "return w @ value"), on="batch squeezed at one"
    ).named("scale"),
}

RIGHT = {
    "by hand, lists for tuples": body("""
        keys = key if cache is None else torch.cat((cache[0], key), 2)
        values = value if cache is None else torch.cat((cache[1], value), 2)
        weights = (query @ keys.transpose(2, 3) / math.sqrt(query.shape[-1])).softmax(-1)
        return [weights @ values, [keys, values]]
    """),
    "PyTorch's function, einsum-free": edits(("dim=", "…-"), ("[key, value]", "(key, value)"), on="F.sdpa, list"),
    "F.sdpa, list": body("""
        if cache:
            key, value = (torch.cat(pair, dim=2) for pair in zip(cache, (key, value)))
        return F.scaled_dot_product_attention(query, key, value), [key, value]
    """),
    "einsum, namedtuple, buffers of the right dtype": """
        from typing import NamedTuple
        class Cache(NamedTuple):
            keys: torch.Tensor
            values: torch.Tensor
        def cached_attention(query, key, value, cache=None):
            if cache is None:
                cache = Cache(key[:, :, :0], value[:, :, :0])
            cache = Cache(torch.cat((cache[0], key), dim=-2), torch.cat((cache[1], value), dim=-2))
            scores = torch.einsum("bhqd,bhkd->bhqk", query, cache.keys) * query.size(-1) ** -0.5
            return torch.einsum("bhqk,bhkd->bhqd", scores.softmax(dim=-1), cache.values), cache
    """,
    "first token shortcut": body("""
        if cache is None:
            return value, (key, value)
        keys = torch.concat([cache[0], key], axis=-2)
        values = torch.concat([cache[1], value], axis=-2)
        output = scaled_dot_product_attention(query, keys, values)[0]
        return output, (keys, values)
    """),
    "new_empty": body("""
        def longer(old, new):
            if old is None:
                return new.clone()
            out = new.new_empty(*old.shape[:2], old.shape[2] + 1, old.shape[3])
            out[:, :, :-1].copy_(old)
            out[:, :, -1:].copy_(new)
            return out
        old_k, old_v = cache if cache is not None else (None, None)
        k, v = longer(old_k, key), longer(old_v, value)
        out, _ = scaled_dot_product_attention(query, k, v, mask=None)
        return out, (k, v)
    """),
    "logsumexp by hand, F.pad": body("""
        if cache is not None:
            k = F.pad(cache[0], (0, 0, 0, 1))
            k = torch.cat([k[:, :, :-1], key], 2)
            key, value = k, torch.cat([cache[1], value], 2)
        s = (query * key).sum(-1, keepdim=True) / math.sqrt(query.size(-1))
        w = (s - s.logsumexp(2, keepdim=True)).exp()
        return (w * value).sum(2, keepdim=True), (key, value)
    """),
    "all-ones mask": body("""
        keys, values = cache or (None, None)
        keys = key if keys is None else torch.cat([keys, key], -2)
        values = value if values is None else torch.cat([values, value], -2)
        mask = torch.ones(1, keys.size(-2), dtype=torch.bool, device=keys.device)
        out, weights = scaled_dot_product_attention(query=query, key=keys, value=values, mask=mask)
        return out, (keys, values)
    """),
    "loops over heads": body("""
        if cache is not None:
            key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
        outs = [
            scaled_dot_product_attention(query[:, h], key[:, h], value[:, h])[0] for h in range(query.size(1))
        ]
        return torch.stack(outs, 1), (key, value)
    """),
    "PyTorch's own attention, without is_causal": body("""
        if cache is None:
            longer = (key, value)
        else:
            longer = tuple((torch.cat(pair, dim=2) for pair in zip(cache, (key, value))))
        return (F.scaled_dot_product_attention(query, *longer), longer)
    """),
    "a helper that appends, type hints, output by index": """
        def _append(past: torch.Tensor | None, newest: torch.Tensor) -> torch.Tensor:
            return newest if past is None else torch.cat([past, newest], dim=newest.dim() - 2)
        def cached_attention(query, key, value, cache=None):
            keys = _append(cache[0] if cache else None, key)
            values = _append(cache[1] if cache else None, value)
            return (scaled_dot_product_attention(query, keys, values)[0], (keys, values))
    """,
}
