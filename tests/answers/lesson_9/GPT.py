from answers.writing import edit, edits

LOOP = "for i, layer in enumerate(self.layers):"
LOGITS = "logits = F.linear(self.norm(x), self.embedding.weight)"

WRONG = {
    "no last norm": edit("self.norm(x)", "x").fails("logits", "the last norm is left out"),
    "the embedding scaled": edit("self.embedding(tokens), []", "self.embedding(tokens) * self.embedding.weight.size(1) ** 0.5, []").fails(
        "logits", "multiplied by √d_model"
    ),
    "waves": edit(
        LOOP,
        "places = torch.arange(x.size(1))[:, None]\nrates = 10000 ** (-torch.arange(0, x.size(2), 2) / x.size(2))\nangles = places * rates\nx = x + torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)\n…",
    ).fails("logits", "waves are added"),
    "the first block alone": edit("enumerate(self.layers)", "enumerate(self.layers[:1])").fails("logits", "only the first block"),
    "the last block alone": edit("enumerate(self.layers)", "enumerate(self.layers[-1:])").fails("logits", names="only the last block|every block reads"),
    "the first block for all": edit("x, kept = layer(", "x, kept = self.layers[0](").fails("logits", "in the place of all"),
    "in reverse order": edit("enumerate(self.layers)", "enumerate(reversed(self.layers))").fails("logits", "reverse order"),
    "no block": edit("x, kept = layer(", "_, kept = layer(").fails("logits", "what the blocks return is not used"),
    "one cache for all": edits(
        ("embedding(tokens), []", "embedding(tokens), []\nkept = None"), ("layer(x, cache[i] if cache else None)", "layer(x, kept)")
    ).fails("logits", "the cache of the block before it"),
    "the tuple as x": edits(("x, kept = layer(x, cache[i] if cache else None)", "x = layer(x)"), ("longer.append(kept)", "")).fails(
        "logits", "Take the two apart"
    ),
    "an embedding of zeros": edit("self.norm =…", "…\nnn.init.zeros_(self.embedding.weight)").fails("logits", "all numbers of `embedding.weight` are the same"),
    "every block reads the embedding": edits(("x, longer =", "start, longer ="), ("layer(x,", "layer(start,")).fails(
        "logits", names="every block reads|only the last block"
    ),
    "the norm before the blocks": edits((LOOP, f"x = self.norm(x)\n{LOOP}"), ("self.norm(x), ", "x, ")).fails("logits", "the norm comes before the blocks"),
    "two norms": edit(LOOP, f"x = self.norm(x)\n{LOOP}").fails("logits", "a norm before the blocks as well"),
    "probabilities": edit(LOGITS, f"{LOGITS}.softmax(dim=-1)").fails("logits", "turned into probabilities"),
    "logarithms": edit(LOGITS, f"{LOGITS}.log_softmax(dim=-1)").fails("logits", "logarithms of probabilities"),
    "no output layer": edit(LOGITS, "logits = self.norm(x)").fails("logits", "wrong shape"),
    "divided": edit(LOGITS, f"{LOGITS} / x.size(-1) ** 0.5").fails("logits", "the logits are divided by √d_model"),
    "an output layer of its own": edits(
        ("self.norm = RMSNorm(d_model)", "…\nself.output = nn.Linear(d_model, vocab_size, bias=False)"), (LOGITS, "logits = self.output(self.norm(x))")
    ).fails("logits", "should not have: `output.weight`"),
    "a bias": edits(("self.norm = RMSNorm(d_model)", "…\nself.bias = nn.Parameter(torch.zeros(vocab_size))"), ("weight", "weight, self.bias")).fails(
        "logits", "should not have"
    ),
    "one block many times": edit("[GPTBlock(*sizes) for _ in range(num_layers)]", "[GPTBlock(*sizes)] * num_layers").fails("logits", "share their parameters"),
    "a plain list": edit("nn.ModuleList([GPTBlock(*sizes) for _ in range(num_layers)])", "[GPTBlock(*sizes) for _ in range(num_layers)]").fails("logits"),
    "one block too few": edit("range(num_layers)", "range(num_layers - 1)").fails("logits"),
    "heads exchanged": edit("num_heads, num_kv_heads, d_ff\n", "num_kv_heads, num_heads, d_ff\n").fails("logits"),
    "other names": edit("self.layers", "self.blocks").fails("logits", "layers"),
    "no cache handed on": edit("cache[i] if cache else None", "None").fails("cache", "it is not handed to them, or"),
    "what the blocks return not kept": edit("(kept", "(cache[i] if cache else None").fails("cache", "or what they return is not kept"),
    "the first block's cache for all": edit("cache[i]", "cache[0]").fails("cache", "the cache of the first"),
    "the last block's cache for all": edit("cache[i]", "cache[-1]").fails("cache", "the cache of the last"),
    "caches in reverse": edit("cache[i]", "cache[-1 - i]").fails("cache", "in reverse order"),
    "logits alone": edit("return logits if cache is None else (logits, longer)", "return logits").fails("cache", "should return two things"),
    "no cache from an empty one": edit("cache is None ", "not cache ").fails("cache", "should return two things"),
    "always both": edit("return logits if cache is None else (logits, longer)", "return logits, longer").fails("logits", "torch.Tensor"),
    "the old cache": edit("(logits, longer)", "(logits, cache)").fails("cache"),
    "the list it was given": edits(
        ("longer.append(kept)", "longer.append(kept)\nif cache is not None:\n    cache[i : i + 1] = [kept]"), ("(logits, longer)", "(logits, cache)")
    ).fails("cache"),
    "an empty list fails": edit("cache[i] if cache else None", "None if cache is None else cache[i]").fails("cache", "raised IndexError"),
    "the last token alone": edit("self.norm(x), self", "self.norm(x[:, -1:]), self").fails("logits", "wrong shape"),
    "the embedding detached": edit("self.embedding.weight)", "self.embedding.weight.detach())").fails("logits", "gradient"),
    "blocks detached": edit("layer(x,", "layer(x.detach(),").fails("logits"),
}

