from answers.writing import edit, edits

ATTEND = "output, _ = scaled_dot_product_attention(query, *shared, mask.tril(start))"
POSITIONS = "positions =…"
QUERY = "query = rotate(split_heads(self.w_q(x), self.num_heads), positions)"
KEY = "key = rotate(split_heads(self.w_k(x), self.num_kv_heads), positions)"

WRONG = {
    "heads in turns": edit("each.repeat_interleave(groups, dim=1)", "each.repeat(1, groups, 1, 1)").fails("values", "head i mod num_kv_heads"),
    "no mask": edit(", mask.tril(start))", ")").fails("values", "the future is not hidden", names="see those that come after"),
    "the past hidden": edit("mask.tril(start)", "mask.triu(start)").fails("values", "the past is hidden"),
    "a square mask": edit("mask.tril(start)", "mask.tril()").fails("cache", "a causal mask hides keys of the cache"),
    "nothing hidden behind the cache": edit("mask.tril(start)", "mask.tril() if start == 0 else mask").fails("cache", "after them where there is a cache"),
    "the newest token hidden from itself": edit("mask.tril(start)", "mask.tril(start - 1) if start else mask.tril()").fails(
        "cache", "new tokens do not see themselves"
    ),
    "one place too far": edit("mask.tril(start)", "mask.tril(start + 1)").fails("future", "A position may see itself"),
    "no rotation": edits((QUERY, "query = split_heads(self.w_q(x), self.num_heads)"), (KEY, "key = split_heads(self.w_k(x), self.num_kv_heads)")).fails(
        "values", "nothing is rotated"
    ),
    "no rotation, no mask": edits((", mask.tril(start))", ")"), on="no rotation").fails(
        "values", "nothing is rotated, and the future", names="the future is not hidden|see those that come after"
    ),
    "queries rotated": edit(KEY, "key = split_heads(self.w_k(x), self.num_kv_heads)").fails("values", "only the queries are rotated"),
    "keys rotated": edit(QUERY, "query = split_heads(self.w_q(x), self.num_heads)").fails("values", "only the keys are rotated"),
    "values rotated": edit(
        "value = split_heads(self.w_v(x), self.num_kv_heads)", "value = rotate(split_heads(self.w_v(x), self.num_kv_heads), positions)"
    ).fails("values", "the values are rotated, too"),
    "rotated before the heads are split": edits(
        (QUERY, "query = split_heads(rotate(self.w_q(x), positions), self.num_heads)"),
        (KEY, "key = split_heads(rotate(self.w_k(x), positions), self.num_kv_heads)"),
    ).fails("values", "before the heads are split"),
    "the first keys for all": edit("each.repeat_interleave(groups, dim=1)", "each[:, :1].expand(-1, self.num_heads, -1, -1)").fails(
        "values", "all heads share the first keys"
    ),
    "the mean of the keys": edit("each.repeat_interleave(groups, dim=1)", "each.mean(dim=1, keepdim=True).expand(-1, self.num_heads, -1, -1)").fails(
        "values", "the mean of the keys and values"
    ),
    "keys for values": edit("(key, value)]", "(key, key)]").fails("values", "the keys stand in the place of the values"),
    "keys and values exchanged": edit("(key, value)]", "(value, key)]").fails("values", "wrong values", names="exchanged"),
    "no scale": edit(ATTEND, "scores = (query @ shared[0].mT).masked_fill(~mask.tril(start), -torch.inf)\noutput = scores.softmax(-1) @ shared[1]").fails(
        "values", "not divided by √d_k"
    ),
    "divided by d_k": edits(("query @ shared[0].mT", "query @ shared[0].mT / query.size(-1)"), on="no scale").fails("values", "divided by d_k, not"),
    "divided by √d_model": edits(("query @ shared[0].mT", "query @ shared[0].mT / x.size(-1) ** 0.5"), on="no scale").fails("values", "by √d_model"),
    "w_o not used": edit("self.w_o(merge_heads(output))", "merge_heads(output)").fails("values", "`w_o` is not used"),
    "a residual": edit("return self", "return x + self").fails("values", "the block's job"),
    "merged without a transpose": edit("merge_heads(output)", "output.reshape(x.shape)").fails("values", "`transpose` is missing"),
    "places from 0": edit(POSITIONS, "positions = torch.arange(x.size(1), device=x.device)").fails("cache", "placed from 0 on"),
    "the past forgotten": edit("if cache is not None:", "if False:").fails("cache", "only as many are kept as are new"),
    "the past not attended to": edits(
        (ATTEND, "output, _ = scaled_dot_product_attention(query, *(each[:, :, start:] for each in shared), mask.tril(start)[:, start:])")
    ).fails("cache", "the cache is not attended to"),
    "keys repeated in the cache": edit(", (key, value)", ", tuple(shared)").fails("cache", "has a copy of its own"),
    "the newest first": edits(("cache[0], key", "key, cache[0]"), ("cache[1], value", "value, cache[1]")).fails("cache", "stand before those of the cache"),
    "values before keys in the cache": edit(", (key, value)", ", (value, key)").fails("cache", "are exchanged: they come back"),
    "the cache is cut off at its other end": edit(", (key, value)", ", (key[:, :, : x.size(1)], value[:, :, : x.size(1)])").fails(
        "cache", "only as many are kept as are new"
    ),
    "only the newest in the cache": edit(", (key, value)", ", (key[:, :, start:], value[:, :, start:])").fails("cache", "only as many are kept as are new"),
    "the old cache returned": edit(", (key, value)", ", cache or (key, value)").fails("cache"),
    "a cache of keys alone": edit(", (key, value)", ", key").fails("values", "should return"),
    "output alone": edit(", (key, value)\n", "\n").fails("values", "should return two things"),
    "keys in the cache turned again": edits(
        (KEY, "key = split_heads(self.w_k(x), self.num_kv_heads)"), ("groups =…", "key = rotate(key, torch.arange(key.size(2), device=x.device))\n…")
    ).fails("cache", "turned once more"),
    "queries from 0": edit(QUERY, QUERY.replace("positions", "positions - start")).fails("cache", "their keys are not"),
    "keys from 0": edit(KEY, KEY.replace("positions", "positions - start")).fails("cache", "their queries are not"),
    "a mask too narrow": edit("mask.tril(start)", "mask.tril(start - 1)").fails("values", "a token does not see itself"),
    "dropout": edit("merge_heads(output)", "F.dropout(merge_heads(output), 0.1)").fails("future", "given once more"),
    "a list that grows": edits(
        ("key = torch", "cache[0].data = torch"), ("value = torch…", "cache[1].data = torch.cat([cache[1], value], dim=2)\nkey, value = cache")
    ).fails("cache"),
    "biases": edit(", bias=False", "").fails("parameters", "should not have"),
    "as many keys as queries": edit("kept = num_kv_heads", "kept = num_heads").fails("parameters", "wrong shape"),
    "w_o too narrow": edit("self.w_o = nn.Linear(d_model, d_model", "self.w_o = nn.Linear(d_model, kept").fails("parameters", "wrong shape"),
    "heads counted wrong": edit("split_heads(self.w_q(x), self.num_heads)", "split_heads(self.w_q(x), self.num_kv_heads)").fails("values"),
    "a mask on the CPU": edit(
        "mask = torch.ones(x.size(1), key.size(2), dtype=torch.bool, device=x.device)",
        "mask = torch.ones(x.size(1), key.size(2), dtype=torch.bool) & torch.ones(1, dtype=torch.bool).to(x.device, copy=True)",
    ).fails("values"),
    "detached keys": edit(KEY, KEY.replace("self.w_k(x)", "self.w_k(x).detach()")).fails("values", "gradient"),
}

