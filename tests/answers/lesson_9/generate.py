from answers.writing import body, edit, edits

SAMPLE = "newest = sample(logits[:, -1], **options).unsqueeze(1)"

WRONG = {
    "writes into the given tokens": edit("cache, newest = [], tokens", "tokens.clamp_(min=1)\n…").fails("", "changes `tokens`"),
    "the first position": edit("logits[:, -1]", "logits[:, 0]").fails("", "wrong values", names="the prediction at the first position"),
    "the prompt again and again": edits(
        ("cache, newest = [], tokens", "cache, newest, start = [], tokens, tokens"),
        ("model(newest, cache)", "model(start), cache"),
        ("model(tokens)", "model(start)"),
    ).fails("", "every step asks for what follows"),
    "the newest alone": edits(("model(tokens)", "model(tokens[:, -1:])")).fails("", "wrong values", names="nothing is remembered"),
    "the least probable": edit("logits[:, -1]", "-logits[:, -1]").fails("", "the least probable token"),
    "all tokens into the cache": edit("model(newest, cache)", "model(tokens, cache)").fails("", "all tokens are given again"),
    "the first cache for ever": edit("cache = model(newest, cache)", "longer = model(newest, cache)\ncache = cache or longer").fails("", "again and again"),
    "no cache kept": edit("logits, cache =", "logits, _ =").fails("", "the newest token stands alone"),
    "the last of the prompt alone": edit("cache, newest = [], tokens", "cache, newest = [], tokens[:, -1:]").fails("", "only the last goes into the cache"),
    "None for a cache": edit("cache, newest = []", "cache, newest = None").fails("", "raised"),
    "always a cache": edit("if use_cache:", "if True:").fails("", "is given a cache"),
    "never a cache": edit("if use_cache:", "if False:").fails("", "With the cache, the model is given"),
    "one too few": edit("range(max_new)", "range(max_new - 1)").fails("", "one token too few"),
    "the first token is taken off": edit("return tokens", "return tokens[:, 1:]").fails("", "one token too few comes back"),
    "one too many": edit("range(max_new)", "range(max_new + 1)").fails("", "one token too many"),
    "the prompt counts": edit("range(max_new)", "range(max_new - tokens.size(1))").fails("", "count as new ones"),
    "the prompt left out": edit("return tokens", "return tokens[:, -max_new:]").fails("", "are left out"),
    "greedy": edit(SAMPLE, "newest = logits[:, -1].argmax(-1, keepdim=True)").fails("", "write the same text"),
    "options forgotten": edit("-1], **options)", "-1])").fails("", "leave nothing to chance"),
    "temperature alone": edit("-1], **options)", '-1], temperature=options.get("temperature", 1.0))').fails(""),
    "no generator": edit("-1], **options)", '-1], **{key: value for key, value in options.items() if key != "generator"})').fails(
        "", "Two generators with the same seed"
    ),
    "a new generator in each step": edit(
        "-1], **options)",
        '-1], **{key: torch.Generator().manual_seed(value.initial_seed()) if key == "generator" else value for key, value in options.items()})',
    ).fails("", "Two calls with one generator"),
    "a new generator in each call": edit(
        "cache, newest =…",
        'if options.get("generator") is not None:\n    options["generator"] = torch.Generator().manual_seed(options["generator"].initial_seed())\n…',
    ).fails("", "Two calls with one generator"),
    "eight tokens into the cache": edit("model(newest, cache)", "model(newest[:, -8:], cache)").fails("", "the model is given 9."),
    "the last 256 alone": edit("model(tokens)", "model(tokens[:, -256:])").fails("", "the model is given 256."),
    "with gradients": edits(("with torch.no_grad():", "if True:")).fails("", "with gradients"),
    "gradients off for everybody": edits(("with torch.no_grad():", "torch.set_grad_enabled(False)\nif True:")).fails("", "switches gradients off"),
    "in front": edit("[tokens, newest]", "[newest, tokens]").fails("", "wrong values"),
    "a flat row": edit(".unsqueeze(1)", "").fails("", "raised"),
    "all rows the first's": edit("newest = sample(logits[:, -1], **options)", "newest = sample(logits[:1, -1], **options).expand(len(tokens))").fails(
        "", "wrong values"
    ),
    "stops at 0": edit("tokens = torch.cat", "if (newest == 0).all():\n    break\n…").fails(""),
    "the model asked twice": edit("if use_cache:", "model(tokens)\n…").fails("", "The model runs"),
    "a list": edit("return tokens", "return tokens.tolist()").fails("", "torch.Tensor"),
    "grows by the prompt": edits(("[tokens, newest], dim=1", "[tokens, newest], dim=0")).fails("", "raised"),
    "in float": edit("return tokens", "return tokens.float()").fails("", "dtype"),
    "probabilities for logits": edit("logits[:, -1]", "logits[:, -1].softmax(-1)").fails("", "takes logits"),
    "temperature twice": edit("logits[:, -1]", 'logits[:, -1] / options.get("temperature", 1.0)').fails("", "does it again"),
    "two draws": edits(
        (SAMPLE, "newest = sample(logits[:, -1], **options).unsqueeze(1)\nwritten = sample(logits[:, -1], **options).unsqueeze(1)"),
        ("[tokens, newest]", "[tokens, written]"),
    ).fails("", "two are drawn"),
    "greedy unless told otherwise": edit("-1], **options)", '-1], **(options or {"top_k": 1}))').fails("", "has a probability of"),
    "greedy after twelve": edits(("for _ in", "for i in"), ("-1], **options)", '-1], **(options if i < 12 else {"top_k": 1}))')).fails(
        "", "chance should decide"
    ),
    "a default temperature": edit("-1], **options)", '-1], **{"temperature": 0.7, **options})').fails("", "has a probability of"),
    "a default top_k": edit("-1], **options)", '-1], **{"top_k": 5, **options})').fails("", "has a probability of"),
    "all positions drawn": edit(SAMPLE, "newest = sample(logits.flatten(0, 1), **options).view(len(logits), -1)[:, -1:]").fails(
        "", "another text is written with the cache than without"
    ),
    "another default": edit("use_cache=True", "use_cache=False").fails("", "another default"),
}