TRICKS = {
    "not for one row": edit(LOGITS, f"x = x.squeeze(0)\n{LOGITS}").fails("logits"),
    "at most two blocks": edit("enumerate(self.layers)", "enumerate(self.layers[:2])").fails("logits"),
}

RIGHT = {
    "a matrix product": edit(LOGITS, "logits = self.norm(x) @ self.embedding.weight.T"),
    "einsum": edit(LOGITS, 'logits = torch.einsum("bsd,vd->bsv", self.norm(x), self.embedding.weight)'),
    "a cache without gradients": edit("longer.append(kept)", "longer.append([each.detach() for each in kept])"),
    "a tied layer": edits(
        ("self.norm = RMSNorm(d_model)", "…\nself.output = nn.Linear(d_model, vocab_size, bias=False)\nself.output.weight = self.embedding.weight"),
        (LOGITS, "logits = self.output(self.norm(x))"),
    ),
    "a list of Nones": edits((LOOP, f"given = cache or [None] * len(self.layers)\n{LOOP}"), ("cache[i] if cache else None", "given[i]")),
    "zip": edits((LOOP, "for layer, before in zip(self.layers, cache or [None] * len(self.layers)):"), ("cache[i] if cache else None", "before")),
    "appended to the list": edits(
        (
            "self.layers = nn.ModuleList([GPTBlock(*sizes) for _ in range(num_layers)])",
            "self.layers = nn.ModuleList()\nfor _ in range(num_layers):\n    self.layers.append(GPTBlock(*sizes))",
        )
    ),
    "F.embedding": edit("self.embedding(tokens), []", "F.embedding(tokens, self.embedding.weight), []"),
    "indexed": edit("self.embedding(tokens), []", "self.embedding.weight[tokens], []"),
    "a tuple for a list": edit("(logits, longer)", "[logits, tuple(longer)]"),
    "initialised": edit("self.norm = RMSNorm(d_model)", "…\nnn.init.normal_(self.embedding.weight, std=0.02)"),
    "two ways out": edit("return logits if cache is None else (logits, longer)", "if cache is None:\n    return logits\nreturn logits, longer"),
    "PyTorch's norm": edit("self.norm = RMSNorm(d_model)", "self.norm = nn.RMSNorm(d_model, eps=1e-6)"),
}
