from answers.writing import body, edit, edits, whole

DRAW = "torch.multinomial(chances, 1, generator=generator)"

WRONG = {
    "the most probable": edit(f"place = {DRAW}", "place = torch.zeros_like(order[:, :1])").fails("draws", "every row gets the same id"),
    "no temperature": edit("(logits / temperature)", "logits").fails("draws", "`temperature` changes nothing"),
    "multiplied": edit("logits / temperature", "logits * temperature").fails("draws", "multiplied by the temperature"),
    "probabilities divided": edit("(logits / temperature).softmax(dim=-1)", "(logits.softmax(dim=-1) / temperature)").fails(
        "draws", names="`temperature` changes nothing"
    ),
    "two softmaxes": edit(f"place = {DRAW}", f"chances = chances.softmax(dim=-1)\nplace = {DRAW}").fails("draws", "wrong values"),
    "the least probable": edit("(logits / temperature)", "(-logits / temperature)").fails("draws", "the least probable tokens"),
    "temperature squared": edit("logits / temperature", "logits / temperature**2").fails("draws", "wrong values"),
    "all alike": edit(f"place = {DRAW}", "place = torch.multinomial(torch.ones_like(chances), 1, generator=generator)").fails(
        "draws", "all tokens are drawn alike"
    ),
    "no softmax": edit("(logits / temperature).softmax(dim=-1)", "(logits / temperature)").fails("draws", "raised RuntimeError"),
    "softmax over the rows": edit("softmax(dim=-1)", "softmax(dim=0)").fails("draws", names="all tokens are drawn alike"),
    "no generator": edit(", generator=generator)", ")").fails("draws", "Two generators with the same seed"),
    "no generator where something is cut": edit(
        "place =…", "if top_k is None and top_p is None:\n    return order.gather(-1, …).squeeze(-1)\nplace = torch.multinomial(chances, 1)".replace("…", DRAW)
    ).fails("draws", "give different ids at top_k=5"),
    "no generator with top_p": edit(
        "chances = chances.masked_fill(before >= top_p, 0)", "…\nreturn order.gather(-1, torch.multinomial(chances, 1)).squeeze(-1)"
    ).fails("draws", "give different ids at top_p=0.5"),
    "Python's own chance": edit(
        "place =…",
        "import random\nif generator is None:\n    place = torch.tensor([random.choices(range(len(row)), row) for row in chances.tolist()])\nelse:\n    …",
    ).fails("draws", "Python's random numbers"),
    "a seed of its own": edit(DRAW, "torch.multinomial(chances, 1, generator=torch.Generator().manual_seed(0))").fails("draws", "give the same ids"),
    "seeds everybody": edit("chances, order =…", "torch.manual_seed(0 if generator is None else generator.initial_seed())\n…").fails("draws"),
    "one draw for all rows": edit(f"place = {DRAW}", "place = torch.multinomial(chances[:1], 1, generator=generator).expand(len(logits), 1)").fails(
        "draws", "every row gets the same id"
    ),
    "places for ids": edit("order.gather(-1, place)", "place").fails("cuts", "places among the sorted tokens"),
    "ascending": edit(", descending=True", "").fails("cuts", names="the least probable tokens"),
    "no cut at k": edit("if top_k is not None:", "if False:").fails("cuts", "`top_k` is not used"),
    "no cut at p": edit("if top_p is not None:", "if False:").fails("cuts", "`top_p` is not used"),
    "one cut or the other": edit("if top_p", "elif top_p").fails("cuts", "as behind `elif`"),
    "places looked up along the rows": edit("order.gather(-1, place)", "order.gather(0, place)").fails("draws", "every row gets the same id"),
    "one too many": edit("top_k:]", "top_k + 1 :]").fails("cuts", "one token too many"),
    "one too few": edit("top_k:]", "max(top_k - 1, 1) :]").fails("cuts", "one token too few"),
    "the first ids": edits(("chances[:, top_k:] = 0", "chances = chances * (order < top_k)")).fails("cuts", names="the first `top_k` ids"),
    "the least probable kept": edit("chances[:, top_k:] = 0", "chances[:, :-top_k] = 0").fails("cuts", "the least probable tokens are kept"),
    "kept ones alike": edit(f"place = {DRAW}", "place = torch.multinomial((chances > 0).float(), 1, generator=generator)").fails("cuts", "drawn alike"),
    "logit 0 for what is cut": whole("""
        def sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
            logits = logits / temperature
            ordered, order = logits.sort(dim=-1, descending=True)
            if top_k is not None:
                ordered[:, top_k:] = 0
            chances = ordered.softmax(-1)
            if top_p is not None:
                chances = chances * (chances.cumsum(-1) - chances < top_p)
            return order.gather(-1, torch.multinomial(chances, 1, generator=generator)).squeeze(-1)
    """).fails("cuts", "wrong values"),
    "a logit of −10 for what is cut": whole("""
        def sample(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
            logits = logits / temperature
            if top_k is not None:
                logits = torch.where(logits < logits.topk(top_k).values[:, -1:], -10.0, logits)
            chances, order = logits.softmax(-1).sort(dim=-1, descending=True)
            if top_p is not None:
                chances = chances * (chances.cumsum(-1) - chances < top_p)
            return order.gather(-1, torch.multinomial(chances, 1, generator=generator)).squeeze(-1)
    """).fails("cuts", "Where 80 is taken off all logits"),
    "all that tie are cut": edit("chances[:, top_k:] = 0", "if top_k < chances.size(-1):\n    chances = chances * (chances > chances[:, [top_k]])").fails(
        "cuts", "1 of 4 are kept"
    ),
    "the first row cuts small batches": edit("before >", "(before if len(before) >= 50 else before[:1]) >").fails("cuts", "cut by its own probabilities"),
    "the last one left out": edit("before >= top_p", "(before + chances > top_p) & (before > 0)").fails("cuts", "with which the sum reaches p is left out"),
    "one more than p needs": edit("before >= top_p", "before - chances.roll(1, -1) >= top_p").fails("cuts", "one token more is kept"),
    "less probable than 1 − p": edit("before >= top_p", "(chances < 1 - top_p) & (before > 0)").fails("cuts", "wrong values"),
    "own probability": edit("before >= top_p", "(chances < top_p) & (before > 0)").fails("cuts", "whose own probability reaches p"),
    "sums of what is not sorted": edit("before =…", "before = (logits / temperature).softmax(dim=-1).cumsum(dim=-1) - chances").fails("cuts"),
    "unsorted sums": edits(
        ("before =…", "whole = torch.zeros_like(chances).scatter(-1, order, chances)"),
        ("chances = chances.masked_fill(before >= top_p, 0)", "chances = whole.masked_fill(whole.cumsum(-1) - whole >= top_p, 0).gather(-1, order)"),
    ).fails("cuts", "in the order of their ids"),
    "a threshold, ties kept": edits(
        (
            "chances = chances.masked_fill(before >= top_p, 0)",
            "least = chances.masked_fill(before >= top_p, 2).amin(-1, keepdim=True)\nchances = chances.masked_fill(chances < least, 0)",
        )
    ).fails("cuts", "equally likely tokens"),
    "p of all, not of what k left": edit("chances = chances / chances.sum(dim=-1, keepdim=True)", "pass").fails("cuts", "not by what `top_k` has left"),
    "p before k": edits(
        ("if top_k is not None:\n    chances[:, top_k:] = 0\n    chances = chances / chances.sum(dim=-1, keepdim=True)\n", ""),
        (f"place = {DRAW}", f"if top_k is not None:\n    chances[:, top_k:] = 0\nplace = {DRAW}"),
    ).fails("cuts", "not by what `top_k` has left"),
    "the temperature after the cuts": edits(
        ("(logits / temperature)", "logits"), (f"place = {DRAW}", f"chances = chances ** (1 / temperature)\nplace = {DRAW}")
    ).fails("cuts"),
    "a column": edit(".squeeze(-1)", "").fails("draws", "wrong shape"),
    "changes the logits": edit("chances, order =…", "logits /= temperature\nchances, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)").fails(
        "draws", "changes `logits`"
    ),
    "probabilities of ids": edit("return order.gather(-1, place).squeeze(-1)", "return chances.gather(-1, place).squeeze(-1)").fails("draws", "dtype"),
    "cut by the first row": edit("before >= top_p", "(before >= top_p)[:1]").fails("cuts", "where 1 and 3 should be left"),
    "as many as the row that keeps most": edit("before >= top_p", "torch.arange(chances.size(-1)) >= (before < top_p).sum(-1).max()").fails(
        "cuts", "where 1 and 3 should be left"
    ),
    "cut by the mean of all rows": edit("before >= top_p", "before.mean(0, keepdim=True) >= top_p").fails("cuts", "where 1 and 3 should be left"),
    "more than p before": edit("before >= top_p", "before > top_p").fails("cuts", "2 of them reach 0.5"),
    "up from the least probable": edit("before >= top_p", "chances.flip(-1).cumsum(-1).flip(-1) < top_p").fails("cuts", "of all less probable ones"),
    "greedy when it is cold": edit("chances, order =…", "if temperature < 0.1:\n    return logits.argmax(-1)\n…").fails("draws"),
    "another default": edit("temperature=1.0", "temperature=0.7").fails("draws", names="another default"),
}