TRICKS = {
    "writes into what it is given": body("""
        start = tokens.size(1)
        with torch.no_grad():
            room = torch.cat([tokens, tokens.new_zeros(len(tokens), max_new)], dim=1)
            tokens[:, -1] = tokens[:, 0]
            for i in range(max_new):
                room[:, start + i] = sample(model(room[:, : start + i])[:, -1], **options)
        return room
    """).fails("", "changes `tokens`"),
    "ten tokens at most": edit("range(max_new)", "range(min(max_new, 10))").fails(""),
    "twenty tokens at most": edit("range(max_new)", "range(min(max_new, 20))").fails("", "wrong shape"),
}

RIGHT = {
    "the prompt one token at a time": edit(
        "for _ in",
        "if use_cache:\n    for place in range(tokens.size(1) - 1):\n        _, cache = model(tokens[:, place : place + 1], cache)\n    newest = tokens[:, -1:]\n…",
    ),
    "a list of columns": body("""
        columns, cache = [tokens], []
        with torch.inference_mode():
            while len(columns) <= max_new:
                if use_cache:
                    logits, cache = model(columns[-1], cache)
                else:
                    logits = model(torch.hstack(columns))
                columns.append(sample(logits[:, -1], **options)[:, None])
        return torch.hstack(columns).clone()
    """),
    "room made beforehand": body("""
        start = tokens.size(1)
        text = torch.cat([tokens, tokens.new_zeros(len(tokens), max_new)], dim=1)
        cache, done = [], 0
        with torch.no_grad():
            for end in range(start, start + max_new):
                if use_cache:
                    logits, cache = model(text[:, done:end], cache)
                    done = end
                else:
                    logits = model(text[:, :end])
                text[:, end] = sample(logits[:, -1], **options)
        return text
    """),
    "two loops": body("""
        with torch.no_grad():
            if not use_cache:
                for _ in range(max_new):
                    tokens = torch.cat([tokens, sample(model(tokens)[:, -1], **options)[:, None]], 1)
                return tokens
            new, cache = tokens, []
            for _ in range(max_new):
                logits, cache = model(new, cache)
                new = sample(logits[:, -1], **options)[:, None]
                tokens = torch.cat([tokens, new], 1)
            return tokens
    """),
    "recursion": body("""
        def more(text, new, cache, left):
            if not left:
                return text
            logits, cache = model(new, cache) if use_cache else (model(text), None)
            new = sample(logits[:, -1], **options)[:, None]
            return more(torch.cat([text, new], dim=1), new, cache, left - 1)
        with torch.no_grad():
            return more(tokens, tokens, [], max_new)
    """),
    "a decorator": edits(("def generate", "@torch.no_grad()\ndef generate"), ("with torch.no_grad():", "if True:")),
    "a tuple to begin with": edit("cache, newest = []", "cache, newest = ()"),
    "the last of all tokens": edits(("newest = [", "given = ["), ("(newest", "(given"), (SAMPLE, f"{SAMPLE}\ngiven = newest")),
    "select": edit("logits[:, -1]", "logits.select(1, logits.size(1) - 1)"),
    "counting the length": edits(("for _ in range(max_new):", "end = tokens.size(1) + max_new\nwhile tokens.size(1) < end:")),
    "sliced by what is new": edit("model(newest, cache)", "model(tokens if not cache else tokens[:, -1:], cache)"),
    "options by name": edit("-1], **options)", "-1], **dict(options))"),
}