TRICKS = {
    "remembers what it said": edit("def forward", "@__import__('functools').lru_cache(maxsize=None)\ndef forward").fails("values", "with other weights"),
    "a window of five": edit("mask.tril(start)", "mask.tril(start).triu(start - 4)").fails("values"),
    "a cache of its own": """
        class GroupedQueryAttention(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads):
                super().__init__()
                self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
                kept = num_kv_heads * (d_model // num_heads)
                self.w_q, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
                self.w_k, self.w_v = (nn.Linear(d_model, kept, bias=False) for _ in range(2))
                self.seen = None
            def forward(self, x, cache=None):
                self.seen = x if cache is None else torch.cat([self.seen, x], dim=1)
                positions = torch.arange(self.seen.size(1), device=x.device)
                query = rotate(split_heads(self.w_q(self.seen), self.num_heads), positions)
                key = rotate(split_heads(self.w_k(self.seen), self.num_kv_heads), positions)
                value = split_heads(self.w_v(self.seen), self.num_kv_heads)
                shared = [each.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1) for each in (key, value)]
                mask = torch.ones(self.seen.size(1), self.seen.size(1), dtype=torch.bool, device=x.device).tril()
                output, _ = scaled_dot_product_attention(query, *shared, mask)
                return self.w_o(merge_heads(output))[:, -x.size(1):], (key, value)
    """,
    "a cache that it keeps": edits(
        ("self.num_heads, self.num_kv_heads =…", "…\nself.kept = None"),
        ("start = 0", "cache = self.kept if cache is None and self.kept is not None and len(self.kept[0]) == len(x) else cache\nstart = 0"),
        ("groups =…", "self.kept = key.detach(), value.detach()\n…"),
    ).fails("future", "given once more"),
    "the future at large numbers": edit(
        ATTEND, "scores = (query @ shared[0].mT / query.size(-1) ** 0.5).masked_fill(~mask.tril(start), -2.0)\noutput = scores.softmax(-1) @ shared[1]"
    ).fails("values"),
}

