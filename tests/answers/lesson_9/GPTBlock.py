from answers.writing import BARE, edit, edits

ATTEND = "attended, cache = self.attention(self.norm_1(x), cache)"
FEED = "return x + self.feed_forward(self.norm_2(x)), cache"

WRONG = {
    "post-norm": edits(
        (ATTEND, "attended, cache = self.attention(x, cache)"),
        ("x = x + attended", "x = self.norm_1(x + attended)"),
        (FEED, "return self.norm_2(x + self.feed_forward(x)), cache"),
    ).fails("", "post-norm"),
    "attention without its norm": edit("self.norm_1(x)", "x").fails("", "the attention reads x without its norm"),
    "network without its norm": edit("self.norm_2(x)", "x").fails("", "the feed-forward network reads its input without its norm"),
    "no norms": edits(("self.norm_1(x)", "x"), ("self.norm_2(x)", "x")).fails("", "neither part gets its input normalised"),
    "norms exchanged": edits(("norm_1(", "SECOND("), ("norm_2(", "norm_1("), ("SECOND", "norm_2")).fails("", "are exchanged"),
    "the first norm twice": edit("self.norm_2(x)", "self.norm_1(x)").fails("", "norm_1 is used twice"),
    "the second norm twice": edit("self.norm_1(x)", "self.norm_2(x)").fails("", "norm_2 is used twice"),
    "sums from the norms": edits(
        (ATTEND, f"x = self.norm_1(x)\n{ATTEND.replace('self.norm_1(x)', 'x')}"), (FEED, "x = self.norm_2(x)\nreturn x + self.feed_forward(x), cache")
    ).fails("", "the sum starts from norm(x)"),
    "no first sum": edit("x = x + attended", "x = attended").fails("", "nothing is added to the attention's output"),
    "no second sum": edit("return x + self", "return self").fails("", "nothing is added to the feed-forward network's output"),
    "no sums": edits(("x = x + attended", "x = attended"), ("return x + self", "return self")).fails("", "nothing is added at all"),
    "the second sum from the input": edits((ATTEND, f"start = x\n{ATTEND}"), ("return x + self", "return start + self")).fails(
        "", "the second sum starts from the block's input"
    ),
    "the network reads the input": edits((ATTEND, f"start = x\n{ATTEND}"), ("self.norm_2(x)", "self.norm_2(start)")).fails("", "side by side"),
    "side by side": edits(("x = x + attended", ""), (FEED, "return x + attended + self.feed_forward(self.norm_2(x)), cache")).fails("", "side by side"),
    "the network first": edits((ATTEND, "x = x + self.feed_forward(self.norm_2(x))"), ("x = x + attended", ATTEND), (FEED, "return x + attended, cache")).fails(
        "", "the feed-forward network comes before the attention"
    ),
    "no attention": edit("x = x + attended", "").fails("", "the attention is left out"),
    "no network": edit(FEED, "return x, cache").fails("", "the feed-forward network is left out"),
    "outputs normalised": edits(
        ("self.norm_1(x)", "x"), (" + attended", " + self.norm_1(attended)"), (FEED, "return x + self.norm_2(self.feed_forward(x)), cache")
    ).fails("", "the parts' outputs are normalised"),
    "normalised once more": edit(FEED, "return self.norm_2(x + self.feed_forward(self.norm_2(x))), cache").fails("", "the output is normalised once more"),
    "the cache not handed on": edit("self.attention(self.norm_1(x), cache)", "self.attention(self.norm_1(x))").fails(
        "", "the cache is not handed to the attention"
    ),
    "output alone": edit(", cache\n", "\n").fails("", "should return two things"),
    "the old cache": edit("attended, cache =", "attended, _ =").fails(""),
    "a first cache that stays": edit(ATTEND, f"{ATTEND.replace(', cache =', ', longer =')}\ncache = longer if cache is None else cache").fails(
        "", "returns that cache, without what is new"
    ),
    "a cache as if there were none": edit(ATTEND, f"{ATTEND.replace(', cache =', ', _ =')}\n_, cache = self.attention(self.norm_1(x))").fails(
        "", "returns what a call without one does"
    ),
    "the newest alone": edit(ATTEND, f"{ATTEND}\ncache = tuple(each[:, :, -x.size(1) :] for each in cache)").fails("", "the newest keys and values alone"),
    "the tuple is normed": edits((ATTEND, "attended = self.attention(self.norm_1(x), cache)"), ("x = x + attended", "x = self.norm_2(attended)")).fails(
        "", "Take the two apart"
    ),
    "the tuple is added": edit(ATTEND, "attended = self.attention(self.norm_1(x), cache)").fails("", "raised TypeError"),
    "one norm": edit("self.norm_2 = RMSNorm(d_model)", "self.norm_2 = self.norm_1").fails("", "same module"),
    "layer norms": edit("RMSNorm(d_model)", "nn.LayerNorm(d_model)").fails("", "should not have: `norm_1.bias`"),
    "all heads": edit("num_heads, num_kv_heads)", "num_heads, num_heads)").fails("", "wrong shape"),
    "other names": edit("self.feed_forward", "self.mlp").fails("", "no"),
    "x added once more": edit("return x + self", "return x + x + self").fails("", "wrong values"),
    "in place": edit("x = x + attended", "x += attended").fails("", "changes `x`"),
}