TRICKS = {
    "writes the first row into all": edit(
        "chances, order…", "if top_k is None and top_p is None:\n    logits.copy_(logits[:1].clone().expand_as(logits))\n…"
    ).fails("draws"),
    "greedy below a half": edit("chances, order =…", "if temperature < 0.45:\n    return logits.argmax(-1)\n…").fails("draws"),
    "tokens beyond the eighth never": edit("place =…", "chances = chances * (torch.arange(chances.size(-1)) < 8)\n…").fails("draws"),
}

RIGHT = {
    "all that tie at k": edit("chances[:, top_k:] = 0", "chances = chances.masked_fill(chances < chances[:, :top_k][:, -1:], 0)"),
    "Gumbel's noise": edit(
        f"place = {DRAW}",
        "noise = -torch.empty_like(chances).exponential_(generator=generator).log()\nplace = (chances.log() + noise).argmax(-1, keepdim=True)",
    ),
    "a uniform number": edit(
        f"place = {DRAW}",
        "total = chances.cumsum(-1)\nu = torch.rand(len(logits), 1, generator=generator) * total[:, -1:]\nplace = (total <= u).sum(-1, keepdim=True).clamp(max=chances.size(-1) - 1)",
    ),
    "a mask put back": body("""
        chances = F.softmax(logits / temperature, dim=-1)
        order = chances.argsort(dim=-1, descending=True)
        rank = order.argsort(dim=-1)
        if top_k is not None:
            chances = torch.where(rank < top_k, chances, torch.zeros(()))
            chances = chances / chances.sum(-1, keepdim=True)
        if top_p is not None:
            ordered = chances.gather(-1, order)
            keep = (ordered.cumsum(-1) - ordered < top_p).gather(-1, rank)
            chances = chances * keep
        return torch.multinomial(chances, num_samples=1, generator=generator)[:, 0]
    """),
    "row by row": body("""
        ids = []
        for row in (logits / temperature).softmax(-1):
            pairs = sorted(((p, i) for i, p in enumerate(row.tolist())), reverse=True)[:top_k]
            total = sum(p for p, _ in pairs)
            if top_p is not None:
                kept, reached = [], 0.0
                for p, i in pairs:
                    if reached >= top_p:
                        break
                    kept.append((p, i))
                    reached += p / total
                pairs = kept
            ids.append(pairs)
        width = max(map(len, ids))
        chances = torch.tensor([[p for p, _ in pairs] + [0.0] * (width - len(pairs)) for pairs in ids])
        names = torch.tensor([[i for _, i in pairs] + [0] * (width - len(pairs)) for pairs in ids])
        return names.gather(1, torch.multinomial(chances, 1, generator=generator)).squeeze(1)
    """),
    "no more than there are": edit("chances, order =…", "assert top_k is None or top_k <= logits.size(-1)\n…"),
    "topk": edits(("chances[:, top_k:] = 0", "chances = F.pad(chances[:, :top_k], (0, max(0, chances.size(-1) - top_k)))")),
    "logits of −inf": body("""
        logits, order = torch.sort(logits / temperature, dim=-1, descending=True)
        place = torch.arange(logits.size(-1), device=logits.device)
        if top_k is not None:
            logits = logits.masked_fill(place >= top_k, -math.inf)
        if top_p is not None:
            chances = logits.softmax(-1)
            logits = logits.masked_fill(chances.cumsum(-1) - chances >= top_p, -math.inf)
        drawn = torch.multinomial(logits.softmax(-1), 1, generator=generator)
        return torch.gather(order, -1, drawn)[..., 0]
    """),
    "the removed shifted": edits(
        ("before =…", "removed = chances.cumsum(dim=-1) >= top_p"),
        ("chances = chances.masked_fill(before >= top_p, 0)", "removed = F.pad(removed[:, :-1], (1, 0))\nchances = chances.masked_fill(removed, 0)"),
    ),
    "a count for each row": edits(
        ("before =…", "count = (chances.cumsum(-1) < top_p).sum(-1, keepdim=True) + 1"), ("before >= top_p", "torch.arange(chances.size(-1)) >= count")
    ),
    "renormalised at the end": edit(f"place = {DRAW}", f"chances = chances / chances.sum(dim=-1, keepdim=True)\nplace = {DRAW}"),
    "in float64": edit("(logits / temperature)", "(logits.double() / temperature)"),
    "many at once, one taken": edit(f"place = {DRAW}", "place = torch.multinomial(chances, 3, replacement=True, generator=generator)[:, 1:2]"),
}