RIGHT = {
    "PyTorch's groups": edit(ATTEND, "output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask.tril(start), enable_gqa=True)"),
    "a cache without gradients": edit(", (key, value)", ", (key.detach(), value.detach())"),
    "places compared": edits(("mask = …", "mask = positions[:, None] >= torch.arange(key.size(2), device=x.device)"), ("mask.tril(start)", "mask")),
    "a dimension of groups": edit("each.repeat_interleave(groups, dim=1)", "each[:, :, None].expand(-1, -1, groups, -1, -1).flatten(1, 2)"),
    "keys kept before they are turned": edits(
        (KEY, "key = split_heads(self.w_k(x), self.num_kv_heads)"),
        ("groups =…", "kept, key = (key, value), rotate(key, torch.arange(key.size(2), device=x.device))\n…"),
        (", (key, value)", ", kept"),
    ),
    "by hand": edit(
        ATTEND,
        "scores = query @ shared[0].mT / math.sqrt(query.size(-1))\nweights = scores.masked_fill(~mask.tril(start), -torch.inf).softmax(-1)\noutput = weights @ shared[1]",
    ),
    "large negative scores": edit(
        ATTEND, "scores = query @ shared[0].mT / math.sqrt(query.size(-1))\noutput = scores.masked_fill(~mask.tril(start), -1e9).softmax(-1) @ shared[1]"
    ),
    "einsum in groups": edit(
        ATTEND,
        "grouped = query.unflatten(1, (self.num_kv_heads, groups))\n"
        'scores = torch.einsum("bkgqd,bksd->bkgqs", grouped, key) / math.sqrt(query.size(-1))\n'
        "weights = scores.masked_fill(~mask.tril(start), -torch.inf).softmax(-1)\n"
        'output = torch.einsum("bkgqs,bksd->bkgqd", weights, value).flatten(1, 2)',
    ),
    "lists": edit("return self.w_o(merge_heads(output)), (key, value)", "return [self.w_o(merge_heads(output)), [key, value]]"),
    "values before keys, both ways": edits((", (key, value)", ", (value, key)"), ("cache[0], key", "cache[1], key"), ("cache[1], value", "cache[0], value")),
    "head by head": edit(
        ATTEND,
        "heads = [scaled_dot_product_attention(query[:, i], key[:, i // groups], value[:, i // groups], mask.tril(start))[0] for i in range(self.num_heads)]\noutput = torch.stack(heads, dim=1)",
    ),
    "an empty cache at first": edits(
        (
            "start = 0 if cache is None else cache[0].size(2)",
            "d_k = self.w_q.weight.size(0) // self.num_heads\nnothing = x.new_empty(len(x), self.num_kv_heads, 0, d_k)\ncache = cache or (nothing, nothing)\nstart = cache[0].size(2)",
        )
    ),
    "views": edits(
        ("split_heads(self.w_q(x), self.num_heads)", "self.w_q(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)"),
        ("merge_heads(output)", "output.transpose(1, 2).flatten(2)"),
    ),
    "the mask negated twice": edit("mask.tril(start)", "~mask.triu(start + 1)"),
}