TRICKS = {
    "remembers what it said": edit("def forward", "@__import__('functools').lru_cache(maxsize=None)\ndef forward").fails("", "with other weights"),
    "the network detached": edit(FEED, "return x + self.feed_forward(self.norm_2(x)).detach(), cache").fails(""),
    "another in training": edit("return x + self", "if self.training:\n    return x, cache\n…").fails("", names="left out"),
    "blocks share their network": """
        class GPTBlock(nn.Module):
            shared = {}
            def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
                super().__init__()
                self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)
                self.attention = GroupedQueryAttention(d_model, num_heads, num_kv_heads)
                self.feed_forward = GPTBlock.shared.setdefault((d_model, d_ff), SwiGLU(d_model, d_ff))
            def forward(self, x, cache=None):
                attended, cache = self.attention(self.norm_1(x), cache)
                x = x + attended
                return x + self.feed_forward(self.norm_2(x)), cache
    """,
}

RIGHT = {
    "a list": edit(FEED, "return [x + self.feed_forward(self.norm_2(x)), cache]"),
    "names": edits(
        (ATTEND, "result = self.attention(self.norm_1(x), cache=cache)"),
        ("x = x + attended", "y = x + result[0]"),
        (FEED, "return y + self.feed_forward(self.norm_2(y)), result[1]"),
    ),
    "a cache without gradients": edit(", cache\n", ", tuple(each.detach() for each in cache)\n"),
    "torch.add": edits(("x + attended", "torch.add(attended, x)"), ("x + self.feed_forward(self.norm_2(x", "torch.add(x, self.feed_forward(self.norm_2(x)")),
    "in place on its own sum": edits(("x = x + attended", "x = attended.add(x)"), (FEED, "return self.feed_forward(self.norm_2(x)) + x, cache")),
    "a helper": edits(
        (ATTEND, "attended, longer = self.attention(self.norm_1(x), cache)"),
        (FEED, "return self.fed(x), longer"),
        ("def forward", "def fed(self, x):\n    return x + self.feed_forward(self.norm_2(x))\n\ndef forward"),
    ),
    "one sum at the end": edits(("x = x + attended", "y = x + attended"), (FEED, "return x + attended + self.feed_forward(self.norm_2(y)), cache")),
    "PyTorch's norm": edit("RMSNorm(d_model)", "nn.RMSNorm(d_model, eps=1e-6)"),
    "bare": edits(("attended, cache", "out, cache"), ("x + attended", "out + x"), on=BARE),
    "a dictionary of parts": edits(("self.norm_1 =…", "self.norm_1, self.norm_2 = (RMSNorm(d_model) for _ in range(2))"), ("self.norm_2 = RMSNorm…", "")),
    "parts by keyword": edits(("SwiGLU(d_model, d_ff)", "SwiGLU(d_ff=d_ff, d_model=d_model)")),
}
